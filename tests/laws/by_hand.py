"""The graph of the reference engine, gone through by hand: losses, runs, and which are the same."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import networkx as nx

from checker.core.engines.reference import ReferenceEngine, State
from model.language.declare.domains import Reference, Subset
from model.language.fair_groups import groups_of
from model.language.fairness import Fairness
from model.language.protocol import Model
from properties import Property
from tests.support import textbook
from tests.support.textbook_liveness import Labelled, Node

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
