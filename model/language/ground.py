"""Grounding: with sizes fixed and parameters chosen, what is left is arithmetic on scalar cells.

Quantifiers become conjunctions, indexed reads become choices between cells, sets become bit masks.
Reads out of range give the variable's blank value, so every expression is total.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from model.language import graph
from model.language.action import Instance
from model.language.capture import CapturedAction, Write
from model.language.cells import Cell, StateSpace
from model.language.declare.schema import Schema
from model.language.declare.variables import Variable
from model.language.errors import DomainError
from model.language.graph import BOOL, INT, Node, Op

Environment = dict[Node, int]


@dataclass(frozen=True)
class GroundAction:
    """An action instance over cells.

    It is enabled where `guard` holds. `assignments` gives the new value of each cell that it may
    change, over the state before. Where `guard` and `misfit` hold, a value does not fit its cell.
    """

    instance: Instance
    guard: Node
    assignments: dict[int, Node]
    misfit: Node


def shared_grounder(schema: Schema, bounds: Mapping[str, int]) -> Grounder:
    """A grounder of whole domains, for all models of the schema with these bounds.

    Models that differ in their settings share most of what is captured, and so of what is grounded.
    """
    kept = schema.kept.setdefault(__name__, {})
    key = tuple(bounds.items())
    found = kept.pop(key, None) or Grounder(StateSpace(schema, bounds))
    kept[key] = found  # the last: it was asked for last
    while sum(grounder.size for grounder in kept.values()) > _NODES:
        del kept[next(iter(kept))]
    return found


_NODES = 400_000
"""Expressions that the grounders of one schema may hold and be kept."""


class Grounder:
    """Grounds expressions over one space of states. Equal parts are grounded once.

    `cells(frame, position)` gives the expression for a cell, by default the cell itself.
    """

    def __init__(self, space: StateSpace, cells: Callable[[int, Cell], Node] | None = None) -> None:
        self.space = space
        self._cells = cells or cell_node
        self._at: dict[tuple[int, int], Node] = {}
        self._done: dict[tuple[Node, tuple[int, ...]], Node] = {}
        self._actions: dict[tuple[int, tuple[int, ...]], tuple[CapturedAction, GroundAction]] = {}
        self._rules: dict[Op, Callable[[Node, Environment], Node]] = {
            Op.CONST: lambda node, _: _plain_constant(node),
            Op.VARIABLE: lambda node, env: graph.constant(env[node]),
            Op.BOUND: lambda node, _: graph.constant(space.bound(node.data)),
            Op.READ: self._read,
            Op.EMPTY: lambda node, _: graph.constant(0),
            Op.EVERYONE: lambda node, _: graph.constant(self._everyone(node)),
            Op.SINGLETON: self._singleton,
            Op.UNION: lambda node, env: graph.bit_or(*self._arguments(node, env)),
            Op.INTERSECTION: lambda node, env: graph.bit_and(*self._arguments(node, env)),
            Op.DIFFERENCE: self._difference,
            Op.CONTAINS: self._contains,
            Op.SIZE: self._size,
            Op.MAJORITY: self._majority,
            Op.FORALL: lambda node, env: graph.conjunction(*self._bodies(node, env)),
            Op.EXISTS: lambda node, env: graph.disjunction(*self._bodies(node, env)),
            Op.COUNT: lambda node, env: _count(self._bodies(node, env)),
            Op.LARGEST: lambda node, env: reduce(graph.maximum, self._bodies(node, env)),
            Op.SMALLEST: lambda node, env: reduce(graph.minimum, self._bodies(node, env)),
            Op.MEMBERS_WHERE: self._members_where,
        }

    @property
    def size(self) -> int:
        """How many expressions it holds."""
        return len(self._done)

    def expression(self, node: Node, environment: Environment | None = None) -> Node:
        """`node` over cells, with its free variables given by `environment`."""
        env = environment or {}
        key = (node, tuple([env[variable] for variable in node.parameters]))
        found = self._done.get(key)
        if found is None:
            rule = self._rules.get(node.op)
            if rule is not None:
                found = rule(node, env)
            else:
                found = graph.rebuild(node, tuple(self._arguments(node, env)))
            self._done[key] = found
        return found

    def action(self, instance: Instance, captured: CapturedAction) -> GroundAction:
        """The guard, assignments and misfit over cells of an instance of a captured action."""
        key = id(captured), instance.arguments
        if key not in self._actions:  # with what is captured, so that no other gets its number
            self._actions[key] = captured, self._action(instance, captured)
        known = self._actions[key][1]
        return replace(known, instance=instance, assignments=dict(known.assignments))

    def _action(self, instance: Instance, captured: CapturedAction) -> GroundAction:
        env = dict(zip(captured.parameters, instance.arguments, strict=True))
        guard = graph.conjunction(*(self.expression(g, env) for g in captured.guards))
        if guard is graph.FALSE:
            return GroundAction(instance, guard, {}, graph.FALSE)
        assignments, misfit = self.writes(captured.writes, env)
        return GroundAction(instance, guard, assignments, misfit)

    def initial(self, start: tuple[Write, ...]) -> tuple[int, ...]:
        """The initial state: the number in each cell, where `start` is what is assigned first."""
        numbers = [cell.blank for cell in self.space.cells]
        blank = Grounder(self.space, lambda _, cell: self.expression(cell.variable.blank))
        assigned, misfit = blank.writes(start, {})
        if misfit is not graph.FALSE:
            told = [
                f"{w.variable.name}, valid is {w.variable.domain}"
                for w in start
                if blank.writes((w,), {})[1] is not graph.FALSE
            ]
            raise DomainError(f"start assigns a value that does not fit: {'; '.join(told)}")
        for position, node in assigned.items():
            numbers[position] = int(node.data)
        return tuple(numbers)

    def writes(
        self, writes: tuple[Write, ...], environment: Environment
    ) -> tuple[dict[int, Node], Node]:
        """What the writes assign to each cell, and where a value does not fit its cell."""
        assigned: dict[int, Node] = {}
        misfits: list[Node] = []
        for write in writes:
            ranges = [range(self._extent_of(binder)) for binder in write.binders]
            for values in itertools.product(*ranges):
                env = environment | dict(zip(write.binders, values, strict=True))
                self._write(write, env, assigned, misfits)
        kept = {p: v for p, v in assigned.items() if v is not self._cell_at(p)}
        unforeseen = (
            graph.negation(graph.equal(value, self._cell_at(position)))
            for position, value in kept.items()
            if self.space.cells[position].variable.name in self.space.unchanging
        )
        return kept, graph.disjunction(*misfits, *unforeseen)

    def _write(
        self, write: Write, env: Environment, assigned: dict[int, Node], misfits: list[Node]
    ) -> None:
        value = self.expression(write.value, env)
        low, high = self.space.limits(write.variable.domain)
        too_low = graph.less(value, graph.constant(low))
        too_high = graph.less(graph.constant(high), value)
        index = [self.expression(i, env) for i in write.index]
        for place, here in self._places(write.variable, index):
            position = self.space.positions[write.variable.name, place]
            before = assigned.get(position, self._cell_at(position))
            assigned[position] = graph.choose(here, value, before)
        within = self._within(write.variable, index)
        misplaced = graph.conjunction(self.expression(write.when, env), graph.negation(within))
        misfits.append(graph.disjunction(too_low, too_high, misplaced))

    def _within(self, variable: Variable, index: list[Node]) -> Node:
        parts = []
        for node, index_set in zip(index, variable.index, strict=True):
            if node.op is Op.CONST and 0 <= node.data < self.space.extents[index_set.name]:
                continue
            parts.append(graph.at_most(graph.constant(0), node))
            parts.append(graph.less(node, graph.constant(self.space.extents[index_set.name])))
        return graph.conjunction(*parts)

    def _places(
        self, variable: Variable, index: list[Node]
    ) -> Iterator[tuple[tuple[int, ...], Node]]:
        """Every index in range that `index` may take, with the condition that it does."""
        options = []
        for node, index_set in zip(index, variable.index, strict=True):
            if node.op is Op.CONST:
                there = 0 <= node.data < self.space.extents[index_set.name]
                options.append([(node.data, graph.TRUE)] if there else [])
                continue
            choices = [
                (k, here)
                for k in range(self.space.extents[index_set.name])
                if (here := graph.equal(node, graph.constant(k))) is not graph.FALSE
            ]
            options.append(choices)
        for combination in itertools.product(*options):
            place = tuple([k for k, _ in combination])
            yield place, graph.conjunction(*[here for _, here in combination])

    def _cell_at(self, position: int, frame: int = 0) -> Node:
        key = frame, position
        found = self._at.get(key)
        if found is None:
            found = self._at[key] = self._cells(frame, self.space.cells[position])
        return found

    def _arguments(self, node: Node, env: Environment) -> list[Node]:
        return [self.expression(arg, env) for arg in node.args]

    def _extent_of(self, variable: Node) -> int:
        return self.space.extents[variable.data[1]]

    def _bodies(self, node: Node, env: Environment) -> list[Node]:
        over, body = node.args
        return [self.expression(body, env | {over: k}) for k in range(self._extent_of(over))]

    def _read(self, node: Node, env: Environment) -> Node:
        name, frame = node.data
        variable = self.space.schema.variables[name]
        index = self._arguments(node, env)
        value = self.expression(variable.blank)
        places = list(self._places(variable, index))
        inside = self._within(variable, index) is graph.TRUE
        for number, (place, here) in enumerate(reversed(places)):
            cell = self._cell_at(self.space.positions[variable.name, place], frame)
            value = cell if inside and number == 0 else graph.choose(here, cell, value)
        return value

    def _everyone(self, node: Node) -> int:
        return (1 << self.space.extents[node.sort.family]) - 1

    def _singleton(self, node: Node, env: Environment) -> Node:
        (member,) = self._arguments(node, env)
        if member.op is Op.CONST:
            return graph.constant(1 << member.data if member.data >= 0 else 0)
        value = graph.constant(0)
        for k in range(self._everyone(node).bit_length()):
            here = graph.equal(member, graph.constant(k))
            value = graph.choose(here, graph.constant(1 << k), value)
        return value

    def _difference(self, node: Node, env: Environment) -> Node:
        a, b = self._arguments(node, env)
        everyone = graph.constant(self._everyone(node))
        kept = (
            graph.constant(everyone.data & ~b.data)
            if b.op is Op.CONST
            else graph.subtract(everyone, b)
        )
        return graph.bit_and(a, kept)

    def _contains(self, node: Node, env: Environment) -> Node:
        group, member = self._arguments(node, env)
        extent = self.space.extents[node.args[0].sort.family]
        return graph.disjunction(
            *(
                graph.conjunction(graph.equal(member, graph.constant(k)), _has(group, k))
                for k in range(extent)
            )
        )

    def _size(self, node: Node, env: Environment) -> Node:
        return _count(self._membership(node.args[0], env))

    def _majority(self, node: Node, env: Environment) -> Node:
        """Twice the count of members in both is more than the count of the second set's."""
        group, of = (self._membership(arg, env) for arg in node.args)
        found = _count([graph.conjunction(*pair) for pair in zip(group, of, strict=True)])
        return graph.less(_count(of), graph.add(found, found))

    def _membership(self, group: Node, env: Environment) -> list[Node]:
        """Of each member of the family, whether it is in the set."""
        if group.op is Op.MEMBERS_WHERE:
            return self._bodies(group, env)
        mask = self.expression(group, env)
        return [_has(mask, k) for k in range(self.space.extents[group.sort.family])]

    def _members_where(self, node: Node, env: Environment) -> Node:
        bits = [
            graph.choose(holds, graph.constant(1 << k), graph.constant(0))
            for k, holds in enumerate(self._bodies(node, env))
        ]
        return reduce(graph.bit_or, bits)


def cell_node(frame: int, cell: Cell) -> Node:
    """A cell of the state of that frame; a constant, where it has but one number."""
    sort = BOOL if cell.variable.sort is BOOL else INT
    if cell.low == cell.high:
        return graph.constant(bool(cell.low) if sort is BOOL else cell.low)
    return graph.cell(cell.position, cell.low, cell.high, sort, frame)


def _plain_constant(node: Node) -> Node:
    return node if node.sort is BOOL else graph.constant(int(node.data))


def _has(group: Node, member: int) -> Node:
    bit = graph.bit_and(group, graph.constant(1 << member))
    return graph.negation(graph.equal(bit, graph.constant(0)))


def _count(conditions: list[Node]) -> Node:
    one, none = graph.constant(1), graph.constant(0)
    return reduce(graph.add, [graph.choose(holds, one, none) for holds in conditions])
