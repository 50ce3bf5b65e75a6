"""Protocols that are a graph drawn by hand: one number, and each action the edges that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from checker.core.liveness.search import LivenessSearch
from checker.core.search.question import Options
from checker.core.verdict import Exploration, Judgement
from model.language import (
    Action,
    Bound,
    Fairness,
    Protocol,
    State,
    all_of,
    any_of,
    choose,
    integers,
    require,
)
from model.language.protocol import Model
from properties.liveness import Kind, Liveness

Edges = Mapping[str, Sequence[tuple[int, int]]]

LAST = Bound("last", default=7, minimum=1, maximum=63, words="the greatest state")


class Place(State):
    """Where in the graph the run is: it begins at 0."""

    x: Annotated[int, integers(0, LAST)] = 0


def graph_model(edges: Edges, *fairness: Fairness) -> Model:
    """The protocol with an action for each name, whose instances are its edges in order."""
    actions = tuple(_action(name, tuple(pairs)) for name, pairs in edges.items())
    last = max(max(pair) for pairs in edges.values() for pair in pairs)
    protocol = Protocol("graph", "a graph", Place, actions, (LAST,), fairness=fairness)
    return protocol.model({"last": max(last, 1)})


def _action(name: str, pairs: tuple[tuple[int, int], ...]) -> Action:
    def function(s: Any, edge: int) -> None:
        require(any_of(*(all_of(edge == n, s.x == a) for n, (a, _) in enumerate(pairs))))
        target = s.x
        for n, (_, b) in enumerate(pairs):
            target = choose(edge == n, b, target)
        s.x = target

    function.__annotations__ = {"edge": Annotated[int, integers(0, len(pairs) - 1)]}
    function.__name__ = name
    return Action(name, function, name)


def at(*places: int) -> Any:
    """The claim that the run is at one of these."""
    return lambda s: any_of(*(s.x == place for place in places))


def promise(kind: Kind, claim: Any, premise: Any = None) -> Liveness:
    """A liveness property with no words."""
    return Liveness("promise", "promise", kind, claim, premise)


def judge(model: Model, prop: Liveness, **options: Any) -> Judgement:
    """The judgement on one property under the protocol's fairness."""
    return judged(model, prop, **options).liveness[0]


def judged(model: Model, prop: Liveness, **options: Any) -> Exploration:
    """The whole result of a search that judges one property."""
    return LivenessSearch(model, (), (prop,), options=Options(**options)).run()
