"""The symbolic engine: a model's states and steps as Z3 terms, for proofs within bounds.

It folds the same ground graph as the vectorised engine. Every number is a bit vector just wide
enough for its range, so arithmetic is exact and the solver sees few bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import z3

from checker.core.engines.reference import State
from model.language.graph import BOOL, Node, Op
from model.language.ground import GroundAction
from model.language.protocol import Model
from properties import Property

Term = Any
"""A Z3 expression. The solver's Python package has no types."""


def width(low: int, high: int) -> int:
    """Bits that hold every number from `low` to `high`: two's complement if `low` is negative."""
    if low < 0:
        return max((-low - 1).bit_length(), high.bit_length() if high > 0 else 0) + 1
    return max(high.bit_length(), 1)


def number(value: int, low: int, high: int) -> Term:
    """`value` as a term that is as wide as the range asks for."""
    return z3.BitVecVal(value, width(low, high))


def widen(term: Term, low: int, high: int, to_low: int, to_high: int) -> Term:
    """A number of range `low`..`high` as one of a range that contains it, or narrowed to one.

    Narrowing is exact only for values that are in the narrower range.
    """
    there, here = width(to_low, to_high), term.size()
    if there == here:
        return term
    if there < here:
        return z3.Extract(there - 1, 0, term)
    return z3.SignExt(there - here, term) if low < 0 else z3.ZeroExt(there - here, term)


class Lowering:
    """Turns ground nodes into Z3 terms; equal nodes become one term."""

    def __init__(self, cells: Callable[[int, int], Term]) -> None:
        """`cells(frame, position)` gives the term for a cell."""
        self._cells = cells
        self._done: dict[Node, Term] = {}

    def __call__(self, node: Node) -> Term:
        """The term for `node`."""
        stack = [node]
        while stack:
            top = stack[-1]
            if top in self._done:
                stack.pop()
                continue
            missing = [arg for arg in top.args if arg not in self._done]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self._done[top] = self._lower(top)
        return self._done[node]

    def as_wide_as(self, node: Node, low: int, high: int) -> Term:
        """The term for `node`, a number or boolean, for a cell of the range `low`..`high`."""
        term = self(node)
        if node.sort is BOOL:
            return term
        return widen(term, *_range(node), low, high)

    def _lower(self, node: Node) -> Term:
        if node.op is Op.CONST:
            if node.sort is BOOL:
                return z3.BoolVal(bool(node.data))
            return number(node.data, *_range(node))
        if node.op is Op.CELL:
            return self._cells(node.data[0], node.data[1])
        args = [self._done[arg] for arg in node.args]
        if node.op in _BOOLEAN:
            return _BOOLEAN[node.op](args)
        if node.op is Op.ITE:
            if node.sort is BOOL:
                return z3.If(*args)
            low, high = _range(node)
            branches = [self.as_wide_as(arg, low, high) for arg in node.args[1:]]
            return z3.If(args[0], *branches)
        if node.args[0].sort is BOOL:
            return args[0] == args[1]
        return self._arithmetic(node)

    def _arithmetic(self, node: Node) -> Term:
        ranges = [_range(arg) for arg in node.args]
        if node.sort is not BOOL:
            ranges.append(_range(node))
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        a, b = (self.as_wide_as(arg, low, high) for arg in node.args)
        signed = low < 0
        if node.op is Op.EQ:
            return a == b
        if node.op is Op.LT:
            return a < b if signed else z3.ULT(a, b)
        if node.op is Op.LE:
            return a <= b if signed else z3.ULE(a, b)
        result = {
            Op.ADD: lambda: a + b,
            Op.SUB: lambda: a - b,
            Op.MIN: lambda: z3.If(a <= b if signed else z3.ULE(a, b), a, b),
            Op.MAX: lambda: z3.If(a <= b if signed else z3.ULE(a, b), b, a),
            Op.BITAND: lambda: a & b,
            Op.BITOR: lambda: a | b,
        }[node.op]()
        return widen(result, low, high, *_range(node))


_BOOLEAN: dict[Op, Callable[[list[Term]], Term]] = {
    Op.NOT: lambda args: z3.Not(args[0]),
    Op.AND: z3.And,
    Op.OR: z3.Or,
}


def _range(node: Node) -> tuple[int, int]:
    assert node.low is not None and node.high is not None, f"{node} has no range"
    return node.low, node.high


