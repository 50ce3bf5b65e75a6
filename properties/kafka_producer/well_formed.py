"""What the producer model's state is like: one state has one representation."""

from __future__ import annotations

from model.kafka_producer.state import Answer, Batch, Status, Topic
from model.language import all_of, any_of, every, implies, not_, some
from properties.claims import always


def _is_blank(batch: Batch) -> bool:
    """Nothing is remembered of how the batch was sent."""
    return all_of(
        batch.answer == Answer.NONE,
        not_(batch.retried),
        not_(batch.to_old_leader),
        not_(batch.renumbered),
        not_(batch.ahead),
        batch.epoch == 0,
        batch.sequence == 0,
    )


def _is_numbered(topic: Topic, batch: Batch) -> bool:
    """The batch's sequences are among those that its partition has given out in its epoch."""
    partition = topic.partitions[batch.partition]
    return all_of(
        batch.epoch == partition.epoch,
        batch.sequence + topic.size(batch) <= partition.next_sequence,
    )


@always(
    "well_formed",
    "batches and partitions remember what they need, and nothing else",
    premise=lambda topic: some(batch.was_sent for batch in topic.batches),
    breach="is in a malformed state",
    broken_by="a producer that keeps the answer to a batch",
)
def well_formed(topic: Topic) -> bool:
    """One state has one representation, and sequences are given out in order."""
    idempotent = topic.idempotent
    batches = every(
        all_of(
            implies(not_(batch.was_sent), _is_blank(batch)),
            implies(batch.status == Status.NONE, batch.partition == 0),
            implies(
                batch.status == Status.QUEUED,
                all_of(batch.answer == Answer.NONE, not_(batch.to_old_leader)),
            ),
            implies(batch.status == Status.QUEUED, not_(any_of(batch.renumbered, batch.ahead))),
            implies(
                all_of(batch.status == Status.IN_FLIGHT, batch.answer == Answer.NONE),
                topic.spent.late_requests > 0,
            ),
            implies(batch.status != Status.NONE, topic.records[batch.number].batch == batch.number),
            topic.size(batch) <= topic.options.batch_size,
        )
        for batch in topic.batches
    )
    records = every(
        all_of(
            record.batch <= record.number,
            implies(topic.is_issued(record), topic.batches[record.batch].status != Status.NONE),
            implies(not_(topic.is_issued(record)), record.batch == 0),
        )
        for record in topic.records
    )
    partitions = every(
        all_of(
            partition.epoch <= topic.producer.epoch,
            partition.acked_end <= partition.next_sequence,
            partition.unresolved_end <= partition.next_sequence,
            partition.log_start <= partition.log.end,
        )
        for partition in topic.partitions
    )
    in_order = every(
        implies(
            all_of(batch.was_sent, later.was_sent, batch.is_before(later)),
            batch.sequence + topic.size(batch) <= later.sequence,
        )
        for batch in topic.batches
        for later in topic.batches
    )
    numbered = every(implies(batch.was_sent, _is_numbered(topic, batch)) for batch in topic.batches)
    numbers = all_of(numbered, in_order) if idempotent else True
    return all_of(batches, records, partitions, numbers)
