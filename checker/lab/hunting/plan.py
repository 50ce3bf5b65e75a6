"""What a hunt draws from: sizes, settings and faults of a protocol, and what is not promised.

A protocol of this project may have a file in `counterexamples/hunt`, which says which settings are
drawn: those that operators choose, and those that say how fine steps are. Fixes are not drawn. Of
other protocols bounds are, and what operators choose. Which faults are drawn, and what they need,
their budgets say. What the protocol refuses is drawn again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from checker.core.files import COUNTEREXAMPLES, read_toml
from checker.lab.experiments.choices import Choice
from model.language.budgets import Budget
from model.language.declare.domains import Bound
from model.language.declare.history import version_of
from model.language.declare.settings import Role, as_text, describe, release_of, value_text
from model.language.errors import HighwaterError, UsageError
from model.language.protocol import Model, Protocol
from model.replicated_log import REPLICAS

FOLDER = COUNTEREXAMPLES / "hunt"
TRIES = 1_000
"""So many draws may be refused, one after the other."""

_KINDS = (1, 2, 2, 3, 3, 4)
_TIMES = (1, 1, 2)
_LARGER = 2

Values = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Tolerance:
    """What is promised of faults: where one happens that loses something, fewer in all that do, or
    stop somebody uncleanly, than the least of some settings, of those that are not 0.

    A fault of `many` stops as many brokers as are together at most by a setting (`broker.rack`).
    Each fault of `lowered` takes one from a setting (`replication.factor`).
    """

    fewer_than: Sequence[str]
    many: Mapping[str, str] = field(default_factory=dict)
    lowered: Mapping[str, str] = field(default_factory=dict)

    def covers(self, model: Model) -> bool:
        """What is promised counts for the model."""
        budgets = [bound for bound in model.protocol.bounds if isinstance(bound, Budget)]
        if not any(model.bounds[budget.name] for budget in budgets if budget.loses):
            return True
        settings = as_text(model.settings)
        taken = {name: model.bounds[fault] for fault, name in self.lowered.items()}
        least = min(
            int(settings[name]) - taken.get(name, 0)
            for name in self.fewer_than
            if settings[name] != "0"
        )
        return sum(self._stops(model, budget.name) for budget in budgets if budget.harms) < least

    def _stops(self, model: Model, fault: str) -> int:
        """How many brokers a model's faults of this kind stop at most."""
        times = model.bounds[fault]
        if fault not in self.many:
            return times
        together = getattr(
            model.settings, describe(model.protocol.settings)[self.many[fault]].field
        )
        largest: int = together.largest(model.bounds[REPLICAS.name])
        return times * largest


@dataclass(frozen=True)
class Plan:
    """What is drawn: `sizes` and `settings` in every round, and some `faults`, each with a budget.

    `needs` says what else is so where a fault or a value (`NAME=VALUE`) was drawn.
    """

    sizes: Values
    settings: Values = field(default_factory=dict)
    faults: Values = field(default_factory=dict)
    needs: Mapping[str, Values] = field(default_factory=dict)
    tolerances: tuple[Tolerance, ...] = ()

    def without(self, names: Sequence[str]) -> Plan:
        """The plan where these are given, and so are not drawn."""

        def others(values: Values) -> Values:
            return {name: each for name, each in values.items() if name not in names}

        needs = {name: others(values) for name, values in self.needs.items()}
        return replace(
            self, sizes=others(self.sizes), settings=others(self.settings),
            faults=others(self.faults), needs=needs,
        )  # fmt: skip

    def together(self, size: int) -> list[tuple[str, ...]]:
        """What may be tried together: every `size` faults, and every value with a fault fewer."""
        values = [f"{name}={each}" for name, some in self.settings.items()
                  for each in dict.fromkeys(map(value_text, some))]  # fmt: skip
        return _together(values, list(self.faults), size)

    def tried(
        self, settings: Mapping[str, Any], bounds: Mapping[str, Any], size: int
    ) -> list[tuple[str, ...]]:
        """What of that a round with these settings, as text, and bounds tries."""
        values = [f"{name}={settings[name]}" for name in self.settings]
        return _together(values, [name for name in self.faults if bounds.get(name)], size)


def _together(values: Sequence[str], faults: Sequence[str], size: int) -> list[tuple[str, ...]]:
    fewer = list(combinations(faults, size - 1))
    return [*((value, *some) for value in values for some in fewer), *combinations(faults, size)]


