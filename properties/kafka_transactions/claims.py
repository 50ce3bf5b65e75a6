"""The transaction model's properties, in order, and its witnesses: what it must be able to do."""

from __future__ import annotations

from model.kafka_transactions.state import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    Fate,
    Phase,
    TransactionalId,
    Wish,
)
from model.language import all_of, every, some
from properties.claims import Property, sometimes
from properties.kafka_transactions import atomicity
from properties.kafka_transactions.well_formed import well_formed


@sometimes("a_transaction_is_written", "a partition has a record that no marker has ended")
def a_transaction_is_written(txn: TransactionalId) -> bool:
    """Readers with read_committed wait."""
    return some(txn.is_open(p) for p in txn.partitions)


@sometimes("a_transaction_is_committed_everywhere", "every partition commits a transaction")
def a_transaction_is_committed_everywhere(txn: TransactionalId) -> bool:
    """And the producer has the response."""
    return some(
        all_of(
            t.wish == Wish.COMMITTED,
            every(t.fate[p] == Fate.COMMITTED for p in txn.partitions),
        )
        for t in txn.transactions
    )


@sometimes("a_transaction_is_aborted", "a transaction is aborted, and another is committed")
def a_transaction_is_aborted(txn: TransactionalId) -> bool:
    """Without both, nothing could be mixed up."""
    return all_of(
        some(atomicity.is_aborted(t, txn) for t in txn.transactions),
        some(atomicity.is_committed(t, txn) for t in txn.transactions),
    )


@sometimes("a_transaction_is_complete", "CompleteCommit or CompleteAbort is in the transaction log")
def a_transaction_is_complete(txn: TransactionalId) -> bool:
    """All markers of a transaction are written."""
    return some(any_complete(txn, position) for position in txn.log.positions)


def any_complete(txn: TransactionalId, position: int) -> bool:
    """A record of the log below its high watermark says so."""
    state = txn.log[position].state
    return all_of(
        position < txn.high_watermark, (state == COMPLETE_COMMIT) | (state == COMPLETE_ABORT)
    )


@sometimes(
    "all_transactions_are_begun",
    "the producer has begun as many transactions as the bound allows, and is ready for another",
)
def all_transactions_are_begun(txn: TransactionalId) -> bool:
    """Otherwise no search would reach the last one."""
    producer = txn.producer
    return all_of(producer.begun == txn.bound("transactions"), producer.phase == Phase.READY)


KAFKA_TRANSACTIONS_PROPERTIES: tuple[Property, ...] = (
    atomicity.partitions_decide_alike,
    atomicity.commits_were_requested,
    atomicity.committed_stays,
    atomicity.no_hanging_transaction,
    atomicity.fenced_producers_append_nothing,
    atomicity.the_coordinator_can_go_on,
    atomicity.an_open_transaction_can_be_fenced,
    atomicity.fenced_only_after_a_timeout,
    atomicity.a_refused_record_is_abortable,
    well_formed,
    a_transaction_is_written,
    a_transaction_is_committed_everywhere,
    a_transaction_is_aborted,
    a_transaction_is_complete,
    all_transactions_are_begun,
)
