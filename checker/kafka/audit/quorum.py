"""The controllers' quorum, as the disks of several nodes have it: who led, who votes, what differs.

KRaft checkpoints no high watermark. A snapshot holds committed records only, so that its end stands
for one, and what `judgement` says of high watermarks holds of it. Three more contradictions show a
quorum that broke its promise, whenever the copies of the disks were made:

- LEADERS: the first records of one epoch name two leaders.
- VOTERS: a snapshot names other voters than a log does at the snapshot's end.
- DIFFERS: two logs hold different records of one epoch, at any offset: one leader wrote them all.

Voter sets of which two majorities have no member in common are noticed only: of copies that were
made at different times the older one may be behind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

from checker.kafka.audit.control_records import (
    LeaderChange,
    Voters,
    control_records_of_log,
    control_records_of_snapshot,
)
from checker.kafka.audit.segments import Contents
from model.language.errors import UsageError

METADATA_TOPIC = "__cluster_metadata"
QUORUM_STATE = "quorum-state"
_SNAPSHOT = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")


@dataclass(frozen=True)
class Snapshot:
    """A snapshot's file: the records below `end` of the log, the last of them of `epoch`."""

    path: Path
    end: int
    epoch: int


@dataclass(frozen=True)
class Elected:
    """A node's `quorum-state`: the last epoch that it took part in, who led, whom it voted for."""

    epoch: int
    leader: int | None
    voted: int | None


def snapshots_in(folder: Path) -> tuple[Snapshot, ...]:
    """The snapshots in the folder of a metadata log, the oldest first.

    The one at 0 that `kafka-storage format` writes is left out: no record is in it.
    """
    matches = ((path, _SNAPSHOT.fullmatch(path.name)) for path in sorted(folder.iterdir()))
    return tuple(Snapshot(path, int(m[1]), int(m[2])) for path, m in matches if m and int(m[1]))


def read_elected(folder: Path) -> Elected | None:
    """The `quorum-state` in a folder; `None` without it. Raises `UsageError` if it is malformed."""
    path = folder / QUORUM_STATE
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        epoch, leader, voted = (
            int(said.get(each, -1)) for each in ("leaderEpoch", "leaderId", "votedId")
        )
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError):
        raise UsageError(f"{path}: not a quorum's state: JSON with leaderEpoch, leaderId") from None
    return Elected(epoch, *(each if each >= 0 else None for each in (leader, voted)))


@dataclass(frozen=True)
class Node:
    """One node's copy of the metadata log, and what is beside it."""

    name: str
    folder: Path

    @cached_property
    def elected(self) -> Elected | None:
        """What its `quorum-state` says."""
        return read_elected(self.folder)

    @cached_property
    def snapshots(self) -> dict[Snapshot, Voters | None]:
        """Its snapshots, and the voters that each names, if it does."""
        return {
            snapshot: _last_voters(control_records_of_snapshot(snapshot.path))
            for snapshot in snapshots_in(self.folder)
        }

    @cached_property
    def contents(self) -> Contents:
        """What its log holds; `control_records` reads it."""
        return Contents()

    @cached_property
    def control_records(self) -> tuple[LeaderChange | Voters, ...]:
        """Those of its log."""
        return tuple(control_records_of_log(self.folder, self.contents))

    def voters_at(self, snapshot: Snapshot) -> Voters | None:
        """The last VotersRecord of its log below a snapshot's end.

        `None` if it has none, or if the snapshot is not one of this log: two logs with a record of
        the same epoch at the same offset are the same up to there.
        """
        records = [each for each in self.control_records if each.offset < snapshot.end]
        is_of_it = any(
            each.epoch == snapshot.epoch and each.first < snapshot.end <= each.until
            for each in self.contents.stretches
        )
        return _last_voters(records) if is_of_it else None

    @property
    def voters(self) -> Voters | None:
        """Whom its disk names as voters: its log, or its newest snapshot where the log does not."""
        newest = next(reversed(self.snapshots.values()), None)
        return _last_voters(self.control_records) or newest


@dataclass(frozen=True)
class Contradiction:
    """Which two nodes, by their places, contradict each other: at which offset, in words."""

    kind: str
    node: int
    other: int
    offset: int
    epoch: int
    words: str


