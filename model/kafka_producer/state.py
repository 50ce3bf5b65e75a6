"""The state of the producer model: records, batches, partitions, the producer, what is spent.

A batch is called by the number of its first record, so what a batch holds is said by its records
alone. A log is a sequence of batches: what was appended at one time. Of a request and its answer
the answer is state: requests on one connection are handled in the order in which they were sent, so
a request is handled as it is sent; one that is not is late, and a part of its own.

Dead values are blank: a batch that is acknowledged or has failed has no sequence and no answer.
"""

from __future__ import annotations

from enum import IntEnum

from model.kafka_producer.bounds import (
    ADDED_PARTITIONS,
    BOUNDS,
    EPOCH_BUMPS,
    KEYS,
    PARTITIONS,
    PRODUCER_RESTARTS,
)
from model.kafka_producer.settings import ProducerSettings, is_idempotent
from model.language import (
    Annotated,
    Budgets,
    Entity,
    Members,
    Record,
    Sequence,
    State,
    Table,
    all_of,
    any_of,
    count,
    integers,
    maximum,
    members,
    not_,
    sequence,
    some,
    table,
)
from model.replicated_log import LOG_SIZE, MAX_RECORDS, RecordId

ProducerEpoch = Annotated[int, integers(0, EPOCH_BUMPS)]
ProducerId = Annotated[int, integers(0, PRODUCER_RESTARTS)]
SequenceNumber = Annotated[int, integers(0, MAX_RECORDS)]
PartitionNumber = Annotated[int, integers(0, PARTITIONS - 1)]
PartitionOrNone = Annotated[int, integers(0, PARTITIONS)]  # its number and one more; 0: none


class Status(IntEnum):
    """Where a batch is."""

    NONE = 0  # no record has begun it
    QUEUED = 1  # in the accumulator, open for records until it is sent
    IN_FLIGHT = 2
    ACKNOWLEDGED = 3
    FAILED = 4  # the application was told so


class Answer(IntEnum):
    """What is on its way to the producer."""

    NONE = 0  # nothing: the request is late
    APPENDED = 1
    RETRIABLE = 2  # such as NOT_LEADER_OR_FOLLOWER, NOT_ENOUGH_REPLICAS_AFTER_APPEND
    OUT_OF_ORDER = 3  # OUT_OF_ORDER_SEQUENCE_NUMBER
    REFUSED = 4  # such as MESSAGE_TOO_LARGE, INVALID_RECORD, INVALID_PRODUCER_EPOCH


class Key(Entity):
    """A key of records. `home` is the partition that it hashes to, once a record has had it.

    Which one that is, is left open: murmur2 modulo the number of partitions is some number.
    """

    _label = "key "

    home: PartitionOrNone = 0


class SentRecord(Entity):
    """A record that the application has sent, by its number; whether it has is `is_issued`."""

    _label = "record "

    key: Key | None = None
    batch: RecordId = 0


class LateRequest(Record):
    """A request that the broker has still to handle, though the producer may have given it up."""

    under_way: bool = False
    producer: ProducerId = 0
    epoch: ProducerEpoch = 0
    sequence: SequenceNumber = 0


class Batch(Entity):
    """The batch that begins with the record of this number.

    `retried`: it was sent before, and put back. `to_old_leader`: it is in flight on a connection to
    a broker that no longer leads. `renumbered`: its sequence has changed while it was in flight.
    `ahead`: it is in flight, and another batch of the partition was sent again after it.
    """

    _label = "batch "

    status: Status = Status.NONE
    partition: PartitionNumber = 0
    answer: Answer = Answer.NONE
    retried: bool = False
    to_old_leader: bool = False
    renumbered: bool = False
    ahead: bool = False
    epoch: ProducerEpoch = 0
    sequence: SequenceNumber = 0
    late: LateRequest = LateRequest.part()

    @property
    def is_pending(self) -> bool:
        """The application does not know yet what becomes of it."""
        return any_of(self.status == Status.QUEUED, self.status == Status.IN_FLIGHT)

    @property
    def is_new(self) -> bool:
        """It is queued, and was never sent."""
        return all_of(self.status == Status.QUEUED, not_(self.retried))

    @property
    def was_sent(self) -> bool:
        """It is pending and was sent: an idempotent producer has given it a sequence."""
        return any_of(
            self.status == Status.IN_FLIGHT, all_of(self.status == Status.QUEUED, self.retried)
        )

    def is_before(self, batch: Batch) -> bool:
        """It was sent in the same partition as a later one, and has no answer that is final."""
        return all_of(self.was_sent, self.partition == batch.partition, self.number < batch.number)

    def end(self, status: Status) -> None:
        """The application learns what became of it."""
        self.status = status
        self.forget_requests()

    def forget_requests(self) -> None:
        """What was noted of its requests is of no use any more."""
        self.answer = Answer.NONE
        self.retried = False
        self.to_old_leader = False
        self.renumbered = False
        self.ahead = False
        self.epoch = 0
        self.sequence = 0


