"""Lifted formulas: captured actions and claims, with sizes left open.

Works on the graph as captured, before grounding. `after` and `initially` say what a claim means in
another state, in terms of this one. That is all that a proof needs of an action: no copies of the
state, and no axioms about what stays as it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Self

from model.language import graph
from model.language.capture import CapturedAction, Write, overlay
from model.language.declare.domains import IndexSet, Integers, Reference
from model.language.declare.schema import Schema
from model.language.declare.variables import Variable
from model.language.graph import Node, Op
from model.language.protocol import Model
from model.language.unchanging import unchanging


class Lifted:
    """A protocol's schema, with what formulas need to know of it."""

    def __init__(self, schema: Schema, ranges: Mapping[str, Integers] | None = None) -> None:
        """`ranges` are what parameters of actions range over that are numbers, by name."""
        self.schema = schema
        self._ranges = ranges or {}
        self._zero: frozenset[str] = frozenset()  # bounds that are 0
        self.blank: Mapping[str, Node] = {}  # variables that stay blank, and what that is

    @classmethod
    def of(cls, model: Model) -> Self:
        """The schema of a model's protocol, and what its actions' parameters range over."""
        ranges = {
            node.data[1]: parameter.domain
            for captured in model.captured
            for parameter, node in zip(
                model.protocol.parameters[captured.name], captured.parameters, strict=True
            )
            if isinstance(parameter.domain, Integers)
        }
        return cls(model.schema, ranges)

    @classmethod
    def narrowed(cls, model: Model) -> Self:
        """The same, where what the model's bounds of 0 switch off is simplified away.

        Formulas then say what they do of states that are reachable with these bounds at 0.
        """
        lifted = cls.of(model)
        lifted._zero = frozenset(name for name, size in model.bounds.items() if size == 0)
        assigned = {write.variable.name for write in model.start}

        def changed(blank: Mapping[str, Node]) -> set[str]:
            lifted.blank = blank
            return {
                write.variable.name
                for action in model.captured
                if graph.FALSE not in map(lifted.now, action.guards)
                for write in action.writes
                if write.variable.name in blank
                and not lifted._is(write.value, write.variable.blank)
            }

        lifted.blank = unchanging(
            {
                name: variable.blank
                for name, variable in model.schema.variables.items()
                if name not in assigned and not graph.names_a_member(variable.blank)
            },
            changed,
        )
        return lifted

    def _is(self, node: Node, value: Node) -> bool:
        """The expression has that value, as far as is seen without a solver."""
        now = self.now(node)
        return now is value or (value.sort is graph.INT and self._is_number(now, value.data))

    def _is_number(self, node: Node, number: int) -> bool:
        """The least and the greatest that the expression may be are that number."""
        done: dict[Node, tuple[float, float]] = {}

        def limits(this: Node) -> tuple[float, float]:
            if this not in done:
                done[this] = within(this)
            return done[this]

        def least_of(domain: object) -> float:
            if isinstance(domain, Integers) and domain.low.node.op is Op.CONST:
                return float(domain.low.node.data)
            return -math.inf

        def within(this: Node) -> tuple[float, float]:
            match this.op:
                case Op.CONST:
                    return this.data, this.data
                case Op.READ:
                    return least_of(self.schema.variables[this.data[0]].domain), math.inf
                case Op.VARIABLE if this.data[1] in self._ranges:
                    return least_of(self._ranges[this.data[1]]), math.inf
                case Op.VARIABLE if this.data[1] in self.schema.index_sets:
                    return 0, math.inf
                case Op.LARGEST | Op.SMALLEST:
                    return limits(this.args[-1])
                case Op.MIN | Op.MAX | Op.ITE:
                    parts = this.args[1:] if this.op is Op.ITE else this.args
                    least, greatest = zip(*map(limits, parts), strict=True)
                    low = max if this.op is Op.MAX else min
                    high = min if this.op is Op.MIN else max
                    return low(least), high(greatest)
            return -math.inf, math.inf

        return limits(node) == (number, number)

    def extent(self, over: str) -> Node:
        """How many indices the index set called `over` has."""
        return self.schema.index_sets[over].size.node

    def is_symmetric(self, over: str) -> bool:
        """The index set's members have no order."""
        return over not in self._ranges and self.schema.index_sets[over].symmetric

    def within(self, index: Node, over: str) -> Node:
        """`index` is one of the index set or the range called `over`."""
        return (self._ranges.get(over) or self.schema.index_sets[over]).includes(index)

    def all_within(self, variable: Variable, index: tuple[Node, ...]) -> Node:
        """`index` is a place of `variable`. A variable over an index set always is in it."""
        return graph.conjunction(
            *(over.admits(node) for node, over in zip(index, variable.index, strict=True))
        )

    def total(self, variable: Variable, index: tuple[Node, ...], value: Node) -> Node:
        """`value` where `index` is a place of `variable`, its blank value elsewhere."""
        return graph.choose(self.all_within(variable, index), value, variable.blank)

    def now(self, node: Node) -> Node:
        """A formula about the state as it is: reads at computed indices made total."""
        return self._replace_reads(node, (), False)

    def total_action(self, action: CapturedAction) -> CapturedAction:
        """The action with reads at computed indices made total."""
        writes = tuple(write.with_nodes(self.now) for write in action.writes)
        return CapturedAction(
            action.name, action.parameters, tuple(map(self.now, action.guards)), writes
        )

    def after(self, node: Node, action: CapturedAction) -> Node:
        """A formula about the state after a total action, in terms of the state before it."""
        return self._replace_reads(node, action.writes, False)

    def initially(self, node: Node, writes: tuple[Write, ...]) -> Node:
        """A formula about the initial state, which `writes` make from the blank one."""
        start = (w.with_nodes(lambda part: self._replace_reads(part, (), True)) for w in writes)
        return self._replace_reads(node, tuple(start), True)

    def _replace_reads(self, node: Node, writes: tuple[Write, ...], of_blank: bool) -> Node:
        done: dict[Node, Node] = {}

        def visit(this: Node) -> Node:
            found = done.get(this)
            if found is None:
                args = tuple(visit(arg) for arg in this.args)
                if this.op is Op.BOUND and this.data in self._zero:
                    found = graph.constant(0)
                elif this.op is Op.READ and this.data[0] in self.blank:
                    found = self.blank[this.data[0]]
                elif this.op is Op.READ:
                    variable = self.schema.variables[this.data[0]]
                    old = variable.blank if of_blank else graph.rebuild(this, args)
                    after = overlay(variable, args, writes, old, _anywhere)
                    found = self.total(variable, args, after)
                else:
                    found = graph.rebuild(this, args)
                done[this] = found
            return found

        return visit(node)

    def misfits(self, write: Write) -> Node:
        """Where a write has an index out of range or a value outside its variable's domain."""
        placed = self.all_within(write.variable, write.index)
        fits = graph.conjunction(
            graph.disjunction(graph.negation(write.when), placed),
            self.in_domain(write.variable, write.value),
        )
        inside = [self.within(binder, binder.data[1]) for binder in write.binders]
        wrong = graph.conjunction(*inside, graph.negation(fits))
        for binder in write.binders:
            wrong = graph.quantified(Op.EXISTS, binder, wrong)
        return wrong

    def in_domain(self, variable: Variable, value: Node) -> Node:
        """`value` is of the variable's domain."""
        domain = variable.domain
        if isinstance(domain, Integers):
            return domain.includes(value)
        if isinstance(domain, Reference) and not domain.optional:
            return self.within(value, value.sort.family)
        return graph.TRUE

    def domains(self) -> list[Node]:
        """Every state variable has a value of its domain, as formulas."""
        found = []
        for variable in self.schema.variables.values():
            if variable.name in self.blank:
                continue
            index = tuple(
                index_set.variable(f"{index_set.name}%{place}")
                for place, index_set in enumerate(variable.index)
            )
            claim = self.in_domain(variable, graph.read(variable.name, index, variable.sort))
            if claim is not graph.TRUE:
                for place in index:
                    claim = graph.quantified(Op.FORALL, place, claim)
                found.append(claim)
        return found


def _anywhere(_index_set: IndexSet, _index: Node) -> Node:
    """`total` keeps to the places that there are."""
    return graph.TRUE
