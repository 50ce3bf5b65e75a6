"""What the coordinator makes of requests: `TransactionCoordinator`.

A request that comes while the id is decided and not complete is answered CONCURRENT_TRANSACTIONS,
and is sent again: here it waits.
"""

from __future__ import annotations

from model.kafka_transactions.bounds import FAILED_APPENDS, STALE_ANSWERS, TIMEOUTS
from model.kafka_transactions.state import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    Coordinator,
    IdState,
    Kind,
    Partition,
    Phase,
    Sent,
    TransactionalId,
)
from model.kafka_transactions.transaction_manager import (
    hear_of_end,
    refuse_record,
    stop,
    wants_end,
    wants_init,
)
from model.kafka_transactions.transaction_metadata import (
    after,
    can_fence,
    fencing,
    is_last,
    is_there,
    may_have,
    overflows,
)
from model.kafka_transactions.transaction_state_manager import append, has_room, is_free
from model.language import action, all_of, any_of, choose, not_, require, spend


@action(
    "{coordinator} handles AddPartitionsToTxn for {partition}",
    at="TransactionCoordinator.handleAddPartitionsToTransaction",
    since="0.11.0.0",
    about="KIP-98",
    settings="transaction.version",
)
def coordinator_add_partition(
    txn: TransactionalId, coordinator: Coordinator, partition: Partition
) -> None:
    """Append that the partition is in the transaction; or it is, and the record may be sent.

    A producer that can only abort drops it: `RecordAccumulator.abortUndrainedBatches`.
    """
    require(not txn.has_versions_2)
    require(is_free(txn, coordinator), not_(coordinator.decided))
    require(partition.record == Sent.ADDING, has_room(txn))
    fenced = txn.producer.epoch != coordinator.epoch
    is_in = all_of(
        not_(fenced), coordinator.state == ONGOING, coordinator.partitions.contains(partition)
    )

    sends = choose(txn.producer.phase == Phase.OPEN, Sent.SENT, Sent.NONE)
    partition.record = choose(is_in, sends, partition.record)
    _add(txn, coordinator, partition, all_of(not_(fenced), not_(is_in)))
    stop(txn, fenced)


def _add(txn: TransactionalId, coordinator: Coordinator, partition: Partition, where: bool) -> None:
    """Append the transaction with one partition more, if `where`."""
    partitions = coordinator.partitions.with_member(partition)
    append(txn, coordinator, ONGOING, coordinator.epoch, partitions, where)


@action(
    "{coordinator} is asked whether {partition} is in the transaction of a record",
    at="TransactionCoordinator.handleVerifyPartitionsInTransaction",
    since="3.6.0",
    about="KIP-890, KAFKA-14402",
    settings="transaction.version",
)
def coordinator_verify(
    txn: TransactionalId, coordinator: Coordinator, partition: Partition
) -> None:
    """The broker that leads the partition asks, and with version 2 has it added."""
    require(txn.verifies, partition.record == Sent.SENT, coordinator.acts)
    fenced = txn.producer.epoch != coordinator.epoch
    _verify(txn, coordinator, partition, fenced)

    is_in = coordinator.partitions.contains(partition)
    ongoing = all_of(not_(fenced), coordinator.state == ONGOING)
    partition.record = choose(all_of(ongoing, is_in), Sent.VERIFIED, partition.record)
    if txn.has_versions_2:
        _add(txn, coordinator, partition, all_of(not_(fenced), not_(all_of(ongoing, is_in))))
        refuse_record(txn, partition, fenced)
    else:
        refuse_record(txn, partition, not_(all_of(ongoing, is_in)))


def _verify(
    txn: TransactionalId, coordinator: Coordinator, partition: Partition, fenced: bool
) -> None:
    """Whether the coordinator can answer. One that was replaced is asked only for what helps."""
    is_in = all_of(
        not_(fenced), coordinator.state == ONGOING, coordinator.partitions.contains(partition)
    )
    free = all_of(is_free(txn, coordinator), not_(coordinator.decided), has_room(txn))
    if txn.has_versions_2:
        is_in = all_of(is_in, not_(coordinator.pending))
    require(any_of(is_in, free))


@action(
    "{coordinator} is asked whether {partition} is in the transaction of a record that is late",
    at="TransactionCoordinator.handleVerifyPartitionsInTransaction",
    since="3.6.0",
    about="KIP-890, KAFKA-14402",
    settings="transaction.version",
)
def coordinator_verify_late(
    txn: TransactionalId, coordinator: Coordinator, partition: Partition
) -> None:
    """The same for a record that the producer has given up."""
    late = partition.late_record
    require(txn.verifies, late.sent == Sent.SENT, coordinator.acts)
    fenced = late.epoch != coordinator.epoch
    _verify(txn, coordinator, partition, fenced)

    is_in = coordinator.partitions.contains(partition)
    ongoing = all_of(not_(fenced), coordinator.state == ONGOING)
    late.sent = choose(all_of(ongoing, is_in), Sent.VERIFIED, late.sent)
    if txn.has_versions_2:
        _add(txn, coordinator, partition, all_of(not_(fenced), not_(all_of(ongoing, is_in))))
        late.reset(where=fenced)
    else:
        late.reset(where=not_(all_of(ongoing, is_in)))


