"""What a consumer is promised: at least once, in order; and exactly once, which it is not."""

from __future__ import annotations

from model.kafka.state import TopicPartition
from model.language import Model, all_of, every, implies, not_, some
from properties.claims import always


def has_consumers(model: Model) -> bool:
    """There is a consumer at all."""
    return model.bounds["consumers"] > 0


def was_processed(partition: TopicPartition, offset: int) -> bool:
    """The consumer has processed the record that was exposed at `offset`."""
    exposed = partition.offsets[offset].exposed
    return some(
        all_of(exposed == record.number, record.processed > 0) for record in partition.records
    )


@always(
    "no_record_skipped",
    "the consumer has processed every record below the offset that it is at",
    premise=lambda p: p.consumer.processed > 0,
    failure="the consumer is past {row}, and never processed its record",
    broken_by="kafka consumer.commits=before_processing",
    promised=has_consumers,
    breach="lets a consumer skip a record",
)
def no_record_skipped(partition: TopicPartition) -> bool:
    """At least once."""
    return every(
        implies(row.number < partition.consumer.processed, was_processed(partition, row.number))
        for row in partition.offsets
    )


@always(
    "no_record_delivered_twice",
    "the consumer processes no record twice",
    premise=lambda p: p.consumer.processed > 0,
    failure="{record} was processed twice",
    broken_by="kafka with a consumer that dies before it commits",
    promised=lambda _: False,
    breach="lets a consumer process a record twice",
)
def no_record_delivered_twice(partition: TopicPartition) -> bool:
    """At most once: what plain consumers do not promise."""
    return every(record.processed < 2 for record in partition.records)


@always(
    "order_kept",
    "the consumer processes no record for the first time after one of a later offset",
    of_steps=True,
    failure="{row} is processed for the first time, after {later}",
    broken_by="a consumer that polls out of order",
    promised=has_consumers,
)
def order_kept(before: TopicPartition, after: TopicPartition) -> bool:
    """First deliveries are in the order of the log."""
    return every(
        implies(
            all_of(
                row.number < later.number,
                not_(was_processed(before, row.number)),
                was_processed(after, row.number),
            ),
            not_(was_processed(before, later.number)),
        )
        for row in before.offsets
        for later in before.offsets
    )
