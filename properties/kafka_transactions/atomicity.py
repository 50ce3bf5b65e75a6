"""What is promised of a transaction: all or nothing, only if asked for, and for good."""

from __future__ import annotations

from model.kafka_transactions.state import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    Fate,
    Partition,
    Sent,
    Transaction,
    TransactionalId,
    Wish,
)
from model.language import all_of, any_of, every, implies, not_, some
from properties.claims import always


def is_committed(transaction: Transaction, txn: TransactionalId) -> bool:
    """A partition has a record of it and a commit marker."""
    return some(transaction.fate[p] == Fate.COMMITTED for p in txn.partitions)


def is_aborted(transaction: Transaction, txn: TransactionalId) -> bool:
    """A partition has a record of it and an abort marker."""
    return some(transaction.fate[p] == Fate.ABORTED for p in txn.partitions)


@always(
    "partitions_decide_alike",
    "no transaction is committed in one partition and aborted in another",
    premise=lambda txn: some(is_committed(t, txn) for t in txn.transactions),
    failure="{t} is committed in one partition and aborted in another",
    breach="commits a part of a transaction",
    broken_by="kafka_transactions load.waits.for.high.watermark=false",
)
def partitions_decide_alike(txn: TransactionalId) -> bool:
    """Atomicity."""
    return every(not_(all_of(is_committed(t, txn), is_aborted(t, txn))) for t in txn.transactions)


@always(
    "committed_was_asked_for",
    "a transaction is committed only if its producer has asked for it",
    premise=lambda txn: some(is_committed(t, txn) for t in txn.transactions),
    failure="{t} is committed, and its producer has not asked for it",
    breach="shows a transaction to readers that nobody has committed",
    broken_by="kafka_transactions failed.loads.count=true",
)
def committed_was_asked_for(txn: TransactionalId) -> bool:
    """What was aborted, or is not finished, no reader with read_committed sees."""
    return every(implies(is_committed(t, txn), t.wish != Wish.OPEN) for t in txn.transactions)


@always(
    "committed_stays",
    "what the producer was told is committed is aborted nowhere, and all of it is in the log",
    premise=lambda txn: some(t.wish == Wish.COMMITTED for t in txn.transactions),
    failure="the producer was told that {t} is committed, and it is lost in {p}",
    breach="loses a transaction whose commit was acknowledged",
    broken_by="kafka_transactions transaction.version=0",
)
def committed_stays(txn: TransactionalId) -> bool:
    """Durability."""
    return every(
        implies(
            t.wish == Wish.COMMITTED,
            all_of(t.fate[p] != Fate.ABORTED, t.fate[p] != Fate.LEFT_OUT),
        )
        for t in txn.transactions
        for p in txn.partitions
    )


@always(
    "nothing_is_left_open",
    "once the coordinator has completed a transaction no partition has one open",
    premise=lambda txn: some(is_committed(t, txn) for t in txn.transactions),
    failure="the transaction log says that all is complete, and {p} has a transaction open",
    breach="leaves a transaction open for ever, so that the last stable offset does not move",
    broken_by="kafka_transactions transaction.version=0 "
    "transaction.partition.verification.enable=false",
)
def nothing_is_left_open(txn: TransactionalId) -> bool:
    """Who reads with read_committed would wait for it for ever: nobody will send a marker."""
    last = txn.log[txn.high_watermark - 1]
    complete = any_of(
        last.state == EMPTY, last.state == COMPLETE_COMMIT, last.state == COMPLETE_ABORT
    )
    idle = all_of(complete, txn.high_watermark == txn.log.end)
    return every(implies(idle, not_(txn.is_open(p))) for p in txn.partitions)


@always(
    "the_fenced_write_nothing",
    "no record of an older epoch is appended once the id has a newer one, and no marker is due",
    of_steps=True,
    premise=lambda txn: some(is_fenced(txn, p) for p in txn.partitions),
    failure="{p} appends a record of {t}, whose epoch is over",
    breach="appends a record of a producer that is fenced",
    broken_by="kafka_transactions transaction.version=0 "
    "transaction.partition.verification.enable=false",
)
def the_fenced_write_nothing(before: TransactionalId, after: TransactionalId) -> bool:
    """Fencing: InitProducerId answers no sooner. What was accepted before a marker, it ends."""
    return every(
        implies(
            all_of(is_fenced(before, p), t.number == p.late_record.transaction),
            after.transactions[t].fate[p] == t.fate[p],
        )
        for t in before.transactions
        for p in before.partitions
    )


def is_fenced(txn: TransactionalId, partition: Partition) -> bool:
    """A record is under way to the partition, and its epoch is over."""
    last = txn.log[txn.high_watermark - 1]
    decided = any_of(last.state == PREPARE_COMMIT, last.state == PREPARE_ABORT)
    late = partition.late_record
    return all_of(late.sent != Sent.NONE, late.epoch < last.epoch, not_(decided))
