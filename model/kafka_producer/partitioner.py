"""Which partition a record goes to: `DefaultPartitioner`, `BuiltInPartitioner` and their elders.

The hash is left open: a key that is new, or whose partition may be another since partitions were
added, goes anywhere; after that all its records go there. So does what is drawn at random.
"""

from __future__ import annotations

from model.kafka_producer.bounds import KEYLESS_RECORDS
from model.kafka_producer.record_accumulator import append_record, has_records_left, has_room
from model.kafka_producer.settings import Partitioner
from model.kafka_producer.state import Key, Topic, TopicPartition
from model.language import (
    action,
    all_of,
    any_of,
    choose,
    every,
    implies,
    is_left,
    not_,
    require,
    some,
    use_up,
)

TAKING_TURNS = (Partitioner.HASH_ROUND_ROBIN, Partitioner.ROUND_ROBIN)


@action(
    "the application sends a record with {key}, which goes to {partition}",
    at="KafkaProducer.doSend",
    since="0.8.1",
    settings="partitioner.class, batch.size",
)
def application_send(topic: Topic, key: Key, partition: TopicPartition) -> None:
    """Hash the key, or with RoundRobinPartitioner take the next partition; append to its batch."""
    require(topic.exists(partition), has_records_left(topic))
    turns = topic.options.partitioner == Partitioner.ROUND_ROBIN
    if turns:
        _require_turn(topic, partition)
    else:
        require(any_of(key.home == 0, key.home == partition.number + 1))

    if turns:
        _pass_turn(topic)
    else:
        key.home = partition.number + 1
    topic.records[topic.producer.next_record].key = key
    append_record(topic, partition)


@action(
    "the application sends a record without a key, which goes to {partition}",
    at="BuiltInPartitioner.updatePartitionInfo",
    since="0.8.1",
    about="KIP-480, KIP-794, KAFKA-10888",
    settings="partitioner.class, batch.size",
)
def application_send_without_key(topic: Topic, partition: TopicPartition) -> None:
    """Take the next partition, or stay with one for a while, as the partitioner does."""
    kind = topic.options.partitioner
    require(is_left(topic, KEYLESS_RECORDS))
    require(topic.exists(partition), has_records_left(topic))
    if kind in TAKING_TURNS:
        _require_turn(topic, partition)
    elif kind == Partitioner.STICKY:
        _require_stuck_until_new_batch(topic, partition)
    else:
        sticky = topic.producer.sticky
        over = _turn_is_over_by_now(topic)
        require(any_of(sticky == 0, over, partition.number + 1 == sticky))
        topic.producer.stint = choose(over, 0, topic.producer.stint)

    use_up(topic, KEYLESS_RECORDS)
    if kind in TAKING_TURNS:
        _pass_turn(topic)
    append_record(topic, partition)
    if kind == Partitioner.STICKY:
        _stick(topic, partition)
    elif kind == Partitioner.UNIFORM_STICKY:
        _stick_for_a_batch(topic, partition)


def _require_turn(topic: Topic, partition: TopicPartition) -> None:
    """One partition after the other."""
    require(partition.number == topic.producer.next_partition)


def _pass_turn(topic: Topic) -> None:
    """The next partition is next."""
    following = topic.producer.next_partition + 1
    topic.producer.next_partition = choose(following == topic.partition_count, 0, following)


def _require_stuck_until_new_batch(topic: Topic, partition: TopicPartition) -> None:
    """KIP-480: stay as long as no new batch is needed there, then go to another partition.

    A partition whose batch cannot be sent fills it; one whose batch goes at once gets one record.
    """
    sticky = topic.producer.sticky
    open_there = some(
        all_of(has_room(topic, batch), batch.partition + 1 == sticky) for batch in topic.batches
    )
    same = partition.number + 1 == sticky
    leaves = all_of(not_(open_there), sticky > 0, topic.partition_count > 1)
    require(implies(open_there, same), implies(leaves, not_(same)))


def _stick(topic: Topic, partition: TopicPartition) -> None:
    """The record went to this partition, as the ones before it or as the first."""
    producer = topic.producer
    same = partition.number + 1 == producer.sticky
    producer.stint = choose(same, producer.stint, 0) + 1
    producer.sticky = partition.number + 1


def _turn_is_over_by_now(topic: Topic) -> bool:
    """`partitionChanged`: a turn that an open batch has kept going is over once that was sent, or
    filled by others.
    """
    producer = topic.producer
    return all_of(
        producer.stint >= topic.options.batch_size, _is_all_full(topic, producer.sticky - 1)
    )


def _is_all_full(topic: Topic, partition: int) -> bool:
    """No batch of the partition takes another record (`allBatchesFull`)."""
    return every(
        implies(batch.partition == partition, not_(has_room(topic, batch)))
        for batch in topic.batches
    )


def _stick_for_a_batch(topic: Topic, partition: TopicPartition) -> None:
    """KIP-794: stay for `batch.size`, and until the batch there is full, but not for twice that."""
    producer = topic.producer
    stint = producer.stint + 1
    leaves = turn_is_over(stint, _is_all_full(topic, partition.number), topic.options.batch_size)
    producer.stint = choose(leaves, 0, stint)
    producer.sticky = choose(leaves, 0, partition.number + 1)


def turn_is_over(stint: int, full: bool, batch_size: int) -> bool:
    """`updatePartitionInfo`, with records for bytes."""
    return any_of(all_of(stint >= batch_size, full), stint >= batch_size + batch_size)
