"""Mutants: a protocol's captured actions with one small change each, to see which property notices.

A check that nothing can fail is no check. For each mutant the reachable states are searched. It is
*killed* by every property that one of them falsifies, by a value that leaves its domain, and by a
witness or an action that the protocol has and the mutant lost. It is *equivalent* within the
bounds if it is the same expression once sizes are fixed, or if its reachable steps are the
protocol's; they are compared by the sum of their 64-bit fingerprints. What is left *survives*, and
needs a reason.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, cast

import numpy as np

from checker.core.engines.layout import Words
from checker.core.engines.vectorised import (
    Claims,
    Effect,
    Successors,
    VectorisedEngine,
    compile_masks,
)
from checker.core.search.explore import Explorer
from checker.core.search.fingerprints import fingerprints
from checker.core.search.limits import Limits
from checker.core.search.question import Options
from checker.core.verdict import Exploration
from model.language import graph
from model.language.capture import CapturedAction, Write
from model.language.declare.settings import as_text, describe
from model.language.errors import DomainError
from model.language.graph import BOOL, INT, Infix, Node, Op
from model.language.ground import GroundAction, Grounder
from model.language.protocol import Instance, Model
from properties import Property, Sense

words, in_order = Infix().words, Infix().in_order
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
            yield Mutant("settings", Kind.SETTING, f"{name}={value}", settings=((name, value),))


def _of_guards(captured: CapturedAction) -> Iterator[Mutant]:
    for number, guard in enumerate(captured.guards):
        for path, node, positive in _conditions(guard):
            for kind, change, replacement in _changes(node, positive):
                guards = list(captured.guards)
                guards[number] = _replaced(guard, path, replacement)
                changed = dataclasses.replace(captured, guards=tuple(guards))
                yield Mutant(captured.name, kind, change, changed)


def _conditions(
    node: Node, path: tuple[int, ...] = (), positive: bool = True
) -> Iterator[tuple[tuple[int, ...], Node, bool]]:
    """Every condition within a guard, its place, and whether more of it makes the guard weaker."""
    yield path, node, positive
    if node.op is Op.NOT:
        yield from _conditions(node.args[0], (*path, 0), not positive)
    elif node.op in (Op.AND, Op.OR):
        for arg in in_order(node.args):
            yield from _conditions(arg, (*path, node.args.index(arg)), positive)
    elif node.op in (Op.FORALL, Op.EXISTS):
        yield from _conditions(node.args[1], (*path, 1), positive)


def _changes(node: Node, positive: bool) -> Iterator[tuple[Kind, str, Node]]:
    """What may be made of a condition."""
    if node.op in (Op.NOT, Op.CONST):
        return  # what is below it says the same; a constant is a setting's word, and no condition
    weaker = graph.TRUE if positive else graph.FALSE
    shown = node if positive else graph.negation(node)
    yield Kind.WEAKEN, f"drop {words(shown)}", weaker
    grows, shrinks = (Kind.WEAKEN, Kind.STRENGTHEN) if positive else (Kind.STRENGTHEN, Kind.WEAKEN)
    if node.op in (Op.LT, Op.LE):
        larger = node.op is Op.LT
        other = (graph.at_most if larger else graph.less)(*node.args)
        yield grows if larger else shrinks, f"{words(node)} becomes {words(other)}", other
    if node.op is Op.EQ and node.args[0].sort is INT:
        a, b = in_order(node.args)
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
        place = _place(write)
        kept = (*captured.writes[:number], *captured.writes[number + 1 :])
        dropped = dataclasses.replace(captured, writes=kept)
        yield Mutant(captured.name, Kind.DROP_EFFECT, f"drop the new {place}", dropped)
        for change, value in _other_values(write.value):
            writes = list(captured.writes)
            writes[number] = dataclasses.replace(write, value=value)
            changed = dataclasses.replace(captured, writes=tuple(writes))
            yield Mutant(captured.name, Kind.CHANGE_EFFECT, f"the new {place} {change}", changed)


def _other_values(value: Node) -> Iterator[tuple[str, Node]]:
    if value.sort is INT:
        yield "plus 1", graph.add(value, graph.constant(1))
        yield "minus 1", graph.subtract(value, graph.constant(1))
    elif value.sort is BOOL:
        yield "negated", graph.negation(value)


def _place(write: Write) -> str:
    inner = ", ".join(map(words, write.index))
    return f"{write.variable.name}[{inner}]" if inner else write.variable.name


# --- what becomes of them -----------------------------------------------------------------------


class _Noting(VectorisedEngine):
    """Adds up the fingerprints of all steps that it finds: equal sums mean the same steps.

    `known` holds the effects and claims that mutants of one model share, so that each is made once.
    Without `actions`, it runs the unchanged model, and keeps the states in `seen`.
    """

    def __init__(
        self, model: Model, known: dict[Any, Any], actions: Sequence[GroundAction] | None = None
    ) -> None:
        super().__init__(model, actions)
        self.noted = 0
        self.seen: list[Words] = []
        self._known = known

    def _effect(self, number: int) -> Effect:
        return self.effect_of(self.actions[number])

    def effect_of(self, action: GroundAction) -> Effect:
        """What an action does, its own or a mutant's."""
        key = action.instance.number, *action.assignments.items(), action.misfit
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Effect(action, self.layout)
        return cast(Effect, found)

    def judging(self, nodes: Iterable[Node]) -> Claims:
        """As any engine."""
        key = tuple(nodes)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = super().judging(key)
        return cast(Claims, found)

    def expand(self, words: Words) -> Successors:
        """As any engine."""
        if self.is_of_model:
            self.seen.append(words)
        found = super().expand(words)
        instances = found.instances.astype(np.uint64)[np.newaxis]
        steps = np.vstack([words.take(found.rows, axis=1), instances, found.words])
        self.noted = (self.noted + int(fingerprints(steps).sum())) % (1 << 64)
        return found


