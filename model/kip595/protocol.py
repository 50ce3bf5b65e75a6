"""KIP-595 (Kafka 2.7): KRaft's elections and replication, as little of it as safety needs.

`model/kraft` is KRaft as operators run it. This is the core that is proved for any number of
voters: epochs, durable votes, the up-to-date check, followers that fetch and truncate, and the high
watermark of a majority. Each rule is a setting that can be switched off to see what it is for.
With the bound `voter_changes` voters leave and join one at a time (KIP-853).

- A request and its response are one step. What is late or lost is a step that is taken late or
  never; a Fetch request and its response are two steps, so that what the leader knows of a follower
  may be old.
- A record is known by its epoch. The first of an epoch is its LeaderChange record.
- `elections` holds for each epoch what its voters have on disk and its leader in memory. Kafka
  keeps only what belongs to a voter's last epoch; no rule reads more.
- A record carries the voters as they are from it on, as if the last VotersRecord were in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    PerMember,
    Protocol,
    Record,
    Sequence,
    SetOf,
    State,
    Table,
    Telling,
    action,
    all_of,
    any_of,
    choose,
    every,
    everybody,
    for_each,
    implies,
    integers,
    is_majority,
    is_none,
    largest,
    members,
    minimum,
    not_,
    require,
    sequence,
    setting,
    table,
)

VOTERS = Bound("voters", default=3, minimum=1, words="voters of the quorum")
LOG_SIZE = Bound("log_size", default=3, minimum=1, words="records that a log holds at most")
EPOCHS = Bound("epochs", default=2, minimum=1, words="the last epoch, counted from 1")
CHANGES = Bound("voter_changes", default=0, minimum=0, words="voters that leave or join at most")

Offset = Annotated[int, integers(0, LOG_SIZE)]
EpochOrNone = Annotated[int, integers(0, EPOCHS, none=0)]


@dataclass(frozen=True)
class Kip595Settings:
    """What keeps committed records."""

    durable_votes: bool = setting(True, "a voter that restarts knows whom it voted for")
    up_to_date: bool = setting(True, "a voter votes for none whose log is behind its own")
    check_fetch: bool = setting(True, "the leader compares the epoch of the last fetched record")
    own_epoch_first: bool = setting(True, "the high watermark moves to records of the own epoch")
    commit_before_change: bool = setting(True, "one change of the voters is committed at a time")
    own_epoch_before_change: bool = setting(
        True, "a leader changes the voters once a record of its epoch is committed"
    )


class Role(IntEnum):
    """What a voter is in its epoch."""

    FOLLOWER = 0
    CANDIDATE = 1
    LEADER = 2


class Entry(Record):
    """A record, by the epoch of the leader that appended it, and the voters from it on."""

    epoch: EpochOrNone = 0
    voters: SetOf[Voter] = everybody()


class Voter(Entity):
    """A voter. Its epoch, its vote and its log are on disk.

    A ghost: its high watermark rose because a majority had fetched the record at `commit_offset`
    of `commit_epoch`.
    """

    _label = "v"

    epoch: EpochOrNone = 0
    role: Role = Role.FOLLOWER
    log: Sequence[Entry] = sequence(LOG_SIZE)
    high_watermark: Offset = 0
    commit_offset: Annotated[int, integers(0, LOG_SIZE - 1)] = 0
    commit_epoch: EpochOrNone = 0

    @property
    def leads(self) -> bool:
        """It takes itself for the leader of its epoch."""
        return self.role == Role.LEADER

    @property
    def last_epoch(self) -> int:
        """The epoch of its last record; 0 if its log is empty."""
        return choose(self.log.is_empty, 0, self.log[self.log.end - 1].epoch)

    def has(self, offset: int, epoch: int) -> bool:
        """Its log holds the record of this epoch at this offset."""
        return all_of(self.log.has(offset), self.log[offset].epoch == epoch)

    def same_entry(self, other: Voter, offset: int) -> bool:
        """Both logs hold the same record at the offset."""
        return other.has(offset, self.log[offset].epoch) & self.log.has(offset)

    def append(self, voters: SetOf[Voter]) -> None:
        """A leader appends a record of its epoch."""
        self.log.append(epoch=self.epoch, voters=voters)


class Election(Entity):
    """All that concerns one epoch; its row number is the epoch.

    `vote`: whom each voter has voted for. Of the leader: `start`, the offset of its first record,
    and `fetched`, the fetch offset of each voter, its own end for itself.

    Ghosts, kept when it leads no more: `elected_by`, the voters as they were when a majority of
    them elected it; `voters`, as of its last record. Of its last change of them, 0 before:
    `changed`, the offset, and `settled`, its high watermark then.
    """

    _label = "epoch "

    vote: PerMember[Voter, Voter | None] = for_each(None)
    leader: Voter | None = None
    start: Offset = 0
    fetched: PerMember[Voter, Offset] = for_each(0)
    elected_by: SetOf[Voter] = everybody()
    voters: SetOf[Voter] = everybody()
    changed: Offset = 0
    settled: Offset = 0


class Raft(State):
    """The voters, and the epochs by number; nobody leads in epoch 0."""

    voters: Members[Voter] = members(VOTERS)
    elections: Table[Election] = table(EPOCHS + 1)
    changes: Annotated[int, integers(0, CHANGES)] = 0

    def voters_of(self, voter: Voter) -> SetOf[Voter]:
        """The voters as of the last record in a voter's log, committed or not."""
        log = voter.log
        return choose(log.is_empty, self.voters.all(), log[log.end - 1].voters)

    def voted_for(self, candidate: Voter | None, election: Election) -> SetOf[Voter]:
        """Who has voted for the candidate."""
        return self.voters.where(lambda voter: election.vote[voter] == candidate)

    def fetched_beyond(self, offset: int, election: Election) -> SetOf[Voter]:
        """Who has told the leader of an epoch that it holds the record at an offset."""
        return self.voters.where(lambda voter: election.fetched[voter] > offset)


