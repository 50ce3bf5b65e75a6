"""Why an expression has its value: cells that suffice for it, as few as are easily found.

A conjunction is false because of one of its parts, a choice reads one of its branches only. So the
cells that an expression mentions are many, and those that it has its value by are few: whatever the
other cells hold, the value is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add, and_, or_, sub
from typing import Any

from checker.core.engines.reference import State
from model.language.graph import Node, Op

Place = tuple[int, int]
"""The frame of a state, 0 before a step and 1 after it, and the position of a cell in it."""

Reads = Mapping[Place, int]
"""Places, each with the bits that matter: of a set some of its members, else all."""

ALL = -1
"""Every bit."""

_FOLDED: dict[Op, Callable[[Any, Any], Any]] = {
    Op.ADD: add, Op.SUB: sub, Op.MIN: min, Op.MAX: max, Op.BITAND: and_, Op.BITOR: or_,
}  # fmt: skip


class Reasons:
    """Values, and the reasons for them, in one state or in the two of a step.

    `cost` says what it is worth to do without a place and its bits: of several reasons that each
    suffice, the cheapest is given, then the one with fewest places.
    """

    def __init__(self, states: Sequence[State], cost: Callable[[Place, int], int]) -> None:
        self._states = states
        self._cost = cost
        self._values: dict[Node, int] = {}
        self._reasons: dict[tuple[Node, int], Reads] = {}

    def value(self, node: Node) -> int:
        """The number that the expression comes to; 0 and 1 for what is false and true."""
        found = self._values.get(node)
        if found is None:
            found = self._values[node] = int(self._evaluate(node))
        return found

    def _evaluate(self, node: Node) -> Any:
        match node.op:
            case Op.CONST:
                return node.data
            case Op.CELL:
                frame, position, *_ = node.data
                return self._states[frame][position]
            case Op.NOT:
                return not self.value(node.args[0])
            case Op.AND:
                return all(map(self.value, node.args))
            case Op.OR:
                return any(map(self.value, node.args))
            case Op.ITE:
                condition, then, otherwise = node.args
                return self.value(then if self.value(condition) else otherwise)
            case Op.EQ | Op.LT | Op.LE:
                a, b = map(self.value, node.args)
                return a == b if node.op is Op.EQ else a < b if node.op is Op.LT else a <= b
            case _:
                return reduce(_FOLDED[node.op], map(self.value, node.args))

    def why(self, node: Node, bits: int = ALL) -> Reads:
        """Places that suffice for the value of the expression, or for some bits of it."""
        key = node, bits
        found = self._reasons.get(key)
        if found is None:
            found = self._reasons[key] = self._reason(node, bits)
        return found

    def _reason(self, node: Node, bits: int) -> Reads:
        match node.op:
            case Op.CONST:
                return {}
            case Op.CELL:
                frame, position, *_ = node.data
                return {(frame, position): bits} if bits else {}
            case Op.AND | Op.OR:
                settles = node.op is Op.OR
                enough = [arg for arg in node.args if bool(self.value(arg)) is settles]
                return self._cheapest([self.why(arg) for arg in enough] or [self._all(node.args)])
            case Op.ITE:
                condition, then, otherwise = node.args
                taken = then if self.value(condition) else otherwise
                ways = [merged(self.why(condition), self.why(taken, bits))]
                if self.value(then) & bits == self.value(otherwise) & bits:
                    ways.append(merged(self.why(then, bits), self.why(otherwise, bits)))
                return self._cheapest(ways)
            case Op.BITAND | Op.BITOR:
                return merged(*(self.why(a, self._open_bits(node, a, bits)) for a in node.args))
            case Op.SUB if node.args[0].op is Op.CONST and bits != ALL:
                return self.why(node.args[1], bits)  # what is not in a set: bit by bit
            case _:
                return self._all(node.args)

    def _all(self, nodes: Sequence[Node]) -> Reads:
        return merged(*map(self.why, nodes))

    def _open_bits(self, node: Node, arg: Node, bits: int) -> int:
        """The bits of an argument that the constants beside it leave open."""
        for other in node.args:
            if other is not arg and other.op is Op.CONST:
                bits &= other.data if node.op is Op.BITAND else ~other.data
        return bits

    def _cheapest(self, ways: list[Reads]) -> Reads:
        if len(ways) == 1:
            return ways[0]
        return min(ways, key=self._price)

    def _price(self, reads: Reads) -> tuple[int, int]:
        return sum(self._cost(place, bits) for place, bits in reads.items()), len(reads)


def merged(*parts: Reads) -> Reads:
    """All places of the parts, each with the bits of all."""
    found: dict[Place, int] = {}
    for part in parts:
        for place, bits in part.items():
            found[place] = found.get(place, 0) | bits
    return found
