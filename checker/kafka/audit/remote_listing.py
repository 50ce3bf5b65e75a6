"""Which segment a read in the remote store is led to (`RemoteLogLeaderEpochState`).

Brokers keep a map for each leader epoch: from the offset at which the epoch starts in a segment to
that segment, in the order in which copies finished. A read is led to the nearest start at or below
its offset, and finds nothing if that segment ends before. So a shorter copy that finishes after a
longer one with the same start hides what only the longer one has (finding 0030).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from checker.kafka.audit.remote_metadata import Known
from checker.kafka.audit.segments import Stretch


@dataclass
class _Listing:
    """One epoch's map, by starts; `highest` is the last offset that any segment of it had."""

    starts: dict[int, tuple[str, Stretch]] = field(default_factory=dict)
    highest: int = -1

    def finish(self, identity: str, stretch: Stretch) -> None:
        """A copy goes in the place of what begins where it begins, or later and ends no later."""
        last = stretch.until - 1
        while self.starts and self.highest <= last and max(self.starts) >= stretch.first:
            del self.starts[max(self.starts)]
        self.starts[stretch.first] = identity, stretch
        self.highest = max(self.highest, last)

    def delete(self, identity: str, stretch: Stretch) -> None:
        """A deletion has begun: it is listed no more, and nothing that it replaced is back."""
        if self.starts.get(stretch.first, ("",))[0] == identity:
            del self.starts[stretch.first]


@dataclass(frozen=True)
class Found:
    """A read from `first` to before `until` is led to a segment that has it."""

    first: int
    until: int
    identity: str


def reads(segments: Iterable[Known]) -> dict[int, list[Found]]:
    """By leader epoch, what reads by it find, the last offsets first.

    As the records of the metadata tell, in their order.
    """
    said = list(segments)
    events = [(each.finished, True, each) for each in said if each.finished]
    events += [(each.deletion, False, each) for each in said if each.deletion]
    listings: dict[int, _Listing] = {}
    for _, finishes, each in sorted(events, key=lambda event: event[0]):
        for stretch in each.stretches:
            listing = listings.setdefault(stretch.epoch, _Listing())
            (listing.finish if finishes else listing.delete)(each.identity, stretch)
    return {epoch: list(_found(listing)) for epoch, listing in listings.items()}


def _found(listing: _Listing) -> Iterator[Found]:
    until = listing.highest + 1
    for start, (identity, stretch) in sorted(listing.starts.items(), reverse=True):
        yield Found(start, min(stretch.until, until), identity)
        until = start


def without(span: tuple[int, int], found: Iterable[Found]) -> list[tuple[int, int]]:
    """What is left of a span of offsets without what reads find."""
    left = [span]
    for each in found:
        beside = [
            ((first, min(until, each.first)), (max(first, each.until), until))
            for first, until in left
        ]
        left = [part for pair in beside for part in pair if part[0] < part[1]]
    return left
