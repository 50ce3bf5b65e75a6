"""What fingerprints promise: that every bit of a state counts, and how sure they are."""

from __future__ import annotations

import numpy as np
import pytest

from checker.core.search.fingerprints import _mix, collision_probability, fingerprints


def packed(states):
    return np.array(states, np.uint64).T.copy()


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


def test_the_probability_of_a_collision_is_bounded_by_the_number_of_pairs():
    assert collision_probability(0) == collision_probability(1) == 0
    assert collision_probability(2) == pytest.approx(2.0**-64)
    assert 1e-4 < collision_probability(65_000_000) < 2e-4
    assert collision_probability(2**40) == 1.0
