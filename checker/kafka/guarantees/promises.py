"""Which of its promises an application keeps: for each the fewest faults that break it.

Faults need not be named: sets of them are searched, the smallest first, each with every budget of
its own. A set of which a part breaks a promise says nothing more of that promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from checker.core.search.allowance import Allowance
from checker.kafka.guarantees.facets import Facet
from checker.kafka.guarantees.tiers import SEVERAL, Change, Tier
from checker.kafka.guarantees.verdicts import is_safe, judged_cells
from checker.lab.experiments.matrix import Cell, Column

Faults = tuple[tuple[str, int], ...]
MOST_SETS = 4
"""Of one promise so many sets of the smallest number are kept, by the order of the faults."""


@dataclass(frozen=True)
class Broken:
    """A promise with a set of faults that breaks it, and the search that says so."""

    faults: Faults
    cell: Cell

    @property
    def words(self) -> str:
        """The set, and how many steps it takes."""
        return f"{faults_words(self.faults)} ({self.cell.found['depth']} steps)"


@dataclass(frozen=True)
class Promise:
    """A promise, and what was found of it.

    `broken` are the smallest sets; empty where none breaks it. All sets of up to `searched` faults
    were searched to their ends, and with `rest` not all of one more, before time ran out.
    """

    facet: Facet
    column: Column
    broken: tuple[Broken, ...]
    searched: int
    rest: bool

    @property
    def claim(self) -> str:
        """The property that the first of the sets breaks; else the first that it is made of."""
        if self.broken:
            return str(self.broken[0].cell.found["property"])
        return self.column.properties[0]

    @property
    def is_decided(self) -> bool:
        """It is broken, or no set was left out."""
        return bool(self.broken) or not self.rest


@dataclass(frozen=True)
class Prevents:
    """A change, and which promises it keeps under the faults that break them without it."""

    change: Change
    promises: tuple[str, ...]


def faults_words(faults: Faults) -> str:
    """`late markers 1, producer restarts 1`; `no fault`."""
    return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in faults) or "no fault"


def _sets(facet: Facet, faults: Mapping[str, int], count: int) -> Iterator[Faults]:
    """The sets of so many faults that a facet has, within how often each may happen."""
    names = [name for name in facet.possible if not faults or faults.get(name, 0)]
    for each in combinations_with_replacement(names, count):
        found = {name: each.count(name) for name in each}
        if not faults or all(found[name] <= faults[name] for name in found):
            yield tuple(found.items())


def searched(
    facets: Sequence[Facet],
    faults: Mapping[str, int],
    most: int,
    budget: Allowance,
    on_search: Callable[[str], None],
) -> list[Promise]:
    """Of every promise what breaks it, the sets of fewer faults first in all facets."""
    broken: dict[str, list[Broken]] = {}
    done = {facet.title: -1 for facet in facets}
    for count in range(most + 1):
        for facet in facets:
            left = [c for c in facet.columns if c.name not in broken]
            if not left or done[facet.title] < count - 1:
                continue
            whole = True
            for each in _sets(facet, faults, count):
                if not budget.left:
                    whole = False
                    break
                on_search(f"{facet.title}, with {faults_words(each)}")
                cells = judged_cells(facet.with_faults(dict(each)), tuple(left), budget)
                for column, cell in zip(left, cells, strict=True):
                    if cell.is_violated:
                        broken.setdefault(column.name, []).append(Broken(each, cell))
                    elif not is_safe(cell):
                        whole = False
            if whole:
                done[facet.title] = count
    return [
        Promise(
            facet, column, tuple(broken.get(column.name, ())[:MOST_SETS]), done[facet.title],
            done[facet.title] < most,
        )
        for facet in facets
        for column in facet.columns
    ]  # fmt: skip


def kept_by(
    broken: Sequence[Promise],
    promises: Sequence[Promise],
    budget: Allowance,
    on_search: Callable[[str], None],
) -> tuple[list[Prevents], bool]:
    """The changes that keep promises which are broken, and break none, the cheapest first."""
    found: list[Prevents] = []
    all_tried = True
    for facet in {promise.facet.title: promise.facet for promise in broken}.values():
        mine = [promise for promise in broken if promise.facet is facet]
        others = [p.column.name for p in promises if p.facet is facet and not p.broken]
        best: dict[Tier, set[str]] = {}
        for change in facet.changes:
            if not budget.left:
                all_tried = False
                break
            on_search(change.words)
            kept = _keeps(facet, change, mine, others, budget)
            known = best.setdefault(change.tier, set())
            if change.tier in SEVERAL or set(kept) - known:  # of releases the nearest for each
                known |= set(kept)
                found += [Prevents(change, kept)] if kept else []
    return sorted(found, key=lambda each: each.change.tier), all_tried


def _keeps(
    facet: Facet,
    change: Change,
    broken: Sequence[Promise],
    others: Sequence[str],
    budget: Allowance,
) -> tuple[str, ...]:
    """Which of the broken promises hold with the change, under all their sets of faults.

    Empty if one of the others is broken by them then.
    """
    sets = dict.fromkeys(each.faults for promise in broken for each in promise.broken)
    safe: dict[Faults, set[str]] = {}
    for faults in sets:
        choice = facet.with_faults(dict(faults), change.choice)
        cells = judged_cells(choice, facet.columns, budget)
        safe[faults] = {cell.column.name for cell in cells if is_safe(cell)}
        if any(cell.is_violated and cell.column.name in others for cell in cells):
            return ()
    return tuple(
        promise.column.name
        for promise in broken
        if all(promise.column.name in safe[each.faults] for each in promise.broken)
    )
