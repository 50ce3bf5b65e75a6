"""Packing: a state's cells as bit fields in 64-bit words, so that states are small to move.

A packed batch of n states is an array of shape (words, n), dtype uint64: all first words lie
together, then all second words. A field never straddles words. Fields hold `value - low`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from model.language.errors import UsageError
from model.language.protocol import Model

Words = npt.NDArray[np.uint64]
WORD_BITS = 64
_TOO_LARGE = 2**63


@dataclass(frozen=True)
class BitField:
    """Where a cell lies: its word, how far from the low end, how many bits; its least value."""

    word: int
    shift: int
    bits: int
    low: int

    @property
    def mask(self) -> int:
        """The field's bits, at the low end."""
        return (1 << self.bits) - 1


class Layout:
    """The place of every cell of a model in packed states."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.fields: list[BitField] = []
        used: list[int] = []
        for cell in model.cells:
            bits = (cell.high - cell.low).bit_length()
            if bits > WORD_BITS:
                raise UsageError(f"{cell.name} needs {bits} bits: at most {WORD_BITS} are possible")
            if bits == 0:
                self.fields.append(BitField(0, 0, 0, cell.low))
                continue
            word = next((w for w, taken in enumerate(used) if taken + bits <= WORD_BITS), len(used))
            if word == len(used):
                used.append(0)
            self.fields.append(BitField(word, used[word], bits, cell.low))
            used[word] += bits
        self.words = max(len(used), 1)
        self.bits = sum(used)

    def pack(self, states: Iterable[Sequence[int]]) -> Words:
        """States given as numbers, one a cell, in packed form."""
        rows = list(states)
        if rows and self._together is not None:
            return self._packed(np.array(rows, np.int64).T, *self._together)
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self.fields)
        count = len(rows)
        packed = np.zeros((self.words, count), np.uint64)
        for field, column in zip(self.fields, columns, strict=True):
            values = np.array([value - field.low for value in column], np.uint64)
            if (values > np.uint64(field.mask)).any():
                raise ValueError(f"a value does not fit its field of {field.bits} bits")
            packed[field.word] |= values << np.uint64(field.shift)
        return packed

    def _packed(
        self,
        numbers: npt.NDArray[np.int64],
        words: npt.NDArray[np.int64],
        shifts: Words,
        masks: Words,
        lows: npt.NDArray[np.int64],
    ) -> Words:
        """States by columns, shape (cells, states), in packed form."""
        if len(numbers) != len(self.fields):
            raise ValueError("a state has as many numbers as there are cells")
        values = (numbers - lows).astype(np.uint64)  # what is too small becomes too large
        wrong = (values > masks).any(axis=1)
        if wrong.any():
            bits = self.fields[int(wrong.argmax())].bits
            raise ValueError(f"a value does not fit its field of {bits} bits")
        packed = np.zeros((self.words, numbers.shape[1]), np.uint64)
        shifted = values << shifts
        for word in range(self.words):
            packed[word] = np.bitwise_or.reduce(shifted[words == word], axis=0)
        return packed

    def fits(self, state: Sequence[int]) -> bool:
        """Whether every number of a state fits its field: not where a cell was held constant."""
        return all(
            0 <= value - field.low <= field.mask
            for value, field in zip(state, self.fields, strict=True)
        )

    def column(self, packed: Words, position: int) -> npt.NDArray[Any]:
        """The numbers in one cell, for each state of a packed batch, shape (n,).

        They are `int64`, or Python's own where the cell may have numbers that do not fit these.
        """
        field = self.fields[position]
        raw = (packed[field.word] >> np.uint64(field.shift)) & np.uint64(field.mask)
        fits = field.low >= -_TOO_LARGE and field.low + field.mask < _TOO_LARGE
        numbers: npt.NDArray[Any] = raw.astype(
            np.int64 if fits and field.mask < _TOO_LARGE else object
        )
        return numbers + field.low

    def unpack(self, packed: Words) -> list[tuple[int, ...]]:
        """Packed states as numbers, one a cell."""
        if self._together is None:
            columns = [self.column(packed, p).tolist() for p in range(len(self.fields))]
            return [*zip(*columns, strict=True)]
        words, shifts, masks, lows = self._together
        raw = (packed[words] >> shifts) & masks
        return [*map(tuple, (raw.astype(np.int64) + lows).T.tolist())]

    @cached_property
    def _together(self) -> tuple[npt.NDArray[Any], ...] | None:
        """Each field's word, shift, mask and least value, to take all cells at once.

        `None` where some cell has numbers that do not fit 64 bits with a sign.
        """
        if any(f.low < -_TOO_LARGE or f.low + f.mask >= _TOO_LARGE for f in self.fields):
            return None
        if any(f.mask >= _TOO_LARGE for f in self.fields):
            return None
        return (
            np.array([f.word for f in self.fields], np.int64),
            np.array([f.shift for f in self.fields], np.uint64)[:, np.newaxis],
            np.array([f.mask for f in self.fields], np.uint64)[:, np.newaxis],
            np.array([f.low for f in self.fields], np.int64)[:, np.newaxis],
        )