def has_followed(follower: Voter, leader: Voter) -> bool:
    """The follower is in the leader's epoch."""
    return all_of(leader.leads, follower != leader, follower.epoch == leader.epoch)


def agrees(follower: Voter, leader: Voter) -> bool:
    """The leader's log holds the follower's last record: its fetch offset and epoch are valid."""
    end = follower.log.end
    return all_of(
        end <= leader.log.end,
        any_of(end == 0, leader.log[end - 1].epoch == follower.log[end - 1].epoch),
    )


@action("{voter} stands for election", at="KafkaRaftClient.transitionToCandidate")
def stand(raft: Raft, voter: Voter) -> None:
    """A voter whose timer runs out votes for itself in a new epoch."""
    epoch = voter.epoch + 1
    require(not_(voter.leads), epoch <= raft.bound("epochs"))
    require(raft.voters_of(voter).contains(voter))

    voter.epoch = epoch
    voter.role = Role.CANDIDATE
    raft.elections[epoch].vote[voter] = voter


@action("{voter} votes for {candidate}", at="KafkaRaftClient.handleVoteRequest")
def vote(raft: Raft, voter: Voter, candidate: Voter) -> None:
    """One vote an epoch, and only for a log that is as up to date as the voter's own."""
    mine, its = voter.log, candidate.log
    election = raft.elections[candidate.epoch]
    require(candidate.role == Role.CANDIDATE, voter != candidate)
    require(
        any_of(
            voter.epoch < candidate.epoch,
            all_of(
                voter.epoch == candidate.epoch,
                voter.role == Role.FOLLOWER,
                is_none(election.vote[voter]),
            ),
        )
    )
    if raft.settings.up_to_date:
        newer = candidate.last_epoch > voter.last_epoch
        require(newer | (candidate.last_epoch == voter.last_epoch) & (its.end >= mine.end))

    voter.epoch = candidate.epoch
    voter.role = Role.FOLLOWER
    election.vote[voter] = candidate


@action("{candidate} becomes leader", at="KafkaRaftClient.onBecomeLeader")
def become_leader(raft: Raft, candidate: Voter) -> None:
    """With the votes of a majority; the first record of the epoch is the LeaderChange record."""
    voters, end = raft.voters_of(candidate), candidate.log.end
    election = raft.elections[candidate.epoch]
    require(candidate.role == Role.CANDIDATE, not_(candidate.log.is_full))
    require(is_majority(raft.voted_for(candidate, election), of=voters))

    candidate.role = Role.LEADER
    election.leader = candidate
    election.start = end
    election.elected_by = election.voters = voters
    election.fetched[candidate] = end + 1
    candidate.append(voters)


@action("{leader} appends a record", at="KafkaRaftClient.appendBatch")
def append(raft: Raft, leader: Voter) -> None:
    """A leader takes writes, even if it is one no more."""
    voters, end = raft.voters_of(leader), leader.log.end
    require(leader.leads, not_(leader.log.is_full))

    leader.append(voters)
    raft.elections[leader.epoch].fetched[leader] = end + 1


@action("{voter} learns of the epoch of {other}", at="KafkaRaftClient.maybeTransition")
def learn_epoch(raft: Raft, voter: Voter, other: Voter) -> None:
    """Any request or response of a later epoch ends what a voter was."""
    require(voter.epoch < other.epoch)

    voter.epoch = other.epoch
    voter.role = Role.FOLLOWER


