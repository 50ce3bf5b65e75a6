"""The producer: `TransactionManager`. What it asks for, and what an answer does to it.

It sends one record to a partition in a transaction, and commits only what is acknowledged. It asks
again until it has an answer, so a request is state until then.
"""

from __future__ import annotations

from model.kafka_transactions.bounds import (
    LATE_PRODUCES,
    LATE_REQUESTS,
    RESTARTS,
    TRANSACTIONS,
)
from model.kafka_transactions.settings import AfterFailure
from model.kafka_transactions.state import (
    Kind,
    Partition,
    Phase,
    Sent,
    TransactionalId,
    Wish,
)
from model.language import action, all_of, any_of, choose, every, not_, require, spend


@action(
    "the producer sends a record to {partition}",
    at="TransactionManager.maybeAddPartition",
    since="0.11.0.0",
    about="KIP-98, KIP-890",
    settings="transaction.version",
)
def producer_send(txn: TransactionalId, partition: Partition) -> None:
    """Begin a transaction if there is none. Up to version 1 AddPartitionsToTxn goes first."""
    producer = txn.producer
    require(any_of(producer.phase == Phase.READY, producer.phase == Phase.OPEN))
    require(producer.request == Kind.NONE, partition.record == Sent.NONE)
    begins = producer.phase == Phase.READY
    require(any_of(not_(begins), producer.begun < txn.bound(TRANSACTIONS)))
    if not txn.has_versions_2:
        require(every(p.record != Sent.ADDING for p in txn.partitions))

    partition.record = Sent.SENT if txn.has_versions_2 else Sent.ADDING
    producer.begun = choose(begins, producer.begun + 1, producer.begun)
    producer.phase = Phase.OPEN


@action(
    "the producer asks to commit",
    at="TransactionManager.beginCommit",
    since="0.11.0.0",
    about="KIP-98",
)
def producer_commit(txn: TransactionalId) -> None:
    """All that it has sent in this transaction is acknowledged."""
    producer = txn.producer
    require(producer.phase == Phase.OPEN, txn.may_end())

    producer.request = Kind.COMMIT
    for transaction in txn.transactions:
        transaction.wish = choose(txn.is_current(transaction), Wish.COMMIT, transaction.wish)


@action(
    "the producer asks to abort",
    at="TransactionManager.beginAbort",
    since="0.11.0.0",
    about="KIP-98",
)
def producer_abort(txn: TransactionalId) -> None:
    """Because it must, or because the application wants to."""
    producer = txn.producer
    require(any_of(producer.phase == Phase.OPEN, producer.phase == Phase.MUST_ABORT))
    require(txn.may_end())

    producer.request = Kind.ABORT


@action(
    "the producer gives up its record for {partition}, which is still under way",
    at="Sender.failBatch",
    since="0.11.0.0",
    about="KIP-890, KAFKA-14402",
    settings="after.a.failed.record",
)
def producer_give_up(txn: TransactionalId, partition: Partition) -> None:
    """`delivery.timeout.ms` is over, and a broker's queue has the request.

    The sender's thread does not look while AddPartitionsToTxn is under way.
    """
    producer, late = txn.producer, partition.late_record
    require(any_of(partition.record == Sent.SENT, partition.record == Sent.VERIFIED))
    if not txn.has_versions_2:
        require(every(p.record != Sent.ADDING for p in txn.partitions))
    require(late.sent == Sent.NONE)

    spend(txn, LATE_PRODUCES)
    late.sent = partition.record
    late.epoch = producer.epoch
    late.transaction = producer.begun - 1
    partition.record = Sent.NONE
    producer.phase = Phase.MUST_ABORT
    if not txn.has_versions_2:
        producer.unresolved = txn.options.after_failure == AfterFailure.NEW_EPOCH
        stop(txn, txn.options.after_failure == AfterFailure.STOPS)


