"""What a store reads is what was written: whatever else lies there is told, and never answered."""

import io
import shutil
from dataclasses import replace
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.engines.layout import Layout
from checker.core.search.explore import Limits, Options
from checker.core.spark.worker import check_contents
from checker.core.stores import checked
from checker.core.stores.checked import AlteredError, CheckedFile, block_digests
from checker.core.stores.level_files import read_level
from checker.core.stores.manifest import manifest_for
from checker.core.stores.query import model_of, query_duckdb
from checker.core.stores.store import MARKER, Store, open_store
from model.language import Bound, Protocol, State, action, integers, require
from model.language.errors import UsageError
from properties.claims import always
from tests.support.stores import (
    TINY,
    copied,
    data_file,
    distributed,
    files,
    model_named,
    stored,
    without_spark,
)

__all__ = ["without_spark"]

STEPS = Bound("steps", default=9, minimum=1, words="steps")


class Stairs(State):
    x: Annotated[int, integers(0, STEPS)] = 0
    y: Annotated[int, integers(0, STEPS)] = 0


@action("one to the right")
def right(s: Stairs) -> None:
    require(s.x < s.bound(STEPS), s.x == s.y)
    s.x += 1


@action("one up")
def up(s: Stairs) -> None:
    require(s.y < s.x)
    s.y += 1


@always("low", "nobody comes to the eighth step")
def low(s: Stairs) -> bool:
    return s.y < 8


STAIRS = Protocol(
    name="stairs", words="One state a level, so that all files are of one size.", state=Stairs,
    actions=(right, up), bounds=(STEPS,), properties=(low,),
)  # fmt: skip


OTHER = model_named("kip320").protocol.model(TINY, {"fence_fetch": "false"})


def _level(place, depth):
    return place / "levels" / f"level={depth}"


def _exchange(one, other):
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def _told(ask, words):
    """That `ask` is refused in one line with these words."""
    with pytest.raises(UsageError, match=words) as caught:
        ask()
    assert "\n" not in str(caught.value)


def _query(place, model):
    store = Store.open(str(place))
    return query_duckdb(store, model, "SELECT count(*) FROM states", 10)


def test_two_files_of_one_size_that_are_exchanged_are_told(tmp_path):
    """Else the search would go on from another level, and say that nothing is violated."""
    model = STAIRS.model({})
    stored(tmp_path, model, limits=Limits(depth=12))
    one, other = data_file(tmp_path, 4), data_file(tmp_path, 12)
    assert one.stat().st_size == other.stat().st_size
    _exchange(one, other)
    before, words = files(tmp_path), r"is damaged: level 4 has a file .* not what was written"
    _told(lambda: stored(tmp_path, model), words)
    _told(lambda: _query(tmp_path, model), "is damaged: level 4 ")
    assert files(tmp_path) == before
    _exchange(one, other)
    assert stored(tmp_path, model)["violations"]


@pytest.mark.parametrize("depth", [0, 3])
def test_a_level_of_another_run_is_told(tmp_path, depth):
    """Its files are whole, its marker is right, and its states have the same layout."""
    model = model_named("kip320", TINY)
    other = OTHER
    for name, each in (("mine", model), ("other", other)):
        copied(tmp_path / name, each, Limits(depth=3))
    shutil.rmtree(_level(tmp_path / "mine", depth))
    shutil.copytree(_level(tmp_path / "other", depth), _level(tmp_path / "mine", depth))
    words = (
        f"level {depth} was not written after {f'level {depth - 1}' if depth else 'this manifest'}"
    )
    _told(lambda: stored(tmp_path / "mine", model), words)
    _told(lambda: _query(tmp_path / "mine", model), words)


def test_a_manifest_of_another_run_is_told(tmp_path):
    for name, options in (("mine", Options()), ("other", Options(deadlock=True))):
        stored(tmp_path / name, STAIRS.model({}), options, Limits(depth=3))
    shutil.copy(tmp_path / "other" / "manifest.json", tmp_path / "mine" / "manifest.json")
    _told(
        lambda: Store.open(str(tmp_path / "mine")), r"level 0 was not written after this manifest"
    )


@pytest.mark.parametrize("name", ["manifest.json", f"levels/level=2/{MARKER}", "data"])
def test_a_flipped_bit_is_told_wherever_it_is(tmp_path, name):
    """In footers and headers, which no checksum of Parquet's covers, in numbers and in names."""
    model = STAIRS.model({})
    stored(tmp_path, model, limits=Limits(depth=2))
    path = data_file(tmp_path, 2) if name == "data" else tmp_path / name
    honest, layout = path.read_bytes(), Layout(model)
    for place in range(0, len(honest), 3):
        flipped = bytearray(honest)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(UsageError):
            read_level(Store.open(str(tmp_path)), 2, layout.words)


def test_a_file_of_other_rows_is_told_whatever_its_digest(tmp_path):
    stored(tmp_path, STAIRS.model({}), limits=Limits(depth=2))
    store = Store.open(str(tmp_path))
    [file] = store.levels[2].files
    store.levels[2] = replace(store.levels[2], files=(replace(file, rows=2),))
    _told(lambda: read_level(store, 2, 1), r"level 2 has a file .* of 1 rows instead of 2")


