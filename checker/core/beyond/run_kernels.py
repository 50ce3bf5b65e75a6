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
from checker.core.native.kernel import kernel
from checker.core.search.table_kernels import Flags

Small = npt.NDArray[Any]
"""Unsigned numbers of 8, 16 or 32 bits."""


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
    bits_below: int,
    out: Words,
) -> int:
    """Those values of some cells whose bit is set; how many. `out` has a place for one more."""
    at, found = 0, 0
    for number in range(counts.shape[0]):
        upper = np.uint64(cell + number) << np.uint64(shift)
        for _ in range(int(counts[number])):
            value = upper | (highs[at] << np.uint64(32)) | lows[at]
            out[found] = value
            found += int(_bit(bits, (value << np.uint64(above)) >> np.uint64(bits_below)))
            at += 1
    return found


@kernel
def _bit(bits: Words, place: np.uint64) -> np.uint64:
    """The bit at a place, 0 or 1."""
    return np.uint64((bits[place >> np.uint64(6)] >> (place & np.uint64(63))) & np.uint64(1))


@kernel
def note(
    values: Words,
    above: int,
    bits: Words,
    bits_below: int,
    table: Words,
    table_below: int,
) -> None:
    """Set the bits of values, and put them into a table, where 0 marks a free place.

    All have the same upper bits, as many as `above` says; the places follow from those after them.
    """
    mask = np.uint64(table.shape[0] - 1)
    for i in range(values.shape[0]):
        place = (values[i] << np.uint64(above)) >> np.uint64(bits_below)
        bits[place >> np.uint64(6)] |= np.uint64(1) << (place & np.uint64(63))
        place = (values[i] << np.uint64(above)) >> np.uint64(table_below)
        while table[place] != 0 and table[place] != values[i]:
            place = (place + np.uint64(1)) & mask
        table[place] = values[i]


@kernel
def are_noted(
    values: Words,
    above: int,
    bits: Words,
    bits_below: int,
    table: Words,
    table_below: int,
    noted: Flags,
) -> None:
    """Tell of each value whether it was noted."""
    mask = np.uint64(table.shape[0] - 1)
    for i in range(values.shape[0]):
        value = values[i]
        noted[i] = False
        if _bit(bits, (value << np.uint64(above)) >> np.uint64(bits_below)) != 0:
            place = (value << np.uint64(above)) >> np.uint64(table_below)
            while table[place] != 0 and table[place] != value:
                place = (place + np.uint64(1)) & mask
            noted[i] = table[place] == value
