"""What the frontier promises: each state once, in order, and no batch of two levels."""

from __future__ import annotations

import os
import tempfile

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.engines.vectorised import Successors
from checker.core.search.fresh import counted, fresh
from checker.core.search.frontier import Frontier, in_batches, joined


def numbered(start, count):
    return np.arange(2 * start, 2 * (start + count), dtype=np.uint64).reshape(count, 2).T


def taken_from(frontier):
    batch = frontier.take()
    assert batch is not None
    return joined(batch)


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), min_size=1, max_size=5),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
    st.sampled_from([0, 100, 1 << 20]),
)
@settings(deadline=None)
def test_states_come_once_in_order_in_full_batches_of_one_level(levels, size, random, in_memory):
    """However putting and taking alternate, and wherever states wait; a level is used up before
    the next one is whole.
    """
    frontier, taken, put = Frontier(size, least=size, in_memory=in_memory), [], 0
    for level in levels:
        before = put
        for count in level:
            frontier.put(numbered(put, count))
            put += count
            while random.random() < 0.5 and (batch := frontier.take()) is not None:
                taken.append(joined(batch))
            held = sum(p.nbytes for p in frontier._pieces if isinstance(p, np.ndarray))
            assert held == frontier._held <= in_memory
        while frontier._whole:
            taken.append(taken_from(frontier))
        frontier.end_level()
        ends = np.cumsum([batch.shape[1] for batch in taken])
        assert not [end for end in ends if before < end < put and (end - before) % size]
    while (batch := frontier.take()) is not None:
        taken.append(joined(batch))
    assert np.array_equal(np.concatenate([numbered(0, 0), *taken], axis=1), numbered(0, put))
    assert all(batch.shape[1] for batch in taken)


def test_states_on_disk_are_gone_with_their_level(monkeypatch, tmp_path):
    """A file has no name, and is closed when nobody may read it any more."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    frontier, files = Frontier(4, in_memory=0), []
    for start in (0, 8, 16):
        frontier.put(numbered(start, 8))
        file = frontier._scratch._file
        assert file is not None
        files.append(file)
        frontier.end_level()
        assert list(tmp_path.iterdir()) == []
        assert [file.closed for file in files] == [True] * (len(files) - 1) + [False]
        for first in (start, start + 4):
            assert np.array_equal(taken_from(frontier), numbered(first, 4))
    assert all(file.closed for file in files)


def test_states_wait_in_memory_where_the_disk_is_full(monkeypatch):
    def pwrite(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", pwrite)
    frontier = Frontier(8, in_memory=0)
    frontier.put(numbered(0, 5))
    frontier.put(numbered(5, 3))
    frontier.end_level()
    assert np.array_equal(taken_from(frontier), numbered(0, 8))


def test_what_is_not_full_waits_until_its_level_is_whole():
    frontier = Frontier(4, least=4)
    frontier.put(numbered(0, 3))
    assert frontier.take() is None
    frontier.put(numbered(3, 3))
    assert np.array_equal(taken_from(frontier), numbered(0, 4))
    assert frontier.take() is None
    frontier.end_level()
    frontier.put(numbered(6, 2))
    last = taken_from(frontier)
    assert np.array_equal(last, numbered(4, 2)), "not with states of the next level"


def test_a_small_level_is_shared_out_in_batches_that_are_not_too_small():
    frontier, sizes = Frontier(10, shares=3, least=2), []
    for count in (5, 1, 24, 60):
        frontier.put(numbered(0, count))
        frontier.end_level()
        while (batch := frontier.take()) is not None:
            sizes.append(joined(batch).shape[1])
    assert sizes == [2, 2, 1, 1, 8, 8, 8, *([10] * 6)]


@given(st.lists(st.integers(0, 5), max_size=6), st.integers(1, 7))
def test_pieces_are_cut_into_batches(sizes, size):
    starts = np.cumsum([0, *sizes])
    pieces = [numbered(start, count) for start, count in zip(starts, sizes, strict=False)]
    batches = list(in_batches(pieces, size))
    assert [batch.shape[1] for batch in batches[:-1]] == [size] * (len(batches) - 1)
    whole = np.concatenate([numbered(0, 0), *batches], axis=1)
    assert np.array_equal(whole, numbered(0, int(starts[-1])))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 7))), st.integers(1, 3))
def test_of_the_steps_those_to_new_states_are_taken(steps, words):
    new = np.array([step[0] for step in steps], np.bool_)
    rows = np.array([step[1] for step in steps], np.int32)
    instances = np.array([step[2] for step in steps], np.uint16)
    after = np.arange(words * (len(steps) + 2), dtype=np.uint64).reshape(words, -1)[:, 2:]
    found = fresh(Successors(rows, instances, after), after, new)
    assert np.array_equal(found.words, after[:, new])
    assert np.array_equal(found.rows, rows[new])
    assert np.array_equal(found.instances, instances[new])
    assert counted(instances, 8).tolist() == [(instances == k).sum() for k in range(8)]
