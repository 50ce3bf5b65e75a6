"""Which parts of the state graph a fair run can stay in for ever: Streett's recursive removal.

A run without end stays, from some time on, within one strongly connected component and goes through
all of some part of it again and again; a run that stops is a component of one state. A component is
fair if every weakly fair group is disabled somewhere in it or taken within it, and each strongly
fair group that is enabled anywhere in it is taken within it. Where a strongly fair group is not
taken, a fair run leaves the states that enable it: they are removed, and the rest is taken apart
anew. Where a weakly fair group fails, it fails for every part, and nothing remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from checker.core.liveness.components import Masks, components, enabled_groups, summary
from checker.core.liveness.graph import Flags, Numbers, StateGraph
from model.language.fair_groups import Group
from model.language.fairness import Strength

_BITS = 64


@dataclass(frozen=True)
class Fair:
    """Fairness groups as bits of masks, for a model with so many action instances."""

    groups: tuple[Group, ...]
    instances: int

    @property
    def words(self) -> int:
        """How many words a mask takes."""
        return len(self.groups) // _BITS + 1

    def mask(self, numbers: Sequence[int]) -> Masks:
        """The groups with the given numbers, shape (words,)."""
        found = np.zeros(self.words, np.uint64)
        for number in numbers:
            found[number // _BITS] |= np.uint64(1 << number % _BITS)
        return found

    @cached_property
    def of_instance(self) -> Masks:
        """The groups that each instance is in."""
        found = np.zeros((self.instances, self.words), np.uint64)
        for number, group in enumerate(self.groups):
            for instance in group.instances:
                found[instance, number // _BITS] |= np.uint64(1 << number % _BITS)
        return found

    def of_strength(self, strength: Strength) -> Masks:
        """The groups that are so fair."""
        return self.mask([n for n, group in enumerate(self.groups) if group.strength is strength])

    def numbers(self, mask: Masks) -> list[int]:
        """The numbers of the groups in a mask of shape (words,)."""
        return [
            number
            for number in range(len(self.groups))
            if int(mask[number // _BITS]) >> number % _BITS & 1
        ]


def enabled_in(graph: StateGraph, fair: Fair, inside: Flags) -> Masks:
    """The groups that each state inside enables, by steps that change something."""
    return enabled_groups(graph.offsets, graph.instances, fair.of_instance, inside)


def fair_components(
    graph: StateGraph, fair: Fair, inside: Flags, enabled: Masks, wanted: Flags | None = None
) -> Numbers:
    """The fair component that each state is in, -1 where no fair run stays for ever.

    Only states `inside` are looked at; with `wanted`, a component must have a state of these. The
    components are the largest ones: every fair run that stays inside ends up in one of them.
    """
    weak, strong = fair.of_strength(Strength.WEAK), fair.of_strength(Strength.STRONG)
    accepted = np.full(len(inside), -1, np.int32)
    known, alive = 0, inside.copy()
    while alive.any():
        part, found = components(graph.offsets, graph.targets, alive)
        some, every, taken = summary(
            graph.offsets, graph.targets, graph.instances, fair.of_instance, part, found, enabled
        )
        hopeless = _any_bit(every & ~taken & weak)
        if wanted is not None:
            has_wanted = np.zeros(found, np.bool_)
            has_wanted[part[alive & wanted]] = True
            hopeless |= ~has_wanted
        owed = some & ~taken & strong
        owing = _any_bit(owed)
        is_fair, splits = ~(hopeless | owing), owing & ~hopeless
        numbered = np.cumsum(is_fair, dtype=np.int32) - 1 + known
        states = np.flatnonzero(alive)
        own = part[states]
        good = is_fair[own]
        accepted[states[good]] = numbered[own[good]]
        known += int(is_fair.sum())
        split = splits[own]
        states, own = states[split], own[split]
        stays = ~_any_bit(enabled[states] & owed[own])
        alive = np.zeros(len(inside), np.bool_)
        alive[states[stays]] = True
    return accepted


def _any_bit(masks: Masks) -> Flags:
    """Which rows have any bit."""
    found: Flags = np.asarray(masks.any(axis=1))
    return found
