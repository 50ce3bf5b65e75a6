"""What may be said after a run: lost, hidden, torn, stuck, kept, or nothing.

An acknowledged record is lost if no log on any disk holds it, nor the remote store. Folders that
Kafka has set aside, to delete them or because they are no replicas any more, are no logs: nothing
reads them again. That a record is not seen is not enough: a dump may be empty because its program
has moved, or a file because it was read too soon. So each disk must show a record that is known to
be there, and a consumer that reads everything from the beginning must miss exactly what the disks
do not hold.

An acknowledged record is hidden if a disk or the remote store holds it, and the leader tells each
consumer who asks for it that its offset is out of range.

A cluster is stuck if something that a step names as a promise does not come to pass, though every
process that it takes runs and the brokers answer: no fault is left, and nobody is to be waited for.
How long that is waited for stands in the step; the control has to keep the promise within it.

A partition has changed if a consumer reads a record at an offset at which another was read before:
one of the two was never committed, or what was committed is gone. Records that somebody has ordered
to be deleted count neither as acknowledged nor as lost.

A transaction is torn if a reader with read_committed gets a part of it, or all of it though its
producer has not asked for a commit, or not all though its producer was told that it is committed.

A partition is shared if two members of a consumer group read the same record of it, each while the
other one had the partition, too, as their own listeners say.

An acknowledged record is skipped if a share group had begun before it and no member of the group
gets to acknowledge it, while it does so with later records of the partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from checker.core.exits import Exit


class Verdict(StrEnum):
    """What is said of a run, the worst last."""

    KEPT = "kept"
    NONE = "no verdict"
    STUCK = "stuck"
    SHARED = "shared"
    SKIPPED = "skipped"
    CHANGED = "changed"
    TORN = "torn"
    HIDDEN = "hidden"
    LOST = "lost"


EXITS = {
    Verdict.KEPT: Exit.OK,
    Verdict.NONE: Exit.LIMIT,
    Verdict.STUCK: Exit.VIOLATED,
    Verdict.SHARED: Exit.VIOLATED,
    Verdict.SKIPPED: Exit.VIOLATED,
    Verdict.CHANGED: Exit.VIOLATED,
    Verdict.TORN: Exit.VIOLATED,
    Verdict.HIDDEN: Exit.VIOLATED,
    Verdict.LOST: Exit.VIOLATED,
}


@dataclass(frozen=True)
class Evidence:
    """Names of records: acknowledged, on each broker's disk, read by a consumer from the beginning.

    `known` are those that the disk of each broker must show to be believed; `set_aside` those in
    folders that Kafka has set aside; `shared` those that two members of a group have read at once;
    `changed`, by an offset of a partition, what was read there first and what later; `remote` those
    in the remote store, `None` where there is none; `refused` those of which a consumer that asked
    for them was told that the offset is out of range, and where; `skipped` those that a share group
    was still to get in the end; `torn`: what readers with read_committed get that cannot be, in
    words.
    """

    acknowledged: frozenset[str]
    on_disk: Mapping[int, frozenset[str]]
    read: frozenset[str]
    known: Mapping[int, frozenset[str]]
    set_aside: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    remote: frozenset[str] | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    skipped: frozenset[str] = frozenset()
    torn: str = ""


@dataclass(frozen=True)
class Outcome:
    """The verdict on a run. `reason`: why there is none, or what it says besides what is lost.

    `set_aside`: how many of the lost records are in folders that Kafka has set aside; `places`:
    where none is.
    """

    verdict: Verdict
    acknowledged: int = 0
    lost: tuple[str, ...] = ()
    reason: str = ""
    seconds: float = 0.0
    set_aside: int = 0
    places: str = "in no log on any disk"

    @property
    def words(self) -> str:
        """One line for people."""
        of = f"{self.acknowledged:,} acknowledged records"
        if self.reason:
            return f"{self.verdict}: {self.reason}"
        if self.verdict is Verdict.LOST:
            names = ", ".join(self.lost[:3]) + (", ..." if len(self.lost) > 3 else "")
            verb = "is" if len(self.lost) == 1 else "are"
            aside = f"; {self.set_aside:,} in folders set aside" if self.set_aside else ""
            return f"lost: {len(self.lost):,} of {of} {verb} {self.places} ({names}){aside}"
        return f"kept: all {of} are on disk, and are read"


def judge(evidence: Evidence) -> Outcome:
    """The verdict that the evidence bears."""
    count = len(evidence.acknowledged)
    if reason := _doubt(evidence):
        return Outcome(Verdict.NONE, count, reason=reason)
    lost = _missing(evidence)
    aside = len(evidence.set_aside.intersection(lost))
    hidden = sorted(evidence.refused.keys() & evidence.acknowledged, key=_natural)
    if hidden and not lost:
        reason = (
            f"{len(hidden):,} of {count:,} acknowledged records are held, but no consumer gets "
            f"them: {hidden[0]}, at {evidence.refused[hidden[0]]}, is said to be out of range"
        )
        return Outcome(Verdict.HIDDEN, count, reason=reason)
    if evidence.torn and not lost:
        return Outcome(Verdict.TORN, count, reason=evidence.torn)
    if evidence.changed and not lost:
        place, (first, later) = min(evidence.changed.items())
        reason = f"a consumer reads {later} at {place}, where {first} was read before"
        return Outcome(Verdict.CHANGED, count, reason=reason)
    if evidence.skipped and not lost:
        reason = f"the share group goes on without {_some(evidence.skipped)}, which it had to get"
        return Outcome(Verdict.SKIPPED, count, reason=reason)
    if evidence.shared and not lost:
        reason = (
            f"two members read {_some(evidence.shared)}, each while the other had the partition"
        )
        return Outcome(Verdict.SHARED, count, reason=reason)
    verdict = Verdict.LOST if lost else Verdict.KEPT
    outcome = Outcome(verdict, count, lost, set_aside=aside)
    tiered = "in no log on any disk, nor in the remote store"
    return outcome if evidence.remote is None else replace(outcome, places=tiered)


def _missing(evidence: Evidence) -> tuple[str, ...]:
    held = frozenset[str]().union(*evidence.on_disk.values(), evidence.remote or ())
    return tuple(sorted(evidence.acknowledged - held, key=_natural))


def _doubt(evidence: Evidence) -> str:
    """Why the evidence is not to be believed; empty if it is."""
    if not evidence.acknowledged:
        return "no record was acknowledged"
    if not any(evidence.known.values()):
        return "no record is known to be on any disk"
    for broker, known in sorted(evidence.known.items()):
        if unseen := known - evidence.on_disk.get(broker, frozenset()):
            return f"the dump of broker {broker}'s disk does not show {_some(unseen)}"
    missing = frozenset(_missing(evidence))
    elsewise = evidence.refused.keys() | {first for first, _ in evidence.changed.values()}
    unread = evidence.acknowledged - evidence.read - (elsewise - missing)
    if unread - missing:
        return f"a consumer does not read {_some(unread - missing)}, which a disk holds"
    if missing - unread:
        return f"a consumer reads {_some(missing - unread)}, which no dump shows"
    return ""


def _some(names: Iterable[str]) -> str:
    first, *others = sorted(names, key=_natural)
    return f"{first} and {len(others):,} more" if others else first


def _natural(name: str) -> tuple[str, int]:
    """`v9` before `v10`."""
    word = name.rstrip("0123456789")
    return word, int(name[len(word) :] or 0)


def worst(outcomes: Iterable[Outcome]) -> Verdict:
    """The verdict on several runs: lost if one lost, stuck if one was, kept if all kept."""
    order = list(Verdict)
    return max((outcome.verdict for outcome in outcomes), key=order.index, default=Verdict.NONE)