@action(
    "EndTxn is sent again, and the first copy is still under way",
    at="TransactionManager.nextRequest",
    since="0.11.0.0",
    about="KIP-890",
)
def producer_repeat_end(txn: TransactionalId) -> None:
    """The first has timed out for the producer; it may reach the coordinator at any time."""
    producer, late = txn.producer, txn.late_request
    require(any_of(producer.request == Kind.COMMIT, producer.request == Kind.ABORT))
    require(late.kind == Kind.NONE)

    spend(txn, LATE_REQUESTS)
    late.kind = producer.request
    late.epoch = producer.epoch


@action(
    "the producer dies, and starts anew",
    at="KafkaProducer.initTransactions",
    since="0.11.0.0",
    about="KIP-98",
)
def producer_restart(txn: TransactionalId) -> None:
    """Another process with the same transactional id asks for an epoch.

    What the first one has under way is lost, but for copies that are late. That it goes on, in a
    zombie, would be the same: of what it sends after this the coordinator refuses all.
    """
    producer = txn.producer

    spend(txn, RESTARTS)
    forget_transaction(txn, True)
    producer.phase = Phase.INITIALIZING
    producer.request = Kind.INIT
    producer.epoch = 0


def forget_transaction(txn: TransactionalId, where: bool) -> None:
    """The producer has no transaction any more, if `where`."""
    txn.producer.unresolved = all_of(not_(where), txn.producer.unresolved)
    for partition in txn.partitions:
        partition.record = choose(where, Sent.NONE, partition.record)


def stop(txn: TransactionalId, where: bool) -> None:
    """The producer hears a fatal error, such as PRODUCER_FENCED or INVALID_TXN_STATE, if `where`.

    The application has to close it.
    """
    producer = txn.producer
    forget_transaction(txn, where)
    producer.phase = choose(where, Phase.STOPPED, producer.phase)
    producer.request = choose(where, Kind.NONE, producer.request)
    producer.epoch = choose(where, 0, producer.epoch)


def hear_of_end(txn: TransactionalId, epoch: int, where: bool) -> None:
    """The producer hears that EndTxn is done, and with version 2 its next epoch, if `where`."""
    producer = txn.producer
    commits = all_of(where, producer.request == Kind.COMMIT)
    for transaction in txn.transactions:
        transaction.wish = choose(
            all_of(commits, txn.is_current(transaction)), Wish.COMMITTED, transaction.wish
        )
    again = all_of(where, producer.unresolved)
    forget_transaction(txn, where)
    if txn.has_versions_2:
        producer.epoch = choose(where, epoch, producer.epoch)
    producer.request = choose(where, choose(again, Kind.BUMP, Kind.NONE), producer.request)
    producer.phase = choose(where, choose(again, Phase.INITIALIZING, Phase.READY), producer.phase)


def hear_of_epoch(txn: TransactionalId, epoch: int, where: bool) -> None:
    """The producer hears its epoch, if `where`."""
    producer = txn.producer
    producer.epoch = choose(where, epoch, producer.epoch)
    producer.request = choose(where, Kind.NONE, producer.request)
    producer.phase = choose(where, Phase.READY, producer.phase)


def refuse_record(txn: TransactionalId, partition: Partition, where: bool) -> None:
    """The producer hears that its record is refused, so that it can only abort, if `where`.

    Since KIP-360 it asks for another epoch after that, too: `maybeTransitionToErrorState`.
    """
    partition.record = choose(where, Sent.NONE, partition.record)
    if not txn.has_versions_2 and txn.options.after_failure == AfterFailure.NEW_EPOCH:
        txn.producer.unresolved = any_of(where, txn.producer.unresolved)
    txn.producer.phase = choose(where, Phase.MUST_ABORT, txn.producer.phase)


def wants_init(txn: TransactionalId) -> bool:
    """InitProducerId waits for an answer."""
    return any_of(txn.producer.request == Kind.INIT, txn.producer.request == Kind.BUMP)


def wants_end(txn: TransactionalId) -> bool:
    """EndTxn waits for an answer."""
    return any_of(txn.producer.request == Kind.COMMIT, txn.producer.request == Kind.ABORT)
