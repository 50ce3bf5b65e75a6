"""The states of a level on disk in the order in which they were found, and where they came from.

They lie in blocks. A state that turns out to be a duplicate stays where it is: `dropped` has its
place in its block, and whoever reads leaves it out. A state's place in its level counts those that
are left. States are read once, when they are expanded; links are read for a trace alone, and are
packed as `lineage.py` says.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.search.fresh import Instances
from model.language.errors import UsageError

Array = npt.NDArray[Any]
Places = npt.NDArray[np.uint16]

BLOCK = 1 << 16
"""States that a block has at most, so that a place within it takes two bytes."""
LINKS, INDEX, DROPPED = "links", "index", "dropped"
_COLUMNS = 6  # of the index: states, dropped ones, first parent, bytes of a distance, of an
# instance, and where the block's links begin


class LevelFiles:
    """A level: what is known of its blocks, in memory, and its files.

    `states` is the file with the packed states, and there only as long as these are not expanded.
    """

    def __init__(self, directory: Path, states: Path, words: int) -> None:
        self.directory = directory
        self._states = states
        self._words = words
        self._blocks: list[list[int]] = []
        self._ends: list[int] = []  # places of the level that end with each block, if none is left
        self._firsts: list[int] = []  # where the states of each block begin in their file
        self._dropped: list[Places] = []
        self._pieces: list[tuple[Words, Array, Instances]] = []
        self._held = 0
        self._end = 0
        self.bytes = 0

    # --- writing -----------------------------------------------------------------------------

    def create(self) -> None:
        """Make the directory and its files, which must not be there. Raises `OSError`."""
        self.directory.mkdir(parents=True)
        for path in (self._states, self.directory / LINKS):
            path.parent.mkdir(exist_ok=True)
            path.touch(exist_ok=False)

    def put(self, words: Words, parents: Array, instances: Instances) -> None:
        """Add states that seem new, with the places of the states before them, in order."""
        while (count := words.shape[1]) and self._held + count >= BLOCK:
            now = BLOCK - self._held
            self._pieces.append((words[:, :now], parents[:now], instances[:now]))
            self._held = BLOCK
            self.end_block()
            words, parents, instances = words[:, now:], parents[now:], instances[now:]
        if count:
            self._pieces.append((words, parents, instances))
            self._held += count

    def end_block(self) -> None:
        """Write what is held as a block; what comes next is another one. Raises `OSError`."""
        if not self._held:
            return
        words = np.concatenate([piece[0] for piece in self._pieces], axis=1)
        parents = np.concatenate([piece[1] for piece in self._pieces])
        instances = np.concatenate([piece[2] for piece in self._pieces])
        self._pieces, count = [], self._held
        self._held = 0
        distances = _small(np.diff(parents, prepend=parents[:1]))
        instances = _small(instances)
        links = distances.tobytes() + instances.tobytes()
        first = sum(block[0] for block in self._blocks[-1:]) + (self._firsts or [0])[-1]
        append(self._states, np.ascontiguousarray(words).tobytes())
        append(self.directory / LINKS, links)
        self.bytes += words.nbytes + len(links)
        sizes = [distances.itemsize, instances.itemsize]
        self._firsts.append(first)
        self._blocks.append([count, 0, int(parents[0]), *sizes, self._end])
        self._dropped.append(np.empty(0, np.uint16))
        self._end += len(links)
        self._ends.append((self._ends or [0])[-1] + count)

    def drop(self, block: int, places: Array) -> Instances:
        """Leave out the states at some places of a block, all of which are there; their instances.

        When all is dropped, `count_again`.
        """
        self._dropped[block] = places.astype(np.uint16)
        self._blocks[block][1] = len(places)
        found: Instances = self._links(block)[1][places].astype(np.uint16)
        return found

    def count_again(self) -> None:
        """Say anew where each block ends."""
        self._ends = np.cumsum([b[0] - b[1] for b in self._blocks], dtype=np.int64).tolist()

    def seal(self) -> None:
        """Write what is known of the blocks: the level is whole. Raises `OSError`."""
        index = np.array(self._blocks, np.int64).reshape(-1, _COLUMNS)
        dropped = np.concatenate([np.empty(0, np.uint16), *self._dropped])
        (self.directory / INDEX).write_bytes(index.tobytes())
        (self.directory / DROPPED).write_bytes(dropped.tobytes())
        self.bytes += index.nbytes + dropped.nbytes

    @classmethod
    def read(cls, directory: Path, states: Path, words: int) -> LevelFiles:
        """A level that was sealed."""
        level = cls(directory, states, words)
        index = np.frombuffer((directory / INDEX).read_bytes(), np.int64).reshape(-1, _COLUMNS)
        level._blocks = index.tolist()
        level._firsts = (np.cumsum(index[:, 0]) - index[:, 0]).tolist()
        level.count_again()
        return level

    def forget_dropped(self) -> None:
        """The states were expanded: read again from disk which were dropped, for a trace."""
        self._dropped = []

    # --- reading -----------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many states are left in the blocks that are written."""
        return self._ends[-1] if self._ends else 0

    @property
    def blocks(self) -> int:
        """How many blocks are written."""
        return len(self._blocks)

    def left(self, block: int) -> int:
        """How many states of a block are left."""
        return self._blocks[block][0] - self._blocks[block][1]

    @property
    def states_bytes(self) -> int:
        """How long the file with the packed states is."""
        return 8 * self._words * sum(block[0] for block in self._blocks)

    def check_states(self) -> None:
        """Raise `UsageError` unless the packed states are all there."""
        if not self._states.exists() or self._states.stat().st_size != self.states_bytes:
            raise UsageError(f"{self._states.parent.parent} has lost its states: {self._states}")

    def words(self, block: int) -> Words:
        """The packed states of a block that are left."""
        words = np.empty((self._words, self._blocks[block][0]), np.uint64)
        with self._states.open("rb", buffering=0) as file:
            start = 8 * self._words * self._firsts[block]
            if os.preadv(file.fileno(), [words.data], start) != words.nbytes:
                raise UsageError(f"{self._states} is damaged: it ends before its block {block}")
        dropped = self._dropped_in(block)
        return np.delete(words, dropped, axis=1) if len(dropped) else words

    def _dropped_in(self, block: int) -> Places:
        """The places of the states of a block that were dropped."""
        if self._dropped:
            return self._dropped[block]
        before = sum(each[1] for each in self._blocks[:block])
        with (self.directory / DROPPED).open("rb", buffering=0) as file:
            data = os.pread(file.fileno(), 2 * self._blocks[block][1], 2 * before)
        return np.frombuffer(data, np.uint16)

    def _links(self, block: int) -> tuple[Array, Array]:
        """The places of the parents of all states of a block, and the instances."""
        count, _, first, distance, instance, start = self._blocks[block]
        with (self.directory / LINKS).open("rb", buffering=0) as file:
            data = os.pread(file.fileno(), count * (distance + instance), start)
        distances = np.frombuffer(data, f"u{distance}", count)
        instances = np.frombuffer(data, f"u{instance}", count, count * distance)
        return np.cumsum(distances, dtype=np.int64) + first, instances

    def link(self, place: int) -> tuple[int, int]:
        """The place of the state before that at a place of the level, and the instance."""
        block = bisect_right(self._ends, place)
        within = place - (self._ends[block] - self.left(block))
        parents, instances = self._links(block)
        dropped = self._dropped_in(block)
        return int(np.delete(parents, dropped)[within]), int(np.delete(instances, dropped)[within])


