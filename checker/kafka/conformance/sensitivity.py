"""How soon a wrong model is noticed: one setting the other way, and walks until Kafka disagrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice

import numpy as np

from checker.core.engines.vectorised import VectorisedEngine
from checker.kafka.conformance.compare import (
    START,
    Difference,
    Kind,
    Tally,
    compare_walks,
)
from checker.kafka.conformance.compared import BROKERS, Compared
from checker.kafka.conformance.process import Runs
from checker.kafka.conformance.projection import Projection, differing
from checker.kafka.conformance.replays import settings_named
from checker.kafka.conformance.walks import Walk, Walker
from checker.kafka.releases.jars import at_least
from model.language import Model

WALKS_A_ROUND, AT_A_TIME = 48, 8
RARE_A_ROUND = 256
MOST_RARE = 20_000
"""Walks that are drawn at most, where few are taken on Kafka."""
MODELS = 4
"""Models that walks are taken of in turn, at most."""
NOT_TAKEN = "the model does not take this step"


@dataclass(frozen=True)
class Noticed:
    """A wrong setting, and after how many states that agree Kafka disagreed; `None`: not yet.

    `drawn`: of how many walks those that were compared are all that tell the models apart; 0 where
    all walks are compared.
    """

    setting: str
    value: str
    states: int | None
    compared: int
    difference: Difference | None
    drawn: int = 0


def wrong_value(setting: str, version: str, of: Compared = BROKERS) -> str:
    """A value of the setting that the release does not have."""
    opposite = {"true": "false", "false": "true"}
    return of.wrong[setting].value or opposite[str(of.settings_of(version)[setting])]


def sensitivity(
    version: str,
    seed: int,
    most: int,
    steps: int,
    chosen: Sequence[str] = (),
    tell: Callable[[str], None] = lambda _: None,
    of: Compared = BROKERS,
) -> list[Noticed]:
    """For each setting that the release may have, walks until a wrong one is noticed, or until
    `most` states are compared."""
    found = []
    with of.classes(version) as harness:
        for setting in chosen or of.wrong:
            if not at_least(version, of.wrong[setting].since):
                continue
            one = _noticed(harness, of, setting, seed, most, steps)
            states = "not" if one.states is None else one.states
            tell(f"{version}: {setting}={one.value}: {states}")
            found.append(one)
    return found


def _noticed(
    harness: Runs, of: Compared, setting: str, seed: int, most: int, steps: int
) -> Noticed:
    version, wrong = harness.version, of.wrong[setting]
    value, chosen = wrong_value(setting, version, of), dict(wrong.settings)
    models = of.models(version, wrong.bounds, chosen, None)
    other = value
    if not wrong.forbids:
        other = settings_named(models[0])[setting]
        models = of.models(version, wrong.bounds, chosen | {setting: value}, None)
    models = models[:MODELS]
    sources = [cache(partial(Walker, model, version, seed + i)) for i, model in enumerate(models)]
    held = cache(lambda model: Against(with_setting(model, setting, other), version))
    a_round, at_a_time = (RARE_A_ROUND,) * 2 if wrong.rare else (WALKS_A_ROUND, AT_A_TIME)
    tally, drawn = Tally(version), 0
    while tally.compared < most and drawn < MOST_RARE:
        for source in sources:
            walker = source()
            walks = walker.walks(a_round, steps)
            against = held(walker.model) if wrong.forbids or wrong.rare else None
            while some := list(islice(walks, at_a_time)):
                if wrong.rare and against is not None:
                    drawn += len(some)
                    some = differing_walks(against, walker.projection, some)
                checked_by = against if wrong.forbids else None
                found = _first(harness, walker.projection, some, checked_by, tally)
                if found is not None:
                    return Noticed(setting, value, tally.agreed, tally.compared, found, drawn)
    return Noticed(setting, value, None, tally.compared, None, drawn)


def differing_walks(against: Against, projection: Projection, walks: Sequence[Walk]) -> list[Walk]:
    """Of some walks those that the other model parts from."""
    partings = against.partings(projection, walks)
    return [walk for walk, parting in zip(walks, partings, strict=True) if parting is not None]


def _first(
    harness: Runs,
    projection: Projection,
    walks: Sequence[Walk],
    against: Against | None,
    tally: Tally,
) -> Difference | None:
    """The earliest disagreement of some walks, or of the model that they are held against."""
    checked = compare_walks(harness, projection, iter(walks), tally)
    found = [tally.shortest(kind)[0] for kind in tally.unknown]
    if against is not None:
        found = [
            parting
            for parting, one in zip(against.partings(projection, walks), checked, strict=True)
            if parting and not (one.difference and one.difference.step <= parting.step)
        ]
    return min(found, key=lambda difference: difference.step, default=None)


def with_setting(model: Model, setting: str, value: str) -> Model:
    """The model with one setting another."""
    settings = {**settings_named(model), setting: value}
    return model.protocol.model(model.bounds, settings)


class Against:
    """A model that walks of another are held against: the first state or step that it has not."""

    def __init__(self, model: Model, version: str) -> None:
        self._model = model
        self._engine = VectorisedEngine(model)
        self._projection = Projection(model, version)

    def partings(self, of: Projection, walks: Sequence[Walk]) -> list[Difference | None]:
        """For each walk where this model parts from it; `None`: nowhere."""
        mine = {self._projection.label(i): i for i in range(len(self._projection.rows))}
        shared = [(i, mine[label]) for i in range(len(of.rows)) if (label := of.label(i)) in mine]
        theirs, own = (list(columns) for columns in zip(*shared, strict=True))
        found: list[Difference | None] = [None] * len(walks)
        words = np.repeat(self._engine.layout.pack([self._model.initial_state]), len(walks), axis=1)
        for step in range(max((len(walk.expected) for walk in walks), default=0)):
            going = [
                i for i, walk in enumerate(walks) if found[i] is None and step < len(walk.expected)
            ]
            if step:
                self._take(step, walks, going, words, found)
            numbers = self._projection.of_packed(words)[:, own]
            for i in going:
                walk = walks[i]
                if found[i] is not None or walk.between[step]:
                    continue
                expected = walk.expected[step, theirs]
                different = np.flatnonzero(differing(numbers[i], expected))
                if len(different):
                    found[i] = _difference(of, walk, step, [theirs[c] for c in different])
        return found

    def _take(
        self,
        step: int,
        walks: Sequence[Walk],
        going: Sequence[int],
        words: np.ndarray[tuple[int, ...], np.dtype[np.uint64]],
        found: list[Difference | None],
    ) -> None:
        """Take the walks' next step where this model has it, in place."""
        after = self._engine.expand(words[:, going])
        pairs = zip(after.rows.tolist(), after.instances.tolist(), strict=True)
        column = {pair: number for number, pair in enumerate(pairs)}
        for row, i in enumerate(going):
            at = column.get((row, walks[i].steps[step - 1].number))
            if at is None:
                found[i] = _difference(None, walks[i], step, [])
            else:
                words[:, i] = after.words[:, at]


def _difference(of: Projection | None, walk: Walk, step: int, columns: Sequence[int]) -> Difference:
    action = walk.steps[step - 1].action.name if step else START
    readings = () if of is None else tuple(sorted({of.rows[c][0].name for c in columns}))
    failure = NOT_TAKEN if of is None else ""
    return Difference(step, Kind(action, readings, failure), (), (failure,) if failure else ())
