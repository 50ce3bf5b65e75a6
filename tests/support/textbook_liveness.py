"""Liveness as in a textbook, on the reference engine: what the checker must agree with.

Its way is another one: it guesses, for every strongly fair group, whether it is disabled for ever
or taken again and again, and looks for one component of networkx's in which the rest is met. That
is exponential in the number of such groups, and shares nothing with the recursive removal.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from checker.core.engines.reference import ReferenceEngine, State
from checker.core.liveness.room import with_room
from model.language.fair_groups import groups_of
from model.language.fairness import Fairness, Strength
from model.language.protocol import Model
from properties.liveness import Kind, Liveness
from tests.support import textbook

Node = int | State


@dataclass(frozen=True)
class Labelled:
    """A graph with steps named by number: `enabled[s]` has the groups that s enables."""

    graph: Any  # networkx's MultiDiGraph
    groups: tuple[tuple[Strength, frozenset[int]], ...]
    enabled: dict[Node, set[int]]

    def fair_parts(self, nodes: Iterable[Node], wanted: set[Node] | None = None) -> set[Node]:
        """The nodes that some fair run inside `nodes` visits again and again."""
        strong = [n for n, (how, _) in enumerate(self.groups) if how is Strength.STRONG]
        found: set[Node] = set()
        every = set(nodes)
        for size in range(len(strong) + 1):
            for never in itertools.combinations(strong, size):
                kept = {s for s in every if not self.enabled[s] & set(never)}
                for part in nx.strongly_connected_components(self.graph.subgraph(kept)):
                    if (wanted is None or part & wanted) and self._is_met(part, set(never)):
                        found |= part
        return found

    def _is_met(self, part: set[Node], never: set[int]) -> bool:
        inner = [label for _, _, label in self.graph.subgraph(part).edges(keys=True)]
        for number, (strength, labels) in enumerate(self.groups):
            taken = any(label in labels for label in inner)
            rests = any(number not in self.enabled[s] for s in part)
            if strength is Strength.WEAK and not (taken or rests):
                return False
            if strength is Strength.STRONG and number not in never and not taken:
                return False
        return True


def labelled(model: Model, fairness: Sequence[Fairness], states: textbook.Graph) -> Labelled:
    """The graph of a search, with what only a bound forbids counted as enabled."""
    graph: Any = nx.MultiDiGraph()
    graph.add_nodes_from(states.states)
    for before, instance, after in states.all_steps:
        if before != after:
            graph.add_edge(before, after, key=instance.number)
    groups = [(g.strength, g.words, g.instances) for g in groups_of(model, fairness)]
    enabled: dict[Node, set[int]] = {
        s: {
            n
            for n, g in enumerate(groups)
            for _, _, k in graph.out_edges(s, keys=True)
            if k in g[2]
        }
        for s in states.states
    }
    larger = with_room(model)
    if larger is not None and groups:
        engine = ReferenceEngine(larger)
        names = [(group[0], group[1]) for group in groups]
        for group in groups_of(larger, fairness):
            if (group.strength, group.words) not in names:
                names.append((group.strength, group.words))
                groups.append((group.strength, group.words, frozenset()))
            number = names.index((group.strength, group.words))
            for state in states.states:
                grown = _grown(model, larger, state)
                steps = [larger.instances[number] for number in group.instances]
                if any(engine.step(grown, step) not in (None, grown) for step in steps):
                    enabled[state].add(number)
    return Labelled(graph, tuple((how, steps) for how, _, steps in groups), enabled)


def _grown(model: Model, larger: Model, state: State) -> State:
    known = {(c.variable.name, c.index): v for c, v in zip(model.declared, state, strict=True)}
    return tuple(known.get((c.variable.name, c.index), c.blank) for c in larger.declared)


def is_violated(
    model: Model, prop: Liveness, fairness: Sequence[Fairness], states: textbook.Graph
) -> bool:
    """Whether some fair run of the whole graph breaks the property, for any member."""
    graph = labelled(model, fairness, states)
    engine = ReferenceEngine(model)

    def holding(claim: Callable[..., bool]) -> set[Node]:
        return {state for state in states.states if engine.holds(claim, state)}

    everybody: set[Node] = set(states.states)
    first: Node = states.levels[0][0]
    for case in prop.cases(model):
        good = holding(case.claim)
        if prop.kind is Kind.EVENTUALLY_ALWAYS:
            if graph.fair_parts(everybody, everybody - good):
                return True
            continue
        sources = everybody - good
        if prop.kind is Kind.EVENTUALLY:
            sources &= {first}
        if prop.kind is Kind.LEADS_TO:
            assert case.premise is not None
            sources &= holding(case.premise)
        owing = graph.graph.subgraph(everybody - good)
        reached = set(sources).union(*(nx.descendants(owing, s) for s in sources))
        if graph.fair_parts(reached):
            return True
    return False
