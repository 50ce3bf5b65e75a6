"""What a consumer does with what it holds: poll, process, commit (`KafkaConsumer`).

A poll returns one record of one partition; the application processes it before it polls that
partition again. A commit is of all that the consumer holds, in one request.
"""

from __future__ import annotations

from model.kafka_group.offsets import accepts, commit, commits_first
from model.kafka_group.state import Consumer, Group, Partition
from model.language import action, all_of, any_of, choose, minimum, not_, require, some


@action(
    "a record is appended to {partition}",
    at="the application",
    since="0.9.0.0",
)
def producer_send(group: Group, partition: Partition) -> None:
    """A record is committed in the partition; the broker model is about how."""
    require(group.exists(partition), not_(partition.log.is_full))

    partition.log.append()


@action(
    "{consumer} polls {partition}",
    at="ClassicKafkaConsumer.pollForFetches",
    since="0.9.0.0",
    about="KAFKA-14196",
    settings="consumer.commits, revocation.stops.fetching",
)
def consumer_poll(group: Group, consumer: Consumer, partition: Partition) -> None:
    """Get the next record. Committing first, its offset is committed before it is processed."""
    require(partition.holders.contains(consumer))
    require(partition.position[consumer] < partition.log.end)
    require(partition.done[consumer] == partition.position[consumer])
    if group.options.revocation_stops_fetching:
        require(not_(consumer.committed_to_rejoin))

    partition.position[consumer] = partition.position[consumer] + 1
    if commits_first(group):
        commit(group, partition, consumer, partition.position[consumer], True)


@action(
    "{consumer} processes the record of {partition} that it polled",
    at="the application",
    since="0.9.0.0",
)
def consumer_process(group: Group, consumer: Consumer, partition: Partition) -> None:
    """Do the work for a record. A ghost counts it."""
    offset = partition.done[consumer]
    require(partition.holders.contains(consumer))
    require(offset < partition.position[consumer])

    for here in partition.log.positions:
        times = partition.log[here].processed
        partition.log[here].processed = choose(here == offset, minimum(times + 1, 2), times)
    partition.done[consumer] = offset + 1


@action(
    "{consumer} commits what it has processed",
    at="OffsetMetadataManager.validateOffsetCommit",
    since="0.9.0.0",
    settings="consumer.commits, commit.checks.generation",
)
def consumer_commit(group: Group, consumer: Consumer) -> None:
    """Commit all positions. A request that is refused, or whose answer is lost, changes nothing."""
    require(not commits_first(group))
    require(group.is_idle(consumer))
    require(some(_has_news(group, row, consumer) for row in group.partitions))

    for row in group.partitions:
        commit(group, row, consumer, row.done[consumer], row.holders.contains(consumer))


def _has_news(group: Group, row: Partition, consumer: Consumer) -> bool:
    """A commit of the partition would be taken, and say something new."""
    return all_of(
        row.holders.contains(consumer),
        any_of(row.done[consumer] != row.committed, row.cut >= 0),
        accepts(group, row, consumer),
    )
