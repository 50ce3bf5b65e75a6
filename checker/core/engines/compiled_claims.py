"""Compiled claims: properties and premises as machine code, for searches that take long.

A claim is judged in every new state, so it costs as much as finding the state does. The code judges
all claims of a batch in one pass, without the interpreter lock, and must give what
`vectorised.Claims` gives; a law says so.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from checker.core.engines.background import Background
from checker.core.engines.layout import Layout, Words
from checker.core.engines.machine_code import (
    Expressions,
    SwitchOver,
    Written,
    packed_words,
)
from checker.core.engines.vectorised import Booleans, Claims
from checker.core.native.builder import WORD, WORDS, Builder, Operand
from checker.core.native.object_code import LOOPS, ObjectCode
from model.language.errors import DisagreementError
from model.language.graph import Node

_COMPARED = 256  # states
_DEARER = 2  # compiling claims takes so many times what compiling the expansion takes
_NAME = "judge"


class JudgedClaims(SwitchOver[..., list[Booleans]]):
    """Where each claim is true, as `Claims` tells: by programs at first, then machine code."""

    def __init__(
        self, claims: Claims, background: Background | None, patience: float | None
    ) -> None:
        def compare(judge: Any, called: tuple[Any, ...]) -> None:
            some = [words[:, :_COMPARED] for words in called]
            if not np.array_equal(judge(*some), claims(*some)):
                raise DisagreementError("machine code judges a claim otherwise than the programs")

        super().__init__(
            claims,
            lambda: Written(
                _assemblies(claims.nodes, claims.layout),
                LOOPS,
                lambda codes: CompiledClaims(claims.nodes, claims.layout, codes),
            ),
            compare,
            background,
            None if patience is None else _DEARER * patience,
        )


class PackedClaims(SwitchOver[[Words], Words]):
    """Where each claim of states is true, as bits, 64 claims to a word: shape (words, states)."""

    def __init__(self, claims: Claims, patience: float | None) -> None:
        def compare(judge: Any, called: tuple[Any, ...]) -> None:
            some = called[0][:, :_COMPARED]
            if not np.array_equal(judge(some), _packed(claims(some))):
                raise DisagreementError("machine code judges a claim otherwise than the programs")

        super().__init__(
            lambda words: _packed(claims(words)),
            lambda: Written(
                _assemblies(claims.nodes, claims.layout),
                LOOPS,
                lambda codes: CompiledClaims(claims.nodes, claims.layout, codes).packed,
            ),
            compare,
            None,
            None if patience is None else _DEARER * patience,
        )


def _packed(masks: Sequence[Booleans]) -> Words:
    """Masks of one boolean a state as bits of words, 64 masks to a word; one mask at least."""
    packed = np.zeros((-(-len(masks) // WORD.width), len(masks[0])), np.uint64)
    for number, mask in enumerate(masks):
        bit = mask.astype(np.uint64) << np.uint64(number % WORD.width)
        packed[number // WORD.width] |= bit
    return packed


class CompiledClaims:
    """Judges claims by machine code. Building one takes a while; see `Unsupported`."""

    def __init__(
        self, nodes: list[Node], layout: Layout, codes: Sequence[ObjectCode] | None = None
    ) -> None:
        self._groups = _groups(nodes)
        self._codes = codes or [ObjectCode(each, LOOPS) for each in _assemblies(nodes, layout)]
        pointer, long = ctypes.c_void_p, ctypes.c_int64
        self._functions = [
            code.function(_NAME, None, pointer, long, pointer, long, long, pointer)
            for code in self._codes
        ]

    @classmethod
    def found_by(cls, decided_by: str, nodes: list[Node], layout: Layout) -> CompiledClaims:
        """With code that is kept under a digest of all that decides it."""
        codes = [
            ObjectCode(partial(_assembly, group, layout), LOOPS, f"{_NAME} {number} {decided_by}")
            for number, group in enumerate(_groups(nodes))
        ]
        return cls(nodes, layout, codes)

    def __call__(self, words: Words, after: Words | None = None) -> list[Booleans]:
        """One mask a claim, each of one boolean a state (or a step, given the states after)."""
        masks = []
        for group, truths in zip(self._groups, self.packed(words, after), strict=True):
            masks += _masks(truths, len(group))
        return masks

    def packed(self, words: Words, after: Words | None = None) -> Words:
        """The same as bits, 64 claims to a word: shape (words, states)."""
        first = _in_columns(words)
        second = first if after is None else _in_columns(after)
        truths = np.empty((len(self._groups), words.shape[1]), np.uint64)
        for of_group, function in zip(truths, self._functions, strict=True):
            function(
                first.ctypes.data, first.strides[0] // 8, second.ctypes.data,
                second.strides[0] // 8, words.shape[1], of_group.ctypes.data,
            )  # fmt: skip
        return truths


def _groups(nodes: list[Node]) -> list[list[Node]]:
    """The claims in groups that one word has a bit each for."""
    return [nodes[k : k + WORD.width] for k in range(0, len(nodes), WORD.width)]


def _assemblies(nodes: list[Node], layout: Layout) -> list[str]:
    return [_assembly(group, layout) for group in _groups(nodes)]


def _masks(truths: Words, claims: int) -> list[Booleans]:
    """A mask a claim, from one bit a claim in each state's word; most claims hold everywhere."""
    always = int(np.bitwise_and.reduce(truths, initial=np.uint64(0xFFFFFFFFFFFFFFFF)))
    ever = int(np.bitwise_or.reduce(truths, initial=np.uint64(0)))
    whole = {truth: np.full(len(truths), truth, np.bool_) for truth in (False, True)}

    def mask(bit: int) -> Booleans:
        if always & bit or not ever & bit:
            return whole[bool(always & bit)]
        return np.asarray(truths & np.uint64(bit), np.bool_)

    return [mask(1 << number) for number in range(claims)]


def _in_columns(words: Words) -> Words:
    """The batch, with the same word of neighbouring states beside each other."""
    if words.shape[1] and words.strides[1] != words.itemsize:
        return np.ascontiguousarray(words)
    return words


def _assembly(nodes: list[Node], layout: Layout) -> str:
    """One function: for each state or step, write a word with a bit for each claim that is true.

    There are no branches and one store a state, so that LLVM judges several states at once.
    """
    builder = Builder(_NAME, None, [WORDS, WORD, WORDS, WORD, WORD, WORDS])
    source, stride, after, after_stride, states, out = builder.arguments
    with builder.counting(states) as row:
        frames = [
            packed_words(builder, source, stride, row, layout.words),
            packed_words(builder, after, after_stride, row, layout.words),
        ]
        expressions, known = Expressions(layout, builder, frames), dict[Node, Operand]()
        truths: Operand = WORD(0)
        for number, node in enumerate(nodes):
            truth = builder.zext(expressions.value(node, known), WORD)
            truths = builder.or_(truths, builder.shl(truth, WORD(number)))
        builder.store(truths, builder.element(out, row))
    builder.ret()
    return builder.text
