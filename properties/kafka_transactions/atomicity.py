"""What is promised of a transaction: all or nothing, only if asked for, for good, and ended."""

from __future__ import annotations

from model.kafka_transactions.bounds import TIMEOUTS
from model.kafka_transactions.state import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    Coordinator,
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
    "the_coordinator_can_go_on",
    "the newest coordinator answers, and sends the markers of what is decided",
    premise=lambda txn: some(all_of(txn.leads(c), c.sends_markers) for c in txn.coordinators),
    failure="{c} is newest, and can do nothing more",
    breach="leaves a transaction that nobody can end before another broker is coordinator",
    broken_by="kafka_transactions marker.retry.is.taken=false",
)
def the_coordinator_can_go_on(txn: TransactionalId) -> bool:
    """Else the producer is told CONCURRENT_TRANSACTIONS, or nothing, and readers wait."""
    return every(
        implies(
            txn.leads(c),
            all_of(c.status != Status.STUCK, not_(all_of(c.status == Status.GIVEN_UP, decided(c)))),
        )
        for c in txn.coordinators
    )


def decided(coordinator: Coordinator) -> bool:
    """Markers are due."""
    return any_of(coordinator.state == PREPARE_COMMIT, coordinator.state == PREPARE_ABORT)


@always(
    "an_open_transaction_can_be_fenced",
    "the newest coordinator has an epoch to abort an open transaction with",
    premise=lambda txn: some(
        all_of(txn.leads(c), is_exhausted(txn, c.epoch)) for c in txn.coordinators
    ),
    failure="{c} has no epoch left to abort what is open",
    breach="leaves a transaction that only its own producer can end",
    broken_by="kafka_transactions fences.take.a.new.id=false fences.at.the.last.epoch=false",
)
def an_open_transaction_can_be_fenced(txn: TransactionalId) -> bool:
    """Else neither a time-out nor InitProducerId ends it. One that is pending may be its end."""
    return every(
        implies(
            all_of(txn.leads(c), c.acts, c.state == ONGOING, not_(c.pending)), can_fence(txn, c)
        )
        for c in txn.coordinators
    )


@always(
    "nobody_is_stopped_in_vain",
    "a producer is told that it is fenced only if the time of a transaction was over",
    premise=lambda txn: txn.producer.phase == Phase.READY,
    failure="the producer is told an error that ends it, and nobody has fenced it",
    breach="ends a producer whose id nobody else has",
    broken_by="kafka_transactions transaction.version=0 after.a.failed.record=stops",
)
def nobody_is_stopped_in_vain(txn: TransactionalId) -> bool:
    """Whoever has started anew with its id is this one."""
    return implies(txn.producer.phase == Phase.STOPPED, spent(txn, TIMEOUTS) > 0)


@always(
    "a_refused_record_ends_no_producer",
    "of a record that a partition refuses its producer hears an error after which it can abort",
    of_steps=True,
    premise=lambda txn: some(p.record == Sent.SENT for p in txn.partitions),
    failure="a record is refused, and its producer can do nothing more",
    breach="ends a producer that could have aborted",
    broken_by="kafka_transactions stale.epoch.is.told=false",
)
def a_refused_record_ends_no_producer(before: TransactionalId, after: TransactionalId) -> bool:
    """It waits for nothing else. Of AddPartitionsToTxn it may hear that it is fenced."""
    waits = any_of(
        before.producer.request != Kind.NONE,
        some(p.record == Sent.ADDING for p in before.partitions),
    )
    stops = all_of(before.producer.phase != Phase.STOPPED, after.producer.phase == Phase.STOPPED)
    return implies(stops, waits)


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
