"""Laws of the state graph: what is said of losses, ways and views is what going through all says.

The other way is by hand, on the graph of the reference engine: a walk from each state, each action
or state left out by itself, every run of the least length, and `tests.support.textbook_liveness`
for fair runs.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np

from checker.core.engines.reference import State
from checker.core.graphs.built import Built, build
from checker.core.graphs.losses import Losses, Risk, find_losses
from checker.core.graphs.tables import near, quotient
from checker.core.graphs.ways import Ways
from checker.core.search.limits import Limits
from checker.core.search.question import Options
from model.language.errors import DomainError
from model.language.fairness import Fairness
from model.language.protocol import Cell, Model
from properties import Property
from tests.laws.by_hand import Book, Run, classes, exchanged, renamed
from tests.support import textbook

MOST_STATES = 120
MOST_WAYS = 300
PLAIN = Options(cross_check=False, compile_after=None, chunk=7)


def check_graph(
    model: Model, properties: Sequence[Property], fairness: Sequence[Fairness], seed: int,
    at_most: int = MOST_STATES,
) -> Losses | None:  # fmt: skip
    """All laws on one model. None if it has too many states, or a value does not fit."""
    try:
        found = textbook.search(model, at_most=at_most)
        if len(found.steps) < len(found.states):
            return None
        book = Book(model, properties, found)
        built = build(model, (), None, PLAIN)
    except DomainError:
        return None
    losses = find_losses(built, properties, fairness)
    number = dict(zip(book.states, built.numbers_of(book.states), strict=True))
    assert sorted(number.values()) == list(range(built.states))
    check_risk(book, losses, number, fairness)
    check_ways(book, losses, number)
    draw = random.Random(seed)
    check_quotient(book, losses, number, draw)
    check_near(book, built, number, draw)
    check_cut(losses, properties, fairness, draw)
    return losses


def check_risk(
    book: Book, losses: Losses, number: dict[State, int], fairness: Sequence[Fairness]
) -> None:
    """How each state stands to a loss, and which steps settle it."""
    certain = {state: not book.escapes(state, fairness) for state in book.states}
    for state, n in number.items():
        expected = (
            Risk.LOST if state in book.lost
            else Risk.CERTAIN if certain[state]
            else Risk.POSSIBLE if book.loses(state)
            else Risk.SAFE
        )  # fmt: skip
        assert losses.risk[n] == expected
        assert losses.distance[n] == book.distance(state)
        assert expected is not Risk.CERTAIN or book.loses(state)
    settling = {
        (number[s], i, number[t])
        for s, i, t in book.steps
        if not certain[s] and (certain[t] or (s, i, t) in book.ending)
    }
    built = losses.built
    ours = [
        (int(built.sources[k]), int(built.graph.instances[k]), int(built.graph.targets[k]))
        for k in losses.settling
    ]
    assert len(ours) == len(set(ours))
    assert set(ours) == settling
    first = {0} if certain[book.first] else set()
    assert set(losses.points_of_no_return.tolist()) == {t for _, _, t in settling} | first


def check_ways(book: Book, losses: Losses, number: dict[State, int]) -> None:
    """What all ways share, and how many shortest ones there are."""
    assert losses.is_possible == book.loses(book.first)
    if not losses.is_possible:
        return
    ways = Ways(losses)
    actions = [action.name for action in book.model.protocol.actions]
    assert ways.bridges() == [
        name
        for name in actions
        if not book.loses(book.first, functools.partial(book.is_of_another, name))
    ]
    gates = ways.gates()
    assert set(gates) == {
        number[state]
        for state in book.states
        if state != book.first and state not in book.lost
        and not book.loses(book.first, functools.partial(book.keeps_clear, state))
    }  # fmt: skip
    _check_order(book, gates, number)
    if ways.count > MOST_WAYS:
        return
    runs: list[Run] = list(book.runs(ways.length)) if ways.length else [()]
    assert ways.count == len(runs)
    assert list(ways.shortest()) == sorted(runs)
    essential = ways.essential()
    assert essential.up_to_order == len(classes(runs, lambda run: exchanged(book, run)))
    if essential.up_to_names is not None:
        both = classes(runs, lambda run: itertools.chain(exchanged(book, run), renamed(book, run)))
        assert essential.up_to_names == len(both)


def _check_order(book: Book, gates: list[int], number: dict[State, int]) -> None:
    """A gate comes after another if no run comes there without it."""
    state = {n: s for s, n in number.items()}
    for earlier, later in itertools.pairwise(gates):
        without = book.clear(book.first, functools.partial(book.avoids, state[earlier]))
        assert state[later] not in without


def check_quotient(
    book: Book, losses: Losses, number: dict[State, int], draw: random.Random
) -> None:
    """A node for each combination of values; an arrow where some step leads between two of them."""
    differing = [
        cell
        for cell in book.model.cells
        if len({state[cell.position] for state in book.states}) > 1
    ]
    for cells in (
        [],
        book.model.cells[:1],
        differing[:2],
        draw.sample(differing, len(differing) // 2),
    ):
        if cells:
            check_quotient_by(book, losses, number, list(cells))


def check_quotient_by(
    book: Book, losses: Losses, number: dict[State, int], cells: list[Cell]
) -> None:
    """The same for the fields of one view."""
    tables = quotient(losses, cells)

    def seen(state: State) -> tuple[int, ...]:
        return tuple(state[cell.position] for cell in cells)

    inverse = {n: state for state, n in number.items()}
    order = list(dict.fromkeys(seen(inverse[n]) for n in range(len(inverse))))
    assert len(tables.ids) == len(order)
    columns = {column.name: column.plain() for column in tables.nodes}
    for place, values in enumerate(order):
        members = [number[s] for s in book.states if seen(s) == values]
        assert columns["states"][place] == len(members)
        assert columns["depth"][place] == losses.built.depths[members].min()
        for name, risk in (("safe", 0), ("possible", 1), ("certain", 2), ("lost", 3)):
            assert columns[name][place] == (losses.risk[members] == risk).sum()
        known = [d for d in losses.distance[members].tolist() if d >= 0]
        assert columns["to_loss"][place] == min(known, default=None)
    expected = Counter(
        (order.index(seen(s)), order.index(seen(t)), i)
        for s, i, t in book.steps
        if seen(s) != seen(t)
    )
    steps = {column.name: column.numbers.tolist() for column in tables.arrows}
    ends = zip(tables.begin.tolist(), tables.end.tolist(), steps["step"], strict=True)
    assert dict(zip(ends, steps["steps"], strict=True)) == expected
    assert tables.about["not_shown"] == len(book.steps) - expected.total()


def check_near(book: Book, built: Built, number: dict[State, int], draw: random.Random) -> None:
    """What is near is what an undirected walk of so many steps comes to."""
    undirected: Any = nx.Graph()
    undirected.add_nodes_from(number.values())
    undirected.add_edges_from((number[s], number[t]) for s, _, t in book.steps)
    radius, begin = draw.randint(0, 3), draw.sample(range(built.states), min(2, built.states))
    expected = set().union(
        *(nx.single_source_shortest_path_length(undirected, s, radius) for s in begin)
    )
    assert set(np.flatnonzero(near(built, begin, radius)).tolist()) == expected


def check_cut(
    losses: Losses, properties: Sequence[Property], fairness: Sequence[Fairness],
    draw: random.Random,
) -> None:  # fmt: skip
    """What a graph that was cut says of a state is so, or says that it need not be all."""
    built = losses.built
    limits = Limits(depth=draw.randint(0, int(built.depths[-1])))
    part = build(built.model, (), limits, PLAIN)
    cut = find_losses(part, properties, fairness)
    whole_risk = losses.risk[: part.states]
    for mine, real in zip(cut.risk.tolist(), whole_risk.tolist(), strict=True):
        assert mine == real or (mine, real) in {
            (Risk.POSSIBLE, Risk.CERTAIN),
            (Risk.UNKNOWN, Risk.SAFE),
            (Risk.UNKNOWN, Risk.POSSIBLE),
            (Risk.UNKNOWN, Risk.CERTAIN),
        }
    if part.graph.is_complete:
        assert (cut.risk == losses.risk).all()