@action(
    "{follower} sends a Fetch request to {leader}", at="KafkaRaftClient.tryCompleteFetchRequest"
)
def fetch(raft: Raft, follower: Voter, leader: Voter) -> None:
    """The fetch offset acknowledges all records below it."""
    require(has_followed(follower, leader))
    if raft.settings.check_fetch:
        require(agrees(follower, leader))

    follower.role = Role.FOLLOWER
    raft.elections[leader.epoch].fetched[follower] = minimum(follower.log.end, leader.log.end)


@action("{follower} appends a record from {leader}", at="KafkaRaftClient.appendAsFollower")
def replicate(raft: Raft, follower: Voter, leader: Voter) -> None:
    """The response to a valid Fetch request holds the next record and the high watermark."""
    end = follower.log.end
    require(has_followed(follower, leader), leader.log.has(end))
    if raft.settings.check_fetch:
        require(agrees(follower, leader))

    follower.role = Role.FOLLOWER
    follower.high_watermark = minimum(leader.high_watermark, end + 1)
    follower.commit_offset = leader.commit_offset
    follower.commit_epoch = leader.commit_epoch
    follower.log.append_copy(leader.log[end])


@action("{follower} truncates its log for {leader}", at="KafkaRaftClient.handleFetchResponse")
def truncate(raft: Raft, follower: Voter, leader: Voter) -> None:
    """Responses with a diverging epoch lead to where the logs agree, here all in one step."""
    end = largest(choose(follower.same_entry(leader, p), p + 1, 0) for p in follower.log.positions)
    require(has_followed(follower, leader), not_(agrees(follower, leader)))

    follower.role = Role.FOLLOWER
    follower.high_watermark = minimum(follower.high_watermark, end)
    follower.log.truncate_to(end)


@action("{leader} advances its high watermark to {end}", at="LeaderState.maybeUpdateHighWatermark")
def advance_high_watermark(raft: Raft, leader: Voter, end: Offset) -> None:
    """A majority has fetched up to there, and a record of the leader's own epoch is below it."""
    election = raft.elections[leader.epoch]
    require(leader.leads, end > leader.high_watermark)
    require(is_majority(raft.fetched_beyond(end - 1, election), of=raft.voters_of(leader)))
    if raft.settings.own_epoch_first:
        require(end > election.start)

    leader.high_watermark = end
    leader.commit_offset = end - 1
    leader.commit_epoch = leader.epoch


@action("{leader} changes whether {voter} is a voter", at="AddVoterHandler.handleAddVoterRequest")
def change_voters(raft: Raft, leader: Voter, voter: Voter) -> None:
    """AddVoter or RemoveVoter: the voters count as soon as their record is appended."""
    log, voters = leader.log, raft.voters_of(leader)
    mark, end = leader.high_watermark, leader.log.end
    election = raft.elections[leader.epoch]
    require(raft.changes < raft.bound("voter_changes"), leader.leads, not_(log.is_full))
    if raft.settings.own_epoch_before_change:
        require(mark > election.start)
    if raft.settings.commit_before_change:
        require(every(implies(log.has(p) & (p >= mark - 1), log[p].voters == voters)
                      for p in log.positions))  # fmt: skip

    raft.changes = raft.changes + 1
    changed = choose(
        voters.contains(voter), voters.without_member(voter), voters.with_member(voter)
    )
    leader.append(changed)
    election.fetched[leader] = end + 1
    election.voters = changed
    election.changed = end
    election.settled = mark


@action("{voter} restarts", at="KafkaRaftClient.initialize")
def restart(raft: Raft, voter: Voter) -> None:
    """Log, epoch and vote are on disk; a leader does not lead in its epoch again."""
    require(voter.epoch > 0)

    voter.role = Role.FOLLOWER
    if not raft.settings.durable_votes:
        raft.elections[voter.epoch].vote[voter] = None


KIP595 = Protocol(
    name="kip595",
    words="the core of KRaft: elections and replication by majorities (KIP-595)",
    source="KIP-595, KIP-853",
    state=Raft,
    bounds=(VOTERS, LOG_SIZE, EPOCHS, CHANGES),
    telling=Telling(
        leader="leader",
        leads="leads",
        epoch="epoch",
        mark="high_watermark",
        words=((r"\bhigh watermark\b", "HW"), (r"^end$", "LEO")),
        end="LEO",
        system="KIP-595",
    ),
    settings=Kip595Settings,
    cut_by=(LOG_SIZE, EPOCHS, CHANGES),
    actions=(
        stand,
        vote,
        become_leader,
        append,
        learn_epoch,
        fetch,
        replicate,
        truncate,
        advance_high_watermark,
        change_voters,
        restart,
    ),
    views={
        "elections": ("voters.role", "voters.epoch", "elections.vote"),
        "logs": ("voters.log", "voters.high_watermark"),
    },
)