class Entry(Record):
    """A batch in a log, as it was appended; of a torn one the last record is missing."""

    batch: RecordId = 0
    producer: ProducerId = 0
    epoch: ProducerEpoch = 0
    sequence: SequenceNumber = 0
    torn: bool = False


class BatchLog(Sequence[Entry]):
    """The committed log of a partition, and what was deleted from it."""

    def holds(self, batch: int) -> bool:
        """The batch is somewhere in the log."""
        return self.holds_before(batch, self.capacity)

    def holds_before(self, batch: int, position: int) -> bool:
        """The batch is in the log before the position."""
        return some(
            all_of(self.has(p), p < position, self[p].batch == batch) for p in self.positions
        )


class TopicPartition(Entity):
    """A partition: its log, and what an idempotent producer keeps of it (`TxnPartitionEntry`).

    `log_start`: batches before it are deleted. `next_sequence`; `acked_end`, the sequence after the
    last that is acknowledged; `unresolved_end`, the sequence after a batch that expired and may
    have been appended, or 0; `rewrite`: a new producer epoch is wanted because of this partition.
    """

    _label = "p"

    log: BatchLog = sequence(LOG_SIZE)
    log_start: Annotated[int, integers(0, LOG_SIZE)] = 0
    epoch: ProducerEpoch = 0
    next_sequence: SequenceNumber = 0
    acked_end: SequenceNumber = 0
    unresolved_end: SequenceNumber = 0
    rewrite: bool = False


class Producer(Record):
    """The producer, apart from its batches.

    `sticky`: the partition that records without a key go to now; `stint`: how many it has had in a
    row. `next_partition`: whose turn it is, where partitions take turns.
    """

    id: ProducerId = 0
    epoch: ProducerEpoch = 0
    next_record: Annotated[int, integers(0, MAX_RECORDS)] = 0
    sticky: PartitionOrNone = 0
    stint: Annotated[int, integers(0, MAX_RECORDS)] = 0
    next_partition: PartitionNumber = 0


class Spent(Budgets, of=BOUNDS):
    """How much of each budget is used up."""


class Topic(State):
    """A topic and a producer that writes to it; each partition is led by a broker of its own."""

    keys: Members[Key] = members(KEYS)
    records: Table[SentRecord] = table(MAX_RECORDS)
    batches: Table[Batch] = table(MAX_RECORDS)
    partitions: Table[TopicPartition] = table(PARTITIONS)
    partition_count: Annotated[int, integers(1, PARTITIONS)] = 1
    producer: Producer = Producer.part()
    spent: Spent = Spent.part()

    @property
    def options(self) -> ProducerSettings:
        """The settings, with their type."""
        settings: ProducerSettings = self.settings
        return settings

    @property
    def idempotent(self) -> bool:
        """Batches have sequences, which brokers check."""
        return is_idempotent(self.options)

    def is_issued(self, record: SentRecord) -> bool:
        """The application has sent the record."""
        return record.number < self.producer.next_record

    def is_in(self, record: SentRecord, batch: Batch) -> bool:
        """The record is in the batch."""
        return all_of(self.is_issued(record), record.batch == batch.number)

    def size(self, batch: Batch) -> int:
        """How many records the batch has."""
        return count(self.is_in(record, batch) for record in self.records)

    def exists(self, partition: TopicPartition) -> bool:
        """The partition has been added already."""
        return partition.number < self.partition_count

    def has_sent_batches(self, partition: TopicPartition) -> bool:
        """Some batch of the partition was sent and is pending."""
        return some(
            all_of(batch.was_sent, batch.partition == partition.number) for batch in self.batches
        )


def start(topic: Topic) -> None:
    """Nothing is sent, and the partitions that are added later are not there."""
    topic.partition_count = maximum(1, topic.bound(PARTITIONS) - topic.bound(ADDED_PARTITIONS))
