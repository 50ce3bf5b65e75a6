"""The state of a KRaft quorum: its nodes, what was committed, who led which epoch, what is spent.

What is state, and what is one step, is in `docs/decisions/0094-kraft.md`. Dead values are blank:
a node that knows its epoch's leader keeps no vote, and only a leader has others' fetch offsets.
"""

from __future__ import annotations

from enum import IntEnum

from model.kraft.bounds import BOUNDS, EPOCHS, LOG_SIZE, NODES, POWER_LOSSES, SNAPSHOTS
from model.kraft.settings import KRaftSettings
from model.language import (
    Annotated,
    Budgets,
    Entity,
    Members,
    PerMember,
    Record,
    Sequence,
    SetOf,
    State,
    Table,
    all_of,
    any_of,
    choose,
    for_each,
    integers,
    is_none,
    largest,
    maximum,
    members,
    minimum,
    nobody,
    not_,
    sequence,
    smallest,
    table,
)

Epoch = Annotated[int, integers(0, EPOCHS)]
Offset = Annotated[int, integers(0, LOG_SIZE)]
Cursor = Annotated[int, integers(0, LOG_SIZE + 1)]
NO_OFFSET = -1


class EpochState(IntEnum):
    """What a node is in its epoch: Kafka's classes of `EpochState`."""

    UNATTACHED = 0
    PROSPECTIVE = 1  # it asks whether it would be voted for (KIP-996)
    CANDIDATE = 2
    LEADER = 3
    FOLLOWER = 4
    RESIGNED = 5  # it was the leader of this epoch


UNATTACHED, PROSPECTIVE, CANDIDATE, LEADER, FOLLOWER, RESIGNED = EpochState


class VotedDirectory(IntEnum):
    """Which directory a node notes with its vote, by the disk that the other has now."""

    OF_NOW = 0  # the other's directory; or any, and its disk is not lost any more
    LOST = 1  # that of a disk that was lost: the vote is for nobody
    ANY = 2  # none: with kraft.version 0 it is not in quorum-state


class Entry(Record):
    """A record of the metadata log, by the epoch of the leader that appended it.

    The first of its epoch is the LeaderChange record. One with `voters` is a VotersRecord:
    `second` are those voters that are in it with their second directory id. `missed`: it was
    appended below `next_offset`, so that this node has not read it.
    """

    epoch: Epoch = 0
    voters: SetOf[Node] = nobody()
    second: SetOf[Node] = nobody()
    missed: bool = False


class MetadataLog(Sequence[Entry]):
    """The log of `__cluster_metadata`, as `KafkaRaftLog` has it."""

    @property
    def last_voters_offset(self) -> int:
        """The offset of the last VotersRecord, read or not; -1 if there is none."""
        return largest(
            choose(all_of(self.has(p), not_(self[p].voters.is_empty)), p, NO_OFFSET)
            for p in self.positions
        )

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record, 0 for an empty log."""
        return largest(choose(self.has(p), self[p].epoch, 0) for p in self.positions)

    def epoch_before(self, offset: int) -> int:
        """The epoch of the record before the offset, 0 for offset 0: that of a snapshot's id."""
        return choose(offset > 0, self[maximum(offset - 1, 0)].epoch, 0)

    def floor_epoch(self, epoch: int) -> int:
        """The greatest epoch of a record up to `epoch`, 0 if there is none."""
        return largest(
            choose(all_of(self.has(p), self[p].epoch <= epoch), self[p].epoch, 0)
            for p in self.positions
        )

    def end_of_epoch(self, epoch: int) -> int:
        """The offset at which a later epoch than `epoch` begins, or the end of the log."""
        return minimum(
            self.end,
            smallest(
                choose(all_of(self.has(p), self[p].epoch > epoch), p, self.capacity)
                for p in self.positions
            ),
        )

    def start_of_epoch(self, epoch: int) -> int:
        """The offset of the first record of `epoch` or a later one."""
        return self.end_of_epoch(epoch - 1)

    def is_at_least(self, other: MetadataLog) -> bool:
        """It is as up to date as the other: by last epoch, then by end (`OffsetAndEpoch`)."""
        mine, others = self.last_epoch, other.last_epoch
        return any_of(mine > others, all_of(mine == others, self.end >= other.end))


