"""Blocks of states: what parcels carry, put together and taken apart state by state.

A block is a matrix of unsigned words, a column a state: its number, then its packed words. Its
states are in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.native.kernel import kernel
from checker.core.search.fresh import Instances
from checker.core.search.table_kernels import Numbers
from checker.core.search.visited_set import Flags

Places = npt.NDArray[np.int64]


@kernel
def put_in_room(
    begin: int,
    to: Places,
    chosen: Flags,
    rows: Numbers,
    instances: Instances,
    numbers: Words,
    shift: int,
    after: Words,
    room: Words,
    counts: Places,
) -> int:
    """Put the chosen states, from `begin` on, into their owners' blocks in `room`.

    They are those after steps of the states with `numbers`. Owner k has the rows of `room` from k
    times the height of a block on, of which `counts[k]` columns are in use. Ends before the first
    state whose block is full; its place, or the number of states.
    """
    height = 1 + after.shape[0]
    for i in range(begin, to.shape[0]):
        if chosen[i]:
            owner = to[i]
            at = counts[owner]
            if at == room.shape[1]:
                return i
            first = owner * height
            room[first, at] = (numbers[rows[i]] << np.uint64(shift)) | np.uint64(instances[i])
            for w in range(after.shape[0]):
                room[first + 1 + w, at] = after[w, i]
            counts[owner] = at + 1
    return int(to.shape[0])


def merged(blocks: list[Words]) -> Words:
    """The states of some blocks, of which there is one at least, as one block."""
    if len(blocks) == 1:
        return blocks[0]
    block = np.concatenate(blocks, axis=1)
    return block.take(np.argsort(block[0], kind="stable"), axis=1)


def in_order(blocks: list[Words]) -> Iterator[Words]:
    """The states of all blocks in order, in blocks that are smaller where they do not overlap."""
    beside: list[Words] = []
    last = 0
    for block in sorted(blocks, key=lambda block: int(block[0, 0])):
        if beside and int(block[0, 0]) > last:
            yield merged(beside)
            beside = []
        beside.append(block)
        last = max(last, int(block[0, -1]))
    if beside:
        yield merged(beside)
