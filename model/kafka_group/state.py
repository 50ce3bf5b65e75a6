"""The state of a consumer group: coordinator, consumers, partitions with their offsets, budgets.

`docs/decisions/0068-two-protocols-for-clients.md` says what is not state here, and how fine steps
are. Dead values are blank: a consumer has no position in a partition that it does not hold.
"""

from __future__ import annotations

from enum import IntEnum

from model.kafka_group.bounds import (
    BOUNDS,
    GENERATIONS,
    MEMBERS,
    PARTITION_ADDITIONS,
    PARTITIONS,
    RECORDS,
)
from model.kafka_group.settings import Assignor, GroupProtocol, GroupSettings
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
    every,
    for_each,
    implies,
    integers,
    members,
    nobody,
    not_,
    sequence,
    some,
    spent,
    table,
)

NO_RANK = -1
NO_OFFSET = -1

Generation = Annotated[int, integers(0, GENERATIONS)]
Rank = Annotated[int, integers(0, MEMBERS - 1)]
Offset = Annotated[int, integers(0, RECORDS)]
OffsetOrNone = Annotated[int, integers(NO_OFFSET, RECORDS, none=NO_OFFSET)]


class Phase(IntEnum):
    """How far a consumer has come, in its own view."""

    DOWN = 0  # there is no process
    OUTSIDE = 1  # it has no member id, or has heard that it lost it
    JOINING = 2  # it waits for the answer to JoinGroup
    SYNCING = 3  # it knows the generation, and waits for its assignment
    MEMBER = 4  # it has an assignment


DOWN, OUTSIDE, JOINING, SYNCING, MEMBER = Phase


class GroupState(IntEnum):
    """The states of a classic group; one of the consumer protocol has the first and the last."""

    EMPTY = 0
    PREPARING_REBALANCE = 1
    COMPLETING_REBALANCE = 2
    STABLE = 3


EMPTY, PREPARING, COMPLETING, STABLE = GroupState


class Consumer(Entity):
    """A consumer: in its own view, and as the coordinator has it.

    Its own: `phase`; `generation`, or member epoch, that it was told; `wants_rejoin`: it has given
    up partitions (KIP-429), or as leader seen new ones; `committed_to_rejoin`: it has committed so
    as to give up what it holds, and has not yet. `assigned_in`: the generation of its last
    assignment, which sticky assignors remember.

    The coordinator's: `rank`, the place of its member id among all ids, `NO_RANK` for whom it does
    not know; `claims_of`: the generation that it named as that of what it owns; `epoch`: its member
    epoch (KIP-848).
    """

    _label = "c"

    phase: Phase = OUTSIDE
    generation: Generation = 0
    wants_rejoin: bool = False
    committed_to_rejoin: bool = False
    assigned_in: Generation = 0

    rank: Annotated[int, integers(NO_RANK, MEMBERS - 1, none=NO_RANK)] = NO_RANK
    claims_of: Generation = 0
    epoch: Generation = 0

    @property
    def is_known(self) -> bool:
        """The coordinator has it as a member."""
        return self.rank != NO_RANK

    @property
    def is_up(self) -> bool:
        """There is a process."""
        return self.phase != DOWN

    @property
    def is_member(self) -> bool:
        """It believes that it is a member: it may be a zombie."""
        return any_of(self.phase == JOINING, self.phase == SYNCING, self.phase == MEMBER)


class LoggedRecord(Record):
    """A record of a partition, and a ghost: how often the group has processed it, up to 2."""

    processed: Annotated[int, integers(0, 2)] = 0


