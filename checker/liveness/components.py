"""Strongly connected components of a part of the state graph; what is enabled and taken in each.

Tarjan's algorithm, made iterative and compiled. It visits states by number and steps in the order
of the graph, so components are numbered in the same way each time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from checker.engines.kernels import kernel
from checker.liveness.graph import Flags, Numbers, Offsets

Masks = npt.NDArray[np.uint64]
"""Sets of fairness groups as bits, shape (n, words): one row a state, component or instance."""


@kernel
def components(offsets: Offsets, targets: Numbers, inside: Flags) -> tuple[Numbers, int]:
    """The component of each state that is `inside`, -1 for others; and how many there are.

    A state that is in no circle is a component by itself.
    """
    count = inside.shape[0]
    number = np.full(count, -1, np.int32)  # first the order of visits, then the component
    low = np.zeros(count, np.int32)
    component = np.full(count, -1, np.int32)
    waiting = np.empty(count, np.int32)
    path = np.empty(count, np.int32)
    edge = np.empty(count, np.int64)
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
    return component, found


@kernel
def enabled_groups(
    offsets: Offsets, instances: npt.NDArray[np.uint16], of_instance: Masks, inside: Flags
) -> Masks:
    """The groups that each state enables; nothing for states that are not inside."""
    count = inside.shape[0]
    enabled = np.zeros((count, of_instance.shape[1]), np.uint64)
    for state in range(count):
        if inside[state]:
            for edge in range(offsets[state], offsets[state + 1]):
                for w in range(of_instance.shape[1]):
                    enabled[state, w] |= of_instance[instances[edge], w]
    return enabled


@kernel
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
    words = of_instance.shape[1]
    some = np.zeros((found, words), np.uint64)
    every = np.full((found, words), np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64)
    taken = np.zeros((found, words), np.uint64)
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
    return some, every, taken


@kernel
def reach(
    offsets: Offsets, targets: Numbers, sources: Numbers, starts: Numbers, inside: Flags
) -> tuple[Numbers, Offsets]:
    """The least number of steps to each state over states inside, and the edge that leads there.

    `sources` begin at `starts`, in ascending order of these, and are inside. A state that is not
    reached has -1; a source that nothing nearer leads to has the edge -1.
    """
    count = inside.shape[0]
    far = np.full(count, -1, np.int32)
    by = np.full(count, -1, np.int64)
    queue = np.empty(count, np.int32)
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
    return far, by
