"""Mutants: a protocol's captured actions with one small change each, to see which property notices.

A check that nothing can fail is no check. For each mutant the reachable states are searched. It is
*killed* by every property that one of them falsifies, by a value that leaves its domain, and by a
witness or an action that the protocol has and the mutant lost. It is *equivalent* within the bounds
if it is the same expression once sizes are fixed, or a guard that leaves the numbers of states and
steps as they are: it only adds steps, or only takes some away, so equal numbers mean equal sets.
What is left *survives*, and needs a reason.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from checker.engines.vectorised import VectorisedEngine
from checker.experiments.infix import words
from checker.search.explore import Explorer, Limits, Options
from checker.verdict import Exploration
from model.language import graph
from model.language.capture import CapturedAction, Write
from model.language.declare.settings import as_text, describe
from model.language.errors import DomainError
from model.language.graph import BOOL, INT, Node, Op
from model.language.ground import GroundAction
from model.language.protocol import Model
from properties import Property, Sense

DOMAIN = "domain"
COVERAGE = "coverage"


class Kind(StrEnum):
    """What sort of change a mutant is."""

    WEAKEN = "weaken"  # a guard holds more often
    STRENGTHEN = "strengthen"  # a guard holds less often
    DROP_EFFECT = "drop effect"
    CHANGE_EFFECT = "change effect"
    SETTING = "setting"


@dataclass(frozen=True)
class Mutant:
    """One change: of an action's captured form, or of settings."""

    subject: str
    kind: Kind
    change: str
    captured: CapturedAction | None = None
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """What is changed and how, such as `leader_write: drop end[leader] < log_size`."""
        return f"{self.subject}: {self.change}"


