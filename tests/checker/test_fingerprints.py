"""What the visited set promises: each state is new exactly once, however it is fed and grows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.search.fingerprints import VisitedSet, _mix, collision_probability, fingerprints

both_kinds = pytest.mark.parametrize("exact", [False, True])
words_of = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1])


def packed(states):
    return np.array(states, np.uint64).T.copy()


@both_kinds
@given(st.lists(st.lists(st.tuples(words_of, words_of), min_size=1, max_size=30), max_size=6))
@settings(deadline=None)
def test_a_state_is_new_the_first_time_only_within_and_between_batches(exact, batches):
    visited, seen = VisitedSet(2, exact, slots=64), set()
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
    visited = VisitedSet(1, exact, slots=64)
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
    visited = VisitedSet(3, exact, slots=64)
    assert visited.growth(1) == 0
    promised = visited.growth(10_000)
    visited.insert(np.arange(30_000, dtype=np.uint64).reshape(3, 10_000))
    assert visited.bytes == promised


@both_kinds
def test_a_batch_of_any_size_leaves_free_slots_to_end_a_search_at(exact):
    for more in (1, 900, 1_000, 1_100, 1_228, 1_300, 2_000, 5_000):
        visited = VisitedSet(1, exact, slots=1_024)
        slots = (visited.growth(more) or visited.bytes) // (16 if exact else 8)
        assert slots * 0.9 >= more


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


def test_fingerprints_are_never_zero_and_every_word_and_its_place_count():
    states = packed([(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (1, 2)])
    found = fingerprints(states)
    assert found.all()
    assert len(set(found.tolist())) == 6


@pytest.mark.parametrize("word", range(3))
@pytest.mark.parametrize("bit", [0, 1, 31, 32, 62, 63])
def test_one_bit_of_a_state_changes_about_half_of_its_fingerprint(word, bit):
    states = np.random.default_rng(1).integers(0, 2**64, (3, 500), np.uint64)
    changed = states.copy()
    changed[word] ^= np.uint64(1 << bit)
    difference = fingerprints(states) ^ fingerprints(changed)
    flipped = np.unpackbits(difference.view(np.uint8)).sum() / 500
    assert 30 < flipped < 34


def test_states_that_differ_in_low_bits_spread_over_the_table():
    slots = fingerprints(np.arange(4096, dtype=np.uint64)[np.newaxis, :]) & np.uint64(4095)
    assert len(set(slots.tolist())) > 2400  # 4096 balls into 4096 bins fill about 2589


def test_a_state_of_one_word_has_a_fingerprint_of_its_own():
    """The mixing can be undone, so no two words are mixed to the same number."""

    def unshift(value):
        return value ^ (value >> 32)

    inverse = pow(0xD6E8FEB86659FD93, -1, 2**64)
    for word in (0, 1, 12345, 2**63, 2**64 - 1):
        value = unshift(int(_mix(np.uint64(word))))
        for _ in range(2):
            value = unshift(value * inverse % 2**64)
        assert value == word


def test_exact_sets_tell_apart_states_whose_fingerprints_collide(monkeypatch):
    import checker.search.fingerprints as module

    monkeypatch.setattr(module, "fingerprints", lambda words: np.full(words.shape[1], 7, np.uint64))
    states = packed([(1, 2), (3, 4), (1, 2)])
    assert VisitedSet(2, exact=True).insert(states).tolist() == [True, True, False]
    assert VisitedSet(2, exact=False).insert(states).tolist() == [True, False, False]


def test_the_probability_of_a_collision_is_bounded_by_the_number_of_pairs():
    assert collision_probability(0) == collision_probability(1) == 0
    assert collision_probability(2) == pytest.approx(2.0**-64)
    assert 1e-4 < collision_probability(65_000_000) < 2e-4
    assert collision_probability(2**40) == 1.0
    visited = VisitedSet(1, exact=True)
    visited.insert(np.arange(100, dtype=np.uint64)[np.newaxis, :])
    assert visited.collision_probability == 0.0
