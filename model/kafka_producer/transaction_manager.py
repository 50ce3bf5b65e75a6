"""`TransactionManager`, `TxnPartitionEntry`: sequences and epochs of an idempotent producer.

As of 2.6 (KIP-360): a producer that is not transactional starts a new epoch by itself.
"""

from __future__ import annotations

from model.kafka_producer.bounds import EPOCH_BUMPS
from model.kafka_producer.settings import EpochBump
from model.kafka_producer.state import Batch, Status, Topic, TopicPartition
from model.language import (
    action,
    all_of,
    any_of,
    choose,
    count,
    maximum,
    not_,
    require,
    some,
)


def epoch_of(topic: Topic, batch: Batch) -> int:
    """The producer epoch that a batch is sent with now: its own, or if it is new the producer's."""
    return choose(batch.retried, batch.epoch, topic.producer.epoch)


def sequence_of(topic: Topic, batch: Batch) -> int:
    """The first sequence that a batch is sent with now: its own, or if it is new the next one."""
    partition = topic.partitions[batch.partition]
    following = choose(_starts_anew(topic, partition), 0, partition.next_sequence)
    return choose(batch.retried, batch.sequence, following)


def give_numbers(topic: Topic, batch: Batch) -> None:
    """Number the batch as it is sent; a new batch takes the partition's next sequences."""
    partition = topic.partitions[batch.partition]
    epoch, sequence = epoch_of(topic, batch), sequence_of(topic, batch)
    new = not_(batch.retried)
    anew = all_of(new, _starts_anew(topic, partition))
    partition.acked_end = choose(anew, 0, partition.acked_end)
    partition.next_sequence = choose(new, sequence + topic.size(batch), partition.next_sequence)
    partition.epoch = choose(new, epoch, partition.epoch)
    batch.epoch = epoch
    batch.sequence = sequence


def _starts_anew(topic: Topic, partition: TopicPartition) -> bool:
    """The producer's epoch is newer than the partition's (`maybeUpdateProducerIdAndEpoch`)."""
    if not topic.options.epoch_kept_by_partition:
        return False
    return partition.epoch != topic.producer.epoch


def note_acknowledged(topic: Topic, batch: Batch) -> None:
    """`maybeUpdateLastAckedSequence`."""
    partition = topic.partitions[batch.partition]
    partition.acked_end = maximum(partition.acked_end, batch.sequence + topic.size(batch))


def note_out_of_order(topic: Topic, batch: Batch) -> None:
    """`canRetry`: it is sent again always, and where nothing can fill the gap in a new epoch."""
    partition = topic.partitions[batch.partition]
    next_in_line = batch.sequence == partition.acked_end
    gap = choose(
        partition.unresolved_end == 0,
        all_of(next_in_line, not_(batch.renumbered)),
        batch.sequence == partition.unresolved_end,
    )
    if topic.options.epoch_bump == EpochBump.AFTER_ALL:
        gap = all_of(gap, not_(some(other.is_before(batch) for other in topic.batches)))
    partition.rewrite = any_of(partition.rewrite, gap)


def note_refused(topic: Topic, batch: Batch) -> None:
    """`handleFailedBatch`: the sequences of a batch that will never be appended are missing."""
    if topic.options.epoch_bump == EpochBump.AT_ONCE:
        topic.partitions[batch.partition].rewrite = True
    else:
        note_unresolved(topic, batch)


def note_unresolved(topic: Topic, batch: Batch) -> None:
    """`markSequenceUnresolved`: no new batch is sent until those in flight have their answers."""
    partition = topic.partitions[batch.partition]
    partition.unresolved_end = maximum(partition.unresolved_end, batch.sequence + topic.size(batch))


@action(
    "the sender resolves the sequences of {partition}",
    at="TransactionManager.maybeResolveSequences",
    since="1.0.0",
    about="KAFKA-5793",
)
def sender_resolve_sequences(topic: Topic, partition: TopicPartition) -> None:
    """`maybeResolveSequences`: without batches in flight, either all is acknowledged, or a gap."""
    require(topic.idempotent)
    require(partition.unresolved_end > 0, not_(topic.has_sent_batches(partition)))

    partition.unresolved_end = 0
    partition.rewrite = any_of(partition.rewrite, partition.next_sequence != partition.acked_end)


@action(
    "the sender starts a new producer epoch",
    at="TransactionManager.bumpIdempotentProducerEpoch",
    since="2.6.0",
    about="KIP-360, KAFKA-8805",
)
def sender_bump_epoch(topic: Topic) -> None:
    """`bumpIdempotentProducerEpoch`: batches in flight of the partitions that want it, and those
    put back, are numbered from 0 in the new epoch (`startSequencesAtBeginning`).
    """
    require(topic.idempotent)
    require(some(partition.rewrite for partition in topic.partitions))
    require(topic.producer.epoch < topic.bound(EPOCH_BUMPS))

    epoch = topic.producer.epoch + 1
    for batch in topic.batches:
        here = all_of(batch.was_sent, topic.partitions[batch.partition].rewrite)
        batch.sequence = choose(here, _records_before(topic, batch), batch.sequence)
        batch.epoch = choose(here, epoch, batch.epoch)
        batch.renumbered = any_of(batch.renumbered, all_of(here, batch.status == Status.IN_FLIGHT))
    for partition in topic.partitions:
        here = partition.rewrite
        partition.next_sequence = choose(
            here, _records_sent(topic, partition), partition.next_sequence
        )
        partition.epoch = choose(here, epoch, partition.epoch)
        partition.acked_end = choose(here, 0, partition.acked_end)
        partition.unresolved_end = choose(here, 0, partition.unresolved_end)
        partition.rewrite = False
    topic.producer.epoch = epoch


def _records_before(topic: Topic, batch: Batch) -> int:
    """How many records are in earlier batches of the partition that were sent and are pending."""
    return count(
        all_of(
            topic.is_issued(record),
            record.batch < batch.number,
            topic.batches[record.batch].was_sent,
            topic.batches[record.batch].partition == batch.partition,
        )
        for record in topic.records
    )


def _records_sent(topic: Topic, partition: TopicPartition) -> int:
    """How many records are in batches of the partition that were sent and are pending."""
    return count(
        all_of(
            topic.is_issued(record),
            topic.batches[record.batch].was_sent,
            topic.batches[record.batch].partition == partition.number,
        )
        for record in topic.records
    )
