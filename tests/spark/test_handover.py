"""What workers of a machine promise each other: a set has one owner at a time, and is whole."""

import multiprocessing
import os
import signal
import sys
from contextlib import suppress

import numpy as np
import pytest

from checker.search.memory import Table
from checker.search.visited_set import VisitedSet
from checker.spark import shared_table, visited, worker
from checker.spark.handover import Handover
from checker.spark.parcels import Kind
from checker.spark.shared_table import SharedTable
from tests.support.stores import TINY, distributed, model_named, plain, without_spark

__all__ = ["without_spark"]

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is handed over on Linux alone")
MANY = 3_000_000  # states: more than rows hold, so that some parts are buckets


def states(first, count):
    return np.arange(first, first + count, dtype=np.uint64)[np.newaxis, :]


def filled(count, exact=False, memory=SharedTable):
    found = VisitedSet(1, exact, memory=memory)
    assert found.insert(states(0, count)).all()
    return found


def in_another_process(does, *arguments):
    """What a function gives in a process of its own, which ends."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def run():
        theirs.send(does(*arguments))

    process = context.Process(target=run)
    process.start()
    found = ours.recv()
    process.join()
    return found


class Neighbour:
    """Another worker, which gives a set and then lives until it is told to end."""

    def __init__(self, directory, name, count, exact=False):
        ready, self._go = os.pipe(), os.pipe()
        self.process = os.fork()
        if self.process == 0:
            with suppress(BaseException):
                Handover(directory).give(name, 3, kept := filled(count, exact))
                os.write(ready[1], b"x")
                os.read(self._go[0], 1)
                assert kept
            os._exit(0)
        os.read(ready[0], 1)

    def end(self, how=signal.SIGKILL):
        os.kill(self.process, how)
        os.waitpid(self.process, 0)


@pytest.fixture
def neighbour(tmp_path):
    started = []

    def start(name="a", count=100_000, exact=False):
        started.append(Neighbour(tmp_path, name, count, exact))
        return started[-1]

    yield start
    for each in started:
        with suppress(OSError):
            each.end()


@linux
@pytest.mark.parametrize(("count", "exact"), [(1_000, False), (MANY, False), (1_000, True)])
def test_a_set_of_another_process_is_taken_over_whole(tmp_path, neighbour, count, exact):
    giver = neighbour("a", count, exact)
    given = Handover(tmp_path).take("a")
    giver.end()
    assert given.depth == 3
    assert given.visited.count == count
    assert given.visited.contains(states(0, count)).all()
    assert not given.visited.contains(states(count, 1_000)).any()
    assert given.visited.insert(states(count, count)).all()
    assert not given.visited.insert(states(0, 2 * count)).any()


@linux
def test_a_set_goes_from_one_process_to_the_next_and_back(tmp_path, neighbour):
    neighbour("a", 1_000)
    here = Handover(tmp_path)
    given = here.take("a")
    assert given.visited.insert(states(1_000, 500_000)).all()
    here.give("a", 4, given.visited)

    def grow():
        there = Handover(tmp_path)
        taken = there.take("a")
        added = taken.visited.insert(states(400_000, 200_000))
        return taken.depth, taken.visited.count, int(added.sum())

    assert in_another_process(grow) == (4, 600_000 - 1_000 + 1_000, 99_000)
    here.forget(0)
    assert here.take("a") is None, "whoever took it is gone, and it with them"


@linux
def test_nobody_takes_what_another_has_taken_or_looks_at(tmp_path):
    giver, other = Handover(tmp_path), Handover(tmp_path)
    giver.give("a", 1, filled(10))
    with other.look("a") as seen:
        assert seen.visited.contains(states(0, 10)).all()
        assert giver.take("a") is None
        with Handover(tmp_path).look("a") as third:
            assert third.token == seen.token
    assert giver.take("a").visited.count == 10
    assert giver.take("a") is None
    assert other.take("a") is None
    with other.look("a") as seen:
        assert seen is None


@linux
def test_what_a_dead_process_has_given_is_gone(tmp_path, neighbour):
    neighbour("a").end()
    assert (tmp_path / "a").exists()
    with Handover(tmp_path).look("a") as seen:
        assert seen is None
    assert Handover(tmp_path).take("a") is None
    assert not (tmp_path / "a").exists()


@linux
def test_memory_of_the_same_number_that_is_another_is_not_taken_for_it(tmp_path, monkeypatch):
    giver = Handover(tmp_path)
    giver.give("a", 1, filled(10))
    [table, *others] = giver._given["a"].visited._tables
    os.dup2(others[0]._memory._file, table._memory._file)
    assert Handover(tmp_path).take("a") is None


@linux
def test_memory_ends_with_the_processes_that_know_it(tmp_path, neighbour):
    def shared():
        with open("/proc/meminfo") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("Shmem:"))

    before = shared()
    giver = neighbour("a", MANY)
    assert shared() - before > 20_000, "kilobytes"
    giver.end()
    assert shared() - before < 10_000


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

    monkeypatch.setattr(shared_table.os, "memfd_create", refuse)
    found = filled(100_000)
    assert not found.insert(states(0, 100_000)).any()
    Handover(tmp_path).give("a", 1, found)
    assert list(tmp_path.iterdir()) == []


@linux
def test_the_oldest_are_forgotten_but_never_the_last(tmp_path):
    here, there = Handover(tmp_path), Handover(tmp_path)
    for name in "abc":
        here.give(name, 1, filled(1_000))
    most = 2 * filled(1_000).bytes
    here.forget(most)
    assert there.take("a") is None
    assert there.take("b").visited.count == 1_000
    here.forget(0)
    assert there.take("c").visited.count == 1_000


# --- in a search ------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["shared", "alone"])
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