class Outcome(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    EQUIVALENT = "equivalent"  # within the bounds, nothing reachable differs
    SURVIVED = "survived"
    UNKNOWN = "unknown"  # a limit stopped the search before anything was noticed


@dataclass(frozen=True)
class Fate:
    """A mutant's outcome: what noticed it at which depth (`None`: by the whole search).

    `lemmas` are those of the protocol's lemmas, auxiliary properties made for proofs, that notice
    what the properties did not.
    """

    mutant: str
    kind: Kind
    outcome: Outcome
    killers: Mapping[str, int | None] = field(default_factory=dict)
    states: int = 0
    transitions: int = 0
    seconds: float = 0.0
    lemmas: Mapping[str, int | None] = field(default_factory=dict)


# --- deriving mutants ---------------------------------------------------------------------------


def mutants(model: Model) -> list[Mutant]:
    """Every mutant of a model, in a fixed order, no two of them alike."""
    found: list[Mutant] = list(_of_settings(model))
    for captured in model.captured:
        seen: set[Any] = {_form(captured)}
        for mutant in (*_of_guards(captured), *_of_effects(captured)):
            assert mutant.captured is not None
            form = _form(mutant.captured)
            if form not in seen:
                seen.add(form)
                found.append(mutant)
    return _named_apart(found)


def _named_apart(found: list[Mutant]) -> list[Mutant]:
    """The same mutants; where two read alike, all but the first are numbered."""
    times: Counter[str] = Counter()
    named = []
    for mutant in found:
        times[mutant.name] += 1
        again = times[mutant.name]
        change = mutant.change if again == 1 else f"{mutant.change} ({again})"
        named.append(dataclasses.replace(mutant, change=change))
    return named


def _form(captured: CapturedAction) -> Any:
    return graph.conjunction(*captured.guards), captured.writes


def _of_settings(model: Model) -> Iterator[Mutant]:
    texts = as_text(model.settings)
    for name, info in describe(type(model.settings)).items():
        if info.type is bool:
            value = "false" if texts[name] == "true" else "true"
            yield Mutant("settings", Kind.SETTING, f"{name}={value}", None, ((name, value),))


def _of_guards(captured: CapturedAction) -> Iterator[Mutant]:
    for number, guard in enumerate(captured.guards):
        for path, node, positive in _conditions(guard):
            for kind, change, replacement in _changes(node, positive):
                guards = list(captured.guards)
                guards[number] = _replaced(guard, path, replacement)
                yield Mutant(
                    captured.name,
                    kind,
                    change,
                    dataclasses.replace(captured, guards=tuple(guards)),
                )


def _conditions(
    node: Node, path: tuple[int, ...] = (), positive: bool = True
) -> Iterator[tuple[tuple[int, ...], Node, bool]]:
    """Every condition within a guard, its place, and whether more of it makes the guard weaker."""
    yield path, node, positive
    if node.op is Op.NOT:
        yield from _conditions(node.args[0], (*path, 0), not positive)
    elif node.op in (Op.AND, Op.OR):
        for place, arg in enumerate(node.args):
            yield from _conditions(arg, (*path, place), positive)
    elif node.op in (Op.FORALL, Op.EXISTS):
        yield from _conditions(node.args[1], (*path, 1), positive)


def _changes(node: Node, positive: bool) -> Iterator[tuple[Kind, str, Node]]:
    """What may be made of a condition."""
    if node.op is Op.NOT:
        return  # what is below it says the same
    weaker = graph.TRUE if positive else graph.FALSE
    shown = node if positive else graph.negation(node)
    yield Kind.WEAKEN, f"drop {words(shown)}", weaker
    grows, shrinks = (Kind.WEAKEN, Kind.STRENGTHEN) if positive else (Kind.STRENGTHEN, Kind.WEAKEN)
    if node.op in (Op.LT, Op.LE):
        larger = node.op is Op.LT
        other = (graph.at_most if larger else graph.less)(*node.args)
        yield grows if larger else shrinks, f"{words(node)} becomes {words(other)}", other
    if node.op is Op.EQ and node.args[0].sort is INT:
        a, b = node.args
        for other in (graph.at_most(a, b), graph.at_most(b, a)):
            yield grows, f"{words(node)} becomes {words(other)}", other


def _replaced(node: Node, path: tuple[int, ...], replacement: Node) -> Node:
    if not path:
        return replacement
    place, rest = path[0], path[1:]
    args = list(node.args)
    args[place] = _replaced(args[place], rest, replacement)
    if node.op in (Op.FORALL, Op.EXISTS):
        return graph.quantified(node.op, args[0], args[1])
    return graph.rebuild(node, tuple(args))


def _of_effects(captured: CapturedAction) -> Iterator[Mutant]:
    for number, write in enumerate(captured.writes):
        before, after = captured.writes[:number], captured.writes[number + 1 :]

        def mutant(
            kind: Kind,
            change: str,
            *writes: Write,
            around: tuple[tuple[Write, ...], tuple[Write, ...]] = (before, after),
        ) -> Mutant:
            kept = (*around[0], *writes, *around[1])
            return Mutant(captured.name, kind, change, dataclasses.replace(captured, writes=kept))

        place = _place(write)
        yield mutant(Kind.DROP_EFFECT, f"drop the new {place}")
        for change, value in _other_values(write.value):
            changed = dataclasses.replace(write, value=value)
            yield mutant(Kind.CHANGE_EFFECT, f"the new {place} {change}", changed)


def _other_values(value: Node) -> Iterator[tuple[str, Node]]:
    if value.sort is INT:
        yield "plus 1", graph.add(value, graph.constant(1))
        yield "minus 1", graph.subtract(value, graph.constant(1))
    elif value.sort is BOOL:
        yield "negated", graph.negation(value)


def _place(write: Write) -> str:
    inner = ", ".join(words(i) for i in write.index)
    return f"{write.variable.name}[{inner}]" if inner else write.variable.name


# --- what becomes of them -----------------------------------------------------------------------


def baseline(model: Model, properties: tuple[Property, ...], limits: Limits) -> Exploration:
    """What the unchanged model reaches, for comparison; every violation in it is known."""
    return Explorer(model, properties, limits, Options(keep_going=True)).run()


def judge(
    model: Model,
    mutant: Mutant,
    properties: tuple[Property, ...],
    original: Exploration,
    limits: Limits,
) -> Fate:
    """Search the mutant's states and say what noticed the change."""
    chosen = model
    if mutant.settings:
        chosen = model.protocol.model(model.bounds, as_text(model.settings) | dict(mutant.settings))
    changed = {} if mutant.captured is None else {mutant.subject: mutant.captured}
    actions = chosen.ground_actions_with(changed)
    if _behaviour(actions) == _behaviour(model.ground_actions):
        states, steps = original.distinct_states, original.transitions
        return Fate(mutant.name, mutant.kind, Outcome.EQUIVALENT, {}, states, steps)
    engine = VectorisedEngine(chosen, actions)
    explorer = Explorer(chosen, properties, limits, Options(keep_going=True), engine=engine)
    killers: dict[str, int | None] = {}
    try:
        result = explorer.run()
    except DomainError:
        result = explorer.result
        killers[DOMAIN] = len(result.levels)
        return Fate(mutant.name, mutant.kind, Outcome.KILLED, killers, result.distinct_states)
    known = {v.property.name for v in original.violations}
    killers |= {v.property.name: v.depth for v in result.violations if v.property.name not in known}
    if not result.stopped:
        killers |= {name: None for name in _lost(result, original)}
    return Fate(
        mutant.name,
        mutant.kind,
        _outcome(mutant.kind, killers, result, original),
        killers,
        result.distinct_states,
        result.transitions,
        result.seconds,
    )


def _behaviour(actions: Iterable[GroundAction]) -> list[Any]:
    """What the actions do; equal expressions are one object."""
    return [(a.instance.number, a.guard, tuple(a.assignments.items()), a.misfit) for a in actions]


def _lost(result: Exploration, original: Exploration) -> Iterator[str]:
    """The witnesses that the original reaches and the mutant does not; lost actions as coverage."""
    for prop in result.properties:
        lost = prop.name in original.reached and prop.name not in result.reached
        if prop.sense is Sense.SOMETIMES and lost:
            yield prop.name
    if set(result.never_enabled) - set(original.never_enabled):
        yield COVERAGE


def _outcome(
    kind: Kind, killers: Mapping[str, int | None], result: Exploration, original: Exploration
) -> Outcome:
    if killers:
        return Outcome.KILLED
    if result.stopped:
        return Outcome.UNKNOWN
    same = (result.levels, result.transitions) == (original.levels, original.transitions)
    if same and kind in (Kind.WEAKEN, Kind.STRENGTHEN):
        return Outcome.EQUIVALENT
    return Outcome.SURVIVED
