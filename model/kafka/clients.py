"""Producer and consumer."""

from __future__ import annotations

from model.acks import Acks
from model.kafka import unified_log
from model.kafka.bounds import CONSUMER_RESTARTS, CONSUMERS
from model.kafka.choices import ConsumerCommits
from model.kafka.partition import advance_high_watermark
from model.kafka.state import Broker, TopicPartition
from model.language import action, any_of, choose, minimum, not_, require, spend


@action(
    "the producer sends its next record, and {leader} appends it",
    at="Partition.appendRecordsToLeader",
    since="0.8.0",
    settings="acks, min.insync.replicas",
)
def producer_send(partition: TopicPartition, leader: Broker) -> None:
    """Append a record at a broker that believes it leads; acks=all needs enough ISR members.

    With acks 0 and 1 it is acknowledged in this step, with acks=all when the HW passes it.
    """
    require_room(partition, leader)

    append_next_record(partition, leader)


def require_room(partition: TopicPartition, leader: Broker) -> None:
    """The broker would append another record."""
    require(leader.leads)
    require(partition.next_record < partition.bound("max_records"))
    require(not_(leader.log.is_full))
    if partition.options.acks == Acks.ALL:
        require(leader.isr.size >= partition.min_isr_of(leader))


def append_next_record(partition: TopicPartition, leader: Broker) -> None:
    """Append it; see `producer_send`."""
    unified_log.append(partition, leader, partition.next_record, leader.leader_epoch)
    if partition.options.acks != Acks.ALL:
        partition.records[partition.next_record].acknowledged = True
    partition.next_record = partition.next_record + 1
    advance_high_watermark(partition, leader)


def serves_consumers(partition: TopicPartition, broker: Broker) -> bool:
    """Consumers may read from the broker: a presumed leader, or by KIP-392 a follower."""
    if partition.options.follower_reads:
        return broker.is_online
    return broker.leads


def _commits_first(partition: TopicPartition) -> bool:
    return partition.options.consumer_commits == ConsumerCommits.BEFORE


@action(
    "the consumer polls {broker}",
    at="FetchCollector.collectFetch",
    since="0.9.0",
    about="KIP-392",
    settings="follower.reads, consumer.commits",
)
def consumer_poll(partition: TopicPartition, broker: Broker) -> None:
    """Fetch the next record below the HW. Committing first, it commits before processing it."""
    consumer = partition.consumer
    require(partition.bound(CONSUMERS) > 0)
    require(serves_consumers(partition, broker))
    require(broker.log_start <= consumer.position, consumer.position < broker.high_watermark)
    require(consumer.processed == consumer.position)

    consumer.position = consumer.position + 1
    if _commits_first(partition):
        consumer.committed = consumer.position


@action("the consumer processes the record that it polled", at="the application")
def consumer_process(partition: TopicPartition) -> None:
    """Do the work for a record: the ghost of the record that was exposed there counts it."""
    consumer = partition.consumer
    require(consumer.processed < consumer.position)

    for record in partition.records:
        here = partition.offsets[consumer.processed].exposed == record.number
        record.processed = choose(here, minimum(record.processed + 1, 2), record.processed)
    consumer.processed = consumer.processed + 1


@action(
    "the consumer commits its offset",
    at="ConsumerCoordinator.commitOffsetsSync",
    since="0.9.0",
    settings="consumer.commits",
)
def consumer_commit(partition: TopicPartition) -> None:
    """Commit the position after processing."""
    consumer = partition.consumer
    require(not _commits_first(partition))
    require(consumer.processed == consumer.position)
    require(consumer.committed != consumer.position)

    consumer.committed = consumer.position


@action(
    "the consumer dies, and another resumes at the committed offset",
    at="ConsumerCoordinator.initWithCommittedOffsetsIfNeeded",
    since="0.9.0",
)
def consumer_restart(partition: TopicPartition) -> None:
    """Start over where the offset was last committed."""
    consumer = partition.consumer
    require(partition.bound(CONSUMERS) > 0)
    require(
        any_of(consumer.committed != consumer.position, consumer.processed != consumer.position)
    )

    spend(partition, CONSUMER_RESTARTS)
    consumer.processed = consumer.committed
    consumer.position = consumer.committed
