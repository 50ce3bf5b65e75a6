"""Markers: `TransactionMarkerChannelManager`.

A marker is under way to each partition that a coordinator, in its own view, has not heard of yet.
So are those of a coordinator that was replaced, until it knows.
"""

from __future__ import annotations

from model.kafka_transactions.bounds import FAILED_SENDS, LATE_MARKERS, MISSED_ANSWERS
from model.kafka_transactions.producer_append_info import append_marker, takes_marker
from model.kafka_transactions.state import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    PREPARE_COMMIT,
    Coordinator,
    Partition,
    Status,
    TransactionalId,
)
from model.kafka_transactions.transaction_metadata import completing, is_there
from model.kafka_transactions.transaction_state_manager import (
    append,
    blank_the_replaced,
    has_room,
    is_free,
)
from model.language import action, all_of, choose, not_, require, spend


def _write(txn: TransactionalId, coordinator: Coordinator, partition: Partition) -> None:
    """The partition takes the marker, or the coordinator sends no more of this transaction."""
    taken = takes_marker(txn, partition, coordinator.epoch, coordinator.number)
    append_marker(txn, partition, coordinator.state, coordinator.epoch, coordinator.number, taken)
    coordinator.partitions = choose(
        taken, coordinator.partitions.without_member(partition), coordinator.partitions
    )
    coordinator.status = choose(taken, coordinator.status, Status.GIVEN_UP)
    _leave_under_way(txn, coordinator, partition, not_(taken))
    if not txn.options.cancels_only_its_own_markers:
        _cancel_the_newest(txn, not_(txn.leads(coordinator)))
    blank_the_replaced(txn)


def _leave_under_way(
    txn: TransactionalId, coordinator: Coordinator, partition: Partition, where: bool
) -> None:
    """Markers for other partitions that were sent before one is refused still arrive, if `where`.

    Nobody waits for their answers. The model has room for one that is late in a partition.
    """
    for other in txn.partitions:
        late = other.late_marker
        here = all_of(where, other != partition, coordinator.partitions.contains(other))
        here = all_of(here, late.kind == EMPTY)
        late.kind = choose(here, coordinator.state, late.kind)
        late.epoch = choose(here, coordinator.epoch, late.epoch)
        late.coordinator_epoch = choose(here, coordinator.number, late.coordinator_epoch)


def _cancel_the_newest(txn: TransactionalId, where: bool) -> None:
    """The newest coordinator sends no more markers of this transaction, if `where`.

    Both are of one broker, which keeps what it has to send by the transactional id alone.
    """
    for coordinator in txn.coordinators:
        cancelled = all_of(txn.leads(coordinator), coordinator.sends_markers)
        cancelled = all_of(where, cancelled, not_(coordinator.pending))
        coordinator.status = choose(cancelled, Status.GIVEN_UP, coordinator.status)


def _require_marker(txn: TransactionalId, coordinator: Coordinator, partition: Partition) -> None:
    require(coordinator.sends_markers, coordinator.partitions.contains(partition))


@action(
    "{partition} gets the marker of {coordinator}",
    at="TransactionMarkerRequestCompletionHandler.onComplete",
    since="0.11.0.0",
    about="KIP-98, KAFKA-19446",
    settings="marker.epoch.is.newer",
)
def partition_get_marker(
    txn: TransactionalId, coordinator: Coordinator, partition: Partition
) -> None:
    """It ends what the producer has open there. A refusal cancels all the markers."""
    _require_marker(txn, coordinator, partition)

    _write(txn, coordinator, partition)


@action(
    "{partition} gets the marker of {coordinator}, and another copy is under way",
    at="TransactionMarkerChannelManager.addTxnMarkersToBrokerQueue",
    since="0.11.0.0",
    about="KAFKA-19446",
    settings="marker.epoch.is.newer",
)
def partition_get_marker_and_again(
    txn: TransactionalId, coordinator: Coordinator, partition: Partition
) -> None:
    """The first request has timed out for the coordinator, which has sent another."""
    late = partition.late_marker
    _require_marker(txn, coordinator, partition)
    require(late.kind == EMPTY)

    spend(txn, LATE_MARKERS)
    late.kind = coordinator.state
    late.epoch = coordinator.epoch
    late.coordinator_epoch = coordinator.number
    _write(txn, coordinator, partition)


@action(
    "{partition} gets a copy of a marker, late",
    at="UnifiedLog.appendAsLeader",
    since="0.11.0.0",
    about="KIP-890, KAFKA-19446",
    settings="marker.epoch.is.newer",
)
def partition_get_late_marker(txn: TransactionalId, partition: Partition) -> None:
    """Nobody waits for its answer."""
    late = partition.late_marker
    require(late.kind != EMPTY)
    taken = takes_marker(txn, partition, late.epoch, late.coordinator_epoch)

    append_marker(txn, partition, late.kind, late.epoch, late.coordinator_epoch, taken)
    late.reset()


@action(
    "{coordinator} completes the transaction",
    at="TransactionMarkerChannelManager.maybeWriteTxnCompletion",
    since="0.11.0.0",
    about="KIP-98",
)
def coordinator_complete(txn: TransactionalId, coordinator: Coordinator) -> None:
    """Every partition has its marker."""
    require(is_free(txn, coordinator), coordinator.sends_markers)
    require(coordinator.partitions.is_empty, has_room(txn))
    require(is_there(txn, completing(txn, coordinator)))

    state = choose(coordinator.state == PREPARE_COMMIT, COMPLETE_COMMIT, COMPLETE_ABORT)
    append(txn, coordinator, state, completing(txn, coordinator), txn.partitions.none())


@action(
    "{coordinator} cannot send the marker for {partition}",
    at="InterBrokerSendThread.doWork",
    since="0.11.0.0",
    about="KAFKA-6052",
    settings="markers.are.sent.again",
)
def coordinator_fail_to_send(
    txn: TransactionalId, coordinator: Coordinator, partition: Partition
) -> None:
    """The broker is not connected, and the request is thrown away."""
    require(not txn.options.markers_are_sent_again)
    _require_marker(txn, coordinator, partition)

    spend(txn, FAILED_SENDS)
    coordinator.status = Status.GIVEN_UP
    blank_the_replaced(txn)


@action(
    "{coordinator} does not notice that all markers are written",
    at="DelayedTxnMarker.tryComplete",
    since="0.11.0.0",
    about="KAFKA-9777",
    settings="completion.is.noticed",
)
def coordinator_miss_completion(txn: TransactionalId, coordinator: Coordinator) -> None:
    """The last answer comes while another thread has the lock, and nobody looks again."""
    require(not txn.options.completion_is_noticed)
    require(is_free(txn, coordinator), coordinator.sends_markers, coordinator.partitions.is_empty)

    spend(txn, MISSED_ANSWERS)
    coordinator.status = Status.GIVEN_UP
