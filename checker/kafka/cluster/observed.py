"""What the brokers' own logs say about their replicas: who leads since which epoch, who is where.

The lines are Kafka's: `Partition` and `UnifiedLog` at level DEBUG and the state change log at INFO.
A replica that takes up a role anew has noted nobody's position since then, whatever it keeps from
before.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass, field

_ROLE = re.compile(r"(Leader|Follower) (\S+-\d+) .*?starts at leader epoch (\d+)")
_POSITION = re.compile(r"\[Partition (\S+) broker=\d+\] Recorded replica (\d+) .*?position (\d+)")
_ANSWER = re.compile(r"\[Partition (\S+) broker=\d+\] ISR updated to ([\d,]+)")
_IMAGE = re.compile(
    r"Skipped the become-leader state change for (\S+) .*?\bisr=\[([\d, ]*)\].*already the leader"
)
_AWAITS = re.compile(r"Awaiting socket connections on \S+?:(\d+)")
_DEBUGGER = re.compile(r"Listening for transport dt_socket at address: (\d+)")
_QUORUM_ROLE = re.compile(r"Completed transition to (\w+?)(?:State)?\(")
_VOTERS = re.compile(r"Latest set of voters is VoterSet\(voters=\{(.*)\}\) at offset")
_VOTER = re.compile(r"(?:^|[ {])(\d+)=VoterNode\(")
_FLUSH = re.compile(r"partition=__cluster_metadata-0\b.*Flushing log up to offset (\d+) ")
_STARTED = re.compile(r"Kafka Server started")


@dataclass
class Replica:
    """One broker's replica of a partition, as its log tells."""

    role: str = ""
    epoch: int = -1
    positions: dict[int, int] = field(default_factory=dict)
    answered: Set[int] = frozenset()
    read: Set[int] = frozenset()


@dataclass
class Node:
    """What one process has said since it was started.

    `port`: what it listens on, if it does; `debugger`: the same for a debugger. `quorum_role`: what
    it is in the quorum, such as `Leader`; `voters` as it has read them. `flushed`: the metadata log
    was flushed up to this offset, or was about to be, since it was made.
    """

    lines: list[str] = field(default_factory=list)
    port: int | None = None
    debugger: int | None = None
    started: bool = False
    quorum_role: str = ""
    voters: Set[int] = frozenset()
    flushed: int = 0
    replicas: dict[str, Replica] = field(default_factory=dict)

    def replica(self, partition: str) -> Replica:
        """Its replica of a partition such as `t-0`; a blank one if nothing was said of it."""
        return self.replicas.get(partition, Replica())

    def hear(self, line: str) -> None:
        """Take in one line of its log."""
        self.lines.append(line)
        if match := _ROLE.search(line):
            self.replicas[match[2]] = Replica(match[1].lower(), int(match[3]))
        elif match := _POSITION.search(line):
            self._of(match[1]).positions[int(match[2])] = int(match[3])
        elif match := _ANSWER.search(line):
            self._of(match[1]).answered = _members(match[2])
        elif match := _IMAGE.search(line):
            self._of(match[1]).read = _members(match[2])
        elif match := _AWAITS.search(line):
            self.port = int(match[1])
        elif match := _QUORUM_ROLE.search(line):
            self.quorum_role = match[1]
        elif match := _VOTERS.search(line):
            self.voters = frozenset(map(int, _VOTER.findall(match[1])))
        elif match := _FLUSH.search(line):
            self.flushed = max(self.flushed, int(match[1]))
        elif match := _DEBUGGER.match(line):
            self.debugger = int(match[1])
        elif _STARTED.search(line):
            self.started = True

    def _of(self, partition: str) -> Replica:
        return self.replicas.setdefault(partition, Replica())


def _members(text: str) -> frozenset[int]:
    return frozenset(int(part) for part in re.findall(r"\d+", text))
