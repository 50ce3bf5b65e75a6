"""Sorted runs of fingerprints on disk: written once, read range by range, 5 to 8 bytes each.

A number is a fingerprint, spread, so that it looks drawn at random and its upper bits tell where it
lies. A run is cut into blocks by the uppermost bits; how a block lies in its file is in
`run_kernels`. Files begin with their sizes, which are compared with the file when it is opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from checker.core.beyond.run_kernels import Small, are_noted, count_cells, decode, note, sift
from checker.core.engines.layout import Words
from checker.core.search.fingerprints import fingerprints
from checker.core.search.table_kernels import Flags, spread
from model.language.errors import UsageError

_MAGIC = 0x3152454857494748
_BLOCK = 1 << 15  # numbers that a block has, about
_MOST_BLOCK_BITS = 10
_HEAD = 4  # numbers of 64 bits before the places of blocks

Offsets = npt.NDArray[np.int64]


def numbers_of(words: Words) -> Words:
    """The numbers of packed states, shape (n,)."""
    return spread(fingerprints(np.ascontiguousarray(words)))


class Picked(NamedTuple):
    """Numbers to be told from others, all with the same `above` upper bits; see `pick`."""

    above: int
    bits: Words
    table: Words

    def holds(self, numbers: Words) -> Flags:
        """Whether each of some numbers is one of these."""
        held = np.empty(len(numbers), np.bool_)
        are_noted(numbers, self.above, self.bits, self.table, held)
        return held


@dataclass(frozen=True)
class Run:
    """A run that is on disk. Block b has the numbers from `starts[b]` on, at `offsets[b]`.

    `cells` is the number of bits that say the cell, `width` the bytes of a cell's count.
    """

    path: Path
    cells: int
    width: int
    starts: Offsets
    offsets: Offsets

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return int(self.starts[-1])

    @property
    def bytes(self) -> int:
        """How long the file is."""
        return int(self.offsets[-1])

    @property
    def block_bits(self) -> int:
        """How many bits say the block."""
        return (len(self.starts) - 1).bit_length() - 1

    @contextmanager
    def opened(self) -> Iterator[OpenRun]:
        """The run, to be read from."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            yield OpenRun(self, descriptor)
        finally:
            os.close(descriptor)

    def within(self, number: int, bits: int) -> range:
        """The blocks that have the numbers of a range: of `1 << bits`, the one of that number.

        A block may be larger than the range.
        """
        finer = self.block_bits - bits
        if finer < 0:
            return range(number >> -finer, (number >> -finer) + 1)
        return range(number << finer, (number + 1) << finer)


class OpenRun:
    """A run whose file is open."""

    def __init__(self, run: Run, descriptor: int) -> None:
        self._run = run
        self._descriptor = descriptor
        self._shift = 64 - run.cells

    def _block(self, block: int) -> tuple[Small, Small, Small, int]:
        run = self._run
        count = int(run.starts[block + 1] - run.starts[block])
        start, size = int(run.offsets[block]), int(run.offsets[block + 1] - run.offsets[block])
        data = np.empty(size, np.uint8)
        if os.preadv(self._descriptor, [data.data], start) != size:
            raise UsageError(f"{run.path} is damaged: it ends before its block {block}")
        cells = 1 << (run.cells - run.block_bits)
        high = _high_type(run.cells)
        counts, highs = 4 * count, 4 * count + run.width * cells  # where they begin
        return (
            data[:counts].view(np.uint32),
            data[highs : highs + high.itemsize * count].view(high),
            data[counts:highs].view(f"u{run.width}"),
            block * cells,
        )

    def numbers(self, block: int) -> Words:
        """The numbers of a block, ascending."""
        lows, highs, counts, cell = self._block(block)
        out = np.empty(len(lows), np.uint64)
        decode(lows, highs, counts, cell, self._shift, out)
        return out

    def like(self, block: int, picked: Picked) -> Words:
        """Numbers of a block among which are all that are picked; few others."""
        lows, highs, counts, cell = self._block(block)
        out = np.empty(len(lows) + 1, np.uint64)
        found = sift(
            lows, highs, counts, cell, self._shift,
            picked.above, picked.bits, out,
        )  # fmt: skip
        return out[:found]


def _cells(count: int) -> int:
    """How many bits say the cell, so that so many numbers take few bytes."""
    if count > 1 << 24:
        return 24
    return 16 if count >= 1 << 15 else 8


def _high_type(cells: int) -> np.dtype[Any]:
    """The type of what is above the lower 32 bits and below the cell, or with it."""
    return np.dtype({24: np.uint8, 16: np.uint16, 8: np.uint32}[cells])


def write_run(path: Path, numbers: Words) -> Run:
    """Write numbers, of which there is one at least, in ascending order. Raises `OSError`."""
    count, cells = len(numbers), _cells(len(numbers))
    block_bits = min((count // _BLOCK).bit_length(), cells, _MOST_BLOCK_BITS)
    blocks, per_block = 1 << block_bits, 1 << (cells - block_bits)
    counts: Small = np.zeros(1 << cells, np.uint32)
    count_cells(numbers, 64 - cells, counts)
    ends = np.cumsum(counts.reshape(blocks, per_block).sum(axis=1), dtype=np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    width = 1 if int(counts.max()) < 256 and per_block >= 4 else 4
    counts = counts.astype(f"u{width}")
    high = _high_type(cells)
    sizes = (4 + high.itemsize) * np.diff(starts) + width * per_block
    first = 8 * (_HEAD + 2 * len(starts))
    offsets = first + np.concatenate([np.zeros(1, np.int64), np.cumsum(-(-sizes // 8) * 8)])
    with path.open("xb") as file:
        file.write(np.array([_MAGIC, cells, width, blocks], np.int64).tobytes())
        file.write(starts.tobytes() + offsets.tobytes())
        for block in range(blocks):
            own = numbers[starts[block] : starts[block + 1]]
            file.write(own.astype(np.uint32).tobytes())
            file.write(counts[block * per_block : (block + 1) * per_block].tobytes())
            file.write((own >> np.uint64(32)).astype(high).tobytes())
            file.write(bytes(int(offsets[block + 1]) - file.tell()))
    return Run(path, cells, width, starts, offsets)


def read_run(path: Path) -> Run:
    """A run that was written; `UsageError` if that is not what the file is."""
    try:
        with path.open("rb") as file:
            head = np.frombuffer(file.read(8 * _HEAD), np.int64)
            magic, cells, width, blocks = head.tolist()
            if magic != _MAGIC:
                raise ValueError
            places = np.frombuffer(file.read(16 * (blocks + 1)), np.int64)
            starts, offsets = places[: blocks + 1], places[blocks + 1 :]
            run = Run(path, cells, width, starts, offsets)
            if os.fstat(file.fileno()).st_size != run.bytes:
                raise ValueError
    except (OSError, ValueError, IndexError) as error:
        raise UsageError(f"{path} is damaged or lost: it is no whole run of states") from error
    return run


def pick(numbers: Words, above: int) -> Picked:
    """Numbers, all with the same `above` upper bits, ready to be told from others."""
    bits = np.zeros(len(numbers) // 4 + 1, np.uint64)  # 16 for each number
    table = np.zeros(len(numbers) * 2 + 2, np.uint64)
    note(numbers, above, bits, table)
    return Picked(above, bits, table)