class _Search(Explorer):
    """A mutant's search. The reference engine cannot replay its runs: it has the protocol's own."""

    def _concrete(self, steps: tuple[Instance, ...]) -> tuple[Instance, ...]:
        return steps


class Judge:
    """Searches mutants of one model, and says what noticed each.

    With `first`, a mutant's search ends at the first violation; `symmetry` counts classes. Of the
    searches, that of the unchanged model alone is cross-checked: mutants are meant to differ.
    """

    def __init__(
        self,
        model: Model,
        properties: tuple[Property, ...],
        limits: Limits | None = None,
        *,
        first: bool = False,
        symmetry: bool = False,
        cross_check: bool = True,
    ) -> None:
        self.model = model.wide  # a mutant may change what the model itself leaves as it is
        self.properties = properties
        self._limits = limits or Limits()
        self._options = Options(
            keep_going=not first, symmetry=symmetry, compile_after=None, cross_check=cross_check
        )
        self._actions = self.model.ground_actions
        self._known: dict[Any, Any] = {}
        self._engine = _Noting(self.model, self._known)

    @cached_property
    def original(self) -> Exploration:
        """What the unchanged model reaches, for comparison; every violation in it is known."""
        options = dataclasses.replace(self._options, keep_going=True)
        engine = self._engine
        return Explorer(self.model, self.properties, self._limits, options, engine=engine).run()

    @cached_property
    def _asked(self) -> tuple[Property, ...]:
        """The properties that the unchanged model does not falsify anyway."""
        known = {violation.property for violation in self.original.violations}
        return tuple(prop for prop in self.properties if prop not in known)

    def judge(self, mutant: Mutant) -> Fate:
        """Search the mutant's states and say what noticed the change."""
        original, model = self.original, self.model
        if mutant.settings:
            settings = as_text(model.settings) | dict(mutant.settings)
            model = model.protocol.model(model.bounds, settings).wide
        actions = self._actions_of(mutant, model)
        if _behaviour(actions) == _behaviour(self._actions) or (
            not mutant.settings and self._changes_nothing(actions)
        ):
            states, steps = original.distinct_states, original.transitions
            return Fate(mutant.name, mutant.kind, Outcome.EQUIVALENT, {}, states, steps)
        engine = _Noting(model, {} if mutant.settings else self._known, actions)
        search = _Search(model, self._asked, self._limits, self._options, engine=engine)
        try:
            result = search.run()
        except DomainError:
            killers: dict[str, int | None] = {DOMAIN: len(search.result.levels)}
            states = search.result.distinct_states
            return Fate(mutant.name, mutant.kind, Outcome.KILLED, killers, states)
        killers = {v.property.name: v.depth for v in result.violations}
        if not result.stopped and (self._options.keep_going or not killers):
            killers |= {name: None for name in _lost(result, original)}
        same = (result.levels, engine.noted) == (original.levels, self._engine.noted)
        survived = Outcome.EQUIVALENT if same else Outcome.SURVIVED
        alive = Outcome.UNKNOWN if result.stopped else survived
        return Fate(
            mutant.name, mutant.kind, Outcome.KILLED if killers else alive, killers,
            result.distinct_states, result.transitions,
        )  # fmt: skip

    def _changes_nothing(self, actions: Sequence[GroundAction]) -> bool:
        """The actions have the steps of the model's own in every state that the model reaches.

        A search of them would find these states again. A limit must not have ended the model's.
        """
        if self.original.stopped:
            return False
        old, new = ({a.instance.number: a for a in each} for each in (self._actions, actions))
        changed = [n for n in old.keys() | new.keys() if old.get(n) != new.get(n)]
        guards = [
            each[n].guard if n in each else graph.FALSE for n in changed for each in (old, new)
        ]
        words = np.concatenate(self._engine.seen, axis=1)
        masks = compile_masks(guards, self._engine.layout)(words)
        try:
            return all(
                np.array_equal(before, after)
                and (not before.any() or self._agree(old[n], new[n], words[:, before]))
                for n, before, after in zip(changed, masks[::2], masks[1::2], strict=True)
            )
        except DomainError:
            return False

    def _agree(self, one: GroundAction, other: GroundAction, words: Words) -> bool:
        before, after = (self._engine.effect_of(action)(words) for action in (one, other))
        return np.array_equal(before, after)

    def _actions_of(self, mutant: Mutant, model: Model) -> tuple[GroundAction, ...]:
        """The mutant's ground actions; those that it leaves alone are not made again."""
        if mutant.captured is None:
            return model.ground_actions
        grounder = Grounder(model)
        actions = {action.instance.number: action for action in self._actions}
        for instance in model.instances:
            if instance.action.name == mutant.subject:
                actions[instance.number] = grounder.action(instance, mutant.captured)
        found = (actions[number] for number in sorted(actions))
        return tuple(action for action in found if action.guard is not graph.FALSE)


def _behaviour(actions: Iterable[GroundAction]) -> list[Any]:
    """What the actions do; equal expressions are one object."""
    return [(a.instance.number, a.guard, tuple(a.assignments.items()), a.misfit) for a in actions]


def _lost(result: Exploration, original: Exploration) -> Iterator[str]:
    """The witnesses that the original reaches and the mutant does not; lost actions as coverage."""
    for prop in result.properties:
        lost = prop.name in original.reached and prop.name not in result.reached
        if prop.sense is Sense.SOMETIMES and lost:
            yield prop.name
    if any(n.enabled and not result.actions[name].enabled for name, n in original.actions.items()):
        yield COVERAGE
