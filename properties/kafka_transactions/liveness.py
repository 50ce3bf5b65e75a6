"""What becomes of a transaction in the end, on every fair run, once faults are over."""

from __future__ import annotations

from model.kafka_transactions.state import (
    Coordinator,
    Partition,
    TransactionalId,
)
from model.language import all_of, not_
from properties.liveness import Liveness, leads_to


def is_open(txn: TransactionalId, partition: Partition) -> bool:
    """Readers with read_committed wait for a marker."""
    return txn.is_open(partition)


@leads_to(
    "open_transactions_end",
    "a transaction that is open in a partition is committed or aborted there",
    is_open,
    of="partitions",
    broken_by="kafka_transactions marker.retry.is.taken=false",
)
def open_transactions_end(txn: TransactionalId, partition: Partition) -> bool:
    """Else its last stable offset does not move any more."""
    return not_(is_open(txn, partition))


def is_decided(txn: TransactionalId, coordinator: Coordinator) -> bool:
    """The current coordinator has a transaction in PrepareCommit or PrepareAbort."""
    return all_of(txn.leads(coordinator), coordinator.acts, coordinator.decided)


@leads_to(
    "decided_transactions_complete",
    "a transaction in PrepareCommit or PrepareAbort completes, unless its coordinator is replaced",
    is_decided,
    of="coordinators",
    broken_by="kafka_transactions marker.retry.is.taken=false",
)
def decided_transactions_complete(txn: TransactionalId, coordinator: Coordinator) -> bool:
    """Else the producer is told CONCURRENT_TRANSACTIONS for ever."""
    return not_(is_decided(txn, coordinator))


KAFKA_TRANSACTIONS_LIVENESS: tuple[Liveness, ...] = (
    open_transactions_end,
    decided_transactions_complete,
)
