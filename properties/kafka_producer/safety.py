"""What a producer is promised of its records, and what it is not.

All of it is read off the logs and off what the application was told; how the producer goes about it
is in no promise.
"""

from __future__ import annotations

from model.acks import Acks
from model.kafka_producer.settings import Partitioner, is_idempotent, retries
from model.kafka_producer.state import Answer, Batch, Status, Topic, TopicPartition
from model.language import Model, all_of, any_of, count, every, implies, not_, some
from properties.claims import always


def _something_is_appended(topic: Topic) -> bool:
    return some(not_(partition.log.is_empty) for partition in topic.partitions)


def _two_batches_in_a_log(topic: Topic) -> bool:
    return some(partition.log.end > 1 for partition in topic.partitions)


def _is_idempotent(model: Model) -> bool:
    """The producer numbers its batches, and does not die."""
    return is_idempotent(model.settings) and model.bounds["producer_restarts"] == 0


def _sends_once(model: Model) -> bool:
    """No record is sent again: not by a producer, and not by one in place of one that died."""
    return not retries(model.settings) and model.bounds["producer_restarts"] == 0


def _keeps_keys_together(model: Model) -> bool:
    """Partitions are chosen by key, and their number does not change."""
    by_key = model.settings.partitioner != Partitioner.ROUND_ROBIN
    return by_key and model.bounds["added_partitions"] == 0


def _keeps_order(model: Model) -> bool:
    """By sequence; or nothing is late, and batches go one at a time, or nothing is sent again."""
    in_turn = model.settings.max_in_flight == 1 or _sends_once(model)
    return _is_idempotent(model) or (in_turn and model.bounds["late_requests"] == 0)


def _loses_nothing(model: Model) -> bool:
    """acks=all, or acks=1 and no leader that loses what it has answered."""
    acks = model.settings.acks
    return acks == Acks.ALL or (acks == Acks.LEADER and model.bounds["power_losses"] == 0)


def shares_key(topic: Topic, one: Batch, other: Batch) -> bool:
    """Some record of each has the same key."""
    return some(
        all_of(
            topic.is_in(record, one),
            topic.is_in(later, other),
            not_(is_keyless(topic, record.number)),
            record.key == later.key,
        )
        for record in topic.records
        for later in topic.records
    )


def is_keyless(topic: Topic, number: int) -> bool:
    """The record of this number has no key."""
    return every(topic.records[number].key != key for key in topic.keys)


def overtakes(topic: Topic, partition: TopicPartition, first: Batch, later: Batch) -> bool:
    """A batch is in the log before an earlier one with a record of the same key."""
    log = partition.log
    return some(
        all_of(
            log.has(position),
            log[position].batch == later.number,
            not_(log.holds_before(first.number, position)),
        )
        for position in log.positions
    ) & log.holds(first.number)


@always(
    "batches_are_whole",
    "a batch is in a log with all its records, or not at all",
    premise=lambda topic: some(
        all_of(topic.size(batch) > 1, topic.partitions[batch.partition].log.holds(batch.number))
        for batch in topic.batches
    ),
    failure="{partition} holds a part of the batch at position {position} of its log",
    breach="keeps a part of a batch",
    broken_by="kafka_producer batch.is.one.entry=false acks=1",
    promised=lambda model: (
        bool(model.settings.batch_is_one_entry) or model.bounds["power_losses"] == 0
    ),
)
def batches_are_whole(topic: Topic) -> bool:
    """All or nothing: one append, one entry of the log, one checksum."""
    return every(
        implies(partition.log.has(position), not_(partition.log[position].torn))
        for partition in topic.partitions
        for position in partition.log.positions
    )


@always(
    "a_key_has_one_partition",
    "all records with one key go to one partition",
    premise=lambda topic: some(
        all_of(topic.is_issued(record), record.number > 0, not_(is_keyless(topic, record.number)))
        for record in topic.records
    ),
    failure="{record} and {other} have one key, and are in different partitions",
    breach="sends one key to two partitions",
    broken_by="kafka_producer partitioner.class=round_robin",
    promised=_keeps_keys_together,
)
def a_key_has_one_partition(topic: Topic) -> bool:
    """Otherwise nobody reads them in order: between partitions there is none."""
    return every(
        implies(
            all_of(
                topic.is_issued(record),
                topic.is_issued(other),
                not_(is_keyless(topic, record.number)),
                record.key == other.key,
            ),
            topic.batches[record.batch].partition == topic.batches[other.batch].partition,
        )
        for record in topic.records
        for other in topic.records
    )


@always(
    "a_key_keeps_its_order",
    "in a partition, records with one key are in the order in which they were sent",
    premise=_two_batches_in_a_log,
    failure="{partition} holds {later} before {batch}, which was sent before it",
    breach="reorders records of one key",
    broken_by="kafka_producer enable.idempotence=false",
    promised=_keeps_order,
)
def a_key_keeps_its_order(topic: Topic) -> bool:
    """Of a batch that is there twice the first counts: the second is a duplicate."""
    return every(
        implies(
            all_of(
                batch.partition == partition.number,
                later.partition == partition.number,
                batch.number < later.number,
                shares_key(topic, batch, later),
            ),
            not_(overtakes(topic, partition, batch, later)),
        )
        for partition in topic.partitions
        for batch in topic.batches
        for later in topic.batches
    )


