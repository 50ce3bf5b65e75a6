"""Leader epochs of a log: what its batches say, and whether the epoch cache says the same.

Kafka writes an entry of `leader-epoch-checkpoint` when a leader begins, and before the first batch
of an epoch. It cuts the file after the log: an entry at or beyond the log's end may be stale, but
one that a batch needs is never missing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from checker.kafka.audit.checkpoints import EpochStart
from checker.kafka.audit.segments import Contents, Stretch


def has_older(stretches: Sequence[Stretch], entry: EpochStart) -> bool:
    """Whether a log has batches of an earlier epoch than an entry's at or beyond the offset where
    that entry says the later epoch began.

    Batches that have no epoch (-1) say nothing.
    """
    later, began = entry
    return any(0 <= each.epoch < later and began < each.until for each in stretches)


def cache_contradictions(cache: Sequence[EpochStart] | None, contents: Contents) -> Iterator[str]:
    """In words, the first places where an epoch cache and the batches of its log disagree."""
    if cache is None:
        yield "there is no epoch cache"
        return
    for earlier, later in pairwise(cache):
        if not (earlier[0] < later[0] and earlier[1] < later[1]):
            yield f"the epoch cache is out of order: {_words(earlier)}, then {_words(later)}"
            return
    starts = [offset for _, offset in cache]
    for stretch in contents.stretches:
        before = bisect_right(starts, stretch.first)
        after = bisect_right(starts, stretch.until - 1)
        said = cache[before - 1 : after] if before else ()
        if stretch.epoch >= 0 and [epoch for epoch, _ in said] != [stretch.epoch]:
            yield (
                f"the log has epoch {stretch.epoch} from {stretch.first:,} to "
                f"{stretch.until - 1:,}, the epoch cache {_all(said)}"
            )
            return


def _all(entries: Sequence[EpochStart]) -> str:
    return ", ".join(map(_words, entries)) or "no entry for its first offset"


def _words(entry: EpochStart) -> str:
    return f"epoch {entry[0]} from {entry[1]:,}"
