"""`Sender`: batches are sent, answered, put back, and failed.

Requests on one connection are handled in the order in which they were sent, so what the broker does
with a batch is one step with sending it, and its answer is under way after that. What is handled
out of that order is late: `sender_send_late_batch`.
"""

from __future__ import annotations

from model.acks import Acks
from model.kafka_producer import producer_append_info
from model.kafka_producer.bounds import (
    BROKER_ERRORS,
    EXPIRED_BATCHES,
    LATE_REQUESTS,
    LOST_CONNECTIONS,
    REFUSED_BATCHES,
)
from model.kafka_producer.producer_append_info import Check
from model.kafka_producer.record_accumulator import in_flight, may_be_sent
from model.kafka_producer.settings import retries
from model.kafka_producer.state import Answer, Batch, Status, Topic, TopicPartition
from model.kafka_producer.transaction_manager import (
    epoch_of,
    give_numbers,
    note_acknowledged,
    note_out_of_order,
    note_refused,
    note_unresolved,
    sequence_of,
)
from model.kafka_producer.unified_log import append, checked, is_known, require_in_order
from model.language import action, all_of, any_of, choose, not_, require, some, spend


@action(
    "{batch} is sent and appended",
    at="UnifiedLog.append",
    since="0.8.1",
    about="KIP-98, KAFKA-3197, KAFKA-15591",
    settings=(
        "enable.idempotence, acks, max.in.flight.requests.per.connection, "
        "in.flight.mutes.partition, first.sequence, producer.epoch.by.partition"
    ),
)
def sender_send_batch(topic: Topic, batch: Batch) -> None:
    """Send a batch whole, in one request; the leader appends it."""
    _require_sendable(topic, batch)
    require_in_order(topic, batch)

    append(topic, batch)
    _answer(topic, batch, Answer.APPENDED)


@action(
    "{batch} is sent again; the broker recognises the duplicate",
    at="ProducerStateEntry.findDuplicateBatch",
    since="0.11.0.0",
    about="KIP-98, KAFKA-5494, KAFKA-7190",
    settings="producer.batches.kept, producer.state.outlives.records",
)
def sender_send_known_batch(topic: Topic, batch: Batch) -> None:
    """Send a batch that was appended, though the answer was lost: it is answered as then."""
    require(topic.idempotent)
    _require_sendable(topic, batch)
    require(is_known(topic, batch))

    _answer(topic, batch, Answer.APPENDED)


@action(
    "{batch} is sent; its sequence is out of order",
    at="ProducerAppendInfo.checkSequence",
    since="0.11.0.0",
    about="KIP-98, KAFKA-12152, KAFKA-15591",
    settings="first.sequence, producer.epoch.by.partition",
)
def sender_send_out_of_order_batch(topic: Topic, batch: Batch) -> None:
    """Send a batch that the broker does not append, since others should be before it."""
    require(topic.idempotent)
    _require_sendable(topic, batch)
    require(not_(is_known(topic, batch)), checked(topic, batch) != Check.IN_ORDER)

    fenced = checked(topic, batch) == Check.FENCED
    _answer(topic, batch, choose(fenced, Answer.REFUSED, Answer.OUT_OF_ORDER))


@action(
    "{batch} is sent; the response is a retriable error",
    at="ReplicaManager.appendRecords",
    since="0.8.1",
    settings="acks",
)
def sender_send_batch_in_vain(topic: Topic, batch: Batch) -> None:
    """Send a batch that is not appended: NOT_LEADER_OR_FOLLOWER, NOT_ENOUGH_REPLICAS."""
    _require_sendable(topic, batch)

    spend(topic, BROKER_ERRORS)
    _answer(topic, batch, Answer.RETRIABLE)


@action(
    "{batch} is sent and appended; the response is a retriable error",
    at="Partition.checkEnoughReplicasReachOffset",
    since="0.8.2.0",
)
def sender_send_unreplicated_batch(topic: Topic, batch: Batch) -> None:
    """Send a batch that is appended: NOT_ENOUGH_REPLICAS_AFTER_APPEND, REQUEST_TIMED_OUT.

    It is replicated after that, as far as `kafka` says.
    """
    require(topic.options.acks == Acks.ALL)
    _require_sendable(topic, batch)
    require_in_order(topic, batch)

    spend(topic, BROKER_ERRORS)
    append(topic, batch)
    _answer(topic, batch, Answer.RETRIABLE)