def test_a_store_of_an_earlier_format_is_told(tmp_path):
    stored(tmp_path, STAIRS.model({}), limits=Limits(depth=2))
    path = tmp_path / "manifest.json"
    path.write_text(path.read_text().replace('"format_version": 3', '"format_version": 2'))
    _told(lambda: Store.open(str(tmp_path)), r"of format 2, written by version .* search anew")


# --- a store that is a level shorter ---------------------------------------------------------


@pytest.mark.parametrize("depth", [0, 3, 15])
def test_a_level_without_its_marker_is_named_where_a_store_is_asked(tmp_path, depth):
    """The last level of a finished search is empty and counts as well: it says that all is seen."""
    model = STAIRS.model({"steps": 7})
    stored(tmp_path, model, limits=Limits(depth=depth))
    assert not Store.open(str(tmp_path)).unfinished
    (_level(tmp_path, depth) / MARKER).unlink()
    assert f"level {depth} of {tmp_path} is not whole" in Store.open(str(tmp_path)).unfinished


def test_query_says_which_level_is_left_out(tmp_path, capsys):
    from checker.commands.cli import highwater, run

    stored(tmp_path, model_named("kip320", TINY), limits=Limits(depth=4))
    (_level(tmp_path, 4) / MARKER).unlink()
    assert run(highwater, ["query", str(tmp_path), "--ready", "levels"]) == 0
    assert capsys.readouterr().err.startswith("note: level 4 of ")


# --- on Spark --------------------------------------------------------------------------------


def test_workers_tell_what_is_not_as_it_was_written(tmp_path, without_spark):
    model = STAIRS.model({})
    distributed(tmp_path, model, without_spark, 2, limits=Limits(depth=12))
    _exchange(data_file(tmp_path, 11), data_file(tmp_path, 12))
    for depth in (None, 11):  # the level that is expanded, and one that was visited
        if depth is not None:
            _exchange(data_file(tmp_path, 11), data_file(tmp_path, 12))
            _exchange(data_file(tmp_path, 10), data_file(tmp_path, 11))
        words = "is damaged: level .* not what was written"
        _told(lambda: distributed(tmp_path, model, without_spark, 2), words)
    store = Store.open(str(tmp_path))
    notes = [*check_contents(store.storage, list(store.files()))]
    assert len(notes) == 1
    assert "level 10 has a file" in notes[0]


def test_workers_tell_a_level_that_is_exchanged_meanwhile(tmp_path, without_spark, monkeypatch):
    """The driver has read the markers once, and a worker reads them when it lacks a level."""
    from checker.core.spark import jobs

    model, build = STAIRS.model({}), jobs.build_level
    other = STAIRS.model({"steps": 8})
    for name, each in (("mine", model), ("other", other)):
        distributed(tmp_path / name, each, without_spark, 2, limits=Limits(depth=3))

    def exchange(session, job, work):
        marker = _level(tmp_path / "mine", 2)
        shutil.rmtree(marker)
        shutil.copytree(_level(tmp_path / "other", 2), marker)
        return build(session, job, work)

    monkeypatch.setattr(jobs, "build_level", exchange)
    words = "level 2 was changed while a run was at work"
    _told(lambda: distributed(tmp_path / "mine", model, without_spark, 2), words)


# --- the bytes themselves --------------------------------------------------------------------


@given(content=st.binary(max_size=60), at=st.integers(0, 70), size=st.integers(-1, 70))
def test_a_checked_file_reads_like_any_other(content, at, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checked, "BLOCK", 7)
        file = CheckedFile(io.BytesIO(content), len(content), block_digests(content))
        plain = io.BytesIO(content)
        for ours in (file, plain):
            ours.seek(at)
        assert bytes(file.read(size)) == plain.read(size)
        assert file.seek(-len(content), io.SEEK_END) == 0


def test_no_byte_of_an_altered_block_is_handed_on(monkeypatch):
    monkeypatch.setattr(checked, "BLOCK", 7)
    content = bytes(range(30))
    for place in range(30):
        altered = bytearray(content)
        altered[place] ^= 1
        file = CheckedFile(io.BytesIO(altered), 30, block_digests(content))
        first = place - place % 7
        assert bytes(file.read(first)) == content[:first]
        with pytest.raises(AlteredError, match=f"bytes {first} and further"):
            file.read(1)
        with pytest.raises(AlteredError):
            file.check()


def test_a_store_is_opened_anew_by_its_own_manifest(tmp_path):
    """What is sealed is what the manifest says, not how: it may be read and written again."""
    model = STAIRS.model({})
    stored(tmp_path, model, limits=Limits(depth=3))
    wanted = manifest_for(model, (low,), Options())
    assert open_store(str(tmp_path), wanted, resume=True).manifest.seal == wanted.seal
    assert model_of(Store.open(str(tmp_path)), STAIRS).bounds == model.bounds