@always(
    "no_record_is_appended_twice",
    "no record is in a log twice",
    premise=_something_is_appended,
    failure="{partition} holds {batch} more than once",
    breach="appends a record twice",
    broken_by="kafka_producer enable.idempotence=false",
    promised=lambda model: _is_idempotent(model) or _sends_once(model),
)
def no_record_is_appended_twice(topic: Topic) -> bool:
    """A retry whose first try was appended must be known for what it is."""
    return every(
        count(
            all_of(partition.log.has(position), partition.log[position].batch == batch.number)
            for position in partition.log.positions
        )
        < 2
        for partition in topic.partitions
        for batch in topic.batches
    )


@always(
    "acknowledged_records_are_in_a_log",
    "every record that the application is told is safe is in a log, or retention deleted it",
    premise=lambda topic: some(batch.status == Status.ACKNOWLEDGED for batch in topic.batches),
    failure="{batch} is acknowledged, and is in no log",
    breach="acknowledges a record that is in no log",
    broken_by="kafka_producer acks=0",
    promised=_loses_nothing,
)
def acknowledged_records_are_in_a_log(topic: Topic) -> bool:
    """The rest is the brokers' promise: what is in the log stays there."""
    return every(
        implies(
            any_of(batch.status == Status.ACKNOWLEDGED, batch.answer == Answer.APPENDED),
            topic.partitions[batch.partition].log.holds(batch.number),
        )
        for batch in topic.batches
    )


@always(
    "no_gap",
    "if a batch of an idempotent producer is in a log, so is every earlier one, or it has failed",
    premise=_two_batches_in_a_log,
    failure="{later} is in the log, and {batch} before it is not",
    breach="appends a batch before an earlier one",
    broken_by="kafka_producer first.sequence=any",
    promised=_is_idempotent,
)
def no_gap(topic: Topic) -> bool:
    """What sequence numbers are for."""
    return every(
        implies(
            all_of(
                batch.partition == later.partition,
                batch.number < later.number,
                any_of(batch.is_pending, batch.status == Status.ACKNOWLEDGED),
                topic.partitions[batch.partition].log.holds(later.number),
            ),
            topic.partitions[batch.partition].log.holds(batch.number),
        )
        for batch in topic.batches
        for later in topic.batches
    )


@always(
    "out_of_order_means_a_gap",
    "a broker calls a batch out of order only if an earlier one is missing",
    of_steps=True,
    premise=_something_is_appended,
    failure="{batch} is refused as out of order, though all before it are in the log",
    breach="is refused as out of order though no batch is missing",
    broken_by="kafka_producer producer.epoch.by.partition=false first.sequence=zero_if_empty",
    promised=_is_idempotent,
)
def out_of_order_means_a_gap(before: Topic, after: Topic) -> bool:
    """Otherwise a healthy partition pays for another's trouble, with an epoch and a retry."""
    return every(
        implies(
            all_of(
                batch.status == Status.QUEUED,
                after.batches[batch.number].answer == Answer.OUT_OF_ORDER,
            ),
            some(
                all_of(
                    other.number < batch.number,
                    other.partition == batch.partition,
                    other.status != Status.NONE,
                    not_(before.partitions[batch.partition].log.holds(other.number)),
                )
                for other in before.batches
            ),
        )
        for batch in before.batches
    )


@always(
    "sticky_partitions_get_a_full_batch",
    "the sticky partitioner leaves a partition only after it got batch.size of records without key",
    of_steps=True,
    premise=lambda topic: topic.producer.sticky > 0,
    breach="leaves a partition before a batch is full",
    broken_by="kafka_producer partitioner.class=sticky",
    promised=lambda model: (
        model.settings.partitioner == Partitioner.UNIFORM_STICKY
        and model.bounds["producer_restarts"] == 0
    ),
)
def sticky_partitions_get_a_full_batch(before: Topic, after: Topic) -> bool:
    """Each partition gets as many records as any other, however slow its broker is (KIP-794)."""
    sticky, number = before.producer.sticky, before.producer.next_record
    here = after.batches[after.records[number].batch].partition + 1 == sticky
    had = before.producer.stint + count(
        all_of(here, record.number == number) for record in after.records
    )
    return implies(
        all_of(
            sticky > 0,
            after.producer.sticky != sticky,
            after.spent.keyless_records > before.spent.keyless_records,
        ),
        had >= before.options.batch_size,
    )


@always(
    "failed_records_are_in_no_log",
    "no record that the application was told has failed is in a log",
    premise=lambda topic: some(batch.status == Status.FAILED for batch in topic.batches),
    failure="{batch} is in the log, and the application was told that it failed",
    breach="reports a record as failed that is in the log",
    broken_by="kafka_producer retries=0",
    promised=lambda _: False,
)
def failed_records_are_in_no_log(topic: Topic) -> bool:
    """What no producer promises: a timeout says nothing of what the broker did."""
    return every(
        implies(
            batch.status == Status.FAILED,
            not_(topic.partitions[batch.partition].log.holds(batch.number)),
        )
        for batch in topic.batches
    )
