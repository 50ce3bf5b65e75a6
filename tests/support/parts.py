"""States with some members left out, and what expressions say there: by hand, without a solver."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from checker.core.engines.reference import State
from checker.core.proofs.cutoff.part import Part
from model.language import graph
from model.language.action import Instance
from model.language.graph import Kind, Node, Op
from model.language.ground import Grounder
from model.language.protocol import Model

_RULES: dict[Op, Callable[..., int]] = {
    Op.NOT: lambda a: not a,
    Op.AND: lambda *a: all(a),
    Op.OR: lambda *a: any(a),
    Op.EQ: lambda a, b: a == b,
    Op.LT: lambda a, b: a < b,
    Op.LE: lambda a, b: a <= b,
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MIN: min,
    Op.MAX: max,
    Op.ITE: lambda c, a, b: a if c else b,
    Op.BITAND: lambda a, b: a & b,
    Op.BITOR: lambda a, b: a | b,
}


def evaluated(node: Node, *states: State) -> int:
    """What a ground expression is in the states of its frames."""
    done: dict[Node, int] = {}
    for part in graph.in_order([node]):
        if part.op is Op.CELL:
            frame, position, *_ = part.data
            done[part] = states[frame][position]
        else:
            values = [int(a.data) if a.op is Op.CONST else done[a] for a in part.args]
            done[part] = int(_RULES[part.op](*values))
    return int(node.data) if node.op is Op.CONST else done[node]


class Parts:
    """Parts of a model's states, where of one family some members are kept, in their order."""

    def __init__(self, model: Model, family: str, actions: Mapping[str, Any]) -> None:
        self.model, self.family = model, family
        sizes = range(1, model.extents[family] + 1)
        self.parts = {size: Part.of(model, size, family, 0, actions) for size in sizes}
        self.grounders = {size: Grounder(part) for size, part in self.parts.items()}

    def subsets(self, kept: Sequence[int] = ()) -> Iterator[tuple[int, ...]]:
        """All that may be kept, with these members among them."""
        everyone = range(self.model.extents[self.family])
        for size in range(max(1, len(set(kept))), len(everyone) + 1):
            for chosen in itertools.combinations(everyone, size):
                if set(kept) <= set(chosen):
                    yield chosen

    def part(self, state: State, kept: tuple[int, ...]) -> State:
        """The state with these members alone; whoever else it names is outside."""
        part = self.parts[len(kept)]
        return tuple(self._cell(state, kept, cell) for cell in part.cells)

    def _cell(self, state: State, kept: tuple[int, ...], cell: Any) -> int:
        variable = cell.variable
        index = tuple(
            kept[place] if over.name == self.family else place
            for over, place in zip(variable.index, cell.index, strict=True)
        )
        number = state[self.model.positions[variable.name, index]]
        if variable.sort.family != self.family:
            return number
        if variable.sort.kind is Kind.SET:
            return sum(((number >> member) & 1) << place for place, member in enumerate(kept))
        if number < 0 or number in kept:
            return number if number < 0 else kept.index(number)
        left_out = [m for m in range(self.model.extents[self.family]) if m not in kept]
        return len(kept) + left_out.index(number)

    def says(self, node: Node, state: State, kept: tuple[int, ...]) -> int:
        """What an expression is in a part."""
        ground = self.parts[len(kept)].ground_part(node, {})
        return evaluated(ground, self.part(state, kept))

    def step(
        self, instance: Instance, state: State, kept: tuple[int, ...]
    ) -> tuple[bool, State | None]:
        """Whether an instance is enabled in a part, and the state after it; none if it misfits."""
        of_family = [getattr(p.domain, "family", "") == self.family for p in instance.parameters]
        arguments = tuple(
            kept.index(a) if one and a >= 0 else a
            for a, one in zip(instance.arguments, of_family, strict=True)
        )
        part = self.parts[len(kept)]
        mine = Instance(0, instance.action, instance.parameters, arguments)
        ground = self.grounders[len(kept)].action(mine, part.captured_action(instance.action))
        before = self.part(state, kept)
        if not evaluated(ground.guard, before):
            return False, None
        if evaluated(ground.misfit, before):
            return True, None
        after = list(before)
        for position, node in ground.assignments.items():
            after[position] = evaluated(node, before)
        return True, tuple(after)
