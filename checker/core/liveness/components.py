"""Strongly connected components of a part of the state graph; what is enabled and taken in each.

Tarjan's algorithm, made iterative and compiled. It visits states by number and steps in the order
of the graph, so components are numbered in the same way each time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from checker.core.liveness.graph import Flags, Numbers, Offsets
from checker.core.native.kernel import kernel

Masks = npt.NDArray[np.uint64]
"""Sets of fairness groups as bits, shape (n, words): one row a state, component or instance."""


def components(offsets: Offsets, targets: Numbers, inside: Flags) -> tuple[Numbers, int]:
    """The component of each state that is `inside`, -1 for others; and how many there are.

    A state that is in no circle is a component by itself.
    """
    count = len(inside)
    component = np.full(count, -1, np.int32)
    order, low = np.full(count, -1, np.int32), np.zeros(count, np.int32)
    waiting, path = np.empty(count, np.int32), np.empty(count, np.int32)
    edge = np.empty(count, np.int64)
    found = _components(offsets, targets, inside, component, order, low, waiting, path, edge)
    return component, found


@kernel
def _components(
    offsets: Offsets,
    targets: Numbers,
    inside: Flags,
    component: Numbers,
    number: Numbers,
    low: Numbers,
    waiting: Numbers,
    path: Numbers,
    edge: Offsets,
) -> int:
    """`component` of each state, -1 at first as is its `number` in the order of visits.

    The others are room for a number for each state. Returns how many components there are.
    """
    count = inside.shape[0]
    found, visited, depth, held = 0, 0, 0, 0
    for root in range(count):
        if not inside[root] or number[root] >= 0:
            continue
        path[0], edge[0], depth = root, offsets[root], 1
        number[root] = low[root] = visited
        visited += 1
        waiting[held] = root
        held += 1
        while depth:
            state = path[depth - 1]
            if edge[depth - 1] < offsets[state + 1]:
                target = targets[edge[depth - 1]]
                edge[depth - 1] += 1
                if target >= count or not inside[target]:
                    continue
                if number[target] < 0:
                    number[target] = low[target] = visited
                    visited += 1
                    waiting[held] = target
                    held += 1
                    path[depth], edge[depth] = target, offsets[target]
                    depth += 1
                elif component[target] < 0 and number[target] < low[state]:
                    low[state] = number[target]
                continue
            depth -= 1
            if depth and low[state] < low[path[depth - 1]]:
                low[path[depth - 1]] = low[state]
            if low[state] == number[state]:
                while True:
                    held -= 1
                    component[waiting[held]] = found
                    if waiting[held] == state:
                        break
                found += 1
    return found


def enabled_groups(
    offsets: Offsets, instances: npt.NDArray[np.uint16], of_instance: Masks, inside: Flags
) -> Masks:
    """The groups that each state enables; nothing for states that are not inside."""
    enabled = np.zeros((len(inside), of_instance.shape[1]), np.uint64)
    _note_enabled(offsets, instances, of_instance, inside, enabled)
    return enabled


@kernel
def _note_enabled(
    offsets: Offsets,
    instances: npt.NDArray[np.uint16],
    of_instance: Masks,
    inside: Flags,
    enabled: Masks,
) -> None:
    for state in range(inside.shape[0]):
        if inside[state]:
            for edge in range(offsets[state], offsets[state + 1]):
                for w in range(of_instance.shape[1]):
                    enabled[state, w] |= of_instance[instances[edge], w]


def summary(
    offsets: Offsets,
    targets: Numbers,
    instances: npt.NDArray[np.uint16],
    of_instance: Masks,
    component: Numbers,
    found: int,
    enabled: Masks,
) -> tuple[Masks, Masks, Masks]:
    """For each component the groups that some state enables, that all do, and that it takes."""
    shape = (found, of_instance.shape[1])
    some, taken = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
    every = np.full(shape, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64)
    _sum_up(offsets, targets, instances, of_instance, component, enabled, some, every, taken)
    return some, every, taken


@kernel
def _sum_up(
    offsets: Offsets,
    targets: Numbers,
    instances: npt.NDArray[np.uint16],
    of_instance: Masks,
    component: Numbers,
    enabled: Masks,
    some: Masks,
    every: Masks,
    taken: Masks,
) -> None:
    words = of_instance.shape[1]
    for state in range(component.shape[0]):
        own = component[state]
        if own < 0:
            continue
        for w in range(words):
            some[own, w] |= enabled[state, w]
            every[own, w] &= enabled[state, w]
        for edge in range(offsets[state], offsets[state + 1]):
            target = targets[edge]
            if target < component.shape[0] and component[target] == own:
                for w in range(words):
                    taken[own, w] |= of_instance[instances[edge], w]


def reach(
    offsets: Offsets, targets: Numbers, sources: Numbers, starts: Numbers, inside: Flags
) -> tuple[Numbers, Offsets]:
    """The least number of steps to each state over states inside, and the edge that leads there.

    `sources` begin at `starts`, in ascending order of these, and are inside. A state that is not
    reached has -1; a source that nothing nearer leads to has the edge -1.
    """
    count = len(inside)
    far, by = np.full(count, -1, np.int32), np.full(count, -1, np.int64)
    _reach(offsets, targets, sources, starts, inside, far, by, np.empty(count, np.int32))
    return far, by


@kernel
def _reach(
    offsets: Offsets,
    targets: Numbers,
    sources: Numbers,
    starts: Numbers,
    inside: Flags,
    far: Numbers,
    by: Offsets,
    queue: Numbers,
) -> None:
    """`far` and `by` are -1 at first; `queue` has room for every state."""
    count = inside.shape[0]
    head, tail, taken = 0, 0, 0
    while head < tail or taken < sources.shape[0]:
        if taken < sources.shape[0] and (head == tail or starts[taken] <= far[queue[head]]):
            state, start = sources[taken], starts[taken]
            taken += 1
            if far[state] >= 0 and far[state] <= start:
                continue
            far[state], by[state] = start, -1
            # Its turn is now: it may not wait behind states that are further.
        else:
            state = queue[head]
            head += 1
        for edge in range(offsets[state], offsets[state + 1]):
            target = targets[edge]
            if target < count and inside[target] and far[target] < 0:
                far[target], by[target] = far[state] + 1, edge
                queue[tail] = target
                tail += 1
