"""What workers of a machine promise each other: a set has one owner at a time, and is whole."""

import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from checker.core.search.memory import Table
from checker.core.search.visited_set import VisitedSet
from checker.core.spark import visited, worker
from checker.core.spark.handover import Handover
from checker.core.spark.parcels import Kind
from checker.core.spark.shared_table import SharedTable
from tests.support.stores import TINY, distributed, model_named, plain, without_spark
from tests.support.tiers import first_and_slow

__all__ = ["without_spark"]

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is handed over on Linux alone")
ROOT = Path(__file__).parents[3]
MANY = 3_000_000  # states: more than rows hold, so that some parts are buckets


def states(first, count):
    return np.arange(first, first + count, dtype=np.uint64)[np.newaxis, :]


def filled(count, memory=SharedTable):
    found = VisitedSet(1, False, memory=memory)
    assert found.insert(states(0, count)).all()
    return found


def taken(directory, name="a"):
    """What a worker that has nothing yet takes; there has to be something."""
    found = Handover(directory).take(name)
    assert found is not None
    return found


PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from checker.core.search.visited_set import VisitedSet
from checker.core.spark.handover import Handover
from checker.core.spark.shared_table import SharedTable

handover, what, count, exact = Handover(Path(sys.argv[1])), *sys.argv[2:]
if what == "give":
    visited = VisitedSet(1, exact == "True", memory=SharedTable)
    visited.insert(np.arange(int(count), dtype=np.uint64)[np.newaxis, :])
    handover.give("a", 3, visited)
    print("given", flush=True)
    sys.stdin.read()
else:
    given = handover.take("a")
    added = given.visited.insert(np.arange(400_000, 600_000, dtype=np.uint64)[np.newaxis, :])
    print(given.depth, given.visited.count, added.sum())
