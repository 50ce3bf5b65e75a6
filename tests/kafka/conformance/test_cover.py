"""Paths that cover a graph: each is a run, together they take every step, and they are few."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest

from checker.core.search.explore import Explorer
from checker.kafka.conformance import cover
from checker.kafka.conformance.compare import Checked, Difference, Kind
from checker.kafka.conformance.cover import Cover, graph_of
from checker.kafka.conformance.plan import GRAPHS, covered_models
from model.language.errors import UsageError
from tests.support.tiers import first_and_slow

CHOSEN = {"min.insync.replicas": "2", "isr.answer.apart": "true", "fetch.answers": "at_once"}


@pytest.fixture(scope="module", params=first_and_slow("crashes", "disk_losses"))
def graph(request):
    (model,) = covered_models("4.1.0", {request.param: 1}, CHOSEN)
    return graph_of(model)


def _taken(found):
    return [edge for path in found.paths() for edge in path]


def test_the_graph_is_what_a_search_finds_where_kafka_passes_over_nothing(graph):
    assert not graph.between.any()
    result = Explorer(graph.model, []).run()
    assert (graph.states.shape[1], graph.edges) == (result.distinct_states, result.transitions)


def test_kafka_passes_over_a_state_by_an_election_alone():
    (model,) = covered_models("4.1.0", {"crashes": 1, "shutdowns": 1, "power_losses": 1}, CHOSEN)
    graph = graph_of(model)
    after = {graph.source[e]: graph.instance[e] for e in range(graph.edges)}
    passed = [state for state, between in enumerate(graph.between) if between and state in after]
    assert passed
    names = {model.instances[after[state]].action.name for state in passed}
    assert names == {"controller_elect_last_known_leader"}
    dead = {state for state in graph.between.nonzero()[0] if state not in after}
    assert not dead & set(graph.target)


def test_each_path_is_a_run_from_the_start_and_none_is_left_out(graph):
    found = Cover(graph)
    for path in found.paths():
        at = 0
        for edge in path:
            assert graph.source[edge] == at
            at = graph.target[edge]
    assert set(_taken(found)) == set(range(graph.edges))


def _fewest_steps(graph):
    """The least that runs from the start can take in all: a flow of one at least over each step."""
    network: Any = nx.DiGraph()
    demand = dict.fromkeys(range(graph.states.shape[1]), 0)
    for source, target in zip(graph.source, graph.target, strict=True):
        demand[source] += 1
        demand[target] -= 1
        network.add_edge(source, target, weight=1)
    for state, number in demand.items():
        network.add_node(state, demand=number)
        network.add_edge(state, "begin again", weight=0)
    network.add_edge("begin again", 0, weight=0)
    return nx.network_simplex(network)[0] + graph.edges


def test_the_paths_are_nearly_as_short_as_they_can_be(graph):
    fewest = _fewest_steps(graph)
    assert fewest <= len(_taken(Cover(graph))) <= 1.15 * fewest


def test_what_comes_after_a_disagreement_is_taken_by_other_paths(graph):
    found = Cover(graph)
    path = max(found.paths(), key=len)
    bad = path[2]
    found.count(path, Checked(3, Difference(3, Kind("x", ()), (), ())))
    assert found.compared == set(path[:2])
    network = nx.DiGraph(
        [(graph.source[e], graph.target[e]) for e in range(graph.edges) if e != bad]
    )
    reached = nx.descendants(network, 0) | {0}
    expected = {e for e in range(graph.edges) if e != bad and graph.source[e] in reached}
    taken = set()
    for again in list(found.paths()):
        assert bad not in again
        taken.update(again)
        found.count(again, Checked(len(again), None))
    assert taken | found.compared == expected
    assert found.behind == graph.edges - len(expected) - 1
    assert list(found.paths()) == []


def test_a_graph_that_is_too_large_is_refused(graph, monkeypatch):
    monkeypatch.setattr(cover, "MOST_EDGES", graph.edges - 1)
    with pytest.raises(UsageError, match="choose smaller bounds"):
        graph_of(graph.model)


def test_each_fault_is_covered_alone_unless_some_are_chosen():
    alone = covered_models("4.1.0", {}, CHOSEN)
    assert len(alone) == len(GRAPHS)
    assert any(model.bounds["directory_moves"] for model in alone)
    early = covered_models("3.8.1", {}, CHOSEN)
    assert not any(m.bounds["directory_moves"] or m.bounds["unregistrations"] for m in early)
    (chosen,) = covered_models("4.1.0", {"crashes": 2}, CHOSEN)
    assert (chosen.bounds["crashes"], chosen.bounds["power_losses"]) == (2, 0)
    assert chosen.bounds["replicas"] == 2
