"""Fingerprints: 64 bits of a state's words, by which states are told apart unless asked exactly.

With n states, the expected number of pairs that share one is n(n-1)/2^65: at 65 million states
about 10^-4. A state of one word has a fingerprint of its own, since the mixing is a bijection.

Pairs of states come in families: where (a, b) and (c, d) share a fingerprint, so do (a, b ^ x) and
(c, d ^ x) for each x. So several at once are no surprise. The number that is expected stays the
same, and the probability that there is one is lower, so the bound holds.
"""

from __future__ import annotations

import numpy as np

from checker.core.engines.layout import Words
from checker.core.native.kernel import kernel

FINGERPRINT_BITS = 64


@kernel
def _mix(value: np.uint64) -> np.uint64:
    """A bijection on 64 bits in which every input bit changes about half of the output bits."""
    value ^= value >> np.uint64(32)
    value *= np.uint64(0xD6E8FEB86659FD93)
    value ^= value >> np.uint64(32)
    value *= np.uint64(0xD6E8FEB86659FD93)
    value ^= value >> np.uint64(32)
    return value


@kernel
def _fingerprints(words: Words, out: Words) -> None:
    for i in range(words.shape[1]):
        value = np.uint64(0)
        for w in range(words.shape[0]):
            value = _mix(value ^ words[w, i]) + np.uint64(0x9E3779B97F4A7C15)
        out[i] = value if value != 0 else np.uint64(1)


def fingerprints(words: Words) -> Words:
    """The 64-bit fingerprint of each state of a packed batch, shape (n,). Never 0."""
    out = np.empty(words.shape[1], np.uint64)
    _fingerprints(words, out)
    return out


def collision_probability(states: int) -> float:
    """An upper bound on the probability that two of so many states share a fingerprint."""
    return min(1.0, states * max(states - 1, 0) / 2.0 ** (FINGERPRINT_BITS + 1))
