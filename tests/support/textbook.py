"""Search as in a textbook, on the reference engine: what the explorer must agree with.

Nothing here is fast, and nothing here is shared with the explorer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from checker.core.engines.reference import ReferenceEngine, State
from model.language.protocol import Instance, Model
from properties import Property, Sense

Path = tuple[int, ...]
"""The numbers of the action instances from the initial state on."""


@dataclass(frozen=True)
class Graph:
    """The states of a model by depth, and the steps of each state that was expanded."""

    levels: list[list[State]]
    steps: dict[State, list[tuple[Instance, State]]]

    @property
    def states(self) -> list[State]:
        """All states, nearest first."""
        return [state for level in self.levels for state in level]

    @property
    def sizes(self) -> list[int]:
        """How many states there are at each depth."""
        return [len(level) for level in self.levels]

    @property
    def transitions(self) -> int:
        """How many steps there are."""
        return sum(len(steps) for steps in self.steps.values())

    @property
    def all_steps(self) -> Iterator[tuple[State, Instance, State]]:
        """Every step, as the state before, the action instance and the state after."""
        for state, steps in self.steps.items():
            for instance, after in steps:
                yield state, instance, after


def search(model: Model, at_most: int | None = None) -> Graph:
    """Breadth-first search; with `at_most`, it ends after the level that reaches so many states."""
    engine = ReferenceEngine(model)
    level = [engine.initial()]
    seen, levels, steps = set(level), [], {}
    while level:
        levels.append(level)
        if at_most is not None and len(seen) >= at_most:
            break
        fresh = []
        for state in level:
            steps[state] = list(engine.successors(state))
            for _, after in steps[state]:
                if after not in seen:
                    seen.add(after)
                    fresh.append(after)
        level = fresh
    return Graph(levels, steps)


def count_levels(model: Model) -> list[int]:
    """The number of states at each depth, without keeping the steps."""
    engine = ReferenceEngine(model)
    level = {engine.initial()}
    seen, sizes = set(level), []
    while level:
        sizes.append(len(level))
        level = {after for state in level for _, after in engine.successors(state)} - seen
        seen |= level
    return sizes


def least_paths(graph: Graph) -> dict[State, Path]:
    """For each state the least of its shortest paths, computed level by level from all of them."""
    paths: dict[State, Path] = {graph.levels[0][0]: ()}
    for before, level in zip(graph.levels, graph.levels[1:], strict=False):
        members = set(level)
        candidates: dict[State, list[Path]] = {state: [] for state in level}
        for state in before:
            for instance, after in graph.steps[state]:
                if after in members:
                    candidates[after].append((*paths[state], instance.number))
        paths.update({state: min(found) for state, found in candidates.items()})
    return paths


def least_violation(model: Model, graph: Graph, prop: Property) -> Path | None:
    """The least of the shortest paths that show a property of sense ALWAYS to be false."""
    engine, paths = ReferenceEngine(model), least_paths(graph)
    claim: Callable[..., bool] = prop.claim
    assert prop.sense is Sense.ALWAYS
    if prop.of_steps:
        found = [
            (*paths[before], instance.number)
            for before, instance, after in graph.all_steps
            if not engine.holds(claim, before, after)
        ]
    else:
        found = [paths[state] for state in graph.states if not engine.holds(claim, state)]
    return min(found, key=lambda path: (len(path), path), default=None)


def replay(model: Model, path: Path) -> list[State]:
    """The states that the path goes through; fails if a step is not enabled."""
    engine = ReferenceEngine(model)
    states = [engine.initial()]
    for number in path:
        after = engine.step(states[-1], model.instances[number])
        assert after is not None, f"{model.instances[number]} is not enabled after {len(states)}"
        states.append(after)
    return states
