"""What the visited set promises: each state is new exactly once, however it is fed and grows."""

from __future__ import annotations

import mmap
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.search import memory, visited_set
from checker.core.search.memory import Table
from checker.core.search.visited_set import PARTS, VisitedSet

both_kinds = pytest.mark.parametrize("exact", [False, True])
words_of = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1])


def packed(states):
    return np.array(states, np.uint64).T.copy()


@both_kinds
@given(st.lists(st.lists(st.tuples(words_of, words_of), min_size=1, max_size=30), max_size=6))
@settings(deadline=None)
def test_a_state_is_new_the_first_time_only_within_and_between_batches(exact, batches):
    visited, seen = VisitedSet(2, exact, rows=64), set()
    for batch in batches:
        expected = []
        for state in batch:
            expected.append(state not in seen)
            seen.add(state)
        assert visited.insert(packed(batch)).tolist() == expected
        assert visited.count == len(seen)
        assert visited.contains(packed(batch)).all()


@both_kinds
def test_growing_forgets_nothing(exact):
    visited = VisitedSet(1, exact, rows=64)
    states = np.arange(50_000, dtype=np.uint64)[np.newaxis, :]
    before = visited.bytes
    for start in range(0, 50_000, 999):
        assert visited.insert(states[:, start : start + 999]).all()
    assert visited.bytes > before
    assert not visited.insert(states).any()
    assert visited.contains(states).all()
    assert not visited.contains(states + np.uint64(50_000)).any()
    assert visited.count == 50_000


@both_kinds
def test_the_table_says_beforehand_how_much_it_will_grow(exact):
    visited = VisitedSet(3, exact, rows=64)
    assert visited.growth(visited.batch(np.ones((3, 1), np.uint64))) == 0
    batch = visited.batch(np.arange(30_000, dtype=np.uint64).reshape(3, 10_000))
    before, promised = visited.bytes, visited.growth(batch)
    visited.add(batch)
    assert promised <= visited.bytes <= before + promised
    assert visited.bytes > before


@both_kinds
def test_a_batch_of_any_size_leaves_free_rows_in_every_part_to_end_a_search_at(exact):
    for more in (1, 55, 56, 57, 60, 900, 1_100, 5_000):
        visited = VisitedSet(1, exact, rows=64 * PARTS)
        visited.insert(np.arange(more, dtype=np.uint64)[np.newaxis, :])
        for table in visited._tables:
            assert (table.table[:, 0] == 0).sum() >= 0.1 * len(table.table)


@both_kinds
def test_an_empty_batch_is_nothing(exact):
    visited = VisitedSet(2, exact)
    assert visited.insert(np.empty((2, 0), np.uint64)).tolist() == []
    assert visited.count == 0


def test_the_all_zero_state_is_a_state_like_any_other():
    for exact in (False, True):
        visited = VisitedSet(2, exact)
        zero = np.zeros((2, 3), np.uint64)
        assert visited.insert(zero).tolist() == [True, False, False]


def test_exact_sets_tell_apart_states_whose_fingerprints_collide(monkeypatch):
    monkeypatch.setattr(
        visited_set, "fingerprints", lambda words: np.full(words.shape[1], 7, np.uint64)
    )
    states = packed([(1, 2), (3, 4), (1, 2)])
    assert VisitedSet(2, exact=True).insert(states).tolist() == [True, True, False]
    assert VisitedSet(2, exact=False).insert(states).tolist() == [True, False, False]


@both_kinds
@pytest.mark.parametrize("ahead", [False, True])
def test_threads_that_add_to_parts_of_their_own_change_nothing(exact, ahead):
    """Also where a part has room made for it beforehand."""
    states = np.random.default_rng(3).integers(0, 60_000, (2, 300_000), np.uint64)
    states[1] = 0
    alone, shared = VisitedSet(2, exact), VisitedSet(2, exact)
    lanes = [range(5), range(5, 6), range(6, PARTS)]

    def add(batch, parts):
        if ahead:
            shared.make_room(batch, parts)
            assert not shared.growth(batch, parts)
        shared.add(batch, parts)

    with ThreadPoolExecutor(len(lanes)) as pool:
        for start in range(0, states.shape[1], 50_000):
            words = np.ascontiguousarray(states[:, start : start + 50_000])
            batch = shared.batch(words)
            list(pool.map(add, [batch] * len(lanes), lanes))
            assert batch.new.tolist() == alone.insert(words).tolist()
    assert shared.count == alone.count == len(np.unique(states[0]))