@dataclass(frozen=True)
class Round:
    """One round of a hunt, before it is drawn: what is given, and what tells it from others."""

    given: Choice
    seed: int
    number: int
    properties: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What tells the round from others."""
        asked = "".join(f" --property {name}" for name in self.properties)
        return f"{self.given.arguments}{asked}, seed {self.seed}, round {self.number}"

    def draw(self, plan: Plan) -> Choice:
        """What this round searches; `UsageError` if whatever is drawn is refused."""
        random = np.random.default_rng([self.seed, self.number])
        said = ""
        for _ in range(TRIES):
            drawn = _drawn(plan, self.given, random)
            try:
                model = drawn.model
            except HighwaterError as error:
                said = f": {error}"
                continue
            if all(tolerance.covers(model) for tolerance in plan.tolerances):
                return drawn
        raise UsageError(f"{TRIES:,} draws were refused, or nothing is promised of them{said}")


def plan_of(protocol: Protocol, given: Choice) -> Plan:
    """What is drawn of a protocol besides what is given; no setting that a release came before."""
    path = FOLDER / f"{protocol.name}.toml"
    plan = read_plan(path, protocol) if path.is_file() else _as_declared(protocol, given)
    return plan.without([*given.settings, *given.bounds, *_not_yet(protocol, given.preset)])


def _not_yet(protocol: Protocol, preset: str) -> Iterator[str]:
    """The settings that came after a preset's release."""
    release = release_of(preset)
    for name, info in describe(protocol.settings).items():
        since = info.source.since if info.source else ""
        if release is not None and since and release < version_of(since):
            yield name


def read_plan(path: Path, protocol: Protocol) -> Plan:
    """The plan in a file; `UsageError` in one line if it is not well formed."""
    data = read_toml(path)
    budgets = {bound.name: bound for bound in protocol.bounds if bound.minimum == 0}
    faults = {
        name: data.get("faults", {}).get(name, _times(bound))
        for name, bound in budgets.items()
        if name not in data.get("sizes", {})
    }
    try:
        plan = Plan(
            data.get("sizes", {}),
            data.get("settings", {}),
            {name: times for name, times in faults.items() if times},
            {**_needs(protocol), **data.get("needs", {})},
            tuple(Tolerance(**each) for each in data.get("tolerance", ())),
        )
    except TypeError as error:
        raise UsageError(f"{path}: {error}") from error
    known = {bound.name for bound in protocol.bounds} | set(describe(protocol.settings))
    for name in _names(plan):
        if name not in known:
            raise UsageError(f"{path}: {protocol.name} has no setting or bound {name!r}")
    return plan


def _names(plan: Plan) -> Iterator[str]:
    """All names of settings and bounds that a plan has."""
    for values in (plan.sizes, plan.settings, plan.faults, *plan.needs.values()):
        yield from values
    yield from (name.partition("=")[0] for name in plan.needs)
    for each in plan.tolerances:
        yield from each.fewer_than
        for pairs in (each.many, each.lowered):
            yield from (*pairs, *pairs.values())


def _as_declared(protocol: Protocol, given: Choice) -> Plan:
    """What operators choose, sizes from their defaults on, and other bounds as faults."""
    sizes = {
        bound.name: range(bound.default, min(bound.default + _LARGER, bound.maximum) + 1)
        for bound in protocol.bounds
        if bound.default
    }
    faults = {bound.name: _times(bound) for bound in protocol.bounds if not bound.default}
    return Plan(sizes, dict(_chosen_by_operators(given)), faults, _needs(protocol))


def _chosen_by_operators(given: Choice) -> Iterator[tuple[str, Sequence[Any]]]:
    """Their settings, half of the time as they are given; not where a preset has another value."""
    for name, info in describe(given.model.protocol.settings).items():
        now = getattr(given.model.settings, info.field)
        if info.role is Role.OPERATOR and now == info.default:
            others = info.others(now)
            yield name, [now] * len(others) + others


def _needs(protocol: Protocol) -> dict[str, Values]:
    """What each budget needs, as its declaration says."""
    budgets = (bound for bound in protocol.bounds if isinstance(bound, Budget))
    return {budget.name: dict(budget.needs) for budget in budgets if budget.needs}


def _times(bound: Bound) -> Sequence[int]:
    if isinstance(bound, Budget) and bound.drawn is not None:
        return bound.drawn
    return [times for times in _TIMES if bound.minimum <= times <= bound.maximum]


def _drawn(plan: Plan, given: Choice, random: np.random.Generator) -> Choice:
    def one_of(values: Sequence[Any]) -> Any:
        return values[int(random.integers(len(values)))]

    found = {name: one_of(values) for name, values in (*plan.sizes.items(), *plan.settings.items())}
    kinds = min(one_of(_KINDS), len(plan.faults))
    faults = [list(plan.faults)[k] for k in random.permutation(len(plan.faults))[:kinds]]
    found |= {name: one_of(plan.faults[name]) if name in faults else 0 for name in plan.faults}
    for reason in [*faults, *(f"{name}={value_text(value)}" for name, value in found.items())]:
        for name, values in plan.needs.get(reason, {}).items():
            if found.get(name) not in values:
                found[name] = one_of(values)
    usual = {**as_text(given.model.settings), **given.model.bounds}
    other = {
        name: value for name, value in found.items() if value_text(value) != value_text(usual[name])
    }
    bounds = {name: value for name, value in other.items() if name in given.model.bounds}
    settings = {name: value_text(value) for name, value in other.items() if name not in bounds}
    return replace(
        given, settings={**given.settings, **settings}, bounds={**given.bounds, **bounds}
    )