class Blocks:
    """The blocks of a level that is being expanded, to be taken one by one, by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paused = False
        self._level: LevelFiles | None = None
        self._next = 0
        self.given = 0

    def begin(self, level: LevelFiles) -> None:
        """The blocks of this level, from the first."""
        with self._lock:
            self._level, self._next, self.given = level, 0, 0

    def pause(self, paused: bool = True) -> None:
        """Give none until told otherwise; `given` is how many states were."""
        with self._lock:
            self._paused = paused

    def take(self) -> Callable[[], Words] | None:
        """What reads the next block, or `None` if there is none for now."""
        with self._lock:
            level = self._level
            while level is not None and self._next < level.blocks and not self._paused:
                block = self._next
                self._next += 1
                if level.left(block):
                    self.given += level.left(block)
                    return partial(level.words, block)
            return None


class LevelLineage:
    """Where states came from, by the files of their levels; as `lineage.Lineage`, with places."""

    def __init__(self) -> None:
        self.levels: list[LevelFiles] = []
        self.given: tuple[Array, Instances] = (np.empty(0, np.int64), np.empty(0, np.uint16))

    def add(self, parents: Array, instances: Instances, after: int = 0) -> None:
        """Note the links of the states that are to be put into the last level."""
        self.given = parents.astype(np.int64) + after, instances

    @staticmethod
    def number(depth: int, place: int) -> int:
        """The number of the state at a place of a level."""
        return place

    def path(self, depth: int, number: int) -> list[int]:
        """The action instances on the least trace to a state."""
        steps = []
        for level in self.levels[depth:0:-1]:
            number, instance = level.link(number)
            steps.append(instance)
        return steps[::-1]


def _small(numbers: Array) -> Array:
    """Numbers, none below 0, in as few bytes as the largest needs."""
    return numbers.astype(np.min_scalar_type(int(numbers.max())))


def append(path: Path, data: bytes) -> None:
    """Add to the end of a file. Raises `OSError`."""
    with path.open("ab", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
