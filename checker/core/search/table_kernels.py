"""What is done to the tables of the visited set, state by state, as machine code.

**Where a fingerprint lies.** Its upper bits, spread, say the part; those below, in their order, its
home within a table of the part, so that growing a table reads and writes memory in order, too.

**Rows.** Open addressing with linear probing. A row is the fingerprint, then with whole states
their words. A fingerprint is never 0, which marks a free row.

**Buckets.** A bucket is 64 bytes, one line of the cache. Which bucket a fingerprint belongs to says
a part of it already, so that 42 bits of it are enough to know the rest: the bits below the part's
that belong to one bucket are one range of at most 2^42 numbers (there are `LEAST_BUCKETS` or more).
Nothing of the 64 bits is given up. What finds its bucket full is kept in rows beside, whole: 3 to 7
in 100. A bucket has 12 places. Of each the lower 32 bits come first, one word of 32 bits each,
which the processor compares with a few instructions; then two words of 64 bits, one with the upper
10 bits of the places with an even number, one with those of the others. The four bits that are left
in the first of these count the places in use.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.native.expressions import prefetch
from checker.core.native.kernel import kernel

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]
Lines = npt.NDArray[np.uint32]

PART_BITS = 3
PARTS = 1 << PART_BITS
_FACTOR = 0x9E3779B97F4A7C15
_INVERSE = pow(_FACTOR, -1, 1 << 64)
HOME_BITS = 32
"""How many bits below the part's decide about the home."""

PLACES = 12
_UPPER_BITS = 10
_REST_BITS = 32 + _UPPER_BITS
_BELOW_HOME = 64 - PART_BITS - HOME_BITS
LEAST_BUCKETS = 1 << (HOME_BITS + _BELOW_HOME - _REST_BITS)
"""With fewer, fingerprints of one bucket could differ and have the same lower 42 bits."""

_COUNT_AT = 6 * _UPPER_BITS
_NOT_ZERO = 1 << (64 - PART_BITS)  # a bit of the part's: 0 marks a free row
_AHEAD = 32  # how many insertions ahead memory is asked for

_NO_WORDS: Words = np.empty((0, 0), np.uint64)


@kernel
def _spread(fingerprint: np.uint64) -> np.uint64:
    """A number whose upper bits depend on all bits: owners of states may share the upper ones."""
    return fingerprint * np.uint64(_FACTOR)


@kernel
def _gathered(spread_bits: np.uint64) -> np.uint64:
    """The fingerprint that was spread."""
    return spread_bits * np.uint64(_INVERSE)


def spread(fingerprints: Words) -> Words:
    """All of some fingerprints spread: these look drawn at random, whatever owns the states."""
    return fingerprints * np.uint64(_FACTOR)


def gathered(numbers: Words) -> Words:
    """The fingerprints that were spread."""
    return numbers * np.uint64(_INVERSE)


@kernel
def _part_of(spread_bits: np.uint64) -> np.uint64:
    """The part that a state belongs to."""
    return spread_bits >> np.uint64(64 - PART_BITS)


@kernel
def _home(spread_bits: np.uint64, places: np.uint64) -> np.uint64:
    """Where in a table of so many places the search for a state begins."""
    upper = (spread_bits << np.uint64(PART_BITS)) >> np.uint64(64 - HOME_BITS)
    return (upper * places) >> np.uint64(HOME_BITS)


@kernel
def sort_out(found: Words, rows: Numbers, in_order: Words, ends: npt.NDArray[np.int64]) -> None:
    """Sort the states of a batch by their parts; see `Batch`."""
    for part in range(PARTS):
        ends[part] = 0
    for i in range(found.shape[0]):
        ends[_part_of(_spread(found[i]))] += 1
    total = 0
    for part in range(PARTS):
        total, ends[part] = total + ends[part], total  # where the part begins
    for i in range(found.shape[0]):
        own = _part_of(_spread(found[i]))
        rows[ends[own]] = i
        in_order[ends[own]] = found[i]
        ends[own] += 1


