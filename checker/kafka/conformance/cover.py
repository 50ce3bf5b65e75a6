"""Runs that take every step of a model's graph: a covering of its edges by paths.

Random walks leave rare steps out; where the graph is small, none need be left. A path begins at the
initial state, goes the shortest way to the nearest state that has a step which no path has taken,
and on along such steps as long as there are any. So a state near the start costs little, and what
lies deep is met by paths that go deep anyway. A step counts once Kafka has been compared after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.engines.vectorised import VectorisedEngine
from checker.kafka.conformance.compare import Checked, Tally, compare_walks
from checker.kafka.conformance.process import Runs
from checker.kafka.conformance.projection import Projection
from checker.kafka.conformance.walks import PassedOver, Walk, is_at_once
from model.language import Model
from model.language.errors import UsageError

MOST_EDGES = 2_000_000
DETOUR = 5
LONGEST = 200
"""Steps of a path at most: a run that disagrees leaves what comes after it to another path."""


@dataclass(frozen=True)
class Graph:
    """The states that Kafka can show, packed, and the steps between them, by the state they leave.

    Edge e goes from state `source[e]` by instance `instance[e]` to `target[e]`; state 0 is the
    initial one. `between[i]`: Kafka passes over state i.
    """

    model: Model
    engine: VectorisedEngine
    states: Words
    between: npt.NDArray[np.bool_]
    source: list[int]
    instance: list[int]
    target: list[int]

    @property
    def edges(self) -> int:
        """How many steps there are."""
        return len(self.source)


def graph_of(model: Model) -> Graph:
    """Explore all that Kafka can show. Raises `UsageError` for a graph that is too large."""
    engine, passed_over = VectorisedEngine(model), PassedOver(model)
    at_once = is_at_once(model)
    frontier = engine.layout.pack([model.initial_state])
    known = {frontier[:, 0].tobytes(): 0}
    layers, edges, first = [frontier], [np.empty((3, 0), np.int64)], 0
    while frontier.shape[1]:
        steps = engine.expand(frontier)
        passed = passed_over(frontier)
        kept = ~passed[steps.rows] | at_once[steps.instances]
        rows, instances = steps.rows[kept], steps.instances[kept]
        after, new, targets = steps.words[:, kept], [], []
        for column, state in enumerate(np.ascontiguousarray(after.T)):
            key = state.tobytes()
            if key not in known:
                known[key] = len(known)
                new.append(column)
            targets.append(known[key])
        edges.append(np.array([rows + first, instances, targets], np.int64))
        if sum(part.shape[1] for part in edges) > MOST_EDGES:
            raise UsageError(
                f"the graph has more than {MOST_EDGES:,} steps: choose smaller bounds for --cover"
            )
        first += frontier.shape[1]
        frontier = after[:, new]
        layers.append(frontier)
    return _without_dead_ends(model, engine, np.concatenate(layers, axis=1), edges)


def _without_dead_ends(
    model: Model, engine: VectorisedEngine, states: Words, parts: list[npt.NDArray[np.int64]]
) -> Graph:
    """Kafka passes over a state by an election; where no leader epoch is left, it shows nothing."""
    edges = np.concatenate(parts, axis=1)
    between = PassedOver(model)(states)
    dead = between.copy()
    dead[edges[0]] = False
    source, instance, target = (part.tolist() for part in edges[:, ~dead[edges[2]]])
    return Graph(model, engine, states, between, source, instance, target)


@dataclass
class Cover:
    """Which steps of a graph were compared, which disagreed, and the paths to what is left."""

    graph: Graph
    compared: set[int] = field(default_factory=set)
    disagreed: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._out: list[list[int]] = [[] for _ in range(self.graph.states.shape[1])]
        for edge, state in enumerate(self.graph.source):
            self._out[state].append(edge)

    def paths(self) -> Iterator[list[int]]:
        """Paths from the initial state that take every step not yet compared, as lists of edges.

        None leads over a step that disagreed, so that steps which only such a one leads to are
        left out.
        """
        target = self.graph.target
        ways = self._shortest_ways()
        wanted = [
            [e for e in reversed(edges) if e not in self.compared and e not in self.disagreed]
            for edges in self._out
        ]
        for state in ways:
            while wanted[state]:
                path, at = self._way_to(state, ways), state
                while len(path) < LONGEST:
                    if not wanted[at]:
                        detour = self._detour(at, wanted)
                        if not detour:
                            break
                        path += detour
                        at = target[detour[-1]]
                    path.append(wanted[at].pop())
                    at = target[path[-1]]
                yield path

    def _shortest_ways(self) -> dict[int, int]:
        """The edge by which a shortest path enters each state, nearest first; -1 for the start."""
        entered, queue = {0: -1}, [0]
        for state in queue:
            for edge in self._out[state]:
                after = self.graph.target[edge]
                if after not in entered and edge not in self.disagreed:
                    entered[after] = edge
                    queue.append(after)
        return entered

    def _detour(self, start: int, wanted: list[list[int]]) -> list[int]:
        """The steps to the nearest state that has one left; none if it is far."""
        ways: dict[int, list[int]] = {start: []}
        queue = [start]
        for state in queue:
            way = ways[state]
            if len(way) >= DETOUR:
                break
            for edge in self._out[state]:
                after = self.graph.target[edge]
                if after not in ways and edge not in self.disagreed:
                    ways[after] = [*way, edge]
                    if wanted[after]:
                        return ways[after]
                    queue.append(after)
        return []

    def _way_to(self, state: int, ways: dict[int, int]) -> list[int]:
        path = []
        while (edge := ways[state]) >= 0:
            path.append(edge)
            state = self.graph.source[edge]
        return path[::-1]

    def count(self, path: list[int], checked: Checked) -> None:
        """Note what came out of a path."""
        difference = checked.difference
        agreed = len(path) if difference is None else max(0, difference.step - 1)
        self.compared.update(path[:agreed])
        if difference is not None and path:
            self.disagreed.add(path[agreed])
            self.compared.discard(path[agreed])

    @property
    def behind(self) -> int:
        """How many steps only steps that disagreed lead to."""
        return self.graph.edges - len(self.compared) - len(self.disagreed)


def cover(harness: Runs, model: Model, tally: Tally) -> Cover:
    """Take every step of the model's graph on Kafka, and count what comes out.

    What came after a disagreement is taken again by other paths, until none is left.
    """
    found = Cover(graph_of(model))
    projection = Projection(model, harness.version)
    while paths := list(found.paths()):
        walks = (_walk(found.graph, projection, path) for path in paths)
        for path, checked in zip(
            paths, compare_walks(harness, projection, walks, tally), strict=True
        ):
            found.count(path, checked)
    return found


def _walk(graph: Graph, projection: Projection, path: list[int]) -> Walk:
    states = [0, *(graph.target[edge] for edge in path)]
    numbers = projection.of_packed(graph.states[:, states])
    steps = tuple(graph.model.instances[graph.instance[edge]] for edge in path)
    return Walk(graph.model, steps, numbers, graph.between[states])