"""


def another_worker(directory, what, count=0, exact=False):
    command = [sys.executable, "-c", PROGRAM, str(directory), what, str(count), str(exact)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )


@pytest.fixture
def neighbour(tmp_path):
    """Starts a worker that gives a set, and lives until it is killed."""
    started = []

    def start(count=100_000, exact=False):
        process = another_worker(tmp_path, "give", count, exact)
        started.append(process)
        assert process.stdout.readline() == "given\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@linux
@pytest.mark.parametrize(("count", "exact"), [(1_000, False), (MANY, False), (1_000, True)])
def test_a_set_of_another_process_is_taken_over_whole(tmp_path, neighbour, count, exact):
    giver = neighbour(count, exact)
    given = taken(tmp_path)
    giver.kill()
    giver.wait()
    assert given.depth == 3
    assert given.visited.count == count
    assert given.visited.contains(states(0, count)).all()
    assert not given.visited.contains(states(count, 1_000)).any()
    assert given.visited.insert(states(count, count)).all()
    assert not given.visited.insert(states(0, 2 * count)).any()


@linux
def test_a_set_goes_from_one_process_to_the_next_and_back(tmp_path, neighbour):
    neighbour(1_000)
    here, given = Handover(tmp_path), taken(tmp_path)
    assert given.visited.insert(states(1_000, 500_000)).all()
    here.give("a", 4, given.visited)
    told, _ = another_worker(tmp_path, "grow").communicate()
    assert told == "4 600000 99000\n"
    here.forget(0)
    assert here.take("a") is None, "whoever took it is gone, and it with them"


@linux
def test_nobody_takes_what_another_has_taken_or_looks_at(tmp_path):
    giver, other = Handover(tmp_path), Handover(tmp_path)
    giver.give("a", 1, filled(10))
    with other.look("a") as seen, Handover(tmp_path).look("a") as again:
        assert seen is not None and again is not None
        assert again.token == seen.token
        assert seen.visited.contains(states(0, 10)).all()
        assert giver.take("a") is None
    found = giver.take("a")
    assert found is not None and found.visited.count == 10
    assert giver.take("a") is None
    assert other.take("a") is None
    with other.look("a") as seen:
        assert seen is None


@linux
def test_what_a_dead_process_has_given_is_gone(tmp_path, neighbour):
    giver = neighbour()
    giver.kill()
    giver.wait()
    assert (tmp_path / "a").exists()
    with Handover(tmp_path).look("a") as seen:
        assert seen is None
    assert Handover(tmp_path).take("a") is None
    assert not (tmp_path / "a").exists()


@linux
def test_memory_of_the_same_number_that_is_another_is_not_taken_for_it(tmp_path):
    giver, visited = Handover(tmp_path), filled(10)
    giver.give("a", 1, visited)
    one, other = (cast(SharedTable, table._memory)._file for table in visited._tables[:2])
    assert one is not None and other is not None
    os.dup2(other, one)
    assert Handover(tmp_path).take("a") is None


def test_sets_of_one_process_alone_are_its_own_and_no_others(tmp_path):
    for directory in (None, tmp_path):
        here, there = Handover(directory), Handover(directory)
        here.give("a", 1, filled(10, memory=Table))
        assert there.take("a") is None
        with here.look("a") as seen:
            assert (seen is not None) is (directory is None)
        assert list(tmp_path.iterdir()) == []


@linux
def test_where_no_shared_memory_is_to_be_had_each_has_its_own(tmp_path, monkeypatch):
    def refuse(_):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "memfd_create", refuse)
    found = filled(100_000)
    assert not found.insert(states(0, 100_000)).any()
    Handover(tmp_path).give("a", 1, found)
    assert list(tmp_path.iterdir()) == []


@linux
def test_where_no_notice_can_be_written_a_set_is_shared_with_nobody(tmp_path):
    (tmp_path / "file").touch()
    Handover(tmp_path / "file").give("a", 1, filled(10))
    assert Handover(tmp_path / "file").take("a") is None


@linux
def test_the_oldest_are_forgotten_but_never_the_last(tmp_path):
    here, there = Handover(tmp_path), Handover(tmp_path)
    for name in "abc":
        here.give(name, 1, filled(1_000))
    most = 2 * filled(1_000).bytes
    here.forget(most)
    assert there.take("a") is None
    assert taken(tmp_path, "b").visited.count == 1_000
    here.forget(0)
    assert taken(tmp_path, "c").visited.count == 1_000


# --- in a search ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("where", first_and_slow("shared", "alone"))
def test_where_sets_are_changes_nothing(tmp_path, without_spark, monkeypatch, where):
    """Every task is another worker's, and shares its directory with the others, or nothing."""
    model = model_named("kip320", TINY)
    place = tmp_path / "sets" if where == "shared" else None
    fresh = []

    def another_worker(run, _):
        fresh.append(Handover(place))
        return fresh[-1]

    monkeypatch.setattr(visited, "_handover", another_worker)
    monkeypatch.setattr(visited, "Table", SharedTable)
    assert distributed(tmp_path / "store", model, without_spark, 3) == plain(model)
    assert len(fresh) > 100


def test_a_level_that_is_expanded_again_sends_no_less(tmp_path, without_spark, monkeypatch):
    """What its owners have kept by then must not be taken for earlier levels."""
    model = model_named("kip320", TINY)
    keep_new, expand_slice, slices = worker.keep_new, worker.expand_slice, []

    def sent(parcels):
        blocks = [p.content for p in parcels if p.kind == Kind.STATES]
        numbers = [np.frombuffer(b, np.uint64).reshape(-1, len(b) // 16).T for b in blocks]
        return {tuple(row) for block in numbers for row in block.tolist()}

    def expand(job, work):
        parcels = list(expand_slice(job, work))
        slices.append((job, work, sent(parcels)))
        return parcels

    def keep(job, parcels):
        notes = list(keep_new(job, parcels))
        again = [sent(expand_slice(job, work)) >= sure for of, work, sure in slices if of is job]
        assert again
        assert all(again)
        return notes

    monkeypatch.setattr(worker, "expand_slice", expand)
    monkeypatch.setattr(worker, "keep_new", keep)
    assert distributed(tmp_path, model, without_spark, 2) == plain(model)
    assert len(slices) > 10
