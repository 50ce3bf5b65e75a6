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
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import networkx as nx
import numpy as np

from checker.core.engines.reference import ReferenceEngine, State
from checker.core.graphs.built import Built, build
from checker.core.graphs.losses import Losses, Risk, find_losses
from checker.core.graphs.tables import near, quotient
from checker.core.graphs.ways import Ways
from checker.core.search.limits import Limits
from checker.core.search.question import Options
from model.language.declare.domains import Reference, Subset
from model.language.errors import DomainError
from model.language.fair_groups import groups_of
from model.language.fairness import Fairness
from model.language.protocol import Cell, Model
from properties import Property
from tests.support import textbook
from tests.support.textbook_liveness import Labelled, Node

MOST_STATES = 120
MOST_WAYS = 300
PLAIN = Options(cross_check=False, compile_after=None, chunk=7)

Step = tuple[State, int, State]
Run = tuple[int, ...]


class Book:
    """The graph of the reference engine, and the losses in it."""

    def __init__(self, model: Model, properties: Sequence[Property], found: textbook.Graph) -> None:
        self.model = model
        self.engine = ReferenceEngine(model)
        self.states = found.states
        self.first = self.states[0]
        of_steps = [p for p in properties if p.of_steps]
        self.lost = {
            s
            for s in self.states
            if not all(self.engine.holds(p.claim, s) for p in properties if not p.of_steps)
        }
        self.steps: list[Step] = [
            (s, i.number, t)
            for s, i, t in found.all_steps
            if s != t
            or (s not in self.lost and not all(self.engine.holds(p.claim, s, t) for p in of_steps))
        ]
        self.ending = {
            (s, i, t)
            for s, i, t in self.steps
            if s not in self.lost
            and (t in self.lost or not all(self.engine.holds(p.claim, s, t) for p in of_steps))
        }
        self.after: dict[State, list[Step]] = {s: [] for s in self.states}
        for step in self.steps:
            self.after[step[0]].append(step)

    def goes_on(self, step: Step) -> bool:
        """A run that has come to no loss may take the step, and has come to none."""
        return step not in self.ending and step[0] not in self.lost

    def clear(self, start: State, may: Callable[[Step], bool] = lambda _: True) -> set[State]:
        """The states that runs without a loss come to."""
        seen, waiting = {start}, [start]
        while waiting and start not in self.lost:
            for step in self.after[waiting.pop()]:
                if may(step) and self.goes_on(step) and step[2] not in seen:
                    seen.add(step[2])
                    waiting.append(step[2])
        return seen

    def keeps_clear(self, state: State, step: Step) -> bool:
        """The step neither begins in the state nor leads there, but for a loss that ends a way."""
        return step[0] != state and (step[2] != state or step in self.ending)

    def avoids(self, state: State, step: Step) -> bool:
        """The step neither begins in the state nor leads there."""
        return state not in (step[0], step[2])

    def is_of_another(self, action: str, step: Step) -> bool:
        """The step is not of the action of that name."""
        return self.model.instances[step[1]].action.name != action

    def loses(self, start: State, may: Callable[[Step], bool] = lambda _: True) -> bool:
        """Some run from the state comes to a loss."""
        reached = self.clear(start, may)
        return start in self.lost or any(s[0] in reached and may(s) for s in self.ending)

    def distance(self, start: State) -> int:
        """The number of steps of a shortest one; -1 if there is none."""
        level, seen, depth = {start}, {start}, 0
        while level:
            if level & self.lost:
                return depth
            steps = [step for state in level for step in self.after[state]]
            if any(step in self.ending for step in steps):
                return depth + 1
            level = {step[2] for step in steps} - seen
            seen |= level
            depth += 1
        return -1

    def escapes(self, start: State, fairness: Sequence[Fairness]) -> bool:
        """Some fair run from the state comes to no loss."""
        if start in self.lost:
            return False
        return bool(self._harmless(tuple(fairness)).fair_parts(self.clear(start)))

    @functools.cache  # noqa: B019 (a book lives as long as its test)
    def _harmless(self, fairness: tuple[Fairness, ...]) -> Labelled:
        """The steps that come to no loss; what is enabled counts those that do."""
        groups = groups_of(self.model, fairness)
        harmless: Any = nx.MultiDiGraph()
        harmless.add_nodes_from(self.states)
        for step in filter(self.goes_on, self.steps):
            harmless.add_edge(step[0], step[2], key=step[1])
        enabled: dict[Node, set[int]] = {
            s: {
                n
                for n, g in enumerate(groups)
                for _, i, t in self.after[s]
                if i in g.instances and s != t
            }
            for s in self.states
        }
        kept = tuple((group.strength, group.instances) for group in groups)
        return Labelled(harmless, kept, enabled)

    def runs(self, length: int) -> Iterator[Run]:
        """Every run of so many steps that ends with its first loss."""

        def walk(state: State, path: Run) -> Iterator[Run]:
            for step in self.after[state]:
                if step in self.ending:
                    if len(path) + 1 == length:
                        yield (*path, step[1])
                elif len(path) + 1 < length:
                    yield from walk(step[2], (*path, step[1]))

        yield from walk(self.first, ())

    def end_of(self, run: Run) -> list[State] | None:
        """The states of a run; none if it is none."""
        states = [self.first]
        for number in run:
            after = self.engine.step(states[-1], self.model.instances[number])
            step = (states[-1], number, after)
            if after is None or (after == states[-1] and step not in self.ending):
                return None
            states.append(after)
        return states


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


