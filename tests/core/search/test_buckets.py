"""What tables of buckets, and what is kept beside full ones, promise: as the visited set does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.search import table_kernels, tables, visited_set
from checker.core.search.table_kernels import LEAST_BUCKETS, PART_BITS, PLACES
from checker.core.search.tables import Beside, Buckets, Rows
from checker.core.search.visited_set import PARTS, VisitedSet

GATHER = pow(0x9E3779B97F4A7C15, -1, 2**64)  # what undoes the spreading of a fingerprint
ALL = np.arange(1 << 20, dtype=np.int32)
NO_WORDS = np.empty((0, 0), np.uint64)


def inserted(table, found):
    new = np.empty(len(found), np.bool_)
    table.insert(NO_WORDS, found, ALL[: len(found)], new)
    return new


def held(table, found):
    answers = np.empty(len(found), np.bool_)
    table.lookup(NO_WORDS, found, ALL[: len(found)], answers)
    return answers


BELOW = 64 - PART_BITS
OF_ONE = 2**BELOW // LEAST_BUCKETS  # how many values the bits below the part's have in one bucket


def in_bucket(rests, bucket=0):
    """Fingerprints of part 5 and one bucket of the fewest, by their distance from its first."""
    first = (5 << BELOW) + bucket * OF_ONE
    return np.array([(first + rest) * GATHER % 2**64 for rest in rests], np.uint64)


rests_of = st.integers(0, OF_ONE - 1) | st.sampled_from(
    [0, 1, 2**32, 2**33, OF_ONE // 2, OF_ONE - 1, OF_ONE - 2**32]
)


@given(
    st.lists(st.lists(rests_of, min_size=1, max_size=20), min_size=1, max_size=4),
    st.sampled_from([0, 1, 77_777, LEAST_BUCKETS - 1]),
)
@settings(deadline=None, max_examples=30)
def test_a_bucket_holds_what_was_put_there_and_no_more(batches, bucket):
    """Two fingerprints that differ in one bit are two, also where a bucket is full or grows."""
    table, seen = Buckets(LEAST_BUCKETS), set()
    for batch in batches:
        expected = []
        for rest in batch:
            expected.append(rest not in seen)
            seen.add(rest)
        assert inserted(table, in_bucket(batch, bucket)).tolist() == expected
        assert table.count == len(seen)
    several = [rest ^ bit for rest in seen for bit in (1, 2**31, 2**32, OF_ONE // 2)]
    for buckets in (LEAST_BUCKETS * 5 // 4, LEAST_BUCKETS * 2, None):
        assert table.count == len(seen)
        assert held(table, in_bucket(sorted(seen), bucket)).all()
        answers = held(table, in_bucket(several, bucket))
        assert answers.tolist() == [rest in seen for rest in several]
        if buckets is not None:
            table._grow(buckets)


def test_what_finds_its_bucket_full_is_found_beside_it_even_after_growing(monkeypatch):
    table = Buckets(LEAST_BUCKETS)
    many = in_bucket(range(0, OF_ONE, OF_ONE // 64))
    assert inserted(table, many).all()
    assert table.beside.count == len(many) - PLACES
    assert not inserted(table, many).any()
    monkeypatch.setattr(tables, "_BUCKETS_GROW_AT", 63 / (PLACES * LEAST_BUCKETS))
    assert table.with_room(0) is table
    assert len(table.table) == LEAST_BUCKETS * 5 // 4
    assert 0 < table.beside.count < len(many) - PLACES
    assert table.count == len(many)
    assert not inserted(table, many).any()


def test_of_equal_states_beside_a_full_bucket_the_first_one_is_new():
    table = Buckets(LEAST_BUCKETS)
    many = in_bucket(range(0, OF_ONE, OF_ONE // 64))
    new = inserted(table, np.concatenate([many[:40], many[30:], many[::-1]]))
    assert new.tolist() == [True] * 40 + [False] * 10 + [True] * 24 + [False] * 64
    assert table.beside.count == 64 - PLACES


def test_two_full_buckets_that_grow_into_one_lose_nothing(monkeypatch):
    table = Buckets(LEAST_BUCKETS)
    end, begin = range(OF_ONE - PLACES, OF_ONE), range(PLACES)
    many = np.concatenate([in_bucket(end, 0), in_bucket(begin, 1)])
    assert inserted(table, many).all()
    assert table.beside.count == 0
    monkeypatch.setattr(tables, "_BUCKETS_GROW_AT", 23 / (PLACES * LEAST_BUCKETS))
    table.with_room(0)
    assert table.beside.count == PLACES
    assert not inserted(table, many).any()


@given(st.sets(st.integers(1, 2**64 - 1), max_size=300), st.integers(0, 300), st.integers(0, 900))
@settings(deadline=None)
def test_what_is_kept_beside_takes_few_rows_and_loses_nothing(found, more, rows):
    """Also rows that were crowded at an end, and what came round it, when they become fewer."""
    before, tables._BESIDE = tables._BESIDE, 16
    try:
        found = np.array(sorted(found), np.uint64)
        table = Beside(0, 16 + rows).with_room(len(found))
        assert inserted(table, found).all()
        fewer = table.no_larger(more)
        assert len(fewer.table) <= len(table.table)
        assert fewer.with_room(more) is fewer or len(table.table) == len(fewer.table)
        assert len(fewer.table) <= max(16, (len(found) + more) / 0.7 + 1)
        assert held(fewer, found).all()
        assert not held(fewer, np.setdiff1d(found + np.uint64(1), found)).any()
        assert (fewer.table[:, 0] != 0).sum() == fewer.count == len(found)
    finally:
        tables._BESIDE = before


def longest_run(rows):
    """How many rows in a row are in use, at most: so far a search may have to go."""
    free = np.flatnonzero(np.concatenate([[0], rows.table[:, 0], [0]]) == 0)
    return int(np.diff(free).max()) - 1


@pytest.mark.slow
def test_what_is_kept_beside_is_never_crowded_while_a_table_grows(monkeypatch):
    """Else each state that is moved looks at thousands of others, and growing takes for ever."""
    random, table, runs = np.random.default_rng(7), Buckets(LEAST_BUCKETS), []
    spread = table_kernels.spread_buckets

    def spread_and_look(*arguments):
        added = spread(*arguments)
        if arguments[0] % (1 << 13) == 0:
            runs.append(longest_run(table.beside))
        return added

    monkeypatch.setattr(tables, "spread_buckets", spread_and_look)
    monkeypatch.setattr(tables, "_AT_ONCE", 1 << 8)
    monkeypatch.setattr(tables, "_BESIDE", 1 << 12)
    while len(runs) < 150:
        bits = random.integers(0, 2**BELOW, 200_000, np.uint64)
        found = (bits | np.uint64(5 << BELOW)) * np.uint64(GATHER)
        table = table.with_room(len(found))
        inserted(table, found)
    assert table.beside.count > 100_000
    assert max(runs) < 1_000


def test_rows_become_buckets_that_grow_and_forget_nothing(monkeypatch):
    monkeypatch.setattr(tables, "_BUCKETS_GROW_AT", 0.01)
    found = np.unique(np.random.default_rng(5).integers(1, 2**64 - 1, 200_000, np.uint64))
    rows = Rows(0, 1 << 16)
    first, rest = found[::4], np.setdiff1d(found, found[::4])
    rows = rows.with_room(len(first))
    assert inserted(rows, first).all()
    table, sizes = Buckets.of(rows, 0), set()
    for some in np.array_split(rest, 20):
        room = table.growth(len(some))
        before, table = table.bytes, table.with_room(len(some))
        assert room <= table.bytes <= before + room
        assert inserted(table, some).all()
        sizes.add(len(table.table))
    assert len(sizes) > 3
    assert table.count == len(found)
    assert held(table, found).all()
    assert not inserted(table, found).any()
    absent = np.setdiff1d(found + np.uint64(1), found)
    assert not held(table, absent).any()


def test_all_buckets_together_are_never_as_empty_as_one_part_that_has_just_grown():
    for states in np.geomspace(6e6, 1e9, 500).astype(int):
        table = sum(
            tables._buckets_for(tables.first_buckets(part), states) for part in range(PARTS)
        )
        assert 0.75 < PARTS * states / (table * PLACES) <= 0.9


@pytest.mark.slow
def test_a_set_with_buckets_takes_a_third_of_the_memory_and_finds_the_same(monkeypatch):
    found = np.random.default_rng(6).integers(1, 2**64 - 1, 8_000_000, np.uint64)
    found[1::5] = found[::5]
    sets = []
    for most in (1 << 40, 1 << 16):
        monkeypatch.setattr(visited_set, "_MOST_ROWS", most)
        visited = VisitedSet(1)
        new = [visited.add(visited._sorted_out(some)) for some in np.array_split(found, 7)]
        sets.append((np.concatenate(new).tolist(), visited.count))
    assert sets[0] == sets[1]
    assert {type(table) for table in visited._tables} == {Buckets}
