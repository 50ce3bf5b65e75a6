"""The visited set: which states have been seen, kept as fingerprints or, exactly, as whole states.

Open addressing with linear probing. The set is split into parts by the upper bits of a spread
fingerprint, so that threads may each fill parts of their own, and a part grows without the others.
Within a part a row lies where the next bits say, in their order: growing reads and writes memory
in order, too. Which of equal states comes first is decided within one part, in the order of the
batch, so the number of threads changes nothing. How this was chosen: decision 0071.

A row is the fingerprint, then with `exact` the words of the state. A fingerprint is never 0, which
marks a free row.
"""

from __future__ import annotations

import mmap
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from checker.engines.kernels import kernel
from checker.engines.layout import Words
from checker.search.fingerprints import collision_probability, fingerprints

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int32]

_PART_BITS = 4
PARTS = 1 << _PART_BITS
_GROW_AT = 0.7
_FULL_AT = 0.9
_FIRST_ROWS = 1 << 16
_AHEAD = 16  # how many insertions ahead a row is asked for from memory
_HUGE = 1 << 22  # bytes from which memory is asked for in huge pages
_THREADED = 16_384  # below this many states, handing work to another thread costs more


class Batch(NamedTuple):
    """A batch of packed states, sorted out by the parts of the set that they belong to.

    `words` are those that are kept beside fingerprints: all with `exact`, else none. `rows` holds
    the numbers of the states part by part, in their order within each; those of part p end at
    `ends[p]`.
    """

    words: Words
    fingerprints: Words
    rows: Places
    ends: npt.NDArray[np.int64]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many states belong to each part."""
        return np.diff(self.ends, prepend=0)


def _prefetch_code(typing: Any, address: Any) -> Any:
    """Ask for the cache line at an address, to have it by the time that it is needed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], cgutils.voidptr_t)
        hint = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, hint, hint, hint])
        insert: Any = cgutils.get_or_insert_function
        function = insert(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, hint(1), hint(3), hint(1)])
        return context.get_dummy_value()

    return types.void(types.uint64), generate


_prefetch: Any = intrinsic(_prefetch_code)


@kernel
def _spread(fingerprint: np.uint64) -> np.uint64:
    """A number whose upper bits depend on all bits: owners of states may share the upper ones."""
    return fingerprint * np.uint64(0x9E3779B97F4A7C15)


@kernel
def _home(fingerprint: np.uint64, rows: np.uint64) -> np.uint64:
    """Where a state's part begins to look for it: in the order of the bits below the part's."""
    upper = (_spread(fingerprint) << np.uint64(_PART_BITS)) >> np.uint64(32)
    return (upper * rows) >> np.uint64(32)


@kernel
def _sort_out(found: Words, rows: Places, ends: npt.NDArray[np.int64]) -> None:
    """Sort the states of a batch by their parts; see `Batch`."""
    shift = np.uint64(64 - _PART_BITS)
    for part in range(PARTS):
        ends[part] = 0
    for i in range(found.shape[0]):
        ends[_spread(found[i]) >> shift] += 1
    total = 0
    for part in range(PARTS):
        total, ends[part] = total + ends[part], total  # where the part begins
    for i in range(found.shape[0]):
        own = _spread(found[i]) >> shift
        rows[ends[own]] = i
        ends[own] += 1


@kernel
def _probe(table: Words, words: Words, i: int, fingerprint: np.uint64) -> tuple[np.uint64, bool]:
    """The row where state `i` of `words` is held, and true; or the free row to put it, and false.

    The table has rows of a fingerprint and of as many words as `words` has.
    """
    rows = np.uint64(table.shape[0])
    row = _home(fingerprint, rows)
    while table[row, 0] != 0:
        if table[row, 0] == fingerprint:
            same = True
            for w in range(words.shape[0]):
                same = same and table[row, w + 1] == words[w, i]
            if same:
                return row, True
        row += np.uint64(1)
        if row == rows:
            row = np.uint64(0)
    return row, False


@kernel
def _insert(table: Words, words: Words, found: Words, chosen: Places, new: Flags) -> int:
    """Insert the `chosen` states in order; `new` tells which were not there. Returns how many."""
    rows = np.uint64(table.shape[0])
    start = np.uint64(table.ctypes.data)
    size = np.uint64(8 * table.shape[1])
    count = chosen.shape[0]
    added = 0
    for k in range(count):
        if k + _AHEAD < count:
            _prefetch(start + _home(found[chosen[k + _AHEAD]], rows) * size)
        i = chosen[k]
        row, held = _probe(table, words, i, found[i])
        new[i] = not held
        if not held:
            table[row, 0] = found[i]
            for w in range(words.shape[0]):
                table[row, w + 1] = words[w, i]
            added += 1
    return added


