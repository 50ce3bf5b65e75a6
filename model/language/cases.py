"""Actions that run by one set of settings or another, as the state has it: brokers of two releases.

Settings are plain values while a function runs, so that an `if` on one is fine. A protocol whose
members differ in their settings says which hold where: its actions are run, and captured, once for
each case. What is captured for several is one action that does in each case what that one does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from model.language import graph
from model.language.action import Action
from model.language.capture import (
    CapturedAction,
    Parameter,
    Write,
    capture_action,
    capture_fact,
    overlay,
)
from model.language.declare.domains import IndexSet
from model.language.declare.schema import Schema
from model.language.graph import Node


@dataclass(frozen=True)
class Fact:
    """A condition that tells cases apart: `holds` of an argument, by its place, or of the state."""

    holds: Callable[[Any], bool]
    argument: int | None

    def of(self, state: Any, arguments: Sequence[Any]) -> bool:
        """Whether it holds of a state and the arguments of an action."""
        return self.holds(state if self.argument is None else arguments[self.argument])


@dataclass(frozen=True)
class Case:
    """Where each of the facts is true or false as is said, an action runs with `settings`."""

    settings: Any
    facts: tuple[tuple[Fact, bool], ...] = ()

    def applies(self, state: Any, arguments: Sequence[Any]) -> bool:
        """Whether this is the case, in a state of plain values."""
        return all(fact.of(state, arguments) is bool(is_so) for fact, is_so in self.facts)


def settings_in(cases: Sequence[Case], state: Any, arguments: Sequence[Any]) -> Any:
    """The settings that an action runs with in a state of plain values."""
    if len(cases) == 1:
        return cases[0].settings
    return next(case.settings for case in cases if case.applies(state, arguments))


def captured_by_cases(
    action: Action, cases: Sequence[Case], schema: Schema, parameters: tuple[Parameter, ...]
) -> CapturedAction:
    """An action as expressions, captured with the settings of each case."""
    found = []
    for case in cases:
        conditions = (
            graph.equal(
                capture_fact(fact.holds, fact.argument, schema, parameters), graph.constant(is_so)
            )
            for fact, is_so in case.facts
        )
        where = graph.conjunction(*conditions)
        name, function = action.name, action.function
        found.append((where, capture_action(name, function, schema, case.settings, parameters)))
    return merged(found)


def merged(cases: Sequence[tuple[Node, CapturedAction]]) -> CapturedAction:
    """One action for several, each of which is done where its condition holds.

    In each state just one of the conditions does. What all require is required once.
    """
    first = cases[0][1]
    found: dict[tuple[tuple[Node, ...], tuple[Write, ...]], list[Node]] = {}
    for condition, captured in cases:
        found.setdefault((captured.guards, captured.writes), []).append(condition)
    if len(found) == 1:
        return first
    alike = [guard for guard in first.guards if all(guard in guards for guards, _ in found)]
    ways: list[tuple[Node, tuple[Write, ...]]] = []
    enabled: list[Node] = []
    for (guards, written), conditions in found.items():
        where = graph.disjunction(*conditions)
        own = graph.conjunction(*(guard for guard in guards if guard not in alike))
        if own is not graph.FALSE:
            enabled.append(graph.conjunction(where, own))
            ways.append((where, written))
    guards = (*alike, graph.disjunction(*enabled))
    return CapturedAction(first.name, first.parameters, guards, tuple(_together(ways)))


def _together(ways: Sequence[tuple[Node, tuple[Write, ...]]]) -> Sequence[Write]:
    """The assignments of each way where its condition holds."""
    places = {tuple((w.variable, w.index, w.binders) for w in written) for _, written in ways}
    if len(places) == 1:
        (_, kept), *others = ways
        for where, written in others:
            kept = tuple(map(partial(_chosen, where), written, kept))
        return kept
    writes: list[Write] = []
    for number, (where, written) in enumerate(ways):
        for write in written:
            writes.append(_only(_apart(write, number), where, writes))
    return writes


def _chosen(where: Node, then: Write, otherwise: Write) -> Write:
    """One of two assignments to the same place."""
    value = graph.choose(where, then.value, otherwise.value)
    when = graph.choose(where, then.when, otherwise.when)
    return Write(then.variable, then.index, value, then.binders, when)


def _apart(write: Write, number: int) -> Write:
    """The same with binders of its own, which no expression of another case has bound."""
    fresh = {
        binder: graph.variable(f"{binder.data[0]}.{number}", binder.sort, binder.data[1])
        for binder in write.binders
    }
    apart = write.with_nodes(lambda node: graph.substitute(node, fresh))
    return Write(apart.variable, apart.index, apart.value, tuple(fresh.values()), apart.when)


def _only(write: Write, where: Node, before: Sequence[Write]) -> Write:
    """The same where a condition holds; elsewhere it leaves what the writes before it left."""
    variable, index = write.variable, write.index
    old = graph.read(variable.name, index, variable.sort)
    kept = overlay(variable, index, before, old, IndexSet.admits)
    value = graph.choose(where, write.value, kept)
    return Write(variable, index, value, write.binders, graph.conjunction(where, write.when))
