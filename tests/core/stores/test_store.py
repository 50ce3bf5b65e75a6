"""Laws of the store: it holds what the search found, survives what happens, refuses the foreign."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from checker.core.digest import definition_digest
from checker.core.engines.layout import Layout
from checker.core.engines.reference import ReferenceEngine
from checker.core.search.explore import Limits, Options
from checker.core.search.question import Question
from checker.core.stores.answers import exploration_of
from checker.core.stores.level_files import find_path, read_level
from checker.core.stores.manifest import Manifest, manifest_for
from checker.core.stores.storage import Storage
from checker.core.stores.store import MARKER, Store, open_store
from model.language.errors import UsageError
from tests.support.processes import highwater_command
from tests.support.stores import (
    TINY,
    copied,
    data_file,
    essence,
    everything,
    files,
    kill_at_levels,
    model_named,
    opened,
    plain,
    stored,
)

VIOLATED = ("kip279", {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 2})


# --- what it holds ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bounds", "options"),
    [
        ("kip320", TINY, Options()),
        ("async_isr", {}, Options(exact=True, deadlock=True, keep_going=True)),
        (*VIOLATED, Options(symmetry=True)),
    ],
)
def test_a_search_with_a_store_finds_what_one_without_finds(tmp_path, name, bounds, options):
    model = model_named(name, bounds)
    expected = plain(model, options)
    assert stored(tmp_path, model, options) == expected
    store = opened(tmp_path, model, options)
    told = exploration_of(store, model, Question(everything(model), options=options), "local")
    assert essence(told) == expected, "the store tells another story than the search"


def test_every_state_follows_from_its_parent_by_its_instance(tmp_path):
    model = model_named("kip320", TINY)
    copied(tmp_path, model)
    store, layout = opened(tmp_path, model), Layout(model)
    engine = ReferenceEngine(model)
    before = read_level(store, 0, layout.words)
    assert layout.unpack(before.words) == [tuple(engine.initial())]
    checked = 0
    for level in store.levels[1:]:
        if not level.size:
            continue
        rows = read_level(store, level.depth, layout.words)
        states = dict(zip(before.numbers.tolist(), layout.unpack(before.words), strict=True))
        for state, parent, instance in zip(
            layout.unpack(rows.words), rows.parents.tolist(), rows.instances.tolist(), strict=True
        ):
            assert engine.step(states[parent], model.instances[instance]) == state
            checked += 1
        before = rows
    assert checked == store.states - 1


def test_a_path_leads_to_its_state(tmp_path):
    model = model_named("kip320", TINY)
    copied(tmp_path, model)
    store, layout = opened(tmp_path, model), Layout(model)
    depth = len(store.levels) - 2
    rows = read_level(store, depth, layout.words)
    engine = ReferenceEngine(model)
    state: tuple[int, ...] | None = engine.initial()
    for step in find_path(store, depth, int(rows.numbers[-1])):
        assert state is not None
        state = engine.step(state, model.instances[step])
    assert state == layout.unpack(rows.words)[-1]


@pytest.mark.slow
def test_numbers_stay_in_order_when_a_level_fills_several_files(tmp_path, monkeypatch):
    monkeypatch.setattr("checker.core.stores.journal.ROWS_A_FILE", 100)
    model = model_named("kip320", TINY)
    expected = plain(model)
    assert stored(tmp_path, model, Options(chunk=64)) == expected
    assert max(len(level.files) for level in opened(tmp_path, model).levels) > 3
    (tmp_path / "levels" / "level=9" / MARKER).unlink()
    for depth in range(10, 19):
        shutil.rmtree(tmp_path / "levels" / f"level={depth}", ignore_errors=True)
    assert stored(tmp_path, model) == expected


# --- resuming --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("depths", [(0, 3, 9), (1, 2, 16, 17, 18)])
def test_a_search_in_several_runs_ends_like_one_in_one(tmp_path, depths):
    model = model_named("kip320", TINY)
    for depth in depths:
        found = stored(tmp_path, model, limits=Limits(depth=depth))
        assert found == plain(model, limits=Limits(depth=depth))
    assert stored(tmp_path, model) == plain(model)


@pytest.mark.parametrize("depth", [4, 10])
def test_a_violation_found_again_has_the_same_trace(tmp_path, depth):
    model = model_named(*VIOLATED)
    stored(tmp_path, model, limits=Limits(depth=depth))
    expected = plain(model)
    assert expected["violations"], "nothing to compare"
    assert stored(tmp_path, model) == expected
    assert stored(tmp_path, model) == expected, "a finished store says something else"


def test_a_store_that_goes_deeper_answers_for_less(tmp_path):
    model = model_named("kip320", TINY)
    copied(tmp_path, model)
    assert stored(tmp_path, model, limits=Limits(depth=7)) == plain(model, limits=Limits(depth=7))


@pytest.mark.slow
def test_going_on_past_a_violation_finds_the_others(tmp_path):
    model = model_named("kip320_first_try")
    short = stored(tmp_path, model)
    options = Options(keep_going=True)
    assert short == plain(model)
    limits = Limits(depth=12)
    both = stored(tmp_path, model, options, limits)
    assert both == plain(model, options, limits)
    assert len(both["violations"]) > len(short["violations"])
    assert stored(tmp_path, model) == short, "what was found later changes the first answer"


def test_a_level_without_its_marker_is_built_again(tmp_path):
    model = model_named("kip320", TINY)
    expected = plain(model)
    copied(tmp_path, model, Limits(depth=9))
    last = tmp_path / "levels" / "level=9"
    (last / MARKER).unlink()
    half = data_file(tmp_path, 9)
    half.write_bytes(half.read_bytes()[:100])
    (last / ".part-00000-half.parquet.12ab").write_bytes(b"PAR1")
    assert stored(tmp_path, model) == expected
    assert sorted(p.name for p in last.iterdir()) == sorted(
        [MARKER, *(f.name for f in opened(tmp_path, model).levels[9].files)]
    )


@pytest.mark.slow
def test_a_killed_search_goes_on_from_its_last_whole_level(tmp_path):
    model = model_named("kip320")
    location = tmp_path / "store"
    location.mkdir()
    asked = ["explore", "kip320", "--quiet", "--resume", "--store", str(location)]
    kill_at_levels(highwater_command(*asked), location, (2, 9, 14, 17))
    assert stored(location, model) == plain(model)


# --- refusing --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": {"protocol": "kip279", "bounds": {}, "settings": {}}}, "protocol is kip320"),
        ({"properties": ("weak_isr",)}, "set of properties"),
        ({"version": "0.0.1"}, "version"),
        (
            {"options": {"exact": True, "deadlock": False, "symmetry": False}},
            "option exact is off, not on",
        ),
        ({"digest": "0" * 64}, "definition of the protocol"),
    ],
)
def test_a_store_of_another_run_is_refused(tmp_path, change, words):
    model = model_named("kip320", TINY)
    copied(tmp_path, model)
    mine = manifest_for(model, everything(model), Options())
    wanted = Manifest(**({**mine.__dict__} | change))
    before = files(tmp_path)
    with pytest.raises(UsageError, match=words) as caught:
        open_store(str(tmp_path), wanted, resume=True)
    assert "\n" not in str(caught.value)
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("bounds", "settings", "words"),
    [
        (TINY | {"log_size": 2}, {}, "bound log-size is 1, not 2"),
        (TINY, {"fence_fetch": "false"}, "setting fence-fetch is true, not false"),
    ],
)
def test_a_store_of_another_model_is_refused(tmp_path, bounds, settings, words):
    copied(tmp_path, model_named("kip320", TINY))
    other = model_named("kip320").protocol.model(bounds, settings)
    with pytest.raises(UsageError, match=words):
        opened(tmp_path, other)


def test_a_store_is_not_overwritten(tmp_path):
    model = model_named("kip320", TINY)
    copied(tmp_path, model)
    wanted = manifest_for(model, everything(model), Options())
    with pytest.raises(UsageError, match=r"already holds a store.*--resume"):
        open_store(str(tmp_path), wanted, resume=False)


def test_a_directory_with_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="neither empty nor a store"):
        stored(tmp_path, model_named("kip320", TINY))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"format": "other"}', '{"format": "highwater-store", "format_version": 3}',
     '{"format": "highwater-store", "format_version": 99}', "\x00\x01"],
)  # fmt: skip
def test_a_foreign_manifest_is_refused(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(UsageError, match=r"manifest of a store|format 99") as caught:
        stored(tmp_path, model_named("kip320", TINY))
    assert "\n" not in str(caught.value)


def test_two_runs_do_not_write_to_one_store(tmp_path):
    model = model_named("kip320", TINY)
    copied(tmp_path, model, Limits(depth=3))
    before = files(tmp_path)
    with opened(tmp_path, model).locked():
        with pytest.raises(UsageError, match="another run is writing"):
            stored(tmp_path, model)
        assert files(tmp_path) == before
    assert stored(tmp_path, model) == plain(model)


# --- storage ---------------------------------------------------------------------------------


def test_an_address_with_a_secret_is_refused_and_does_not_show_it():
    with pytest.raises(UsageError, match="AWS_SECRET_ACCESS_KEY") as refused:
        Store.open("s3://name:a-secret@bucket/store")
    assert "a-secret" not in str(refused.value)


def test_a_uri_names_the_same_store_as_its_path(tmp_path):
    model = model_named("kip320", TINY)
    stored((tmp_path / "a").as_uri(), model, limits=Limits(depth=5))
    assert stored(tmp_path / "a", model) == plain(model)


@pytest.mark.parametrize("place", ["nowhere://host/path", "s3://[bad"])
def test_a_place_that_cannot_be_reached_is_told(place):
    with pytest.raises(UsageError, match=re.escape(f"cannot reach {place}")):
        Storage(place).sizes()


@pytest.mark.slow
def test_the_digest_is_the_same_whatever_was_built_before():
    program = (
        "from tests.support.stores import *;"
        "before = [model_named(name).captured for name in {}];"
        "models = [model_named(name) for name in ('kip320', 'kip279', 'async_isr')];"
        "[m.instances for m in models];"
        "print([manifest_for(m, everything(m), Options()).digest for m in models])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program.format(names)], capture_output=True, text=True,
            check=True, env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        ).stdout
        for seed, names in (("1", []), ("2", ["kip279", "kip101", "async_isr", "kip320"]))
    }  # fmt: skip
    assert len(found) == 1


def test_the_digest_does_not_depend_on_the_order_of_assignments():
    model = model_named("kip320").protocol.model({})
    digest = definition_digest(model)
    actions = tuple(
        replace(action, assignments=dict(reversed(action.assignments.items())))
        for action in model.ground_actions
    )
    assert [[*a.assignments] for a in actions] != [[*a.assignments] for a in model.ground_actions]
    model.__dict__["ground_actions"] = actions
    assert definition_digest(model) == digest


def test_the_digest_tells_a_changed_rule():
    protocol = model_named("kip320").protocol
    digests = [
        manifest_for(protocol.model(TINY, settings), (), Options()).digest
        for settings in ({}, {"fence_fetch": "false"})
    ]
    assert digests[0] != digests[1]


def test_a_level_survives_its_own_json(tmp_path):
    model = model_named(*VIOLATED)
    copied(tmp_path, model)
    for level in opened(tmp_path, model).levels:
        again = type(level).from_json(level.to_json())
        assert again == level
        assert json.loads(level.to_json())["depth"] == level.depth


def test_numbers_are_dense_and_ascending_in_a_local_store(tmp_path):
    model = model_named("kip320", TINY)
    copied(tmp_path, model)
    store = Store.open(str(tmp_path))
    for level in store.levels:
        rows = read_level(store, level.depth, Layout(model).words)
        assert np.array_equal(rows.numbers, np.arange(level.size))