@kernel
def _lookup(table: Words, words: Words, found: Words, chosen: Places, held: Flags) -> None:
    """`held` tells of each of the `chosen` states whether it is there."""
    rows = np.uint64(table.shape[0])
    start = np.uint64(table.ctypes.data)
    size = np.uint64(8 * table.shape[1])
    count = chosen.shape[0]
    for k in range(count):
        if k + _AHEAD < count:
            _prefetch(start + _home(found[chosen[k + _AHEAD]], rows) * size)
        i = chosen[k]
        _, held[i] = _probe(table, words, i, found[i])


@kernel
def _move(old: Words, table: Words) -> None:
    """Move every row of `old` to the larger `table`, which is empty; both in order of homes."""
    rows = np.uint64(table.shape[0])
    for i in range(old.shape[0]):
        if old[i, 0] != 0:
            row = _home(old[i, 0], rows)
            while table[row, 0] != 0:
                row += np.uint64(1)
                if row == rows:
                    row = np.uint64(0)
            for w in range(old.shape[1]):
                table[row, w] = old[i, w]


def _empty_table(rows: int, width: int) -> Words:
    """Free rows, in huge pages where the table is large and the system has them."""
    size = 8 * rows * width
    if size < _HUGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros((rows, width), np.uint64)
    try:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"no {size:,} bytes for the visited set") from error
    memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.uint64).reshape(rows, width)


class VisitedSet:
    """The states seen so far. With `exact`, whole states are kept and no collision can happen."""

    def __init__(self, words: int, exact: bool = False, rows: int = _FIRST_ROWS) -> None:
        self.exact = exact
        self._width = 1 + (words if exact else 0)
        self._tables = [_empty_table(rows // PARTS, self._width) for _ in range(PARTS)]
        self._counts = [0] * PARTS

    @property
    def count(self) -> int:
        """How many states there are."""
        return sum(self._counts)

    def batch(self, words: Words) -> Batch:
        """A packed batch, ready to be added; any thread may do this beforehand."""
        return self._sorted_out(fingerprints(words), words if self.exact else None)

    @staticmethod
    def _sorted_out(found: Words, whole: Words | None = None) -> Batch:
        count = len(found)
        words = np.empty((0, count), np.uint64) if whole is None else np.ascontiguousarray(whole)
        batch = Batch(words, found, np.empty(count, np.int32), np.empty(PARTS, np.int64))
        _sort_out(found, batch.rows, batch.ends)
        return batch

    def insert(self, words: Words) -> Flags:
        """Add a packed batch; tells for each state whether it was new, the first of equals only."""
        return self.add(self.batch(words))

    def add(self, batch: Batch, helper: Executor | None = None) -> Flags:
        """Add a batch, half of it by a `helper`'s thread; tells which states are new."""
        new = np.empty(len(batch.rows), np.bool_)
        if helper is None or len(new) < _THREADED:
            self._add_to(range(PARTS), batch, new)
            return new
        other = helper.submit(self._add_to, range(PARTS // 2, PARTS), batch, new)
        try:
            self._add_to(range(PARTS // 2), batch, new)
        finally:
            other.result()
        return new

    def _add_to(self, parts: range, batch: Batch, new: Flags) -> None:
        for part in parts:
            start = int(batch.ends[part - 1]) if part else 0
            chosen = batch.rows[start : int(batch.ends[part])]
            self._make_room(part, len(chosen))
            table = self._tables[part]
            self._counts[part] += _insert(table, batch.words, batch.fingerprints, chosen, new)

    def insert_fingerprints(self, found: Words) -> None:
        """Add states of which only the fingerprints, shape (n,), are at hand; not with `exact`."""
        assert not self.exact
        self.add(self._sorted_out(found))

    def contains(self, words: Words) -> Flags:
        """Whether each state of a packed batch was added before."""
        batch = self.batch(words)
        held = np.empty(len(batch.rows), np.bool_)
        for table, chosen in zip(self._tables, np.split(batch.rows, batch.ends[:-1]), strict=True):
            _lookup(table, batch.words, batch.fingerprints, chosen, held)
        return held

    def _rows_for(self, part: int, more: int) -> int:
        # Most of a batch are seen already: count on half, and never fill the table.
        rows, count = len(self._tables[part]), self._counts[part]
        while count + more // 2 > rows * _GROW_AT or count + more > rows * _FULL_AT:
            rows *= 2
        return rows

    def growth(self, batch: Batch) -> int:
        """How many bytes more a batch may need, at most, while parts are rebuilt for it."""
        rows = [(self._rows_for(p, int(more)), p) for p, more in enumerate(batch.counts)]
        grown = [n for n, p in rows if n != len(self._tables[p])]
        return 8 * self._width * sum(grown)

    def _make_room(self, part: int, more: int) -> None:
        rows = self._rows_for(part, more)
        if rows != len(self._tables[part]):
            table = _empty_table(rows, self._width)
            _move(self._tables[part], table)
            self._tables[part] = table

    @property
    def bytes(self) -> int:
        """The memory that the tables take."""
        return sum(table.nbytes for table in self._tables)

    @property
    def collision_probability(self) -> float:
        """An upper bound on the probability that two of the states shared a fingerprint."""
        return 0.0 if self.exact else collision_probability(self.count)