@action(
    "{batch} is sent; the response is a fatal error",
    at="UnifiedLog.analyzeAndValidateRecords",
    since="0.8.1",
    settings="acks",
)
def sender_send_refused_batch(topic: Topic, batch: Batch) -> None:
    """Send a batch that no broker takes, such as one that is too large."""
    _require_sendable(topic, batch)

    spend(topic, REFUSED_BATCHES)
    _answer(topic, batch, Answer.REFUSED)


@action(
    "{batch} is sent; its request is delayed",
    at="NetworkClient.handleTimedOutRequests",
    since="0.8.1",
    settings="enable.idempotence",
)
def sender_send_late_batch(topic: Topic, batch: Batch) -> None:
    """Send a batch that the broker handles some time, perhaps after the producer gave it up."""
    require(topic.options.acks != Acks.NONE)
    require(not_(batch.late.under_way))
    _require_sendable(topic, batch)

    spend(topic, LATE_REQUESTS)
    batch.late.under_way = True
    if topic.idempotent:
        batch.late.producer = topic.producer.id
        batch.late.epoch = epoch_of(topic, batch)
        batch.late.sequence = sequence_of(topic, batch)
    _answer(topic, batch, Answer.NONE)


@action(
    "the broker handles the delayed request with {batch}",
    at="KafkaApis.handleProduceRequest",
    since="0.8.1",
    settings="enable.idempotence",
)
def broker_handle_late_request(topic: Topic, batch: Batch) -> None:
    """Append it, if it may be appended; nobody waits for an answer."""
    late, partition = batch.late, topic.partitions[batch.partition]
    require(late.under_way, not_(partition.log.is_full))
    if topic.idempotent:
        numbers = (late.producer, late.epoch, late.sequence)
        known = producer_append_info.is_duplicate(topic, partition, batch, *numbers)
        verdict = producer_append_info.check(topic, partition, *numbers)
        require(not_(known), verdict == Check.IN_ORDER)

    if topic.idempotent:
        partition.log.append(
            batch=batch.number, producer=late.producer, epoch=late.epoch, sequence=late.sequence
        )
    else:
        partition.log.append(batch=batch.number)
    late.reset()


@action(
    "the producer receives the response for {batch}",
    at="Sender.completeBatch",
    since="0.8.1",
    settings="enable.idempotence",
)
def producer_receive_answer(topic: Topic, batch: Batch) -> None:
    """Complete the batch, and tell the application."""
    _require_first_answer(topic, batch, Answer.APPENDED)

    if topic.idempotent:
        note_acknowledged(topic, batch)
    batch.end(Status.ACKNOWLEDGED)


@action(
    "the producer receives an error for {batch} and requeues it",
    at="Sender.reenqueueBatch",
    since="0.8.1",
    settings="enable.idempotence, retries",
)
def producer_receive_error(topic: Topic, batch: Batch) -> None:
    """Send it again later; without retries, fail it."""
    _require_first_answer(topic, batch, Answer.RETRIABLE)

    put_back(topic, batch)


@action(
    "the producer receives OUT_OF_ORDER_SEQUENCE_NUMBER for {batch} and requeues it",
    at="TransactionManager.canRetry",
    since="1.0.0",
    about="KAFKA-5494, KAFKA-14034",
    settings="epoch.bump",
)
def producer_receive_out_of_order(topic: Topic, batch: Batch) -> None:
    """Put it back; perhaps a new producer epoch is needed."""
    require(topic.idempotent)
    _require_first_answer(topic, batch, Answer.OUT_OF_ORDER)

    note_out_of_order(topic, batch)
    put_back(topic, batch)


@action(
    "the producer receives a fatal error for {batch} and fails it",
    at="TransactionManager.handleFailedBatch",
    since="0.8.1",
    about="KIP-360, KAFKA-14034",
    settings="enable.idempotence, epoch.bump",
)
def producer_receive_refusal(topic: Topic, batch: Batch) -> None:
    """Tell the application; an idempotent producer mends the gap in its sequences."""
    _require_first_answer(topic, batch, Answer.REFUSED)

    if topic.idempotent:
        note_refused(topic, batch)
    batch.end(Status.FAILED)


@action(
    "the producer's request with {batch} times out",
    at="NetworkClient.handleTimedOutRequests",
    since="0.9.0.0",
    settings="retries",
)
def producer_time_out(topic: Topic, batch: Batch) -> None:
    """`request.timeout.ms`: the request was late."""
    require(batch.status == Status.IN_FLIGHT, batch.answer == Answer.NONE)

    put_back(topic, batch)


