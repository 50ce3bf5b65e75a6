"""What happens to partitions and to the producer: leaders, power, retention, restarts, growth."""

from __future__ import annotations

from model.acks import Acks
from model.kafka_producer.bounds import (
    DELETIONS,
    LEADER_CHANGES,
    PARTITIONS,
    POWER_LOSSES,
    PRODUCER_RESTARTS,
)
from model.kafka_producer.state import Status, Topic, TopicPartition
from model.language import action, all_of, choose, not_, require, some, spend


@action(
    "another broker leads {partition}",
    at="Partition.makeLeader",
    since="0.8.1",
    about="KAFKA-3197",
)
def broker_change_leader(topic: Topic, partition: TopicPartition) -> None:
    """Requests in flight are on a connection to the old leader, and its late ones are refused.

    Where nothing is in flight, the producer does not notice.
    """
    require(
        some(
            all_of(
                batch.status == Status.IN_FLIGHT,
                batch.partition == partition.number,
                not_(batch.to_old_leader),
            )
            for batch in topic.batches
        )
    )

    spend(topic, LEADER_CHANGES)
    for batch in topic.batches:
        here = batch.partition == partition.number
        in_flight = all_of(here, batch.status == Status.IN_FLIGHT)
        batch.to_old_leader = choose(in_flight, True, batch.to_old_leader)
        batch.late.reset(where=here)


def _require_power_loss(topic: Topic, partition: TopicPartition) -> None:
    require(topic.options.acks != Acks.ALL)
    require(partition.log.end > partition.log_start)


@action(
    "the leader of {partition} loses power, and its last batch",
    at="LogSegment.recover",
    since="0.8.1",
    settings="acks",
)
def broker_lose_power(topic: Topic, partition: TopicPartition) -> None:
    """Lose what followers did not have. What acks=all answered is on every replica in sync."""
    _require_power_loss(topic, partition)

    spend(topic, POWER_LOSSES)
    partition.log.truncate_to(partition.log.end - 1)


@action(
    "the leader of {partition} loses power, and a part of its last batch",
    at="LogSegment.recover",
    since="0.8.1",
    about="KIP-98",
    settings="batch.is.one.entry",
)
def broker_lose_power_within_batch(topic: Topic, partition: TopicPartition) -> None:
    """Lose some records of a batch, where each is an entry of the log with its own checksum.

    With message format 2 recovery cuts where a batch begins (`LogSegment.recover`).
    """
    require(not topic.options.batch_is_one_entry)
    _require_power_loss(topic, partition)
    last = partition.log[partition.log.end - 1]
    require(not_(last.torn), topic.size(topic.batches[last.batch]) > 1)

    spend(topic, POWER_LOSSES)
    last.torn = True


@action(
    "retention deletes the records of {partition}",
    at="UnifiedLog.maybeIncrementLogStartOffset",
    since="0.8.1",
    about="KAFKA-7190",
)
def broker_delete_records(topic: Topic, partition: TopicPartition) -> None:
    """Move the log start to the log's end; what was there is remembered here."""
    require(partition.log.end > partition.log_start)

    spend(topic, DELETIONS)
    partition.log_start = partition.log.end


@action(
    "the producer dies; another sends again what was not acknowledged",
    at="TransactionManager.bumpIdempotentEpochAndResetIdIfNeeded",
    since="0.8.1",
    about="KIP-98",
)
def producer_restart(topic: Topic) -> None:
    """Without transactional.id another producer id: brokers take it for somebody else.

    The application sends every record whose fate it does not know, and batches them as before.
    """
    require(topic.producer.id < topic.bound(PRODUCER_RESTARTS))
    require(some(batch.is_pending for batch in topic.batches))

    topic.producer.id = topic.producer.id + 1
    topic.producer.epoch = 0
    topic.producer.sticky = 0
    topic.producer.stint = 0
    for batch in topic.batches:
        batch.status = choose(batch.is_pending, Status.QUEUED, batch.status)
        batch.forget_requests()
    for partition in topic.partitions:
        partition.epoch = 0
        partition.next_sequence = 0
        partition.acked_end = 0
        partition.unresolved_end = 0
        partition.rewrite = False


@action(
    "an operator adds a partition",
    at="ReplicationControlManager.createPartitions",
    since="0.8.1",
)
def operator_add_partition(topic: Topic) -> None:
    """From now on keys hash to the new number of partitions, so each perhaps elsewhere."""
    require(topic.partition_count < topic.bound(PARTITIONS))

    topic.partition_count = topic.partition_count + 1
    for key in topic.keys:
        key.home = 0
