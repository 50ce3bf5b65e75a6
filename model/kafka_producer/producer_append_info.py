"""What a broker makes of a batch with a sequence: `ProducerStateManager`, `ProducerAppendInfo`.

A broker's knowledge of a producer is what the log says of it, as after a restart: each batch with
producer id, epoch and first sequence.
"""

from __future__ import annotations

from enum import IntEnum

from model.kafka_producer.settings import FirstSequence
from model.kafka_producer.state import Batch, Topic, TopicPartition
from model.language import all_of, any_of, choose, count, largest, not_, some

UNKNOWN = -1


class Check(IntEnum):
    """What `ProducerAppendInfo` says."""

    IN_ORDER = 0
    OUT_OF_ORDER = 1  # OutOfOrderSequenceException
    FENCED = 2  # InvalidProducerEpochException


def checked(
    known: bool, known_epoch: int, known_end: int, epoch: int, sequence: int, any_first: bool
) -> Check:
    """`checkProducerEpoch` and `checkSequence`.

    `known`: the broker has an entry for the producer id, whose epoch is `known_epoch`, and whose
    last batch ends before the sequence `known_end`. `any_first`: without an entry any sequence is
    taken.
    """
    expected = choose(all_of(known, epoch == known_epoch), known_end, 0)
    in_order = any_of(sequence == expected, all_of(not_(known), any_first))
    return choose(
        all_of(known, epoch < known_epoch),
        Check.FENCED,
        choose(in_order, Check.IN_ORDER, Check.OUT_OF_ORDER),
    )


def check(
    topic: Topic, partition: TopicPartition, producer: int, epoch: int, sequence: int
) -> Check:
    """What the partition's leader says of a batch with this id, epoch and first sequence."""
    log = partition.log
    last = last_position(topic, partition, producer)
    known_end = log[last].sequence + topic.size(topic.batches[log[last].batch])
    first = topic.options.first_sequence
    any_first = first == FirstSequence.ANY
    if first == FirstSequence.ZERO_IF_EMPTY:
        any_first = not_(log.is_empty)
    return checked(last != UNKNOWN, log[last].epoch, known_end, epoch, sequence, any_first)


def is_known(topic: Topic, partition: TopicPartition, producer: int, position: int) -> bool:
    """The broker remembers that the producer's batch at this position is its own."""
    log = partition.log
    known = all_of(log.has(position), log[position].producer == producer)
    if not topic.options.state_outlives_records:
        known = all_of(known, position >= partition.log_start)
    return known


def last_position(topic: Topic, partition: TopicPartition, producer: int) -> int:
    """Where the last batch is that the broker knows of the producer; `UNKNOWN` if nowhere."""
    return largest(
        choose(is_known(topic, partition, producer, position), position, UNKNOWN)
        for position in partition.log.positions
    )


def is_duplicate(
    topic: Topic, partition: TopicPartition, batch: Batch, producer: int, epoch: int, sequence: int
) -> bool:
    """`findDuplicateBatch`: one of the last batches of this epoch had the same sequences."""
    log = partition.log
    last = last_position(topic, partition, producer)
    return some(
        all_of(
            is_known(topic, partition, producer, position),
            log[position].epoch == epoch,
            log[last].epoch == epoch,
            log[position].sequence == sequence,
            topic.size(topic.batches[log[position].batch]) == topic.size(batch),
            _batches_since(topic, partition, producer, position) < topic.options.batches_kept,
        )
        for position in log.positions
    )


def _batches_since(topic: Topic, partition: TopicPartition, producer: int, position: int) -> int:
    """How many batches of the producer the broker has taken after the one at `position`."""
    return count(
        all_of(is_known(topic, partition, producer, later), later > position)
        for later in partition.log.positions
    )
