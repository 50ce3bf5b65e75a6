"""The distributed search with its tasks run in this process: what it finds never depends on parts.

Parcels arrive in another order than they were sent. Each law is shown to fail on a mutant.
"""

import gc
from contextlib import nullcontext, suppress
from dataclasses import replace

import numpy as np
import pytest

from checker.core.search.explore import Limits, Options
from checker.core.search.lineage import StateRows
from checker.core.search.visited_set import VisitedSet
from checker.core.spark import distributed as distributed_module
from checker.core.spark import parcels, visited, worker
from checker.core.spark.distributed import NUMBERS
from checker.core.spark.handover import Handover
from checker.core.spark.workshop import _workshop
from checker.core.stores.level_files import write_rows
from checker.core.stores.store import Store
from model.language.errors import UsageError
from properties import choose_properties
from tests.support.counter import COUNTER
from tests.support.stores import (
    DEAD_ENDS,
    TINY,
    VIOLATED,
    distributed,
    files,
    model_named,
    plain,
    stored,
    without_spark,
)
from tests.support.tiers import first_and_slow, slow_but

__all__ = ["without_spark"]

PRODUCER = {"topic_partitions": 1, "log_size": 2, "broker_errors": 1}
SETTLED = ("weak_isr", "strong_isr", "the_leader_changes")


@pytest.mark.parametrize("partitions", first_and_slow(3, 8))
@pytest.mark.parametrize(
    ("name", "bounds", "options"),
    [
        ("kip320", TINY, Options()),
        ("async_isr", {}, Options()),
        ("async_isr", {}, Options(exact=True)),
        ("async_isr", {}, Options(deadlock=True)),
        ("async_isr", {}, Options(deadlock=True, keep_going=True)),
        ("kip320", TINY, Options(symmetry=True)),
        pytest.param("kafka_producer", PRODUCER, Options(keep_going=True), marks=pytest.mark.slow),
        pytest.param(
            "kafka_producer", PRODUCER | {"keys": 2}, Options(symmetry=True), marks=pytest.mark.slow
        ),
    ],
)
def test_partitions_change_nothing(tmp_path, without_spark, name, bounds, options, partitions):
    model = model_named(name, bounds)
    found = distributed(tmp_path, model, without_spark, partitions, options)
    assert found == plain(model, options)


def test_outside_of_spark_nothing_is_kept_from_garbage_collection(tmp_path, without_spark):
    """What is, libraries report as leaked when the process ends."""
    _workshop.cache_clear()
    before = gc.get_freeze_count()
    distributed(tmp_path, model_named("async_isr", {}), without_spark, 1)
    assert gc.get_freeze_count() <= before  # what others have frozen may go


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "partitions", "options"),
    [
        ("kip279", 3, Options()),
        ("truncate_to_high_watermark", 3, Options(symmetry=True)),
        pytest.param("kip279", 1, Options(), marks=pytest.mark.slow),
    ],
)
def test_the_trace_is_the_very_same(tmp_path, without_spark, name, partitions, options):
    model = model_named(name, VIOLATED)
    found = distributed(tmp_path, model, without_spark, partitions, options)
    assert found["violations"]
    assert found == plain(model, options)


@pytest.mark.slow
@pytest.mark.parametrize("bits", first_and_slow(24, 40))
def test_numbers_that_would_not_fit_are_made_smaller(tmp_path, without_spark, bits):
    model = model_named("truncate_to_high_watermark", VIOLATED)
    assert distributed(tmp_path, model, without_spark, 3, numbers=1 << bits) == plain(model)
    levels = Store.open(str(tmp_path)).levels
    assert max(level.numbers for level in levels) < 1 << (bits + 7)
    dense = [d for d, level in enumerate(levels[1:], 1) if level.numbers < levels[d - 1].numbers]
    assert dense, "no level was renumbered"


@pytest.mark.slow
@pytest.mark.parametrize("hand_over", slow_but([1, 500], [1, 10, 500, 10**9]))
def test_the_hand_over_is_invisible(tmp_path, without_spark, hand_over):
    model = model_named("kip320", TINY)
    found = distributed(tmp_path, model, without_spark, 3, hand_over=hand_over)
    assert found == plain(model)


