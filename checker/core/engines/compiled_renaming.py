"""Compiled renaming: the least of a state's renamings as machine code, for searches that take long.

Renaming is masks and shifts, so all renamings of a state are one run of instructions without a
branch, and LLVM takes several states at once. It must give what `Symmetry.canonical` gives.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.engines.machine_code import Written, packed_words
from checker.core.native.builder import BIT, WORD, WORDS, Builder, Operand
from checker.core.native.object_code import LOOPS, ObjectCode

_NAME = "least"
Move = tuple[int, int, int]
"""Source word, shift to the left or, if negative, right; and the mask of the bits that move."""
Lookup = tuple[int, int, int, int, int, int]
"""Source word, source shift, destination shift, mask, bits of a value, packed new values."""


@dataclass(frozen=True)
class RenamedWord:
    """One word of a state with its members renamed: bits that move, and values looked up."""

    moves: Sequence[Move]
    lookups: Sequence[Lookup]

    def of(self, words: Words) -> npt.NDArray[np.uint64]:
        """The word of each packed state with its members renamed, shape (n,)."""
        value = np.zeros(words.shape[1], np.uint64)
        for source, shift, mask in self.moves:
            bits = words[source] & np.uint64(mask)
            value |= bits << np.uint64(shift) if shift >= 0 else bits >> np.uint64(-shift)
        for source, here, there, mask, size, values in self.lookups:
            raw = (words[source] >> np.uint64(here)) & np.uint64(mask)
            new = (np.uint64(values) >> (raw * np.uint64(size))) & np.uint64(mask)
            value |= new << np.uint64(there)
        return value


def compiled_renaming(
    renamings: Sequence[Sequence[RenamedWord]], words: int
) -> Written[[Words], Words]:
    """The least of the renamings of packed states of so many words, as assembly."""
    assembly = _assembly(renamings, words)
    return Written([assembly], LOOPS, lambda codes: _CompiledRenaming(*codes))


class _CompiledRenaming:
    """The least of the renamings of packed states, each given by its words, and of the state."""

    def __init__(self, code: ObjectCode) -> None:
        self._code = code
        pointer, long = ctypes.c_void_p, ctypes.c_int64
        self._function = self._code.function(_NAME, None, pointer, long, long, pointer)

    def __call__(self, words: Words) -> Words:
        """For each packed state, the least of its renamings."""
        words = np.ascontiguousarray(words)
        result = np.empty_like(words)
        self._function(words.ctypes.data, words.strides[0] // 8, words.shape[1], result.ctypes.data)
        return result


def _assembly(renamings: Sequence[Sequence[RenamedWord]], words: int) -> str:
    """One function: for each state, write the least of the state and its renamings."""
    builder = Builder(_NAME, None, [WORDS, WORD, WORD, WORDS])
    source, stride, states, out = builder.arguments
    with builder.counting(states) as row:
        state = packed_words(builder, source, stride, row, words)
        least = state
        for renaming in renamings:
            renamed = [_renamed(builder, word, state) for word in renaming]
            less = _less(builder, renamed, least)
            least = [builder.select(less, a, b) for a, b in zip(renamed, least, strict=True)]
        for number, word in enumerate(least):
            place = builder.add(builder.mul(stride, WORD(number)), row)
            builder.store(word, builder.element(out, place))
    builder.ret()
    return builder.text


def _renamed(builder: Builder, word: RenamedWord, state: list[Operand]) -> Operand:
    value: Operand = WORD(0)
    for source, shift, mask in word.moves:
        bits = builder.and_(state[source], WORD(mask))
        moved = builder.shl(bits, WORD(shift)) if shift >= 0 else builder.lshr(bits, WORD(-shift))
        value = builder.or_(value, moved)
    for source, here, there, mask, size, values in word.lookups:
        raw = builder.and_(builder.lshr(state[source], WORD(here)), WORD(mask))
        new = builder.and_(builder.lshr(WORD(values), builder.mul(raw, WORD(size))), WORD(mask))
        value = builder.or_(value, builder.shl(new, WORD(there)))
    return value


def _less(builder: Builder, one: list[Operand], other: list[Operand]) -> Operand:
    """Whether the words of `one` come before those of `other`, the first word first."""
    less: Operand = BIT(0)
    for a, b in reversed(list(zip(one, other, strict=True))):
        same = builder.unsigned("==", a, b)
        less = builder.or_(builder.unsigned("<", a, b), builder.and_(same, less))
    return less
