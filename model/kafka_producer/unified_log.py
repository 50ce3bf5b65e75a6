"""`UnifiedLog`: which batches a broker takes from a producer, and what it writes of them."""

from __future__ import annotations

from model.kafka_producer import producer_append_info
from model.kafka_producer.producer_append_info import Check
from model.kafka_producer.state import Batch, Topic
from model.kafka_producer.transaction_manager import epoch_of, sequence_of
from model.language import not_, require


def checked(topic: Topic, batch: Batch) -> Check:
    """What a broker finds as it looks at the sequence of a batch."""
    return producer_append_info.check(
        topic,
        topic.partitions[batch.partition],
        topic.producer.id,
        epoch_of(topic, batch),
        sequence_of(topic, batch),
    )


def is_known(topic: Topic, batch: Batch) -> bool:
    """The broker knows that it has the batch."""
    return producer_append_info.is_duplicate(
        topic,
        topic.partitions[batch.partition],
        batch,
        topic.producer.id,
        epoch_of(topic, batch),
        sequence_of(topic, batch),
    )


def require_in_order(topic: Topic, batch: Batch) -> None:
    """The log has room, the broker does not have the batch, and its sequence is the next one."""
    require(not_(topic.partitions[batch.partition].log.is_full))
    if topic.idempotent:
        require(not_(is_known(topic, batch)), checked(topic, batch) == Check.IN_ORDER)


def append(topic: Topic, batch: Batch) -> None:
    """Append the batch whole."""
    log = topic.partitions[batch.partition].log
    if not topic.idempotent:
        log.append(batch=batch.number)
        return
    log.append(
        batch=batch.number,
        producer=topic.producer.id,
        epoch=epoch_of(topic, batch),
        sequence=sequence_of(topic, batch),
    )
