"""Lifted formulas: captured actions and claims, with sizes left open.

Works on the graph as captured, before grounding. `after` and `initially` say what a claim means in
another state, in terms of this one. That is all that a proof needs of an action: no copies of the
state, and no axioms about what stays as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from model.language import graph
from model.language.capture import CapturedAction, Write
from model.language.declare.domains import Integers, Reference
from model.language.declare.schema import Schema, Variable
from model.language.graph import Node, Op
from model.language.protocol import Model


class Lifted:
    """A protocol's schema, with what formulas need to know of it."""

    def __init__(self, schema: Schema, ranges: Mapping[str, Integers] | None = None) -> None:
        """`ranges` are what parameters of actions range over that are numbers, by name."""
        self.schema = schema
        self._ranges = ranges or {}

    @classmethod
    def of(cls, model: Model) -> Self:
        """The schema of a model's protocol, and what its actions' parameters range over."""
        ranges = {
            str(parameter.domain): parameter.domain
            for parameters in model.protocol.parameters.values()
            for parameter in parameters
            if isinstance(parameter.domain, Integers)
        }
        return cls(model.schema, ranges)

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
        writes = tuple(
            Write(w.variable, tuple(map(self.now, w.index)), self.now(w.value), w.binders)
            for w in action.writes
        )
        return CapturedAction(
            action.name, action.parameters, tuple(map(self.now, action.guards)), writes
        )

    def after(self, node: Node, action: CapturedAction) -> Node:
        """A formula about the state after a total action, in terms of the state before it."""
        return self._replace_reads(node, action.writes, False)

    def initially(self, node: Node, writes: tuple[Write, ...] = ()) -> Node:
        """A formula about the initial state, which `writes` make from the blank one."""
        start = tuple(
            Write(
                w.variable,
                tuple(self._replace_reads(index, (), True) for index in w.index),
                self._replace_reads(w.value, (), True),
                w.binders,
            )
            for w in writes
        )
        return self._replace_reads(node, start, True)

    def _replace_reads(self, node: Node, writes: tuple[Write, ...], of_blank: bool) -> Node:
        done: dict[Node, Node] = {}

        def visit(this: Node) -> Node:
            found = done.get(this)
            if found is None:
                args = tuple(visit(arg) for arg in this.args)
                if this.op is Op.READ:
                    variable = self.schema.variables[this.data[0]]
                    old = variable.blank if of_blank else graph.rebuild(this, args)
                    found = self.total(variable, args, _overlay(variable, args, writes, old))
                else:
                    found = graph.rebuild(this, args)
                done[this] = found
            return found

        return visit(node)

    def misfits(self, write: Write) -> Node:
        """Where a write has an index out of range or a value outside its variable's domain."""
        fits = [self.all_within(write.variable, write.index)]
        fits.append(self.in_domain(write.variable, write.value))
        inside = [self.within(binder, binder.data[1]) for binder in write.binders]
        wrong = graph.conjunction(*inside, graph.negation(graph.conjunction(*fits)))
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


def _overlay(
    variable: Variable, index: tuple[Node, ...], writes: tuple[Write, ...], before: Node
) -> Node:
    """The value of `variable` at `index` after the writes."""
    value = before
    for write in writes:
        if write.variable is not variable:
            continue
        replacement, conditions = {}, []
        for written, asked in zip(write.index, index, strict=True):
            if written in write.binders:
                replacement[written] = asked
            else:
                conditions.append(graph.equal(written, asked))
        written_value = graph.substitute(write.value, replacement)
        value = graph.choose(graph.conjunction(*conditions), written_value, value)
    return value
