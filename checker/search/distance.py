"""How far a state is from falsifying a claim: a number that search may climb down.

Computed over the captured claim as in search-based testing: a comparison is as far from true as its
two sides are apart, a conjunction as far as all its parts together, a disjunction as its nearest.
"""

from __future__ import annotations

from collections.abc import Callable

from checker.engines.reference import State
from model.language import graph
from model.language.graph import BOOL, Node, Op
from model.language.protocol import Model
from properties import Property

_NUMBERS: dict[Op, Callable[[int, int], int]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MIN: lambda a, b: a if a < b else b,
    Op.MAX: lambda a, b: b if a < b else a,
    Op.BITAND: lambda a, b: a & b,
    Op.BITOR: lambda a, b: a | b,
}


class Distance:
    """The distance of states from falsifying a property of states; 0 where it is false."""

    def __init__(self, model: Model, prop: Property) -> None:
        self._goal = graph.negation(model.ground_claim(prop.claim))

    def __call__(self, state: State) -> int:
        """The distance of `state`, one number a cell."""
        return _Evaluation(state).to(self._goal, True)


class _Evaluation:
    """Values and distances of ground expressions in one state, each computed once."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._values: dict[Node, int] = {}
        self._distances: dict[tuple[Node, bool], int] = {}

    def to(self, node: Node, wanted: bool) -> int:
        """How far the boolean `node` is from being `wanted`."""
        key = (node, wanted)
        found = self._distances.get(key)
        if found is None:
            found = self._distances[key] = self._to(node, wanted)
        return found

    def _to(self, node: Node, wanted: bool) -> int:
        match node.op:
            case Op.NOT:
                return self.to(node.args[0], not wanted)
            case Op.AND | Op.OR:
                parts = [self.to(arg, wanted) for arg in node.args]
                return sum(parts) if (node.op is Op.AND) is wanted else min(parts)
            case Op.ITE:
                condition, then, otherwise = node.args
                return min(
                    self.to(condition, True) + self.to(then, wanted),
                    self.to(condition, False) + self.to(otherwise, wanted),
                )
            case Op.EQ | Op.LT | Op.LE if node.args[0].sort is not BOOL:
                left, right = (self.value(arg) for arg in node.args)
                return _apart(node.op, left, right, wanted)
            case Op.EQ:
                a, b = node.args
                ways = ((True, wanted), (False, not wanted))
                return min(self.to(a, x) + self.to(b, y) for x, y in ways)
            case _:
                return int(bool(self.value(node)) is not wanted)

    def value(self, node: Node) -> int:
        """The value of a number, or of a boolean that is a cell or a constant."""
        found = self._values.get(node)
        if found is None:
            found = self._values[node] = self._value(node)
        return found

    def _value(self, node: Node) -> int:
        if node.op is Op.CONST:
            return int(node.data)
        if node.op is Op.CELL:
            return self._state[int(node.data[1])]
        if node.op is Op.ITE:
            condition, then, otherwise = node.args
            return self.value(then if self.to(condition, True) == 0 else otherwise)
        left, right = node.args
        return _NUMBERS[node.op](self.value(left), self.value(right))


def _apart(op: Op, a: int, b: int, wanted: bool) -> int:
    """How far two numbers are from comparing as wanted."""
    if op is Op.EQ:
        return abs(a - b) if wanted else int(a == b)
    if op is Op.LT:
        return max(0, a - b + 1) if wanted else max(0, b - a)
    return max(0, a - b) if wanted else max(0, b - a + 1)
