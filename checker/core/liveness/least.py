"""The least fairness under which a liveness property holds: found by leaving out and weakening.

More fairness leaves fewer runs, so what holds under some holds under more. Leaving out one action
after the other, and asking weak fairness for strong where that will do, ends in a set of which
nothing can be spared. There may be others; the order in which actions are declared decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from checker.core.liveness.check import LivenessChecker
from checker.core.liveness.graph import StateGraph
from model.language.fairness import Fairness, Strength
from model.language.protocol import Model
from properties.liveness import Liveness


@dataclass(frozen=True)
class Least:
    """A least fairness; none if even strong fairness of everything that is declared is too little.

    `declared_suffices`: the property holds under what the protocol declares.
    """

    property: Liveness
    fairness: tuple[Fairness, ...] | None
    declared_suffices: bool


def least_fairness(
    checker: LivenessChecker, graph: StateGraph, model: Model, declared: Sequence[Fairness],
    prop: Liveness, check: Callable[[], None] = lambda: None,
) -> Least:  # fmt: skip
    """Search for it, beginning with what is declared, action by action.

    `check` is called again and again, to raise what ends the search.
    """
    single = [replace(one, actions=(name,)) for one in declared for name in one.actions]
    names = {model.instances[n].action.name for n in np.unique(graph.instances).tolist()}
    # What is never taken rarely counts: only where a bound alone holds it up.
    taken = [one for one in single if one.actions[0] in names]

    def holds(chosen: Sequence[Fairness]) -> bool:
        check()
        return not checker.under(chosen).is_violated(prop)

    declared_suffices = holds(declared)
    kept = next(filter(holds, _begun_with(taken, single, declared_suffices)), None)
    if kept is None:
        return Least(prop, None, declared_suffices)
    kept = _without_needless(kept, holds)
    for place, one in enumerate(kept):
        weaker = [*kept[:place], replace(one, strength=Strength.WEAK), *kept[place + 1 :]]
        if one.strength is Strength.STRONG and holds(weaker):
            kept = weaker
    return Least(prop, tuple(kept), declared_suffices)


def _begun_with(
    taken: list[Fairness], single: list[Fairness], as_declared: bool
) -> Iterator[list[Fairness]]:
    """What the search may begin with, if the property holds under it; the first is preferred."""
    if as_declared:
        yield taken
        yield single
    for ones in (taken, single):
        yield [replace(one, strength=Strength.STRONG) for one in ones]


def _without_needless(
    kept: list[Fairness], holds: Callable[[Sequence[Fairness]], bool]
) -> list[Fairness]:
    """What is left when nothing more can be left out; halves are tried before single ones."""
    size = max(len(kept) // 2, 1)
    while kept:
        place = 0
        while place < len(kept):
            fewer = kept[:place] + kept[place + size :]
            if holds(fewer):
                kept = fewer
            else:
                place += size
        if size == 1:
            break
        size = max(size // 2, 1)
    return kept