class Node(Entity):
    """A controller.

    Of a leader with static voters `told`: who has told it a directory in an UpdateVoter request,
    `told_second`, the second one (`volatileVoters`); blank unless `kraft.version` may rise.

    In `quorum-state`, on disk: `epoch`, `leader`, and `voted` while the leader is not known, with
    its `voted_directory`. A ghost, `voted_for_lost`: the other has lost the disk that it voted for.
    In memory: `role`, `votes` granted to a Prospective or Candidate, `has_fetched`: this follower
    has fetched from its leader, `high_watermark`, and of a leader `fetched`, the fetch offset of
    each other node. `leader_unfound`: this Prospective knows who leads, and not where; an
    Unattached node that knows who leads never knows where. `second_directory`: its disk was lost,
    and formatted with another directory id.

    `unflushed`: how many records at the end of its log a power loss takes, and `flushing`: its
    thread has appended and is about to flush. Both are blank where there are no power losses.
    `next_offset` is KRaftControlRecordStateMachine's cursor where it is
    beyond the end of the log, as after a truncation, and 0 where it is not; where `kraft.version`
    was raised Kafka's log has one record more, which the cursor counts.

    `snapshot_end`: the offset at which its latest snapshot ends, 0 without one; of records below it
    `missed` is what the snapshot lacks. `log_start`: records below it are in the snapshot only;
    the earliest snapshot ends there. `stale_voters`, with `stale_second`: the voter set that it
    keeps from before it fetched a snapshot that it did not read; nobody if it has read what it has.
    `voters_dropped`: of the VotersRecords before `snapshot_end` it remembers none.
    """

    _label = "n"

    role: EpochState = UNATTACHED
    epoch: Epoch = 0
    leader: Node | None = None
    leader_unfound: bool = False
    voted: Node | None = None
    voted_directory: VotedDirectory = VotedDirectory.OF_NOW
    voted_for_lost: bool = False
    votes: SetOf[Node] = nobody()
    has_fetched: bool = False
    log: MetadataLog = sequence(LOG_SIZE)
    unflushed: Offset = 0
    flushing: bool = False
    next_offset: Cursor = 0
    high_watermark: Offset = 0
    fetched: PerMember[Node, Offset] = for_each(0)
    told: SetOf[Node] = nobody()
    told_second: SetOf[Node] = nobody()
    second_directory: bool = False
    snapshot_end: Offset = 0
    log_start: Offset = 0
    stale_voters: SetOf[Node] = nobody()
    stale_second: SetOf[Node] = nobody()
    voters_dropped: bool = False

    @property
    def leads(self) -> bool:
        """It takes itself for the leader."""
        return self.role == LEADER

    @property
    def knows_where(self) -> bool:
        """It knows a leader, and its endpoints."""
        asks = all_of(self.role == PROSPECTIVE, not_(self.leader_unfound))
        goes_by = any_of(self.role == FOLLOWER, self.role == LEADER, self.role == RESIGNED)
        return all_of(not_(is_none(self.leader)), any_of(goes_by, asks))

    @property
    def last_read_offset(self) -> int:
        """The offset of the last VotersRecord that it has read and remembers; -1 if none."""
        last = self.last_read_before(self.log.end)
        return choose(all_of(self.voters_dropped, last < self.snapshot_end), NO_OFFSET, last)

    def last_read_before(self, end: int) -> int:
        """The same of the records below the offset `end`."""
        log = self.log
        return largest(
            choose(all_of(p < end, not_(log[p].voters.is_empty), not_(log[p].missed)), p, NO_OFFSET)
            for p in log.positions
        )

    @property
    def voters(self) -> SetOf[Node]:
        """The voters, by id, that it has read last; nobody where they are configured."""
        last = self.last_read_offset
        voters = self.log[maximum(last, 0)].voters
        read = choose(last < 0, voters.minus(voters), voters)
        return choose(self.stale_voters.is_empty, read, self.stale_voters)

    @property
    def second_directories(self) -> SetOf[Node]:
        """Which voters are in the voter set that it has read last with their second directory."""
        read = self.log[maximum(self.last_read_offset, 0)]
        return choose(self.stale_voters.is_empty, read.second, self.stale_second)

    @property
    def has_read_voters(self) -> bool:
        """It has its voter set from a VotersRecord: of its log, or of a log before a snapshot."""
        return any_of(self.last_read_offset != NO_OFFSET, not_(self.stale_voters.is_empty))

    @property
    def is_free(self) -> bool:
        """Its thread is not between an append and the flush that follows."""
        return not_(self.flushing)

    @property
    def flushed_end(self) -> int:
        """How far its log is on the disk."""
        return self.log.end - self.unflushed


class CommittedAt(Entity):
    """A ghost: the epoch of the record that was committed first at the offset of this number."""

    _label = "offset "

    epoch: Epoch = 0


class LeaderOfEpoch(Entity):
    """A ghost: who was elected in the epoch of this number, and whether anybody else was too."""

    _label = "epoch "

    leader: Node | None = None
    another: bool = False


class Spent(Budgets, of=BOUNDS):
    """How much of each budget is used up."""


class Quorum(State):
    """The whole state.

    Ghosts: `committed`, all that leaders have committed, and `committed_in`, the latest epoch in
    which one did; `epochs`, by number; `rejoined`: a
    controller that was removed has had itself added.
    """

    nodes: Members[Node] = members(NODES)
    static_voters: SetOf[Node] = nobody()
    committed: Table[CommittedAt] = table(LOG_SIZE)
    committed_in: Epoch = 0
    rejoined: bool = False
    epochs: Table[LeaderOfEpoch] = table(EPOCHS + 1)
    spent: Spent = Spent.part()

    @property
    def options(self) -> KRaftSettings:
        """The settings, with their type."""
        settings: KRaftSettings = self.settings
        return settings

    @property
    def flushes(self) -> bool:
        """A flush is a step of its own: something may be lost before it."""
        return self.bound(POWER_LOSSES) > 0

    @property
    def makes_snapshots(self) -> bool:
        """Controllers make snapshots."""
        return self.bound(SNAPSHOTS) > 0
