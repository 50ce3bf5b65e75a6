"""What the parts of a state say of each other."""

from __future__ import annotations

from model.kafka_transactions.state import (
    EMPTY,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    Fate,
    Kind,
    Phase,
    Sent,
    Status,
    TransactionalId,
)
from model.language import all_of, any_of, choose, every, implies, not_
from properties.claims import always


@always(
    "well_formed",
    "what is dead is blank, and who acts has something to act on",
    failure="something is kept that makes no difference",
    breach="keeps what is dead",
    broken_by="an action that does not blank what it ends",
)
def well_formed(txn: TransactionalId) -> bool:
    """Not a promise of Kafka: what the model takes for granted of its own state."""
    producer = txn.producer
    idle = any_of(
        producer.phase == Phase.READY,
        producer.phase == Phase.INITIALIZING,
        producer.phase == Phase.STOPPED,
    )
    asks = any_of(producer.request == Kind.INIT, producer.request == Kind.BUMP)
    return all_of(
        txn.high_watermark > 0,
        txn.high_watermark <= txn.log.end,
        asks == (producer.phase == Phase.INITIALIZING),
        every(implies(idle, p.record == Sent.NONE) for p in txn.partitions),
        every(
            all_of(
                implies(c.pending, all_of(txn.leads(c), txn.high_watermark < txn.log.end)),
                implies(c.number > txn.spent.coordinator_failovers, c.status == Status.NONE),
                implies(txn.leads(c), c.status != Status.NONE),
                implies(c.status == Status.NONE, all_of(c.epoch == 0, c.partitions.is_empty)),
            )
            for c in txn.coordinators
        ),
        every(
            implies(t.number >= producer.begun, t.fate[p] == Fate.NONE)
            for t in txn.transactions
            for p in txn.partitions
        ),
        every(
            implies(p.late_record.sent == Sent.NONE, p.late_record.epoch == 0)
            for p in txn.partitions
        ),
        every(
            choose(
                p.late_marker.kind == EMPTY,
                all_of(p.late_marker.epoch == 0, p.late_marker.coordinator_epoch == 0),
                any_of(p.late_marker.kind == PREPARE_COMMIT, p.late_marker.kind == PREPARE_ABORT),
            )
            for p in txn.partitions
        ),
        not_(all_of(producer.phase == Phase.STOPPED, producer.request != Kind.NONE)),
    )
