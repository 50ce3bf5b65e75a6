"""What is promised of a transaction: all or nothing, only as requested, durable, and ended."""

from __future__ import annotations

from model.kafka_transactions.bounds import TIMEOUTS
from model.kafka_transactions.state import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    Fate,
    Kind,
    Partition,
    Phase,
    Sent,
    Status,
    Transaction,
    TransactionalId,
    Wish,
)
from model.kafka_transactions.transaction_metadata import can_fence, is_exhausted
from model.language import all_of, any_of, every, implies, not_, some, spent
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
    "commits_were_requested",
    "a transaction is committed only if its producer called commitTransaction",
    premise=lambda txn: some(is_committed(t, txn) for t in txn.transactions),
    failure="{t} is committed, and its producer has not called commitTransaction",
    breach="shows a transaction to readers that nobody has committed",
    broken_by="kafka_transactions failed.loads.count=true",
)
def commits_were_requested(txn: TransactionalId) -> bool:
    """What was aborted, or is not finished, no reader with read_committed sees."""
    return every(implies(is_committed(t, txn), t.wish != Wish.OPEN) for t in txn.transactions)


@always(
    "committed_stays",
    "a transaction whose commit was acknowledged is aborted in no partition and lacks no record",
    premise=lambda txn: some(t.wish == Wish.COMMITTED for t in txn.transactions),
    failure="the commit of {t} was acknowledged, and {p} has aborted it or lacks its record",
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
    "no_hanging_transaction",
    "once the transaction log has only completed transactions, no partition has an open one",
    premise=lambda txn: some(is_committed(t, txn) for t in txn.transactions),
    failure="all transactions in the transaction log are complete, and {p} has an open one",
    breach="leaves a hanging transaction: the last stable offset does not move any more",
    broken_by="kafka_transactions transaction.version=0 "
    "transaction.partition.verification.enable=false",
)
def no_hanging_transaction(txn: TransactionalId) -> bool:
    """No marker will come, so consumers with read_committed would wait for ever."""
    last = txn.log[txn.high_watermark - 1]
    complete = any_of(
        last.state == EMPTY, last.state == COMPLETE_COMMIT, last.state == COMPLETE_ABORT
    )
    idle = all_of(complete, txn.high_watermark == txn.log.end)
    return every(implies(idle, not_(txn.is_open(p))) for p in txn.partitions)


@always(
    "the_coordinator_can_go_on",
    "the current coordinator answers requests and sends the markers of a prepared transaction",
    premise=lambda txn: some(all_of(txn.leads(c), c.sends_markers) for c in txn.coordinators),
    failure="{c} is the current coordinator, and answers no request or sends no markers",
    breach="has a coordinator that ends no transaction until another broker takes its place",
    broken_by="kafka_transactions marker.retry.is.taken=false",
)
def the_coordinator_can_go_on(txn: TransactionalId) -> bool:
    """Else the producer is told CONCURRENT_TRANSACTIONS, or nothing, and readers wait."""
    return every(
        implies(
            txn.leads(c),
            all_of(c.status != Status.STUCK, not_(all_of(c.status == Status.GIVEN_UP, c.decided))),
        )
        for c in txn.coordinators
    )


@always(
    "an_open_transaction_can_be_fenced",
    "the current coordinator has a producer epoch left to abort an ongoing transaction with",
    premise=lambda txn: some(
        all_of(txn.leads(c), is_exhausted(txn, c.epoch)) for c in txn.coordinators
    ),
    failure="{c} has no producer epoch left to abort the ongoing transaction with",
    breach="leaves a transaction that only its own producer can end",
    broken_by="kafka_transactions fences.take.a.new.id=false fences.at.the.last.epoch=false",
)
def an_open_transaction_can_be_fenced(txn: TransactionalId) -> bool:
    """Else neither a timeout nor InitProducerId ends it. A pending write may be what ends it."""
    return every(
        implies(
            all_of(txn.leads(c), c.acts, c.state == ONGOING, not_(c.pending)), can_fence(txn, c)
        )
        for c in txn.coordinators
    )


@always(
    "fenced_only_after_a_timeout",
    "a producer gets a fatal error only if one of its transactions has timed out",
    premise=lambda txn: txn.producer.phase == Phase.READY,
    failure="the producer gets a fatal error, and nobody has fenced it",
    breach="stops a producer that nobody has fenced",
    broken_by="kafka_transactions transaction.version=0 after.a.failed.record=stops",
)
def fenced_only_after_a_timeout(txn: TransactionalId) -> bool:
    """The model has one producer: no other instance can fence it by the same transactional.id."""
    return implies(txn.producer.phase == Phase.STOPPED, spent(txn, TIMEOUTS) > 0)


@always(
    "a_refused_record_is_abortable",
    "the error of a record that a partition refuses lets the producer abort: it is not fatal",
    of_steps=True,
    premise=lambda txn: some(p.record == Sent.SENT for p in txn.partitions),
    failure="a record is refused, and its producer gets a fatal error",
    breach="stops a producer that could have aborted",
    broken_by="kafka_transactions stale.epoch.is.told=false",
)
def a_refused_record_is_abortable(before: TransactionalId, after: TransactionalId) -> bool:
    """Not judged while a request to the coordinator is under way: that may say it is fenced."""
    waits = any_of(
        before.producer.request != Kind.NONE,
        some(p.record == Sent.ADDING for p in before.partitions),
    )
    stops = all_of(before.producer.phase != Phase.STOPPED, after.producer.phase == Phase.STOPPED)
    return implies(stops, waits)


@always(
    "fenced_producers_append_nothing",
    "once a newer producer epoch is in the transaction log and no marker is due, no partition "
    "appends a record of an older one",
    of_steps=True,
    premise=lambda txn: some(is_fenced(txn, p) for p in txn.partitions),
    failure="{p} appends a record of {t}, whose producer epoch is fenced",
    breach="appends a record of a fenced producer",
    broken_by="kafka_transactions transaction.version=0 "
    "transaction.partition.verification.enable=false",
)
def fenced_producers_append_nothing(before: TransactionalId, after: TransactionalId) -> bool:
    """InitProducerId answers once this holds. The marker ends what was appended before it."""
    return every(
        implies(
            all_of(is_fenced(before, p), t.number == p.late_record.transaction),
            after.transactions[t].fate[p] == t.fate[p],
        )
        for t in before.transactions
        for p in before.partitions
    )


def is_fenced(txn: TransactionalId, partition: Partition) -> bool:
    """A record is under way to the partition, of an older epoch than the transaction log's."""
    last = txn.log[txn.high_watermark - 1]
    decided = any_of(last.state == PREPARE_COMMIT, last.state == PREPARE_ABORT)
    late = partition.late_record
    return all_of(late.sent != Sent.NONE, late.epoch < last.epoch, not_(decided))