def contradictions(nodes: Sequence[Node]) -> Iterator[Contradiction]:
    """Two leaders of an epoch; voters of a snapshot that a log contradicts."""
    for one, other in combinations(range(len(nodes)), 2):
        yield from _two_leaders(nodes, one, other)
    for one, node in enumerate(nodes):
        for snapshot, voters in node.snapshots.items():
            yield from _other_voters(nodes, one, snapshot, voters)


def _two_leaders(nodes: Sequence[Node], one: int, other: int) -> Iterator[Contradiction]:
    first, second = ({each.epoch: each for each in _led(nodes[n])} for n in (one, other))
    for epoch in sorted(first.keys() & second.keys()):
        if first[epoch].leader != second[epoch].leader:
            words = (
                f"epoch {epoch} has two leaders: node {first[epoch].leader} by the log of "
                f"{nodes[one].name}, node {second[epoch].leader} by that of {nodes[other].name}"
            )
            yield Contradiction("leaders", one, other, first[epoch].offset, epoch, words)
            return


def _other_voters(
    nodes: Sequence[Node], one: int, snapshot: Snapshot, named: Voters | None
) -> Iterator[Contradiction]:
    for other, node in enumerate(nodes):
        said = node.voters_at(snapshot)
        if named is not None and said is not None and said.voters != named.voters:
            words = (
                f"the snapshot of {nodes[one].name} at {snapshot.end:,} (epoch {snapshot.epoch}) "
                f"names the voters {_listed(named)}; the log of {node.name} names "
                f"{_listed(said)} from {said.offset:,} (epoch {said.epoch}) on"
            )
            yield Contradiction("voters", one, other, said.offset, said.epoch, words)
            return


def notices(nodes: Sequence[Node]) -> Iterator[str]:
    """In words: voter sets that two majorities without a common member may go by; old epochs."""
    if nodes and not any(node.snapshots for node in nodes):
        yield "no node has a snapshot: nothing on these disks says what was committed"
    named = [(node, node.voters) for node in nodes]
    for (one, first), (other, second) in combinations(named, 2):
        if first and second and _may_split(first, second):
            yield (
                f"{one.name} names the voters {_listed(first)}, {other.name} {_listed(second)}: "
                "a majority of the one need not meet a majority of the other. If the copies are "
                "of one moment, both may lead"
            )
            break
    for node in nodes:
        last = max((each.epoch for each in node.control_records), default=0)
        if node.elected is not None and node.elected.epoch < last:
            yield f"{node.name}: quorum-state is of epoch {node.elected.epoch}, the log of {last}"


def described(node: Node) -> str:
    """In words: the epoch, leader and vote of a node, and whom it names as voters."""
    elected, voters = node.elected, node.voters
    parts = ["no quorum-state" if elected is None else _election(elected)]
    if voters is not None:
        parts.append(f"voters {_listed(voters)} since offset {voters.offset:,}")
    return f"{node.name}: {'; '.join(parts)}"


def _election(elected: Elected) -> str:
    if elected.leader is not None:
        return f"epoch {elected.epoch}, led by node {elected.leader}"
    vote = "no vote" if elected.voted is None else f"voted for node {elected.voted}"
    return f"epoch {elected.epoch}, no leader known, {vote}"


def _may_split(first: Voters, second: Voters) -> bool:
    """Whether a majority of one set and a majority of the other can have no member in common."""
    a, b = first.voters, second.voters
    most = [len(each) // 2 + 1 for each in (a, b)]
    only = [len(a - b), len(b - a)]
    need = [max(0, size - alone) for size, alone in zip(most, only, strict=True)]
    return sum(need) <= len(a & b)


def _led(node: Node) -> list[LeaderChange]:
    return [each for each in node.control_records if isinstance(each, LeaderChange)]


def _last_voters(records: Iterable[LeaderChange | Voters]) -> Voters | None:
    named = [each for each in records if isinstance(each, Voters)]
    return named[-1] if named else None


def _listed(voters: Voters) -> str:
    return "{" + ", ".join(map(str, voters.nodes)) + "}"