def decide(
    txn: TransactionalId, coordinator: Coordinator, state: IdState, where: bool, bumps: bool
) -> None:
    """Append that the transaction is decided, if `where`; with the next epoch if it bumps."""
    ongoing = coordinator.state == ONGOING
    partitions = choose(ongoing, coordinator.partitions, txn.partitions.none())
    epoch = coordinator.epoch + 1 if bumps else coordinator.epoch
    append(txn, coordinator, state, epoch, partitions, where)


def fence(txn: TransactionalId, coordinator: Coordinator, where: bool) -> None:
    """Append that the transaction is aborted, with an epoch that the producer has not, if `where`.

    Where that would go beyond the last one the cache alone has it. Up to version 1 the cache has it
    before it is committed.
    """
    fails = overflows(txn, coordinator)
    epoch = fencing(txn, coordinator)
    append(
        txn, coordinator, PREPARE_ABORT, epoch, coordinator.partitions,
        all_of(where, not_(fails)), True,
    )  # fmt: skip
    at_once = choose(fails, coordinator.epoch + 1, epoch)
    where = where if not txn.has_versions_2 else all_of(where, fails)
    coordinator.epoch = choose(where, at_once, coordinator.epoch)


def ends(
    txn: TransactionalId, coordinator: Coordinator, kind: Kind, epoch: int
) -> tuple[bool, bool, bool]:
    """Of EndTxn with this epoch: whether it decides, is done already, or has to wait.

    Otherwise it is refused, with PRODUCER_FENCED or INVALID_TXN_STATE.
    """
    commits = kind == Kind.COMMIT
    at = coordinator.state
    complete = choose(commits, at == COMPLETE_COMMIT, at == COMPLETE_ABORT)
    prepared = choose(commits, at == PREPARE_COMMIT, at == PREPARE_ABORT)
    same = epoch == coordinator.epoch
    if not txn.has_versions_2:
        return all_of(same, at == ONGOING), all_of(same, complete), all_of(same, prepared)
    again = any_of(epoch + 1 == coordinator.epoch, after(txn, epoch) == coordinator.epoch)
    empty = all_of(not_(commits), any_of(at == EMPTY, at == COMPLETE_COMMIT, at == COMPLETE_ABORT))
    decides = all_of(same, any_of(at == ONGOING, empty))
    return decides, all_of(again, complete), all_of(again, prepared)


def can_go_up(txn: TransactionalId, coordinator: Coordinator) -> bool:
    """Its producer id has another epoch."""
    return all_of(not_(is_last(txn, coordinator.epoch)), may_have(txn, coordinator.epoch + 1))


def can_be_fenced(txn: TransactionalId, coordinator: Coordinator) -> bool:
    """There is an epoch for it, in Kafka and within the bounds."""
    return all_of(can_fence(txn, coordinator), may_have(txn, fencing(txn, coordinator)))


@action(
    "{coordinator} handles EndTxn",
    at="TransactionCoordinator.handleEndTransaction",
    since="0.11.0.0",
    about="KIP-98, KIP-890",
    settings="transaction.version",
)
def coordinator_end(txn: TransactionalId, coordinator: Coordinator) -> None:
    """Decide the transaction, or say that it is done. With version 2 the epoch goes up by one.

    What is decided is pending until it is complete, which is said before the epoch is looked at;
    up to version 1 after that.
    """
    producer = txn.producer
    require(is_free(txn, coordinator), wants_end(txn), has_room(txn))
    decides, done, _ = ends(txn, coordinator, producer.request, producer.epoch)
    waits = coordinator.decided
    if not txn.has_versions_2:
        waits = all_of(waits, producer.epoch == coordinator.epoch)
    require(not_(waits))
    if txn.has_versions_2:
        require(any_of(not_(decides), can_go_up(txn, coordinator)))

    state = choose(producer.request == Kind.COMMIT, PREPARE_COMMIT, PREPARE_ABORT)
    decide(txn, coordinator, state, decides, txn.has_versions_2)
    hear_of_end(txn, coordinator.epoch, done)
    stop(txn, not_(any_of(decides, done)))


