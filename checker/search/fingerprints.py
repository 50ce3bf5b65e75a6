"""The visited set: which states have been seen, kept as fingerprints or, exactly, as whole states.

A fingerprint is 64 bits of a state's words. With n states, the expected number of pairs that share
one is n(n-1)/2^65: at 65 million states about 10^-4. A state of one word has a fingerprint of its
own, since the mixing is a bijection.

Open addressing with linear probing, in kernels compiled by numba and cached beside this module.
Keys are unsigned 64-bit rows; the all-zero row marks a free slot, so keys never are all zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from checker.engines.kernels import kernel
from checker.engines.layout import Words

Flags = npt.NDArray[np.bool_]

FINGERPRINT_BITS = 64
_GROW_AT = 0.6
_FIRST_SLOTS = 1 << 16
_AHEAD = 16  # how many insertions ahead a slot is asked for from memory


def _prefetch_code(typing: Any, address: Any) -> Any:
    """Ask for the cache line at an address, to have it by the time that it is needed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], cgutils.voidptr_t)
        hint = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, hint, hint, hint])
        insert: Any = cgutils.get_or_insert_function
        function = insert(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, hint(1), hint(3), hint(1)])
        return context.get_dummy_value()

    return types.void(types.uint64), generate


_prefetch: Any = intrinsic(_prefetch_code)


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


@kernel
def _probe(table: Words, keys: Words, i: int, home: np.uint64) -> tuple[np.uint64, bool]:
    """The slot of row i of `keys`, and whether it is there; if not, the free slot to put it."""
    mask = np.uint64(table.shape[0] - 1)
    slot = home
    while True:
        free = True
        same = True
        for w in range(keys.shape[0]):
            held = table[slot, w]
            if held != 0:
                free = False
            if held != keys[w, i]:
                same = False
        if same or free:
            return slot, same
        slot = (slot + np.uint64(1)) & mask


@kernel
def _insert(table: Words, keys: Words, hashes: Words, new: Flags) -> int:
    """Insert rows of `keys` in order; `new[i]` tells which were not there. Returns how many."""
    width, count = keys.shape
    mask = np.uint64(table.shape[0] - 1)
    start = np.uint64(table.ctypes.data)
    row = np.uint64(8 * width)
    added = 0
    for i in range(count):
        if i + _AHEAD < count:
            _prefetch(start + (hashes[i + _AHEAD] & mask) * row)
        slot, found = _probe(table, keys, i, hashes[i] & mask)
        new[i] = not found
        if not found:
            for w in range(width):
                table[slot, w] = keys[w, i]
            added += 1
    return added


@kernel
def _lookup(table: Words, keys: Words, hashes: Words, found: Flags) -> None:
    """`found[i]` tells whether row i of `keys` is there."""
    width, count = keys.shape
    mask = np.uint64(table.shape[0] - 1)
    start = np.uint64(table.ctypes.data)
    row = np.uint64(8 * width)
    for i in range(count):
        if i + _AHEAD < count:
            _prefetch(start + (hashes[i + _AHEAD] & mask) * row)
        _, found[i] = _probe(table, keys, i, hashes[i] & mask)


@kernel
def _rehash(old: Words, table: Words) -> None:
    """Move every row of `old` to the larger `table`, which is empty."""
    width = old.shape[1]
    mask = np.uint64(table.shape[0] - 1)
    rows = old.T
    for i in range(old.shape[0]):
        used = False
        value = np.uint64(0)
        for w in range(width):
            used = used or old[i, w] != 0
            value = _mix(value ^ old[i, w]) + np.uint64(0x9E3779B97F4A7C15)
        if used:
            slot, _ = _probe(table, rows, i, (value if width > 1 else old[i, 0]) & mask)
            for w in range(width):
                table[slot, w] = old[i, w]


def fingerprints(words: Words) -> Words:
    """The 64-bit fingerprint of each state of a packed batch, shape (n,). Never 0."""
    out = np.empty(words.shape[1], np.uint64)
    _fingerprints(words, out)
    return out


def collision_probability(states: int) -> float:
    """An upper bound on the probability that two of so many states share a fingerprint."""
    return min(1.0, states * max(states - 1, 0) / 2.0 ** (FINGERPRINT_BITS + 1))


class VisitedSet:
    """The states seen so far. With `exact`, whole states are kept and no collision can happen."""

    def __init__(self, words: int, exact: bool = False, slots: int = _FIRST_SLOTS) -> None:
        self.exact = exact
        self._width = words + 1 if exact else 1
        self._table = np.zeros((slots, self._width), np.uint64)
        self.count = 0

    def insert(self, words: Words) -> Flags:
        """Add a packed batch; tells for each state whether it was new, the first of equals only."""
        new = np.empty(words.shape[1], np.bool_)
        self._make_room(words.shape[1])
        keys, hashes = self._keys(words)
        self.count += _insert(self._table, keys, hashes, new)
        return new

    def insert_fingerprints(self, found: Words) -> None:
        """Add states of which only the fingerprints, shape (n,), are at hand; not with `exact`."""
        assert not self.exact
        self._make_room(len(found))
        new = np.empty(len(found), np.bool_)
        self.count += _insert(self._table, found[np.newaxis, :], found, new)

    def contains(self, words: Words) -> Flags:
        """Whether each state of a packed batch was added before."""
        found = np.empty(words.shape[1], np.bool_)
        _lookup(self._table, *self._keys(words), found)
        return found

    def _keys(self, words: Words) -> tuple[Words, Words]:
        """What the table holds of each state, and where it starts to look for it."""
        if self.exact:
            # A word of ones keeps the row of an all-zero state apart from a free slot.
            keys = np.concatenate([words, np.ones((1, words.shape[1]), np.uint64)])
            return keys, fingerprints(keys)
        hashes = fingerprints(words)
        return hashes[np.newaxis, :], hashes

    def _slots_for(self, more: int) -> int:
        # Most of a batch are seen already: count on half, and never fill the table.
        slots = self._table.shape[0]
        while self.count + more // 2 > slots * _GROW_AT or self.count + more > slots * 0.9:
            slots *= 2
        return slots

    def growth(self, more: int) -> int:
        """How many bytes more a batch of the given size may need, while the table is rebuilt."""
        slots = self._slots_for(more)
        return 0 if slots == self._table.shape[0] else slots * self._width * 8

    def _make_room(self, more: int) -> None:
        slots = self._slots_for(more)
        if slots != self._table.shape[0]:
            table = np.zeros((slots, self._width), np.uint64)
            _rehash(self._table, table)
            self._table = table

    @property
    def bytes(self) -> int:
        """The memory that the table takes."""
        return self._table.nbytes

    @property
    def collision_probability(self) -> float:
        """An upper bound on the probability that two of the states shared a fingerprint."""
        return 0.0 if self.exact else collision_probability(self.count)
