"""The replicated log: what each replica keeps of a partition, shared by all log-based protocols.

A record is stood for by its id; each entry also carries the epoch of the leader that appended it
(KIP-101; protocols before it ignore the epoch). After `FiniteReplicatedLog.tla` of
hachikuji/kafka-specification.
"""

from __future__ import annotations

from model.language import (
    Annotated,
    Bound,
    Record,
    Sequence,
    Telling,
    all_of,
    choose,
    integers,
    largest,
)

REPLICAS = Bound("replicas", default=3, minimum=1, words="replicas of the partition")
LOG_SIZE = Bound("log_size", default=2, minimum=1, words="entries that a log holds at most")
MAX_RECORDS = Bound("max_records", default=2, minimum=1, words="records that are written at most")
MAX_LEADER_EPOCH = Bound(
    "max_leader_epoch", default=2, minimum=0, words="the last leader epoch, counted from 0"
)

NO_EPOCH = -1

Offset = Annotated[int, integers(0, LOG_SIZE)]
RecordId = Annotated[int, integers(0, MAX_RECORDS - 1)]
LeaderEpoch = Annotated[int, integers(0, MAX_LEADER_EPOCH)]
LeaderEpochOrNone = Annotated[int, integers(NO_EPOCH, MAX_LEADER_EPOCH, none=NO_EPOCH)]

TELLING = Telling(
    leader="leader",
    leads="presumes_leadership",
    up="up",
    epoch="leader_epoch",
    mark="high_watermark",
    quorum="isr",
    acknowledged="acknowledged",
    exposed="exposed",
    clients=("producer", "consumer", "operator"),
    writer="producer",
    keeper="controller",
    kept_in=("quorum",),
    kept=("fenced",),
    mailboxes=("answer", "request", "isr_accepted"),
    notes=("leader_is_current", "image_unread", "joiner_restarted"),
    words=(
        (r"\bhigh watermark\b", "HW"),
        (r"^leader epoch$", "epoch"),
        (r"\bisr\b", "ISR"),
        (r"\belr\b", "ELR"),
        (r"\bleo\b", "LEO"),
        (r"^end$", "LEO"),
    ),
    end="LEO",
)
"""What reports show of protocols of partitions, by the names that they all use."""


class Entry(Record):
    """One entry of a log: a record and the epoch of the leader that appended it."""

    id: RecordId = 0
    epoch: LeaderEpoch = 0


class Log(Sequence[Entry]):
    """A replica's log. Its end is the log end offset (LEO)."""

    @property
    def last_epoch(self) -> int:
        """The epoch of the last entry. Meaningless while the log is empty."""
        return self[self.end - 1].epoch

    def same_entry(self, other: Log, offset: int) -> bool:
        """Both logs hold the same entry at `offset`, epoch included."""
        return all_of(
            self.has(offset),
            other.has(offset),
            self[offset].id == other[offset].id,
            self[offset].epoch == other[offset].epoch,
        )

    def end_of_agreement(self, other: Log) -> int:
        """One past the last offset at which both logs hold the same entry; 0 if there is none."""
        return largest(
            choose(self.same_entry(other, offset), offset + 1, 0) for offset in self.positions
        )
