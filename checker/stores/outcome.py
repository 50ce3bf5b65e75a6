"""What a search knows after a level, as numbers that add up, and the result made from a store.

Each level of a store holds the totals up to it, so the last one says everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from checker.engines.layout import Layout
from checker.engines.reference import State
from checker.search.fingerprints import FINGERPRINT_BITS, collision_probability
from checker.search.symmetry import Symmetry
from checker.stores.level_files import find_path
from checker.stores.store import Level, LevelFile, Store
from checker.verdict import ActionCount, Exploration, Violation
from model.language.protocol import Instance, Model
from properties import Property

Link = tuple[int, int, int]
"""A step by its depth, the number of the state before it in its level, and its instance."""


@dataclass
class Counts:
    """Totals up to a level; see `Level` for what each is."""

    transitions: int
    enabled: npt.NDArray[np.int64]
    new: npt.NDArray[np.int64]
    violated: dict[str, Link] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    premises: set[str] = field(default_factory=set)
    deadlock: tuple[int, int] | None = None

    @classmethod
    def of(cls, level: Level, instances: int) -> Counts:
        """The totals that a stored level holds."""
        return cls(
            level.transitions,
            _spread(level.enabled, instances),
            _spread(level.new, instances),
            dict(level.violated),
            dict(level.reached),
            set(level.premises),
            level.deadlock,
        )

    def level(self, depth: int, files: Iterable[LevelFile], seconds: float) -> Level:
        """A level with these totals, to be stored."""
        return Level(
            depth,
            tuple(files),
            self.transitions,
            {int(i): int(self.enabled[i]) for i in np.flatnonzero(self.enabled)},
            {int(i): int(self.new[i]) for i in np.flatnonzero(self.new)},
            dict(self.violated),
            dict(self.reached),
            tuple(sorted(self.premises)),
            self.deadlock,
            round(seconds, 3),
        )


def _spread(counts: Mapping[int, int], instances: int) -> npt.NDArray[np.int64]:
    found = np.zeros(instances, np.int64)
    for number, count in counts.items():
        found[number] = count
    return found


def levels_needed(
    levels: Sequence[Level],
    properties: Sequence[Property],
    depth: int | None = None,
    keep_going: bool = False,
) -> Sequence[Level]:
    """The levels up to the one that answers; all, if none does. A store may hold more of them."""
    for count in range(1, len(levels) + 1):
        if is_answered(levels[count - 1], properties, depth, keep_going):
            return levels[:count]
    return levels


def is_answered(
    last: Level, properties: Iterable[Property], depth: int | None, keep_going: bool
) -> bool:
    """Nothing more needs to be known after this level: the same rule as the local search's."""
    if not last.size or (depth is not None and last.depth >= depth):
        return True
    if last.deadlock is not None and not keep_going:
        return True
    settled = {**last.violated, **last.reached}
    still_open = [prop for prop in properties if prop.name not in settled]
    return bool(last.violated) and (not keep_going or not still_open)


def exploration_of(
    store: Store,
    model: Model,
    properties: tuple[Property, ...],
    engine: str,
    depth: int | None = None,
    keep_going: bool = False,
) -> Exploration:
    """What the levels of a store say, with traces followed back in it."""
    levels = levels_needed(store.levels, properties, depth, keep_going)
    last = levels[-1]
    symmetry = store.manifest.options.get("symmetry", False)
    result = Exploration(model, properties, engine, symmetry)
    result.levels = [level.size for level in levels if level.size]
    result.frontier = last.size
    result.transitions = last.transitions
    for action in model.protocol.actions:
        result.actions[action.name] = ActionCount()
    for instance in model.instances:
        counts = result.actions[instance.action.name]
        counts.enabled += last.enabled.get(instance.number, 0)
        counts.new += last.new.get(instance.number, 0)
    run = Symmetry(model, properties, Layout(model)).concrete if symmetry else _as_they_are
    start = model.initial_state
    for prop in properties:
        if prop.name in last.violated:
            link = last.violated[prop.name]
            steps = run(start, _steps(store, model, link))
            result.violations.append(Violation(prop, link[0], steps))
    if last.deadlock is not None:
        found = find_path(store, *last.deadlock)
        result.deadlock = run(start, tuple(model.instances[step] for step in found))
    result.reached, result.premises = dict(last.reached), set(last.premises)
    exact = store.manifest.options.get("exact", False)
    result.fingerprint_bits = FINGERPRINT_BITS * (Layout(model).words if exact else 1)
    result.collision_probability = 0.0 if exact else collision_probability(sum(result.levels))
    result.seconds = last.seconds
    return result


def _as_they_are(_: State, steps: tuple[Instance, ...]) -> tuple[Instance, ...]:
    return steps


def _steps(store: Store, model: Model, link: Link) -> tuple[Instance, ...]:
    depth, parent, instance = link
    if depth == 0:
        return ()
    return tuple(model.instances[n] for n in [*find_path(store, depth - 1, parent), instance])


def conclude(store: Store, result: Exploration) -> None:
    """Note the verdicts in the store."""
    store.conclude({
        "engine": result.engine,
        "verdict": str(result.verdict),
        "stopped": result.stopped or None,
        "depth": result.depth,
        "distinct_states": result.distinct_states,
        "properties": {prop.name: str(result.verdict_on(prop)) for prop in result.properties},
    })  # fmt: skip
