"""Laws of liveness: two ways to the same verdict, on random graphs and on generated protocols."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np

from checker.core.liveness.components import components, reach
from checker.core.liveness.fair import Fair, enabled_in, fair_components
from checker.core.liveness.graph import StateGraph
from checker.core.liveness.lasso import Loop
from checker.core.liveness.search import LivenessSearch
from checker.core.search.question import Options
from checker.core.traces.lasso import Rounds
from checker.core.traces.trace import TraceVerdict, build_trace
from model.language.errors import DomainError
from model.language.fair_groups import Group
from model.language.fairness import Fairness, Strength
from properties.liveness import Kind, Liveness
from tests.laws.generator import Example
from tests.support import textbook
from tests.support.textbook_liveness import Labelled, Node, is_violated

MOST_STATES = 150


def random_graph(draw: random.Random) -> tuple[StateGraph, Fair]:
    """A few states, steps and groups, all at random."""
    states, labels = draw.randint(1, 9), draw.randint(1, 6)
    count = draw.randint(0, 3 * states)
    steps = {
        (draw.randrange(states), draw.randrange(labels)): draw.randrange(states)
        for _ in range(count)
    }
    edges = sorted((s, k, t) for (s, k), t in steps.items() if s != t)
    sizes = np.bincount([s for s, _, _ in edges] + [0], minlength=states)
    sizes[0] -= 1
    graph = StateGraph(
        np.arange(states, dtype=np.uint64)[np.newaxis, :],
        (states,),
        states,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([t for _, _, t in edges], np.int32),
        np.array([k for _, k, _ in edges], np.uint16),
    )
    groups = tuple(
        Group(
            draw.choice(list(Strength)),
            f"g{n}",
            frozenset(draw.sample(range(labels), draw.randint(1, labels))),
        )
        for n in range(draw.randint(0, 4))
    )
    return graph, Fair(groups, labels)


def as_networkx(graph: StateGraph, fair: Fair) -> Labelled:
    """The same graph for the textbook."""
    copy: Any = nx.MultiDiGraph()
    copy.add_nodes_from(range(graph.states))
    for state in range(graph.states):
        for instance, target in graph.steps(state):
            copy.add_edge(state, target, key=instance)
    enabled: dict[Node, set[int]] = {
        s: {
            n
            for n, group in enumerate(fair.groups)
            if any(k in group.instances for _, _, k in copy.out_edges(s, keys=True))
        }
        for s in range(graph.states)
    }
    return Labelled(copy, tuple((g.strength, g.instances) for g in fair.groups), enabled)


def check_random_graph(seed: int) -> bool:
    """Both ways agree on one random graph; whether there was a fair part at all."""
    draw = random.Random(seed)
    graph, fair = random_graph(draw)
    inside = np.array([draw.random() < 0.8 for _ in range(graph.states)])
    wanted = np.array([draw.random() < 0.4 for _ in range(graph.states)])
    wish = wanted if draw.random() < 0.5 else None
    book = as_networkx(graph, fair)
    _check_components(graph, book, inside)
    _check_reach(graph, book, inside)
    enabled = enabled_in(graph, fair, inside)
    part = fair_components(graph, fair, inside, enabled, wish)
    nodes = np.flatnonzero(inside).tolist()
    aim: set[Node] | None = None if wish is None else set(np.flatnonzero(wish).tolist())
    expected = book.fair_parts(nodes, aim)
    found = np.flatnonzero(part >= 0).tolist()
    assert set(found) == expected
    for start in found:
        _check_loop(graph, fair, book, part, enabled, wish, start)
    return bool(expected)


def _check_components(graph: StateGraph, book: Labelled, inside: np.ndarray) -> None:
    number, found = components(graph.offsets, graph.targets, inside)
    ours = {frozenset(np.flatnonzero(number == k).tolist()) for k in range(found)}
    kept = book.graph.subgraph(np.flatnonzero(inside).tolist())
    assert ours == set(map(frozenset, nx.strongly_connected_components(kept)))
    assert (number[~inside] == -1).all()


def _check_reach(graph: StateGraph, book: Labelled, inside: np.ndarray) -> None:
    sources = np.flatnonzero(inside)[::2].astype(np.int32)
    starts = np.sort(sources % 3).astype(np.int32)
    far, by = reach(graph.offsets, graph.targets, sources, starts, inside)
    kept = book.graph.subgraph(np.flatnonzero(inside).tolist())
    for state in range(graph.states):
        ways = [
            int(d) + nx.shortest_path_length(kept, int(s), state)
            for s, d in zip(sources, starts, strict=True)
            if inside[state] and nx.has_path(kept, int(s), state)
        ]
        assert far[state] == min(ways, default=-1)
        assert far[state] >= 0 or by[state] == -1


def _check_loop(
    graph: StateGraph,
    fair: Fair,
    book: Labelled,
    part: np.ndarray,
    enabled: np.ndarray,
    wanted: np.ndarray | None,
    start: int,
) -> None:
    """The loop is a circle within the component, and fair by itself."""
    loop = Loop(graph, fair, part, enabled, wanted).through(start)
    assert loop == Loop(graph, fair, part, enabled, wanted).through(start)
    states = [start]
    for instance in loop:
        states.append(dict(graph.steps(states[-1]))[instance])
    assert states[-1] == start
    assert {part[s] for s in states} == {part[start]}
    assert wanted is None or any(wanted[s] for s in states)
    for number, group in enumerate(fair.groups):
        taken = any(instance in group.instances for instance in loop)
        where = [number in book.enabled[s] for s in states]
        if group.strength is Strength.WEAK:
            assert taken or not all(where)
        else:
            assert taken or not any(where)


def both_ways_agree(
    example: Example, fairness: Sequence[Fairness], kind: Kind, options: Options
) -> bool | None:
    """The verdict on a generated protocol is that of the textbook, and its lasso replays.

    None if there is nothing to compare: it has too many states, or a value does not fit.
    """
    model, (claim, premise) = example.model, example.properties[:2]
    prop = Liveness(
        "promise", "", kind, claim.claim, premise.claim if kind is Kind.LEADS_TO else None
    )
    try:
        states = textbook.search(model, at_most=MOST_STATES)
        if len(states.steps) < len(states.states):
            return None
        expected = is_violated(model, prop, fairness, states)
        result = LivenessSearch(model, (), (prop,), fairness, options=options).run()
    except DomainError:
        return None
    (judgement,) = result.liveness
    assert (judgement.lasso is not None) == expected
    if judgement.lasso is not None:
        lasso = judgement.lasso
        rounds = Rounds(len(lasso.stem), prop, tuple(fairness), judgement.member)
        steps = (*lasso.stem, *lasso.loop)
        build_trace(model, steps, prop.name, verdict=TraceVerdict.UNFULFILLED, rounds=rounds)
    return expected
