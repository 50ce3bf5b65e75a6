"""Duplicates found late: which of the states that memory took for new stand on disk already.

What was found since the last time is compared with older runs, range by range: both are sorted, so
each range of a run is read once, from its beginning to its end, and by as many threads as there
are. Blocks that no new number belongs to are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np

from checker.core.beyond.level_files import Array, LevelFiles
from checker.core.beyond.runs import Picked, Run, numbers_of, pick
from checker.core.engines.layout import Words
from checker.core.search.fresh import Instances

R = TypeVar("R")

_RANGE = 1 << 18  # new numbers that a range has, about
_MOST_RANGE_BITS = 10
_AHEAD = 4  # ranges under way


def late(
    found: Sequence[Run], older: Sequence[Run], executor: Executor, check: Callable[[], None]
) -> list[Words]:
    """The numbers of `found` that `older` runs have too, in parts, ascending.

    `check` may end the work.
    """
    if not found or not older:
        return []
    count = sum(run.count for run in found)
    bits = min((count // _RANGE).bit_length(), _MOST_RANGE_BITS)

    def of_range(number: int) -> Words:
        return _late_within(found, older, number, bits)

    parts = []
    for part in _in_order(executor, of_range, range(1 << bits)):
        check()
        parts.append(part)
    return parts


def leave_out(
    level: LevelFiles,
    blocks: range,
    numbers: Sequence[Words],
    at_once: int,
    executor: Executor,
    check: Callable[[], None],
) -> Iterator[Instances]:
    """Leave out the states of some blocks that have one of these numbers; their instances.

    So many numbers are looked for `at_once`.
    """
    found: dict[int, list[Array]] = {}
    passes = -(-sum(map(len, numbers)) // at_once)
    for first in range(passes):
        # From every range, since those of one would be crowded in their table.
        picked = pick(np.concatenate([part[first::passes] for part in numbers]), 0)
        work = partial(_places, level, picked)
        for block, places in zip(blocks, _in_order(executor, work, blocks), strict=True):
            check()
            if len(places):
                found.setdefault(block, []).append(places)
    for block, parts in found.items():
        yield level.drop(block, np.sort(np.concatenate(parts)))
    level.count_again()


def _places(level: LevelFiles, picked: Picked, block: int) -> Array:
    """Where in a block the states are that are picked."""
    return np.flatnonzero(picked.holds(numbers_of(level.words(block)))).astype(np.uint16)


def _in_order(executor: Executor, work: Callable[[int], R], numbers: range) -> Iterator[R]:
    """What `work` gives for each number, in order; few are begun before they are asked for."""
    left = iter(numbers)
    under_way: list[Future[R]] = []
    try:
        while True:
            begun = islice(left, _AHEAD - len(under_way))
            under_way += [executor.submit(work, number) for number in begun]
            if not under_way:
                return
            yield under_way.pop(0).result()
    finally:
        for future in under_way:
            future.cancel()


def _late_within(found: Sequence[Run], older: Sequence[Run], number: int, bits: int) -> Words:
    parts = []
    for run in found:
        with run.opened() as opened:
            blocks = [opened.numbers(block) for block in run.within(number, bits)]
        parts += [_cut(block, number, bits) for block in blocks]
    new = np.concatenate(parts)
    new.sort()
    return among(new, older, bits)


def among(new: Words, older: Sequence[Run], above: int = 0) -> Words:
    """Of ascending numbers, all with the same `above` upper bits, those that older runs have."""
    same = [np.empty(0, np.uint64)]
    if not len(new):
        return same[0]
    picked, range_ = pick(new, above), int(new[0]) >> (64 - above) if above else 0
    for run in older:
        with run.opened() as opened:
            for block in run.within(range_, above):
                if _has_any(new, run, block):
                    like = opened.like(block, picked)
                    same.append(like[picked.holds(like)])
    return _once(np.concatenate(same))


def _once(numbers: Words) -> Words:
    """Each of some numbers once, ascending. NumPy's `unique` takes five times as long."""
    numbers.sort()
    is_first = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_first[1:])
    return numbers[is_first]


def _cut(numbers: Words, number: int, bits: int) -> Words:
    """Those of some ascending numbers that are in a range."""
    if not bits:
        return numbers
    first = np.uint64(number << (64 - bits))
    last = np.uint64(((number + 1) << (64 - bits)) - 1)
    return numbers[np.searchsorted(numbers, first) : np.searchsorted(numbers, last, "right")]


def _has_any(new: Words, run: Run, block: int) -> bool:
    """Whether any of some ascending numbers belongs to a block."""
    below = 64 - run.block_bits
    last = np.uint64(((block + 1) << below) - 1)
    place = int(np.searchsorted(new, np.uint64(block << below)))
    return place < len(new) and bool(new[place] <= last)