def classes(runs: list[Run], same: Callable[[Run], Iterator[Run]]) -> list[set[Run]]:
    """The runs, those together that are the same by some chain of runs."""
    found: list[set[Run]] = []
    for run in runs:
        if any(run in known for known in found):
            continue
        members, waiting = {run}, [run]
        while waiting:
            for other in same(waiting.pop()):
                if other in runs and other not in members:
                    members.add(other)
                    waiting.append(other)
        found.append(members)
    return found


def exchanged(book: Book, run: Run) -> Iterator[Run]:
    """The runs that exchanging two neighbours leads to, if they end up where this one does."""
    states = book.end_of(run)
    for place in range(len(run) - 1):
        other = (*run[:place], run[place + 1], run[place], *run[place + 2 :])
        after = book.end_of(other)
        if states is not None and after is not None and after[place + 2] == states[place + 2]:
            yield other


def renamed(book: Book, run: Run) -> Iterator[Run]:
    """What renaming members makes of a run, where that leaves the first state as it is."""
    model = book.model
    (family,) = [n for n in model.schema.families if model.schema.index_sets[n].symmetric]
    numbers = {(i.action.name, i.arguments): i.number for i in model.instances}
    for order in itertools.permutations(range(model.extents[family])):
        if with_names(model, book.first, family, order) != book.first:
            continue
        changed = []
        for each in (model.instances[n] for n in run):
            arguments = tuple(
                order[a] if getattr(p.domain, "family", None) == family and a >= 0 else a
                for p, a in zip(each.parameters, each.arguments, strict=True)
            )
            changed.append(numbers[each.action.name, arguments])
        assert book.end_of(tuple(changed)) is not None
        yield tuple(changed)


def with_names(model: Model, state: State, family: str, order: tuple[int, ...]) -> State:
    """The state with its members renamed."""
    values: dict[tuple[str, tuple[int, ...]], int] = {}
    for cell, number in zip(model.cells, state, strict=True):
        value = number
        sets = [index_set.name for index_set in cell.variable.index]
        index = tuple(order[k] if n == family else k for n, k in zip(sets, cell.index, strict=True))
        match cell.variable.domain:
            case Reference(other) if other == family and value >= 0:
                value = order[value]
            case Subset(other) if other == family:
                value = sum(1 << order[k] for k in range(len(order)) if value >> k & 1)
        values[cell.variable.name, index] = value
    return tuple(values[cell.variable.name, cell.index] for cell in model.cells)


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
