"""The ways from the first state to a loss: what all of them share, how many shortest ones differ.

A *way* is a run from the first state that ends with the first loss on it. An action is a *bridge*
if every way takes it; a state is a *gate* if every way goes through it. Of the shortest ways, two
are *essentially the same* if one becomes the other by exchanging neighbouring steps, again and
again, where each exchange leads to the same state as before and what is between is a shortest way
too. Up to names, a way is also the same as what renaming interchangeable members makes of it, by a
renaming that leaves the first state as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np

from checker.core.graphs.built import Built
from checker.core.graphs.losses import Losses
from checker.core.liveness.graph import Flags
from checker.core.search.symmetry import Symmetry
from model.language.errors import UsageError

Way = tuple[int, ...]
"""The action instances of a way, by number."""

MOST_EXAMINED = 200_000
"""States that dominators are looked for in, by networkx."""

MOST_WAYS = 20_000
"""Shortest ways that are compared with each other."""

_LOSS = -1


@dataclass(frozen=True)
class Essential:
    """How many shortest ways differ: up to the order of steps; up to names too, if any."""

    up_to_order: int
    up_to_names: int | None


class Ways:
    """The ways to the losses of a graph, of which there is at least one."""

    def __init__(self, losses: Losses) -> None:
        if not losses.is_possible:
            raise ValueError("there is no way to a loss")
        self._losses = losses
        self._built: Built = losses.built
        self._known: dict[int, dict[int, int]] = {}

    # --- all ways ----------------------------------------------------------------------------

    @cached_property
    def _open(self) -> Flags:
        """The steps that a way may take before its last one, shape (steps,)."""
        losses, built = self._losses, self._built
        return ~losses.lost[built.sources] & ~losses.losing & ~losses.lost[built.graph.targets]

    @cached_property
    def _last(self) -> Flags:
        """The steps that end a way, wherever they begin."""
        losses, built = self._losses, self._built
        ends = losses.losing | losses.lost[built.graph.targets]
        return np.asarray(ends & ~losses.lost[built.sources])

    def bridges(self) -> list[str]:
        """The actions that every way takes, in the protocol's order."""
        built = self._built
        if self._losses.lost[0]:
            return []
        found = []
        for number, action in enumerate(built.model.protocol.actions):
            other = built.action_of_step != number
            if other.all():
                continue
            reached = built.reached(self._open & other)
            if not reached[built.sources[self._last & other]].any():
                found.append(action.name)
        return found

    def gates(self) -> list[int]:
        """The states that every way goes through, in order, but for the first and the last one.

        Raises `UsageError` if too many states lie on ways to say so.
        """
        graph = self.on_ways()
        if 0 not in graph:
            return []
        above = nx.immediate_dominators(graph, 0)
        found, state = [], above[_LOSS]
        while state != 0:
            found.append(int(state))
            state = above[state]
        return found[::-1]

    def on_ways(self) -> nx.DiGraph[int]:
        """The states on ways that are no losses, and the node -1 for all losses together."""
        built, losses = self._built, self._losses
        graph: nx.DiGraph[int] = nx.DiGraph()
        if losses.lost[0]:
            return graph
        on = built.reached(self._open) & (losses.distance >= 0)
        if int(on.sum()) > MOST_EXAMINED:
            raise UsageError(
                f"{int(on.sum()):,} states lie on ways to a loss: dominators are looked for in "
                f"{MOST_EXAMINED:,} at most"
            )
        graph.add_node(0)
        sources, targets = built.sources, built.graph.targets
        inner = self._open & on[sources] & on[targets]
        graph.add_edges_from(zip(sources[inner].tolist(), targets[inner].tolist(), strict=True))
        ends = sources[self._last & on[sources]]
        graph.add_edges_from((int(state), _LOSS) for state in np.unique(ends))
        return graph

    # --- shortest ways -----------------------------------------------------------------------

    @property
    def length(self) -> int:
        """The number of steps of a shortest way."""
        return int(self._losses.distance[0])

    @cached_property
    def _next(self) -> dict[int, list[tuple[int, int]]]:
        """For each state on a shortest way, the steps on with it: instance and target.

        The target of a step that ends a way is -1.
        """
        built, losses = self._built, self._losses
        sources, targets = built.sources, built.graph.targets
        left = losses.distance
        on = (left > 0) & (built.depths + left == self.length)
        onward = on[sources] & on[targets] & (left[targets] == left[sources] - 1) & self._open
        ending = on[sources] & (left[sources] == 1) & self._last
        found: dict[int, list[tuple[int, int]]] = {}
        for step in np.flatnonzero(onward | ending).tolist():
            target = _LOSS if ending[step] else int(targets[step])
            instance = int(built.graph.instances[step])
            found.setdefault(int(sources[step]), []).append((instance, target))
        return found

    @cached_property
    def count(self) -> int:
        """How many shortest ways there are, as sequences of steps."""
        if self.length == 0:
            return 1
        ways = {_LOSS: 1}
        for state in sorted(self._next, reverse=True):  # deeper states have greater numbers
            ways[state] = sum(ways[target] for _, target in self._next[state])
        return ways[0]

    def shortest(self) -> Iterator[Way]:
        """Every shortest way, in order."""
        path: list[int] = []

        def walk(state: int) -> Iterator[Way]:
            if state == _LOSS or self.length == 0:
                yield tuple(path)
                return
            for instance, target in self._next[state]:
                path.append(instance)
                yield from walk(target)
                path.pop()

        yield from walk(0)

    def essential(self) -> Essential:
        """How many shortest ways differ essentially; `UsageError` if that is too much to ask."""
        if self.count > MOST_WAYS:
            raise UsageError(
                f"{self.count:,} shortest ways: {MOST_WAYS:,} at most are compared with each other"
            )
        ways = list(self.shortest())
        same: nx.Graph[Way] = nx.Graph()
        same.add_nodes_from(ways)
        for way in ways:
            same.add_edges_from((way, other) for other in self._exchanged(way) if other in same)
        up_to_order = nx.number_connected_components(same)
        renamings = self._renamings()
        if renamings is None:
            return Essential(up_to_order, None)
        for way in ways:
            for renaming in renamings:
                other = tuple(renaming[instance] for instance in way)
                if other not in same:
                    raise RuntimeError("a way with its members renamed is no way")
                same.add_edge(way, other)
        return Essential(up_to_order, nx.number_connected_components(same))

    def _exchanged(self, way: Way) -> Iterator[Way]:
        """What exchanging two neighbours makes of a way, where they lead to the same state."""
        states = [0]
        for instance in way:
            states.append(self._after(states[-1])[instance])
        for place in range(len(way) - 1):
            first, second = way[place], way[place + 1]
            between = self._after(states[place]).get(second)
            if first == second or between is None:
                continue
            if self._after(between).get(first) == states[place + 2]:
                yield (*way[:place], second, first, *way[place + 2 :])

    def _after(self, state: int) -> dict[int, int]:
        """The state after each step that changes something, by instance, as far as is known."""
        if state not in self._known:
            graph = self._built.graph
            self._known[state] = dict(graph.steps(state)) if state < graph.expanded else {}
        return self._known[state]

    def _renamings(self) -> list[dict[int, int]] | None:
        """What each renaming that leaves the first state as it is makes of the action instances."""
        model, losses = self._built.model, self._losses
        try:
            symmetry = Symmetry(model, losses.properties, self._built.engine.layout)
        except UsageError:
            return None
        first = self._built.state(0)
        return [
            symmetry.renamed_instances(permutation)
            for permutation in symmetry.permutations[1:]
            if symmetry.renamed(first, permutation) == first
        ]