@action(
    "{coordinator} handles a copy of EndTxn that is late",
    at="TransactionCoordinator.handleEndTransaction",
    since="0.11.0.0",
    about="KIP-890",
    settings="transaction.version",
)
def coordinator_end_late(txn: TransactionalId, coordinator: Coordinator) -> None:
    """Nobody waits for its answer."""
    late = txn.late_request
    require(is_free(txn, coordinator), late.kind != Kind.NONE, has_room(txn))
    decides, _, _ = ends(txn, coordinator, late.kind, late.epoch)
    if txn.has_versions_2:
        require(any_of(not_(decides), can_go_up(txn, coordinator)))

    state = choose(late.kind == Kind.COMMIT, PREPARE_COMMIT, PREPARE_ABORT)
    decide(txn, coordinator, state, decides, txn.has_versions_2)
    late.reset()


@action(
    "{coordinator}, which was replaced and does not know, answers EndTxn",
    at="TransactionCoordinator.handleEndTransaction",
    since="0.11.0.0",
    settings="transaction.version",
)
def coordinator_answer_from_cache(txn: TransactionalId, coordinator: Coordinator) -> None:
    """An append of its own would fail. It needs none to say that what it is asked for is done.

    The producer has found it through brokers that do not know of the other one either.
    """
    producer = txn.producer
    require(coordinator.acts, not_(txn.leads(coordinator)), wants_end(txn))
    _, done, _ = ends(txn, coordinator, producer.request, producer.epoch)
    require(done)

    spend(txn, STALE_ANSWERS)
    hear_of_end(txn, coordinator.epoch, True)


@action(
    "{coordinator} handles InitProducerId",
    at="TransactionCoordinator.handleInitProducerId",
    since="0.11.0.0",
    about="KIP-98, KIP-360",
)
def coordinator_init(txn: TransactionalId, coordinator: Coordinator) -> None:
    """Give the producer the next epoch; a transaction that is open is aborted first, with another.

    Who names an epoch that is not the newest is fenced, but for a retry, which is given that. An
    open transaction is aborted before the epoch is looked at.
    """
    producer = txn.producer
    require(is_free(txn, coordinator), wants_init(txn), has_room(txn))
    require(not_(coordinator.decided))
    bumps = producer.request == Kind.BUMP
    again = all_of(
        bumps,
        coordinator.state == EMPTY,
        after(txn, producer.epoch) == coordinator.epoch,
        not_(coordinator.loaded),
    )
    is_old = all_of(bumps, producer.epoch != coordinator.epoch, not_(again))
    fenced = all_of(is_old, coordinator.state != ONGOING)
    appends = not_(any_of(again, fenced))
    ongoing = all_of(appends, coordinator.state == ONGOING)
    begins = all_of(appends, coordinator.state != ONGOING)
    require(any_of(not_(begins), is_there(txn, after(txn, coordinator.epoch))))
    require(any_of(not_(ongoing), can_be_fenced(txn, coordinator)))

    next_epoch = after(txn, coordinator.epoch)
    fence(txn, coordinator, ongoing)
    given = choose(again, coordinator.epoch, next_epoch)
    append(txn, coordinator, EMPTY, given, txn.partitions.none(), any_of(begins, again))
    stop(txn, fenced)


@action(
    "{coordinator} aborts the transaction, whose time is over",
    at="TransactionCoordinator.abortTimedOutTransactions",
    since="0.11.0.0",
    about="KIP-98, KAFKA-6119",
    settings="timeouts.bump.the.epoch",
)
def coordinator_time_out(txn: TransactionalId, coordinator: Coordinator) -> None:
    """Abort with the next epoch, which fences the producer."""
    require(is_free(txn, coordinator), coordinator.state == ONGOING, has_room(txn))
    require(can_be_fenced(txn, coordinator))

    spend(txn, TIMEOUTS)
    if txn.has_versions_2 or txn.options.timeouts_bump_the_epoch:
        fence(txn, coordinator, True)
    else:
        decide(txn, coordinator, PREPARE_ABORT, True, False)


@action(
    "{coordinator} cannot log that the transaction is aborted",
    at="TransactionMetadata.prepareFenceProducerEpoch",
    since="0.11.0.0",
    about="KAFKA-9666",
    settings="failed.fences.count.once",
)
def coordinator_fail_to_fence(txn: TransactionalId, coordinator: Coordinator) -> None:
    """InitProducerId asks for it, and too few replicas are in sync. The cache has the epoch.

    With version 2 it has not (KAFKA-19367).
    """
    require(not txn.has_versions_2, not_(coordinator.failed_fence))
    require(is_free(txn, coordinator), coordinator.state == ONGOING, wants_init(txn))
    require(can_go_up(txn, coordinator))

    spend(txn, FAILED_APPENDS)
    coordinator.epoch += 1
    if txn.options.failed_fences_count_once:
        coordinator.failed_fence = True
