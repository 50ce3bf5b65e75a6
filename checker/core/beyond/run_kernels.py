"""What is done to sorted runs of fingerprints, number by number, as machine code.

A number of a run is a fingerprint that `table_kernels` has spread. Its upper bits say its cell, and
what is below lies in two arrays: the lower 32 bits, and what is above them in as few bytes as do.
How many numbers each cell has is a third one. The upper bits are not stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.native.expressions import prefetch
from checker.core.native.kernel import kernel
from checker.core.search.table_kernels import Flags

Small = npt.NDArray[Any]
"""Unsigned numbers of 8, 16 or 32 bits."""

_AHEAD = 16  # how many values ahead memory is asked for


@kernel
def count_cells(values: Words, shift: int, counts: npt.NDArray[np.uint32]) -> None:
    """Add up how many values each cell has, which the bits from `shift` on say."""
    for i in range(values.shape[0]):
        counts[values[i] >> np.uint64(shift)] += 1


@kernel
def decode(lows: Small, highs: Small, counts: Small, cell: int, shift: int, out: Words) -> None:
    """The values of some cells, of which `cell` is the first."""
    at = 0
    for number in range(counts.shape[0]):
        upper = np.uint64(cell + number) << np.uint64(shift)
        for _ in range(int(counts[number])):
            out[at] = upper | (highs[at] << np.uint64(32)) | lows[at]
            at += 1


@kernel
def sift(
    lows: Small,
    highs: Small,
    counts: Small,
    cell: int,
    shift: int,
    above: int,
    bits: Words,
    out: Words,
) -> int:
    """Those values of some cells whose bit is set; how many. `out` has a place for one more."""
    at, found = 0, 0
    places = np.uint64(bits.shape[0] << 6)
    for number in range(counts.shape[0]):
        upper = np.uint64(cell + number) << np.uint64(shift)
        for _ in range(int(counts[number])):
            value = upper | (highs[at] << np.uint64(32)) | lows[at]
            out[found] = value
            found += int(_bit(bits, _place(value, above, places)))
            at += 1
    return found


@kernel
def _place(value: np.uint64, above: int, places: np.uint64) -> np.uint64:
    """Where among so many places, fewer than 2^32, a value belongs: in the order of values."""
    return (((value << np.uint64(above)) >> np.uint64(32)) * places) >> np.uint64(32)


@kernel
def _row(table: Words, value: np.uint64, first: np.uint64) -> np.uint64:
    """The row of a table where a value is, or the free one where it belongs."""
    row = first
    while table[row] != 0 and table[row] != value:
        row += np.uint64(1)
        if row == np.uint64(table.shape[0]):
            row = np.uint64(0)
    return row


@kernel
def _bit(bits: Words, place: np.uint64) -> np.uint64:
    """The bit at a place, 0 or 1."""
    return np.uint64((bits[place >> np.uint64(6)] >> (place & np.uint64(63))) & np.uint64(1))


@kernel
def note(
    values: Words,
    above: int,
    bits: Words,
    table: Words,
) -> None:
    """Set the bits of values, and put them into a table, where 0 marks a free place.

    All have the same upper bits, as many as `above` says; the places follow from those after them.
    """
    places, rows = np.uint64(bits.shape[0] << 6), np.uint64(table.shape[0])
    for i in range(values.shape[0]):
        place = _place(values[i], above, places)
        bits[place >> np.uint64(6)] |= np.uint64(1) << (place & np.uint64(63))
        table[_row(table, values[i], _place(values[i], above, rows))] = values[i]


@kernel
def are_noted(
    values: Words,
    above: int,
    bits: Words,
    table: Words,
    noted: Flags,
) -> None:
    """Tell of each value whether it was noted."""
    places, rows = np.uint64(bits.shape[0] << 6), np.uint64(table.shape[0])
    start, count = np.uint64(table.ctypes.data), values.shape[0]
    for i in range(count):
        if i + _AHEAD < count:
            later = values[i + _AHEAD]
            if _bit(bits, _place(later, above, places)) != 0:
                prefetch(start + (_place(later, above, rows) << np.uint64(3)))
        value = values[i]
        noted[i] = False
        if _bit(bits, _place(value, above, places)) != 0:
            noted[i] = table[_row(table, value, _place(value, above, rows))] == value