@pytest.mark.slow
def test_runs_with_other_engines_and_partitions_go_on_from_each_other(tmp_path, without_spark):
    model = model_named("kip320", TINY)
    for depth, partitions in ((2, 3), (4, None), (5, 1), (9, 8), (11, None)):
        limits = Limits(depth=depth)
        if partitions is None:
            found = stored(tmp_path, model, limits=limits)
        else:
            found = distributed(tmp_path, model, without_spark, partitions, limits=limits)
        assert found == plain(model, limits=limits)
    assert distributed(tmp_path, model, without_spark, 4) == plain(model)


@pytest.mark.slow
@pytest.mark.parametrize("dies_first", [False, True])
def test_a_task_that_is_run_twice_finds_the_same(tmp_path, without_spark, monkeypatch, dies_first):
    """In the same worker, which may have kept what the first attempt did."""
    model = model_named("kip320", TINY)
    keep_new = worker.keep_new

    def dies(*_):
        raise MemoryError

    def twice(job, parcels):
        with monkeypatch.context() as patch:
            patch.setattr(worker, "write_rows", dies if dies_first else write_rows)
            with suppress(MemoryError):
                list(keep_new(job, parcels))
        return keep_new(job, parcels)

    monkeypatch.setattr(worker, "keep_new", twice)
    assert distributed(tmp_path, model, without_spark, 3) == plain(model)


def test_a_limit_on_states_ends_the_search_after_a_level(tmp_path, without_spark):
    model = model_named("kip320", TINY)
    found = distributed(tmp_path, model, without_spark, 2, limits=Limits(states=2_000))
    assert "limit of 2,000 states" in found["stopped"]
    assert sum(found["levels"][:-1]) <= 2_000 < sum(found["levels"])
    assert found["verdict"] == "unknown"
    assert distributed(tmp_path, model, without_spark, 2) == plain(model)


def test_a_protocol_that_workers_cannot_build_is_refused(tmp_path, without_spark):
    nowhere = replace(COUNTER)  # under no name in any module
    with pytest.raises(UsageError, match="counter is not one of the protocols that workers"):
        distributed(tmp_path, nowhere.model(), without_spark, 2, properties=())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keep_going", "deadlock", "partitions"),
    slow_but(
        [(False, False, 3), (True, True, 3)],
        [(False, False, 3), (True, True, 3), (True, False, 1), (False, True, 1)],
    ),
)
def test_resuming_a_finished_search_changes_nothing(
    tmp_path, without_spark, keep_going, deadlock, partitions
):
    model = model_named("truncate_to_high_watermark", DEAD_ENDS)
    options = Options(keep_going=keep_going, deadlock=deadlock)
    properties = choose_properties(model.protocol, SETTLED)
    expected = plain(model, options, properties=properties)

    def run(limits=None, place="one"):
        return distributed(
            tmp_path / place, model, without_spark, partitions, options, limits,
            properties=properties,
        )  # fmt: skip

    assert run() == expected
    before = files(tmp_path / "one")
    assert run() == expected
    assert files(tmp_path / "one") == before
    for depth in range(len(expected["levels"])):
        run(Limits(depth=depth), "many")
    assert run(place="many") == expected
    assert files(tmp_path / "many", timed=False) == files(tmp_path / "one", timed=False)


@pytest.mark.parametrize(
    "options", first_and_slow(Options(keep_going=True, deadlock=True), Options())
)
def test_engines_that_take_turns_find_the_very_same_traces(tmp_path, without_spark, options):
    model = model_named("truncate_to_high_watermark", DEAD_ENDS)
    expected = plain(model, options)
    assert expected["violations"]
    for depth in range(0, 12, 2):
        limits = Limits(depth=depth)
        distributed(tmp_path, model, without_spark, 3, options, limits)
        assert stored(tmp_path, model, options, Limits(depth=depth + 1)) == plain(
            model, options, Limits(depth=depth + 1)
        )
    assert stored(tmp_path, model, options) == expected
    assert distributed(tmp_path, model, without_spark, 2, options) == expected


# --- mutants ---------------------------------------------------------------------------------


