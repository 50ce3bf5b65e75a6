"""Machine code: expressions of the ground graph as LLVM instructions over packed states.

Compiling takes tenths of a second, then each state costs nanoseconds. What is compiled never has to
be taken on trust: a law compares it with the NumPy programs, and each program that is replaced
during a search is compared with what replaces it (`SwitchOver`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Generic, ParamSpec, TypeVar

from checker.core.engines.background import Background
from checker.core.engines.layout import Layout
from checker.core.native.builder import BIT, NUMBER, WORD, Builder, Operand
from checker.core.native.object_code import ObjectCode, is_kept
from model.language.graph import BOOL, Node, Op

P = ParamSpec("P")
R = TypeVar("R")

_OPERATIONS: dict[Op, Callable[..., Operand]] = {
    Op.NOT: lambda b, x: b.not_(x),
    Op.EQ: lambda b, x, y: b.signed("==", x, y),
    Op.LT: lambda b, x, y: b.signed("<", x, y),
    Op.LE: lambda b, x, y: b.signed("<=", x, y),
    Op.ADD: lambda b, x, y: b.add(x, y),
    Op.SUB: lambda b, x, y: b.sub(x, y),
    Op.MIN: lambda b, x, y: b.select(b.signed("<", x, y), x, y),
    Op.MAX: lambda b, x, y: b.select(b.signed("<", x, y), y, x),
    Op.ITE: lambda b, c, x, y: b.select(c, x, y),
    Op.BITAND: lambda b, x, y: b.and_(x, y),
    Op.BITOR: lambda b, x, y: b.or_(x, y),
}


class Unsupported(Exception):  # noqa: N818  # an answer: stay with the vectorised engine
    """The model has numbers too wide for the compiled code."""


_LOOK = 0.02
"""When this part of the patience is gone, it is time to look for code that was kept: writing what
is looked for takes some milliseconds."""


@dataclass(frozen=True)
class Written(Generic[P, R]):
    """Machine code as assembly; `function` makes what can be called of it when it is compiled."""

    assemblies: Sequence[str]
    how: str
    function: Callable[[Sequence[ObjectCode]], Callable[P, R]]

    @property
    def is_kept(self) -> bool:
        """Whether an earlier run has compiled it."""
        return all(is_kept(assembly, self.how) for assembly in self.assemblies)

    def compiled(self) -> Callable[P, R]:
        """Compile it, which takes tenths of a second, or load what was kept."""
        return self.function([ObjectCode(assembly, self.how) for assembly in self.assemblies])


class SwitchOver(Generic[P, R]):
    """Calls a program at first, and machine code once that has taken long.

    It starts to compile, in the `background` of the search or else at once, when the program has
    taken `patience` seconds: about what compiling costs, so at worst the work is done twice; `None`
    is never. Code that was kept needs no compiling, and is looked for sooner. Both give the same,
    so nobody can tell when it changed over, or that it did not since the search was over before the
    code was there. Before it does, `compare` is called with the machine code and what it is about
    to be called with, and raises if they differ.
    """

    def __init__(
        self,
        program: Callable[P, R],
        write: Callable[[], Written[P, R]],
        compare: Callable[[Callable[P, R], tuple[object, ...]], None],
        background: Background | None,
        patience: float | None,
    ) -> None:
        self._program = program
        self._write = cache(write)
        self._compare = compare
        self._background = background
        self._patience = float("inf") if patience is None else patience
        self._look_at = 0.0 if patience is None else (1 - _LOOK) * patience
        self._settled = False
        self._compiling: Future[Callable[P, R]] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the program gives."""
        if self._compiling is None and self._patience <= self._look_at:
            self._compiling = self._start()
        if self._compiling is None:
            started = time.thread_time()
            result = self._program(*args, **kwargs)
            self._patience -= time.thread_time() - started
            return result
        if not self._settled and self._compiling.done():
            self._settled = True
            with suppress(Unsupported, CancelledError):
                quick = self._compiling.result()
                self._compare(quick, args)
                self._program = quick
        return self._program(*args, **kwargs)

    def _start(self) -> Future[Callable[P, R]] | None:
        """Begin to compile, if patience is at its end or the code was kept."""
        self._look_at = 0.0
        done: Future[Callable[P, R]] = Future()
        try:
            if self._patience > 0 and not self._write().is_kept:
                return None
            if self._patience <= 0 and self._background is not None:
                return self._background.begin(lambda: self._write().compiled())
            done.set_result(self._write().compiled())
        except Unsupported as error:
            done.set_exception(error)
        return done


class Expressions:
    """Computes expressions, where its builder stands, from the packed words of states."""

    def __init__(self, layout: Layout, builder: Builder, frames: Sequence[list[Operand]]) -> None:
        self._layout = layout
        self._builder = builder
        self._frames = frames

    def value(self, node: Node, known: dict[Node, Operand]) -> Operand:
        """The value of an expression, computed here unless it is known."""
        found = known.get(node)
        if found is None:
            found = known[node] = self._compute(node, known)
        return found

    def _compute(self, node: Node, known: dict[Node, Operand]) -> Operand:
        if node.sort is not BOOL and not (
            node.low is not None
            and node.high is not None
            and node.low >= -(2**31)
            and node.high < 2**31
        ):
            raise Unsupported
        if node.op is Op.CONST:
            return (BIT if node.sort is BOOL else NUMBER)(int(node.data))
        if node.op is Op.CELL:
            return self._cell(node)
        values = [self.value(arg, known) for arg in node.args]
        if node.op in (Op.AND, Op.OR):
            combine = self._builder.and_ if node.op is Op.AND else self._builder.or_
            result = values[0]
            for value in values[1:]:
                result = combine(result, value)
            return result
        return _OPERATIONS[node.op](self._builder, *values)

    def _cell(self, node: Node) -> Operand:
        frame, position, _, _ = node.data
        builder, field = self._builder, self._layout.fields[position]
        raw = builder.and_(
            builder.lshr(self._frames[frame][field.word], WORD(field.shift)), WORD(field.mask)
        )
        if node.sort is BOOL:
            return builder.trunc(raw, BIT)
        number = builder.trunc(raw, NUMBER)
        return builder.add(number, NUMBER(field.low)) if field.low else number


def packed_words(
    builder: Builder, source: Operand, stride: Operand, row: Operand, words: int
) -> list[Operand]:
    """The words of the state in a row of a packed batch, whose words lie `stride` apart."""
    return [
        builder.load(builder.element(source, builder.add(builder.mul(stride, WORD(w)), row)))
        for w in range(words)
    ]
