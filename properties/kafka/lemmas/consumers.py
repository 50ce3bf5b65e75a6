"""Lemmas about the broker model's consumer: what it is at, and what it has processed."""

from __future__ import annotations

from model.kafka.choices import ConsumerCommits
from model.kafka.state import TopicPartition
from model.language import all_of, every, implies, not_, some
from properties.claims import always
from properties.kafka.consumers import was_processed
from properties.kafka.lemmas.faults import where_claimed
from properties.kafka.lemmas.logs import has, id_at


@always(
    "exposed_at_one_offset",
    "a record that was exposed was issued, and stands at that offset in every log that holds it",
    failure="record {row.exposed} was exposed at {row}, and {broker} holds it at offset {offset}",
    broken_by="a follower that appends to the wrong offset",
)
@where_claimed
def exposed_at_one_offset(partition: TopicPartition) -> bool:
    """So no record is exposed twice."""
    return every(
        all_of(
            row.exposed < partition.next_record,
            every(
                implies(
                    all_of(
                        row.exposed >= 0,
                        has(partition, broker, offset),
                        id_at(partition, broker, offset) == row.exposed,
                    ),
                    offset == row.number,
                )
                for broker in partition.brokers
                for offset in broker.log.positions
            ),
            every(
                implies(
                    all_of(row.exposed >= 0, row.exposed == other.exposed),
                    row.number == other.number,
                )
                for other in partition.offsets
            ),
        )
        for row in partition.offsets
    )


def polls_what_was_exposed(partition: TopicPartition) -> bool:
    """The consumer polls, and then processes, one record after another of those exposed."""
    consumer = partition.consumer
    return all_of(
        consumer.processed <= consumer.position,
        consumer.position <= consumer.processed + 1,
        every(
            implies(row.number < consumer.position, row.exposed >= 0) for row in partition.offsets
        ),
        every(
            implies(
                record.processed > 0,
                some(row.exposed == record.number for row in partition.offsets),
            )
            for record in partition.records
        ),
    )


def leaves_no_gap(partition: TopicPartition) -> bool:
    """Committing what it has processed: everything before that was processed, once or more."""
    consumer = partition.consumer
    return all_of(
        consumer.committed <= consumer.processed,
        every(
            all_of(
                implies(row.number < consumer.processed, was_processed(partition, row.number)),
                every(
                    implies(
                        all_of(earlier.number < row.number, was_processed(partition, row.number)),
                        was_processed(partition, earlier.number),
                    )
                    for earlier in partition.offsets
                ),
            )
            for row in partition.offsets
        ),
    )


def goes_never_back(partition: TopicPartition) -> bool:
    """Committing what it has polled: nothing from there on was processed."""
    consumer = partition.consumer
    return all_of(
        consumer.committed == consumer.position,
        every(record.processed < 2 for record in partition.records),
        every(
            implies(row.number >= consumer.processed, not_(was_processed(partition, row.number)))
            for row in partition.offsets
        ),
    )


@always(
    "consumer_in_order",
    "the consumer polls what was exposed, one record ahead of what it has processed; it leaves no "
    "gap, or, committing first, never goes back",
    failure="the consumer has polled, processed and committed up to {partition.consumer.position}, "
    "{partition.consumer.processed} and {partition.consumer.committed}, and the records do not "
    "agree with that",
    broken_by="a consumer that commits what it has not polled",
)
@where_claimed
def consumer_in_order(partition: TopicPartition) -> bool:
    """Where it resumes decides between at least once and at most once."""
    if partition.options.consumer_commits == ConsumerCommits.BEFORE:
        return all_of(polls_what_was_exposed(partition), goes_never_back(partition))
    return all_of(polls_what_was_exposed(partition), leaves_no_gap(partition))
