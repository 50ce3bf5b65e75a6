"""What must happen to every batch in the end, under the fairness of `model/kafka_producer`."""

from __future__ import annotations

from model.kafka_producer.state import Batch, Topic
from model.language import not_
from properties.liveness import Liveness, leads_to


def _is_pending(topic: Topic, batch: Batch) -> bool:
    return batch.is_pending


@leads_to(
    "every_batch_is_answered",
    "every record that is sent is acknowledged or fails at last",
    _is_pending,
    of="batches",
    broken_by="kafka_producer first.sequence=any",
)
def every_batch_is_answered(topic: Topic, batch: Batch) -> bool:
    """Even if nothing ever expires: an idempotent producer does not send in vain for ever."""
    return not_(batch.is_pending)


KAFKA_PRODUCER_LIVENESS: tuple[Liveness, ...] = (every_batch_is_answered,)
