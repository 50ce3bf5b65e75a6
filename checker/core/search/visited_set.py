"""The visited set: which states have been seen, kept as fingerprints or, exactly, as whole states.

The set is split into parts by the upper bits of a spread fingerprint, so that threads may each fill
parts of their own, and a part grows without the others. A part is a table with a row for each
state, and becomes one of buckets when it is large, unless whole states are kept. Which of equal
states comes first is decided within one part, in the order of the batch, so the number of threads
changes nothing. How this was chosen: decisions 0071 and 0078.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.search.fingerprints import collision_probability, fingerprints
from checker.core.search.memory import Table
from checker.core.search.table_kernels import PARTS, Flags, Numbers, sort_out
from checker.core.search.tables import ROWS_FILLED, Buckets, Rows, first_buckets, rows_for

__all__ = ["PARTS", "Batch", "Flags", "VisitedSet"]

_FIRST_ROWS = 1 << 16
_MOST_ROWS = 1 << 21  # of a part, without whole states: from there on buckets take less memory
_ALL = range(PARTS)


class Batch(NamedTuple):
    """A batch of packed states, sorted out by the parts of the set that they belong to.

    `words` are those that are kept beside fingerprints: all with `exact`, else none. `rows` holds
    the numbers of the states part by part, in their order within each, and `fingerprints` those of
    the same states; those of part p end at `ends[p]`. `new` tells which states were not in the set
    yet, as far as their parts have been added.
    """

    words: Words
    fingerprints: Words
    rows: Numbers
    ends: npt.NDArray[np.int64]
    new: Flags

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many states belong to each part."""
        return np.diff(self.ends, prepend=0)

    def of_part(self, part: int) -> slice:
        """Where the states of a part are."""
        return slice(int(self.ends[part - 1]) if part else 0, int(self.ends[part]))


class VisitedSet:
    """The states seen so far. With `exact`, whole states are kept and no collision can happen.

    `memory` says where the tables are: in this process alone, unless told otherwise. There is room
    for `room` states from the beginning, which are then no reason to grow.
    """

    def __init__(
        self,
        words: int,
        exact: bool = False,
        rows: int = _FIRST_ROWS,
        memory: type[Table] = Table,
        room: int = 0,
    ) -> None:
        self.words, self.exact = words, exact
        kept, of_part = words if exact else 0, max(rows // PARTS, rows_for(room // PARTS))
        self._tables: list[Rows | Buckets] = (
            [Rows(kept, of_part, memory) for _ in range(PARTS)]
            if exact or of_part <= _MOST_ROWS
            else [Buckets.for_states(room // PARTS, memory) for _ in range(PARTS)]
        )

    @property
    def count(self) -> int:
        """How many states there are."""
        return sum(table.count for table in self._tables)

    def batch(self, words: Words) -> Batch:
        """A packed batch, ready to be added; any thread may do this beforehand."""
        return self._sorted_out(fingerprints(words), words if self.exact else None)

    @staticmethod
    def _sorted_out(found: Words, whole: Words | None = None) -> Batch:
        count = len(found)
        words = np.empty((0, count), np.uint64) if whole is None else np.ascontiguousarray(whole)
        batch = Batch(
            words,
            np.empty_like(found),
            np.empty(count, np.int32),
            np.empty(PARTS, np.int64),
            np.empty(count, np.bool_),
        )
        sort_out(found, batch.rows, batch.fingerprints, batch.ends)
        return batch

    def insert(self, words: Words) -> Flags:
        """Add a packed batch; tells for each state whether it was new, the first of equals only."""
        return self.add(self.batch(words))

    def add(self, batch: Batch, parts: range = _ALL) -> Flags:
        """Add the states of some parts of a batch; tells which are new.

        Threads may add to parts of their own at the same time.
        """
        for part in parts:
            own = batch.of_part(part)
            chosen = batch.rows[own]
            table = self._tables[part] = self._with_room(part, len(chosen))
            table.insert(batch.words, batch.fingerprints[own], chosen, batch.new)
        return batch.new

    def make_room(self, batch: Batch, parts: range = _ALL) -> None:
        """Grow some parts as far as adding a batch needs it."""
        for part in parts:
            self._tables[part] = self._with_room(part, int(batch.counts[part]))

    def insert_fingerprints(self, found: Words, parts: range = _ALL) -> None:
        """Add states of which only the fingerprints, shape (n,), are at hand; not with `exact`."""
        assert not self.exact
        self.add(self._sorted_out(found), parts)

    def contains(self, words: Words) -> Flags:
        """Whether each state of a packed batch was added before."""
        batch = self.batch(words)
        held = np.empty(len(batch.rows), np.bool_)
        for part, table in enumerate(self._tables):
            own = batch.of_part(part)
            table.lookup(batch.words, batch.fingerprints[own], batch.rows[own], held)
        return held

    def growth(self, batch: Batch, parts: range = _ALL) -> int:
        """How many bytes more a batch may need, at most, while some parts are rebuilt for it."""
        return sum(self._growth(part, int(batch.counts[part])) for part in parts)

    def _growth(self, part: int, more: int) -> int:
        table = self._tables[part]
        if self._outgrows_rows(table, more):
            return Buckets.bytes_for(table.count, more, first_buckets(part))
        return table.growth(more)

    def _with_room(self, part: int, more: int) -> Rows | Buckets:
        table = self._tables[part]
        if isinstance(table, Rows) and self._outgrows_rows(table, more):
            table = Buckets.of(table, more, first_buckets(part))
        return table.with_room(more)

    def _outgrows_rows(self, table: Rows | Buckets, more: int) -> bool:
        if self.exact or not isinstance(table, Rows):
            return False
        return table.rows_for(more) > max(_MOST_ROWS, len(table.table))

    @staticmethod
    def room_in(size: int) -> int:
        """How many states so many bytes of memory have room for, at the least."""
        rows = size // (8 * PARTS)
        in_buckets = PARTS * Buckets.states_in(size // PARTS)
        return max(int(PARTS * min(rows, _MOST_ROWS) * ROWS_FILLED), in_buckets)

    @property
    def bytes(self) -> int:
        """The memory that the tables take."""
        return sum(table.bytes for table in self._tables)

    @property
    def collision_probability(self) -> float:
        """An upper bound on the probability that two of the states shared a fingerprint."""
        return 0.0 if self.exact else collision_probability(self.count)