@dataclass(frozen=True)
class SymbolicStep:
    """An action instance as terms over the state before it.

    `values` gives the new value of each cell that it may change; other cells stay as they are.
    Where `guard` and `misfit` hold, some value does not fit its cell.
    """

    ground: GroundAction
    guard: Term
    values: dict[int, Term]
    misfit: Term


class SymbolicEngine:
    """States and steps of a model as Z3 terms."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._frames: dict[int, list[Term]] = {}
        self._lower = Lowering(lambda frame, position: self.cells(frame)[position])

    def cells(self, frame: int = 0) -> list[Term]:
        """One constant a cell: a state. Frame 0 is the state that steps are terms over."""
        if frame not in self._frames:
            self._frames[frame] = [
                z3.Bool(f"{cell.name}@{frame}")
                if cell.variable.sort is BOOL
                else z3.BitVec(f"{cell.name}@{frame}", width(cell.low, cell.high))
                for cell in self.model.cells
            ]
        return self._frames[frame]

    def in_domain(self, frame: int = 0) -> Term:
        """Every cell's number is one of its domain."""
        parts = []
        for cell, term in zip(self.model.cells, self.cells(frame), strict=True):
            if cell.variable.sort is BOOL:
                if cell.low == cell.high:
                    parts.append(term == bool(cell.low))
                continue
            if cell.low < 0:
                parts += [
                    term >= number(cell.low, cell.low, cell.high),
                    term <= number(cell.high, cell.low, cell.high),
                ]
            else:
                parts.append(z3.ULE(term, number(cell.high, cell.low, cell.high)))
                if cell.low > 0:
                    parts.append(z3.UGE(term, number(cell.low, cell.low, cell.high)))
        return z3.And(parts)

    def is_initial(self) -> Term:
        """The state of frame 0 is the initial one."""
        pairs = zip(self.cells(), self.model.initial_state, strict=True)
        return z3.And([term == self.value(p, n) for p, (term, n) in enumerate(pairs)])

    def value(self, position: int, value: int) -> Term:
        """A number as a term that fits the cell at `position`."""
        cell = self.model.cells[position]
        if cell.variable.sort is BOOL:
            return z3.BoolVal(bool(value))
        return number(value, cell.low, cell.high)

    @cached_property
    def steps(self) -> tuple[SymbolicStep, ...]:
        """Every action instance that some state might enable, in order."""
        return tuple(map(self.step, self.model.ground_actions))

    def step(self, ground: GroundAction) -> SymbolicStep:
        """An action instance as terms."""
        values = {}
        for position, node in ground.assignments.items():
            cell = self.model.cells[position]
            values[position] = self._lower.as_wide_as(node, cell.low, cell.high)
        return SymbolicStep(ground, self._lower(ground.guard), values, self._lower(ground.misfit))

    def claim(self, prop: Property) -> Term:
        """The property's claim over frame 0, and for a claim about steps over frames 0 and 1."""
        return self.term(self.model.ground_claim(prop.claim, prop.frames))

    def term(self, node: Node) -> Term:
        """A ground expression as a term."""
        return self._lower(node)

    def after(self, term: Term, step: SymbolicStep) -> Term:
        """`term` over frame 0, as it will be after `step`: a term over the state before it."""
        cells = self.cells()
        return z3.substitute(term, [(cells[p], value) for p, value in step.values.items()])

    def after_both(self, term: Term, step: SymbolicStep) -> Term:
        """`term` over frames 0 and 1, with frame 1 as the state after `step`."""
        before = self.cells(0)
        pairs = [(new, step.values.get(p, before[p])) for p, new in enumerate(self.cells(1))]
        return z3.substitute(term, pairs)

    def at_frame(self, term: Term, frame: int, frames: int = 1) -> Term:
        """`term` over so many frames from 0 on, moved to as many from `frame` on."""
        if frame == 0:
            return term
        both = [(self.cells(k), self.cells(frame + k)) for k in range(frames)]
        return z3.substitute(term, [pair for b in both for pair in zip(*b, strict=True)])

    def state(self, solution: Any, frame: int = 0) -> State:
        """The state that a solution gives to the cells of `frame`; what it leaves open is low."""
        found = []
        for cell, term in zip(self.model.cells, self.cells(frame), strict=True):
            value = solution.eval(term, model_completion=True)
            if cell.variable.sort is BOOL:
                found.append(int(z3.is_true(value)))
            else:
                found.append(value.as_signed_long() if cell.low < 0 else value.as_long())
        return tuple(found)
