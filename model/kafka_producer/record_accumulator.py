"""`RecordAccumulator`: batches that wait to be sent, in a queue for each partition."""

from __future__ import annotations

from model.kafka_producer.state import Batch, Status, Topic, TopicPartition
from model.language import all_of, choose, count, implies, largest, not_, some

NO_BATCH = -1


def has_room(topic: Topic, batch: Batch) -> bool:
    """The batch takes another record: it was never sent, and `batch.size` is not reached.

    A batch that a producer sent before it died is sent again as it was, so it takes none.
    """
    partition = topic.partitions[batch.partition]
    return all_of(
        batch.is_new,
        topic.size(batch) < topic.options.batch_size,
        not_(partition.log.holds(batch.number)),
        not_(batch.late.under_way),
    )


def has_records_left(topic: Topic) -> bool:
    """The application sends another record at all."""
    return topic.producer.next_record < topic.bound("max_records")


def append_record(topic: Topic, partition: TopicPartition) -> None:
    """Put the next record into the partition's open batch, or begin one with it."""
    number = topic.producer.next_record
    open_batch = largest(
        choose(
            all_of(has_room(topic, batch), batch.partition == partition.number),
            batch.number,
            NO_BATCH,
        )
        for batch in topic.batches
    )
    begins = open_batch == NO_BATCH
    topic.records[number].batch = choose(begins, number, open_batch)
    topic.batches[number].status = choose(begins, Status.QUEUED, Status.NONE)
    topic.batches[number].partition = choose(begins, partition.number, 0)
    topic.producer.next_record = number + 1


def may_be_sent(topic: Topic, batch: Batch) -> bool:
    """The queue lets the batch go, and there is room for it on the connection (`drain`).

    Batches that were put back are before all others. An idempotent producer sends of those the one
    with the lowest sequence that has no answer yet; else any may come first, as the last that was
    put back does in Kafka. `linger.ms` may be over at any moment.
    """
    return all_of(
        batch.status == Status.QUEUED,
        _connection_has_room(topic, batch),
        choose(batch.retried, _retry_is_next(topic, batch), _new_is_next(topic, batch)),
    )


def in_flight(topic: Topic, batch: Batch, other: Batch) -> bool:
    """The other batch is in flight, and of the same partition."""
    return all_of(other.status == Status.IN_FLIGHT, other.partition == batch.partition)


def _connection_has_room(topic: Topic, batch: Batch) -> bool:
    """`max.in.flight.requests.per.connection`, and `mutePartition` if that is 1."""
    options = topic.options
    on_connection = count(
        all_of(in_flight(topic, batch, other), not_(other.to_old_leader)) for other in topic.batches
    )
    room = on_connection < options.max_in_flight
    if options.max_in_flight == 1 and options.in_flight_mutes_partition:
        return all_of(room, not_(some(in_flight(topic, batch, other) for other in topic.batches)))
    return room


def _retry_is_next(topic: Topic, batch: Batch) -> bool:
    """Of an idempotent producer, no earlier batch of the partition is without an answer."""
    if not topic.idempotent:
        return True
    return not_(some(other.is_before(batch) for other in topic.batches))


def _new_is_next(topic: Topic, batch: Batch) -> bool:
    """Nothing of the partition is before it in the queue, nor is its sequence in question."""
    first = not_(
        some(
            all_of(
                other.status == Status.QUEUED,
                other.partition == batch.partition,
                implies(other.is_new, other.number < batch.number),
            )
            for other in topic.batches
        )
    )
    if not topic.idempotent:
        return first
    partition = topic.partitions[batch.partition]
    settled = implies(
        partition.epoch != topic.producer.epoch, not_(topic.has_sent_batches(partition))
    )
    return all_of(first, settled, partition.unresolved_end == 0)