@kernel
def _probe(table: Words, words: Words, i: int, fingerprint: np.uint64) -> tuple[np.uint64, bool]:
    """The row where state `i` of `words` is held, and true; or the free row to put it, and false.

    The table has rows of a fingerprint and of as many words as `words` has.
    """
    rows = np.uint64(table.shape[0])
    row = _home(_spread(fingerprint), rows)
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
def insert_in_rows(table: Words, words: Words, found: Words, chosen: Numbers, new: Flags) -> int:
    """Insert the `chosen` states, which have the fingerprints `found`; how many were new."""
    rows = np.uint64(table.shape[0])
    start = np.uint64(table.ctypes.data)
    size = np.uint64(8 * table.shape[1])
    count = chosen.shape[0]
    added = 0
    for k in range(count):
        if k + _AHEAD < count:
            prefetch(start + _home(_spread(found[k + _AHEAD]), rows) * size)
        i = chosen[k]
        row, held = _probe(table, words, i, found[k])
        new[i] = not held
        if not held:
            table[row, 0] = found[k]
            for w in range(words.shape[0]):
                table[row, w + 1] = words[w, i]
            added += 1
    return added


@kernel
def look_up_in_rows(table: Words, words: Words, found: Words, chosen: Numbers, held: Flags) -> None:
    rows = np.uint64(table.shape[0])
    start = np.uint64(table.ctypes.data)
    size = np.uint64(8 * table.shape[1])
    count = chosen.shape[0]
    for k in range(count):
        if k + _AHEAD < count:
            prefetch(start + _home(_spread(found[k + _AHEAD]), rows) * size)
        i = chosen[k]
        _, held[i] = _probe(table, words, i, found[k])


@kernel
def move_rows(old: Words, table: Words) -> None:
    """Move every row of `old` to `table`, which is empty and has room; both in order of homes."""
    rows = np.uint64(table.shape[0])
    for i in range(old.shape[0]):
        if old[i, 0] != 0:
            row = _home(_spread(old[i, 0]), rows)
            while table[row, 0] != 0:
                row += np.uint64(1)
                if row == rows:
                    row = np.uint64(0)
            for w in range(old.shape[1]):
                table[row, w] = old[i, w]


@kernel
def _used(uppers: Words, bucket: np.uint64) -> np.uint64:
    """How many places of a bucket are in use."""
    return np.uint64(uppers[bucket, 6] >> np.uint64(_COUNT_AT))


@kernel
def _shift(place: np.uint64) -> np.uint64:
    """Where the upper bits of a place begin, in one of the two words."""
    return (place >> np.uint64(1)) * np.uint64(_UPPER_BITS)


@kernel
def _upper(uppers: Words, bucket: np.uint64, place: np.uint64) -> np.uint64:
    """The upper bits at a place."""
    word = uppers[bucket, np.uint64(6) + (place & np.uint64(1))]
    return np.uint64((word >> _shift(place)) & np.uint64((1 << _UPPER_BITS) - 1))


@kernel
def _is_within(lowers: Lines, uppers: Words, bucket: np.uint64, bits: np.uint64) -> bool:
    """Whether a bucket holds a fingerprint, given spread."""
    lower = np.uint32(bits & np.uint64(0xFFFFFFFF))
    last = 0
    for place in range(PLACES):  # without branches, so that it becomes vector instructions
        last = max(last, place + 1 if lowers[bucket, place] == lower else 0)
    if last == 0:
        return False
    upper = (bits >> np.uint64(32)) & np.uint64((1 << _UPPER_BITS) - 1)
    used = _used(uppers, bucket)
    at = np.uint64(last - 1)
    if at < used and _upper(uppers, bucket, at) == upper:
        return True
    while at > np.uint64(0):  # others may have the same lower bits, and free places have 0
        at -= np.uint64(1)
        same = lowers[bucket, at] == lower and _upper(uppers, bucket, at) == upper
        if at < used and same:
            return True
    return False


@kernel
def _put(lowers: Lines, uppers: Words, bucket: np.uint64, bits: np.uint64) -> bool:
    """Put a fingerprint, given spread, at the next place of its bucket; false if there is none."""
    used = _used(uppers, bucket)
    if used == np.uint64(PLACES):
        return False
    lowers[bucket, used] = np.uint32(bits & np.uint64(0xFFFFFFFF))
    upper = (bits >> np.uint64(32)) & np.uint64((1 << _UPPER_BITS) - 1)
    uppers[bucket, np.uint64(6) + (used & np.uint64(1))] |= upper << _shift(used)
    uppers[bucket, 6] += np.uint64(1 << _COUNT_AT)
    return True


@kernel
def _key(bits: np.uint64) -> np.uint64:
    """By what a fingerprint, given spread, is kept beside: it has the same home, and is never 0."""
    return _gathered((bits & np.uint64(_NOT_ZERO - 1)) | np.uint64(_NOT_ZERO))


