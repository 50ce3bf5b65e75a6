"""The tables of the visited set: with a row for each state, or with less, for very many states.

Both know how much memory they will need for a batch before they take it. What is done to them state
by state, and how they are laid out, is in `table_kernels`.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from checker.core.engines.layout import Words
from checker.core.search.memory import Table, filling_pages
from checker.core.search.table_kernels import (
    LEAST_BUCKETS,
    PARTS,
    PLACES,
    Flags,
    Lines,
    Numbers,
    insert_in_buckets,
    insert_in_rows,
    look_up_in_buckets,
    look_up_in_rows,
    move_rows,
    put_rows_in_buckets,
    spread_buckets,
)

_ROWS_GROW_AT = 0.7
_ROWS_FULL_AT = 0.9
_BUCKETS_GROW_AT = 0.9
_GROWN = 5  # quarters: buckets, and what is kept beside them, grow by one quarter
_AT_ONCE = 4_096  # buckets that are moved before room is made for what finds no place
_STATES_A_BUCKET = PLACES * _BUCKETS_GROW_AT
_WITH_BESIDE = 85  # bytes of a bucket, and of what is kept beside it while that grows
ROWS_FILLED = 0.6
"""The part of rows that are in use where a table is made for so many states and a batch more."""
_BESIDE = 1 << 16  # rows beside at first: enough for what is moved at once


def rows_for(states: int) -> int:
    """How many rows hold so many states before there have to be more."""
    return int(states / ROWS_FILLED) + 1


class Rows:
    """A table for states of `words` words beside the fingerprint: none, or all with exact sets."""

    grown: ClassVar = 8  # quarters: it doubles

    def __init__(self, words: int, rows: int, memory: type[Table] = Table) -> None:
        self._memory = memory(rows, 1 + words, np.uint64)
        self.count = 0

    @property
    def memory(self) -> type[Table]:
        """What the table's memory is."""
        return type(self._memory)

    @property
    def table(self) -> Words:
        """A row for each state, or zeros."""
        rows: Words = self._memory.array
        return rows

    @property
    def words(self) -> int:
        """How many words there are beside the fingerprint."""
        return int(self.table.shape[1]) - 1

    @property
    def bytes(self) -> int:
        """The memory that the table takes."""
        return self.table.nbytes

    def rows_for(self, more: int) -> int:
        """How many rows the table needs for so many states more, most of which it may have."""
        # Most of a batch are seen already: count on half, and never fill the table.
        rows, count = len(self.table), self.count
        while count + more // 2 > rows * _ROWS_GROW_AT or count + more > rows * _ROWS_FULL_AT:
            rows = filling_pages(rows * self.grown // 4, 8 * self.table.shape[1])
        return rows

    def growth(self, more: int) -> int:
        """The bytes of the table that is needed for so many states more, or 0 if this one does."""
        rows = self.rows_for(more)
        return 0 if rows == len(self.table) else 8 * rows * self.table.shape[1]

    def with_room(self, more: int) -> Self:
        """A table with the same states and room for so many more."""
        rows = self.rows_for(more)
        return self if rows == len(self.table) else self._moved(rows)

    def _moved(self, rows: int) -> Self:
        """A table of so many rows, which are enough, with the same states."""
        other = type(self)(self.words, rows, self.memory)
        move_rows(self.table, other.table)
        other.count = self.count
        return other

    def insert(self, words: Words, found: Words, chosen: Numbers, new: Flags) -> None:
        """Insert the `chosen` states in order, by what was `found` for each; `new` tells which were
        not there.
        """
        self.count += insert_in_rows(self.table, words, found, chosen, new)

    def lookup(self, words: Words, found: Words, chosen: Numbers, held: Flags) -> None:
        """`held` tells of each of the `chosen` states whether it is there."""
        look_up_in_rows(self.table, words, found, chosen, held)


class Beside(Rows):
    """What finds its bucket full, as fingerprints: fewer again when buckets have grown."""

    grown = _GROWN

    def no_larger(self, more: int) -> Beside:
        """A table with the same states that has no more rows than so many more need."""
        needed = max((self.count + more // 2) / _ROWS_GROW_AT, (self.count + more) / _ROWS_FULL_AT)
        rows = filling_pages(max(int(needed) + 1, _BESIDE), 8)
        return self if rows >= len(self.table) else self._moved(rows)


def first_buckets(part: int) -> int:
    """How many buckets a part of the visited set has at first.

    No two parts have as many. So they grow one after the other, and all together are never as empty
    as one is that has just grown.
    """
    return LEAST_BUCKETS + LEAST_BUCKETS * part // (4 * PARTS)


class Buckets:
    """A table of so many buckets, all empty, for fingerprints of one part of the visited set."""

    def __init__(self, buckets: int, memory: type[Table] = Table) -> None:
        assert buckets >= LEAST_BUCKETS
        self._memory = memory(buckets, 16, np.uint32)
        self.beside = Beside(0, _BESIDE, memory)
        self._within = 0

    @staticmethod
    def of(rows: Rows, more: int, first: int = LEAST_BUCKETS) -> Buckets:
        """As many buckets as the `first` or more, with the fingerprints of rows, and room for so
        many states more.
        """
        buckets = Buckets(_buckets_for(first, rows.count + more), rows.memory)
        buckets._take_rows(rows.table)
        return buckets

    @classmethod
    def for_states(cls, states: int, memory: type[Table] = Table) -> Buckets:
        """Empty buckets that hold so many states before they grow."""
        return cls(max(int(states / _STATES_A_BUCKET) + 1, LEAST_BUCKETS), memory)

    @staticmethod
    def states_in(size: int) -> int:
        """How many states so many bytes have room for, at the least; 0 if that is too few."""
        buckets = size // _WITH_BESIDE
        return int(buckets * _STATES_A_BUCKET) if buckets >= LEAST_BUCKETS else 0

    @staticmethod
    def bytes_for(count: int, more: int, first: int) -> int:
        """The bytes that `of` needs, at most, for so many states and so many more."""
        return 64 * _buckets_for(first, count + more) + 8 * _BESIDE

    @property
    def table(self) -> Lines:
        """The buckets, a row of 16 words of 32 bits each."""
        lines: Lines = self._memory.array
        return lines

    @property
    def count(self) -> int:
        """How many states there are."""
        return self._within + self.beside.count

    @property
    def bytes(self) -> int:
        """The memory that the table takes, with what is kept beside."""
        return self.table.nbytes + self.beside.bytes

    def growth(self, more: int) -> int:
        """How many bytes more are needed, at most, for so many states more."""
        buckets = _buckets_for(len(self.table), self.count + more // 2)
        if buckets == len(self.table):
            return self.beside.growth(more)
        return 64 * (buckets - len(self.table)) + max(self.beside.bytes, self.beside.growth(more))

    def with_room(self, more: int) -> Buckets:
        """This table, with room for so many states more."""
        buckets = _buckets_for(len(self.table), self.count + more // 2)
        if buckets != len(self.table):
            self._grow(buckets)
            self.beside = self.beside.no_larger(more)
        self.beside = self.beside.with_room(more)
        return self

    def _grow(self, buckets: int) -> None:
        """Grow in place: the last buckets first, since none comes to lie before where it was."""
        before, beside = len(self.table), self.beside
        self._memory.grow(buckets)
        waiting = beside.table[beside.table[:, 0] != 0]
        # As many rows as before: what is moved first has its homes at one end of the table, and
        # would crowd there in a smaller one.
        beside.table[:] = 0
        beside.count = self._within = 0
        room = np.empty(PLACES, np.uint64)
        for last in range(before, 0, -_AT_ONCE):
            self.beside = self.beside.with_room(_AT_ONCE * PLACES)
            first = max(0, last - _AT_ONCE)
            self._took(spread_buckets(first, last, before, *self._views, self.beside.table, room))
        self._take_rows(waiting)

    @property
    def _views(self) -> tuple[Lines, Words]:
        """Buckets as words of 32 bits, and as words of 64 bits."""
        return self.table, self.table.view(np.uint64)

    def _take_rows(self, rows: Words) -> None:
        for first in range(0, len(rows), _AT_ONCE):
            self.beside = self.beside.with_room(_AT_ONCE)
            some = rows[first : first + _AT_ONCE]
            self._took(put_rows_in_buckets(some, *self._views, self.beside.table))

    def _took(self, added: tuple[int, int]) -> None:
        self._within += added[0]
        self.beside.count += added[1]

    def insert(self, words: Words, found: Words, chosen: Numbers, new: Flags) -> None:
        """Insert the `chosen` states in order, by what was `found` for each; `new` tells which were
        not there.
        """
        waiting = np.empty_like(chosen)
        self._took(insert_in_buckets(*self._views, self.beside.table, found, chosen, waiting, new))

    def lookup(self, words: Words, found: Words, chosen: Numbers, held: Flags) -> None:
        """`held` tells of each of the `chosen` states whether it is there."""
        look_up_in_buckets(*self._views, self.beside.table, found, chosen, held)


def _buckets_for(buckets: int, states: int) -> int:
    """So many buckets, or as many more as so many states need."""
    while states > buckets * PLACES * _BUCKETS_GROW_AT:
        buckets = filling_pages(buckets * _GROWN // 4, 64)
    return buckets
