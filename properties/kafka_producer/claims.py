"""The producer model's properties, in order, and its witnesses: what it must be able to do.

`safety` says what is promised of records, `well_formed` what its state is like.
"""

from __future__ import annotations

from model.kafka_producer.state import Status, Topic
from model.language import all_of, count, every, some
from properties.claims import Property, sometimes
from properties.kafka_producer import safety
from properties.kafka_producer.well_formed import well_formed


@sometimes("a_batch_has_two_records", "a batch of two records is appended")
def a_batch_has_two_records(topic: Topic) -> bool:
    """Without that, batching would be idle."""
    return some(
        all_of(topic.size(batch) > 1, topic.partitions[batch.partition].log.holds(batch.number))
        for batch in topic.batches
    )


@sometimes("two_batches_are_in_flight", "two batches of a partition wait for their answers")
def two_batches_are_in_flight(topic: Topic) -> bool:
    """Without that, nothing could overtake."""
    return some(
        count(
            all_of(batch.status == Status.IN_FLIGHT, batch.partition == partition.number)
            for batch in topic.batches
        )
        > 1
        for partition in topic.partitions
    )


@sometimes("a_retry_is_acknowledged", "a batch that was sent before is acknowledged", of_steps=True)
def a_retry_is_acknowledged(before: Topic, after: Topic) -> bool:
    """Without retries, there would be nothing to take for a duplicate."""
    return some(
        all_of(batch.retried, after.batches[batch.number].status == Status.ACKNOWLEDGED)
        for batch in before.batches
    )


@sometimes("every_record_is_acknowledged", "the application has sent all, and all is acknowledged")
def every_record_is_acknowledged(topic: Topic) -> bool:
    """The end that everybody hopes for."""
    return every(
        all_of(topic.is_issued(record), topic.batches[record.batch].status == Status.ACKNOWLEDGED)
        for record in topic.records
    )


KAFKA_PRODUCER_PROPERTIES: tuple[Property, ...] = (
    safety.batches_are_whole,
    safety.a_key_has_one_partition,
    safety.a_key_keeps_its_order,
    safety.no_record_is_appended_twice,
    safety.acknowledged_records_are_in_a_log,
    safety.no_gap,
    safety.out_of_order_means_a_gap,
    safety.sticky_partitions_get_a_full_batch,
    well_formed,
    safety.failed_records_are_in_no_log,
    a_batch_has_two_records,
    two_batches_are_in_flight,
    a_retry_is_acknowledged,
    every_record_is_acknowledged,
)