def _owner_changes_with_the_level(monkeypatch):
    original, depth = parcels.owners, [0]

    def mutant(found, partitions):
        return (original(found, partitions) + depth[0]) % partitions

    def expand(job, work):
        depth[0] = job.depth
        return expand_slice(job, work)

    expand_slice = worker.expand_slice
    monkeypatch.setattr(worker, "owners", mutant)
    monkeypatch.setattr(visited, "owners", mutant)
    monkeypatch.setattr(worker, "expand_slice", expand)


def _earlier_levels_are_not_looked_at(monkeypatch):
    monkeypatch.setattr(worker, "visited_before", lambda job, owner, words, _: VisitedSet(words))
    monkeypatch.setattr(worker, "at_hand", lambda *_: nullcontext())


def _only_the_last_level_is_looked_at(monkeypatch):
    original = visited._add_level

    def mutant(job, owner, words, seen, depth):
        if depth == job.depth - 1:
            original(job, owner, words, seen, depth)

    monkeypatch.setattr(visited, "_add_level", mutant)
    monkeypatch.setattr(visited, "_handover", lambda *_: Handover(None))


def _the_last_of_equals_stays(monkeypatch):
    def mutant(job, visited, blocks):
        block = np.concatenate(blocks, axis=1)
        block = block[:, np.argsort(block[0])[::-1]]
        first = visited.insert(np.ascontiguousarray(block[1:]))
        block = block[:, first][:, ::-1]
        numbers = np.ascontiguousarray(block[0]).view(np.int64)
        instances = (numbers & ((1 << job.shift) - 1)).astype(np.int32)
        return StateRows(block[1:], numbers, numbers >> job.shift, instances)

    monkeypatch.setattr(worker, "_first_of_equals", mutant)


def _equal_states_of_a_level_are_kept_twice(monkeypatch):
    class Forgetful(VisitedSet):
        def insert(self, words):
            super().insert(words)
            return np.ones(words.shape[1], np.bool_)

    monkeypatch.setattr(visited, "VisitedSet", Forgetful)


def _ranges_are_ranked_as_if_there_were_one(monkeypatch):
    from checker.core.spark import renumber
    from tests.support import stores

    original = renumber.rank_numbers
    monkeypatch.setattr(stores, "rank_numbers", lambda shift, parcels: original(0, parcels))


MUTANTS = [
    _owner_changes_with_the_level,
    _earlier_levels_are_not_looked_at,
    _only_the_last_level_is_looked_at,
    _the_last_of_equals_stays,
    _equal_states_of_a_level_are_kept_twice,
    _ranges_are_ranked_as_if_there_were_one,
]


@pytest.mark.parametrize("mutate", MUTANTS)
def test_the_laws_notice_a_broken_step(tmp_path, without_spark, monkeypatch, mutate):
    model = model_named("kip320", TINY)
    numbers = 1 << 20 if mutate is _ranges_are_ranked_as_if_there_were_one else NUMBERS
    limits = Limits(depth=12)
    mutate(monkeypatch)
    found = distributed(tmp_path, model, without_spark, 3, limits=limits, numbers=numbers)
    assert found != plain(model, limits=limits)


@pytest.mark.parametrize("numbers", [1 << 20, NUMBERS])
def test_unbroken_nothing_is_noticed(tmp_path, without_spark, numbers):
    model, limits = model_named("kip320", TINY), Limits(depth=12)
    found = distributed(tmp_path, model, without_spark, 3, limits=limits, numbers=numbers)
    assert found == plain(model, limits=limits)


def _the_greatest_violation_is_told(monkeypatch):
    monkeypatch.setattr(distributed_module, "_least", lambda known, link: max(known or link, link))


def _slices_are_filtered_backwards(monkeypatch):
    original = worker._Expansion._first

    def mutant(self, words, found):
        return original(self, words[:, ::-1].copy(), found[::-1].copy())[::-1]

    monkeypatch.setattr(worker._Expansion, "_first", mutant)


@pytest.mark.parametrize(
    "mutate",
    [_the_greatest_violation_is_told, _slices_are_filtered_backwards, _the_last_of_equals_stays],
)
def test_the_laws_notice_another_trace(tmp_path, without_spark, monkeypatch, mutate):
    model = model_named("truncate_to_high_watermark", DEAD_ENDS)
    expected = plain(model)
    mutate(monkeypatch)
    found = distributed(tmp_path, model, without_spark, 3)
    assert found["levels"] == expected["levels"]
    assert found["violations"] != expected["violations"]