@action(
    "{batch} expires by delivery.timeout.ms",
    at="RecordAccumulator.expiredBatches",
    since="0.9.0.0",
    about="KIP-91",
    settings="enable.idempotence",
)
def producer_expire_batch(topic: Topic, batch: Batch) -> None:
    """Fail the oldest batch of a partition, whatever is under way (`expiredBatches`)."""
    require(batch.is_pending)
    require(
        not_(
            some(
                all_of(
                    other.is_pending,
                    other.partition == batch.partition,
                    other.number < batch.number,
                )
                for other in topic.batches
            )
        )
    )

    spend(topic, EXPIRED_BATCHES)
    if topic.idempotent:
        partition = topic.partitions[batch.partition]
        before = partition.unresolved_end
        note_unresolved(topic, batch)
        partition.unresolved_end = choose(batch.retried, partition.unresolved_end, before)
    batch.end(Status.FAILED)


@action(
    "the connection to the leader of {partition} is lost",
    at="NetworkClient.cancelInFlightRequests",
    since="0.8.1",
    settings="retries",
)
def producer_lose_connection(topic: Topic, partition: TopicPartition) -> None:
    """Put back all that was in flight on it; their answers are lost."""
    require(some(_on_connection(batch, partition) for batch in topic.batches))

    spend(topic, LOST_CONNECTIONS)
    for batch in topic.batches:
        lost = _on_connection(batch, partition)
        if retries(topic.options):
            batch.status = choose(lost, Status.QUEUED, batch.status)
            batch.retried = choose(lost, True, batch.retried)
        else:
            batch.status = choose(lost, Status.FAILED, batch.status)
        batch.answer = choose(lost, Answer.NONE, batch.answer)
        batch.renumbered = choose(lost, False, batch.renumbered)
        batch.ahead = choose(lost, False, batch.ahead)


def put_back(topic: Topic, batch: Batch) -> None:
    """`reenqueueBatch`; without retries the batch fails."""
    if not retries(topic.options):
        batch.end(Status.FAILED)
        return
    batch.status = Status.QUEUED
    batch.retried = True
    batch.answer = Answer.NONE
    batch.to_old_leader = False
    batch.renumbered = False
    batch.ahead = False


def _on_connection(batch: Batch, partition: TopicPartition) -> bool:
    return all_of(
        batch.status == Status.IN_FLIGHT,
        batch.partition == partition.number,
        not_(batch.to_old_leader),
    )


def _require_sendable(topic: Topic, batch: Batch) -> None:
    """The queue lets it go, nothing late is before it, and no new producer epoch is due."""
    require(may_be_sent(topic, batch))
    require(
        not_(
            some(
                all_of(
                    in_flight(topic, batch, other),
                    other.answer == Answer.NONE,
                    not_(other.to_old_leader),
                )
                for other in topic.batches
            )
        )
    )
    if topic.idempotent:
        require(not_(some(partition.rewrite for partition in topic.partitions)))


def _require_first_answer(topic: Topic, batch: Batch, answer: Answer) -> None:
    """This answer is next. They come as the requests went; without sequences, that is left open.

    No more than one batch that was put back is in flight: it was sent after those that are ahead.
    """
    require(batch.status == Status.IN_FLIGHT, batch.answer == answer)
    if topic.idempotent:
        require(
            not_(
                some(
                    all_of(
                        in_flight(topic, batch, other),
                        other != batch,
                        other.to_old_leader == batch.to_old_leader,
                        _was_sent_before(other, batch),
                    )
                    for other in topic.batches
                )
            )
        )


def _was_sent_before(other: Batch, batch: Batch) -> bool:
    """Of two batches in flight on one connection."""
    first = choose(other.retried, not_(batch.ahead), other.number < batch.number)
    return choose(batch.retried, other.ahead, first)


def _answer(topic: Topic, batch: Batch, answer: Answer) -> None:
    """The batch is in flight, and this is on its way; with acks=0 that is success, whatever."""
    if topic.idempotent:
        give_numbers(topic, batch)
        for other in topic.batches:
            passed = all_of(batch.retried, in_flight(topic, batch, other))
            other.ahead = any_of(other.ahead, passed)
    batch.status = Status.IN_FLIGHT
    batch.answer = answer
    if topic.options.acks == Acks.NONE:
        batch.end(Status.ACKNOWLEDGED)