class Partition(Entity):
    """A partition: its log, its committed offset, and who owns it.

    `cut`: where its log was truncated, if the committed offset was above and is from before that.
    A ghost: `owed_from`, from which offset on the group has to process all; `begun`: a member has
    begun to read it.

    Of consumers: `holders` hold it in their own view, each at a `position`, with everything below
    `done` processed. `remembered` by those whose last assignment had it, for eager sticky ones.

    Of the coordinator: `claimed` by whom in JoinGroup; `assigned` to whom; with KIP-848 that is its
    current assignment, `target` the one aimed at, `revoking` those who have to give it up and have
    not said so, `told` to whom the last heartbeat said that it is theirs, and `assigned_epoch` the
    epoch of the assignment. `under_way`: who was told so before, and has begun to take it.
    """

    _label = "p"

    log: Sequence[LoggedRecord] = sequence(RECORDS)
    committed: OffsetOrNone = NO_OFFSET
    cut: OffsetOrNone = NO_OFFSET
    owed_from: Offset = 0
    begun: bool = False

    holders: SetOf[Consumer] = nobody()
    position: PerMember[Consumer, Offset] = for_each(0)
    done: PerMember[Consumer, Offset] = for_each(0)
    remembered: SetOf[Consumer] = nobody()

    claimed: SetOf[Consumer] = nobody()
    assigned: SetOf[Consumer] = nobody()
    target: SetOf[Consumer] = nobody()
    revoking: SetOf[Consumer] = nobody()
    told: SetOf[Consumer] = nobody()
    under_way: SetOf[Consumer] = nobody()
    assigned_epoch: Generation = 0


class Coordinator(Record):
    """The group as its coordinator has it.

    `joined` have sent JoinGroup in this rebalance. `partitions`: how many the topic had at the last
    assignment. `stored` and `stored_generation`: the group as the log of the coordinator has it,
    which another one begins with.
    """

    state: GroupState = EMPTY
    generation: Generation = 0
    joined: SetOf[Consumer] = nobody()
    partitions: Annotated[int, integers(0, PARTITIONS)] = 0
    stored: SetOf[Consumer] = nobody()
    stored_generation: Generation = 0


class Spent(Budgets, of=BOUNDS):
    """How much of each budget is used up."""


class Group(State):
    """The whole state."""

    consumers: Members[Consumer] = members(MEMBERS)
    partitions: Table[Partition] = table(PARTITIONS)
    coordinator: Coordinator = Coordinator.part()
    spent: Spent = Spent.part()

    @property
    def options(self) -> GroupSettings:
        """The settings, with their type."""
        settings: GroupSettings = self.settings
        return settings

    @property
    def is_classic(self) -> bool:
        """A member works out the assignment."""
        return bool(self.options.group_protocol == GroupProtocol.CLASSIC)

    @property
    def is_cooperative(self) -> bool:
        """Members keep what they own while a classic group rebalances (KIP-429)."""
        return bool(self.options.assignor == Assignor.COOPERATIVE_STICKY)

    @property
    def partition_count(self) -> int:
        """How many partitions the topic has now."""
        later = self.bound(PARTITION_ADDITIONS)
        return self.partitions.count - later + spent(self, PARTITION_ADDITIONS)

    def exists(self, partition: Partition) -> bool:
        """The topic has the partition already."""
        return partition.number < self.partition_count

    def is_added_later(self, partition: Partition) -> bool:
        """The topic did not have the partition at first."""
        return partition.number >= self.partitions.count - self.bound(PARTITION_ADDITIONS)

    @property
    def has_members(self) -> bool:
        """The coordinator knows of a member."""
        return some(consumer.is_known for consumer in self.consumers)

    def holds_nothing(self, consumer: Consumer) -> bool:
        """The consumer has no partition in its own view."""
        return every(not_(row.holders.contains(consumer)) for row in self.partitions)

    def is_idle(self, consumer: Consumer) -> bool:
        """The consumer has processed all that it has polled: the application polls again."""
        return every(
            implies(row.holders.contains(consumer), row.done[consumer] == row.position[consumer])
            for row in self.partitions
        )

    def leads(self, consumer: Consumer) -> bool:
        """The consumer works out a classic group's assignment: it has the least member id."""
        return all_of(
            consumer.is_known,
            every(implies(other.is_known, other.rank >= consumer.rank) for other in self.consumers),
        )