@kernel
def insert_in_buckets(
    lowers: Lines,
    uppers: Words,
    beside: Words,
    found: Words,
    chosen: Numbers,
    waiting: Numbers,
    new: Flags,
) -> tuple[int, int]:
    """Insert the `chosen` states, which have the fingerprints `found`; how many were new, in
    buckets and beside.

    A bucket that is full stays so. What it does not hold is looked for beside it when all else is
    done, by when that memory is near; equal states wait in their order. `waiting` is for them.
    """
    buckets, rows = np.uint64(lowers.shape[0]), np.uint64(beside.shape[0])
    start, start_beside = np.uint64(lowers.ctypes.data), np.uint64(beside.ctypes.data)
    count = chosen.shape[0]
    within, waits, spilled = 0, 0, 0
    for k in range(count):
        if k + _AHEAD < count:
            prefetch(start + _home(_spread(found[k + _AHEAD]), buckets) * np.uint64(64))
        bits = _spread(found[k])
        bucket = _home(bits, buckets)
        new[chosen[k]] = False
        if not _is_within(lowers, uppers, bucket, bits):
            if _put(lowers, uppers, bucket, bits):
                new[chosen[k]] = True
                within += 1
            else:
                prefetch(start_beside + _home(bits, rows) * np.uint64(8))
                waiting[waits] = k
                waits += 1
    for k in range(waits):
        key = _key(_spread(found[waiting[k]]))
        row, held = _probe(beside, _NO_WORDS, 0, key)
        if not held:
            beside[row, 0] = key
            new[chosen[waiting[k]]] = True
            spilled += 1
    return within, spilled


@kernel
def look_up_in_buckets(
    lowers: Lines,
    uppers: Words,
    beside: Words,
    found: Words,
    chosen: Numbers,
    held: Flags,
) -> None:
    buckets = np.uint64(lowers.shape[0])
    start = np.uint64(lowers.ctypes.data)
    count = chosen.shape[0]
    for k in range(count):
        if k + _AHEAD < count:
            prefetch(start + _home(_spread(found[k + _AHEAD]), buckets) * np.uint64(64))
        i = chosen[k]
        bits = _spread(found[k])
        bucket = _home(bits, buckets)
        held[i] = _is_within(lowers, uppers, bucket, bits)
        if not held[i] and _used(uppers, bucket) == PLACES:
            _, held[i] = _probe(beside, _NO_WORDS, 0, _key(bits))


@kernel
def _put_anew(lowers: Lines, uppers: Words, beside: Words, bits: np.uint64) -> bool:
    """Put a fingerprint, given spread, that is not there; false if it is kept beside."""
    if _put(lowers, uppers, _home(bits, np.uint64(lowers.shape[0])), bits):
        return True
    row, _ = _probe(beside, _NO_WORDS, 0, _key(bits))
    beside[row, 0] = _key(bits)
    return False


@kernel
def spread_buckets(
    first: int,
    last: int,
    before: int,
    lowers: Lines,
    uppers: Words,
    beside: Words,
    room: Words,
) -> tuple[int, int]:
    """Put what is in some buckets, the last one first, where it belongs in a table that has grown.

    The table had `before` buckets; those from `last` on are done. How many states lie in buckets
    now, and how many beside. `room` is for what one bucket holds. The bits of a bucket were the
    range of `1 << _REST_BITS` or fewer that begins at `start`.
    """
    buckets = np.uint64(before)
    mask = np.uint64((1 << _REST_BITS) - 1)
    within, spilled = 0, 0
    number = last
    while number > first:
        number -= 1
        bucket = np.uint64(number)
        least = ((bucket << np.uint64(HOME_BITS)) + buckets - np.uint64(1)) // buckets
        start = least << np.uint64(_BELOW_HOME)
        used = int(_used(uppers, bucket))
        for place in range(used):
            rest = np.uint64(lowers[bucket, place]) | (
                _upper(uppers, bucket, np.uint64(place)) << np.uint64(32)
            )
            room[place] = start + ((rest - start) & mask)
        for word in range(8):
            uppers[bucket, word] = 0
        for place in range(used):
            if _put_anew(lowers, uppers, beside, room[place]):
                within += 1
            else:
                spilled += 1
    return within, spilled


@kernel
def put_rows_in_buckets(
    rows: Words, lowers: Lines, uppers: Words, beside: Words
) -> tuple[int, int]:
    """Put fingerprints, or what was kept beside smaller buckets; how many, and how many beside."""
    within, spilled = 0, 0
    for i in range(rows.shape[0]):
        if rows[i, 0] != 0:
            if _put_anew(lowers, uppers, beside, _spread(rows[i, 0])):
                within += 1
            else:
                spilled += 1
    return within, spilled
