"""The state of one transactional id: its producer, coordinators, log, and partitions written to.

The transaction log is what the broker model proves of a partition: an append is committed once
every replica in sync has it, and until then may be lost with its leader. Partitions written to take
an append or refuse it. Dead values are blank.

Compaction may drop all of the id's records but the newest; here it drops the oldest when the log is
full, and all but the newest committed one as soon as nobody can read them again.
"""

from __future__ import annotations

from enum import IntEnum

from model.kafka_transactions.bounds import (
    BOUNDS,
    EPOCHS,
    FAILOVERS,
    PARTITIONS,
    TRANSACTIONS,
)
from model.kafka_transactions.settings import (
    AfterFailure,
    TransactionSettings,
    TransactionVersion,
)
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
    integers,
    members,
    nobody,
    sequence,
    some,
    spent,
    table,
)

ProducerEpoch = Annotated[int, integers(0, EPOCHS)]
CoordinatorEpoch = Annotated[int, integers(0, FAILOVERS)]
LOG_SIZE = 4
"""So many records of the id the transaction log holds at most, before it is compacted."""

TransactionNumber = Annotated[int, integers(0, TRANSACTIONS - 1)]
Offset = Annotated[int, integers(0, LOG_SIZE)]


class IdState(IntEnum):
    """What a transactional id is in: `TransactionState`."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5


EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT = IdState


class Phase(IntEnum):
    """How far the producer has come, in its own view."""

    READY = 0  # it has an epoch, and no transaction
    OPEN = 1  # it has begun a transaction
    MUST_ABORT = 2  # something failed, so that it can only abort
    INITIALIZING = 3  # it has no epoch: InitProducerId is under way
    STOPPED = 4  # it was told an error that ends it


class Kind(IntEnum):
    """What the producer asks of its coordinator."""

    NONE = 0
    COMMIT = 1  # EndTxn
    ABORT = 2  # EndTxn
    INIT = 3  # InitProducerId
    BUMP = 4  # InitProducerId that names the epoch it has (KIP-360)


class Sent(IntEnum):
    """Where a record is that the producer sends."""

    NONE = 0
    ADDING = 1  # AddPartitionsToTxn comes first, up to transaction version 1
    SENT = 2
    VERIFIED = 3  # the coordinator says that its partition is in the transaction
    ACKNOWLEDGED = 4


class Wish(IntEnum):
    """What the producer wants of a transaction, and knows of it."""

    OPEN = 0
    COMMIT = 1  # it has asked for a commit
    COMMITTED = 2  # and was told that it is done


class Fate(IntEnum):
    """What a partition has of a transaction: read_committed returns it only if committed."""

    NONE = 0
    OPEN = 1
    COMMITTED = 2
    ABORTED = 3
    LEFT_OUT = 4  # it was taken for a duplicate, and acknowledged: it is not in the log


class Status(IntEnum):
    """What a coordinator does, in its own view."""

    NONE = 0  # nothing that matters to anybody
    LOADING = 1
    HALF_LOADED = 2  # what it has read is not all
    ACTIVE = 3
    GIVEN_UP = 4  # active, but sends no more markers of the transaction, for whatever reason
    STUCK = 5  # it leads, and answers nobody


class LateRecord(Record):
    """A record that the producer has given up, and that is still under way."""

    sent: Sent = Sent.NONE
    epoch: ProducerEpoch = 0
    transaction: TransactionNumber = 0


class LateMarker(Record):
    """A second copy of a marker."""

    kind: IdState = EMPTY  # `PREPARE_COMMIT` or `PREPARE_ABORT`; `EMPTY`: there is none
    epoch: ProducerEpoch = 0
    coordinator_epoch: CoordinatorEpoch = 0


class Partition(Entity):
    """A partition, as far as the producer id is concerned: `ProducerStateEntry`.

    `epoch` and `coordinator_epoch` are the last that it has seen. `ahead`: its last record of that
    epoch was given up by the producer, which uses its sequence again. `record`: the one that the
    producer has under way here.
    """

    _label = "p"

    epoch: ProducerEpoch = 0
    coordinator_epoch: CoordinatorEpoch = 0
    ahead: bool = False
    record: Sent = Sent.NONE
    late_record: LateRecord = LateRecord.part()
    late_marker: LateMarker = LateMarker.part()


class Transaction(Entity):
    """A transaction as the producer began it: a ghost, but for `wish`.

    There is a record of it in each partition at most.
    """

    _label = "t"

    wish: Wish = Wish.OPEN
    fate: PerMember[Partition, Fate] = for_each(Fate.NONE)


class Logged(Record):
    """A record of the transaction log."""

    state: IdState = EMPTY
    epoch: ProducerEpoch = 0
    partitions: SetOf[Partition] = nobody()
    keeps_its_id: bool = False


class Coordinator(Entity):
    """A broker that leads, or led, the partition of the transaction log; its number is its epoch.

    `state`, `epoch` and `partitions` are its cache; while it sends markers, `partitions` are those
    that have not answered. `pending`: the last record of the log is its own, and not committed.
    `loaded`: what it has is from a load, so that it does not know the epoch before. `failed_fence`:
    its epoch is not in the log. `keeps_its_id`: what is decided ends without a new producer id.
    """

    _label = "coordinator "

    status: Status = Status.NONE
    state: IdState = EMPTY
    epoch: ProducerEpoch = 0
    partitions: SetOf[Partition] = nobody()
    pending: bool = False
    loaded: bool = False
    failed_fence: bool = False
    keeps_its_id: bool = False

    @property
    def acts(self) -> bool:
        """It answers, as far as it knows rightly."""
        return any_of(self.status == Status.ACTIVE, self.status == Status.GIVEN_UP)

    @property
    def decided(self) -> bool:
        """Its cache says that the transaction is decided: markers are due."""
        return any_of(self.state == PREPARE_COMMIT, self.state == PREPARE_ABORT)

    @property
    def sends_markers(self) -> bool:
        """It is active, and has decided."""
        return all_of(self.status == Status.ACTIVE, self.decided)


class LateRequest(Record):
    """A second copy of EndTxn."""

    kind: Kind = Kind.NONE
    epoch: ProducerEpoch = 0


class Producer(Record):
    """The producer.

    `request`: what its coordinator has not answered; `begun`: how many transactions; `unresolved`:
    it does not know whether a record was appended, and wants another epoch.
    """

    phase: Phase = Phase.READY
    request: Kind = Kind.NONE
    epoch: ProducerEpoch = 0
    begun: Annotated[int, integers(0, TRANSACTIONS)] = 0
    unresolved: bool = False


class Spent(Budgets, of=BOUNDS):
    """How much of each budget is used up."""


class TransactionalId(State):
    """The whole state."""

    partitions: Members[Partition] = members(PARTITIONS)
    transactions: Table[Transaction] = table(TRANSACTIONS)
    coordinators: Table[Coordinator] = table(FAILOVERS + 1)
    producer: Producer = Producer.part()
    late_request: LateRequest = LateRequest.part()
    log: Sequence[Logged] = sequence(LOG_SIZE)
    high_watermark: Offset = 0
    spent: Spent = Spent.part()

    @property
    def options(self) -> TransactionSettings:
        """The settings, with their type."""
        settings: TransactionSettings = self.settings
        return settings

    @property
    def has_versions_2(self) -> bool:
        """Each transaction has an epoch of its own."""
        return bool(self.options.transaction_version == TransactionVersion.V2)

    @property
    def verifies(self) -> bool:
        """Brokers ask the coordinator before a transaction begins in a partition."""
        return bool(self.has_versions_2 or self.options.verification)

    @property
    def reuses_sequences(self) -> bool:
        """After a failed record the producer goes on in the same epoch."""
        return not self.has_versions_2 and self.options.after_failure == AfterFailure.SAME_EPOCH

    @property
    def forgets_the_last_epoch(self) -> bool:
        """A producer asks for its next epoch by the one it has, which no load tells."""
        asks = self.options.after_failure == AfterFailure.NEW_EPOCH
        return bool(asks and not self.has_versions_2 and not self.options.last_epoch_is_logged)

    @property
    def failovers_left(self) -> bool:
        """Another coordinator may come."""
        return spent(self, FAILOVERS) < self.bound(FAILOVERS)

    def leads(self, coordinator: Coordinator) -> bool:
        """It leads the log: it is the newest."""
        return coordinator.number == spent(self, FAILOVERS)

    def is_current(self, transaction: Transaction) -> bool:
        """It is the last that the producer has begun."""
        return transaction.number + 1 == self.producer.begun

    def is_open(self, partition: Partition) -> bool:
        """The partition has records without a marker: they hold up its last stable offset."""
        return some(t.fate[partition] == Fate.OPEN for t in self.transactions)

    def may_end(self) -> bool:
        """Nothing that the producer has sent is under way."""
        return all_of(
            self.producer.request == Kind.NONE,
            every(
                any_of(p.record == Sent.NONE, p.record == Sent.ACKNOWLEDGED)
                for p in self.partitions
            ),
        )


def start(txn: TransactionalId) -> None:
    """The producer has epoch 0 of the first coordinator, and has begun nothing."""
    txn.log.append(state=EMPTY, epoch=0)
    txn.high_watermark = 1
    txn.coordinators[0].status = Status.ACTIVE