def test_states_of_one_owner_are_spread_over_all_parts():
    """Workers of a cluster own states by the upper bits of their fingerprints."""
    visited = VisitedSet(1)
    found = np.random.default_rng(4).integers(1, 2**56, 100_000, np.uint64)
    visited.insert_fingerprints(found)
    assert min(table.count for table in visited._tables) > 0.9 * len(found) / PARTS


@both_kinds
def test_a_table_in_huge_pages_is_a_table_like_any_other(exact, monkeypatch):
    monkeypatch.setattr(memory, "_HUGE", 0)
    states = np.arange(100_000, dtype=np.uint64)[np.newaxis, :]
    visited = VisitedSet(1, exact)
    assert visited.insert(states).all()
    assert not visited.insert(states).any()


@pytest.mark.parametrize("how", ["in place", "looked at", "not possible"])
def test_a_table_that_grows_keeps_what_it_has_and_adds_zeros(how, monkeypatch):
    table = Table(1 << 16, 16, np.uint32)
    table.array[:] = np.arange(16)
    seen = table.array if how == "looked at" else None
    if how == "not possible":
        monkeypatch.setattr(memory, "mmap", _NoGrowing)
        table._memory = _Fixed(-1, 1 << 22)
        table._memory[:] = table.array.tobytes()
    table.grow(100_000)
    assert table.array.shape == (100_000, 16)
    assert (table.array[: 1 << 16] == np.arange(16)).all()
    assert not table.array[1 << 16 :].any()
    assert seen is None or (seen == np.arange(16)).all()


class _Fixed(mmap.mmap):
    """Memory of a fixed size."""

    def resize(self, size):
        raise SystemError("mmap: resizing not available--no mremap()")


class _NoGrowing:
    """As the module `mmap` is where memory cannot grow in place."""

    mmap, MAP_PRIVATE, MAP_ANONYMOUS = _Fixed, mmap.MAP_PRIVATE, mmap.MAP_ANONYMOUS


def test_a_table_that_cannot_grow_is_left_as_it_is():
    table = Table(1 << 16, 16, np.uint32)
    table.array[:] = 7
    with pytest.raises(MemoryError):
        table.grow(1 << 55)
    assert table.array.shape == (1 << 16, 16)
    assert (table.array == 7).all()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of GNU's C library alone")
def test_memory_of_one_batch_is_kept_for_the_next_one_also_of_another_thread():
    code = """if True:
        import resource, threading
        import numpy as np
        from checker.core.search.memory import keep_for_the_next

        def faults():
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

        def batches():
            before = faults()
            for _ in range(20):
                [np.ones(3 << 20, np.uint8) for _ in range(4)]
            return faults() - before

        given_back = batches()
        keep_for_the_next()
        kept = batches()
        other = threading.Thread(target=lambda: print(batches()))
        other.start()
        other.join()
        print(given_back, kept)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    by_another, given_back, kept = map(int, done.stdout.split())
    assert kept < given_back / 4
    assert by_another < kept / 4


def test_memory_that_is_not_to_be_had_is_a_memory_error():
    with pytest.raises(MemoryError):
        Table(1 << 60, 1, np.uint64)


def test_only_whole_states_rule_out_a_collision():
    states = np.arange(100, dtype=np.uint64)[np.newaxis, :]
    sets = {exact: VisitedSet(1, exact) for exact in (False, True)}
    for visited in sets.values():
        visited.insert(states)
    assert sets[True].collision_probability == 0.0 < sets[False].collision_probability
