"""What a partition takes of a producer id: `ProducerAppendInfo`, `UnifiedLog`.

Sequence numbers are not state: a producer uses one again only for a record that it has given up, in
the same epoch, which `Partition.ahead` says.
"""

from __future__ import annotations

from model.kafka_transactions.bounds import EXPIRIES
from model.kafka_transactions.state import (
    PREPARE_COMMIT,
    Fate,
    IdState,
    Partition,
    Sent,
    TransactionalId,
)
from model.kafka_transactions.transaction_manager import refuse_record, stop
from model.kafka_transactions.transaction_metadata import is_last
from model.language import action, all_of, any_of, choose, not_, require, some, spend


def takes_marker(
    txn: TransactionalId, partition: Partition, epoch: int, coordinator_epoch: int
) -> bool:
    """The leader of the partition appends the marker: `checkProducerEpoch` and the next check."""
    if txn.has_versions_2 and txn.options.marker_epoch_is_newer:
        taken = epoch > partition.epoch
        if txn.options.marker_retry_is_taken:
            again = all_of(epoch == partition.epoch, not_(txn.is_open(partition)))
            taken = any_of(taken, again)
        if txn.options.fences_at_the_last_epoch:
            taken = any_of(taken, all_of(is_last(txn, epoch), epoch == partition.epoch))
    else:
        taken = epoch >= partition.epoch
    if txn.options.marker_names_coordinator_epoch:
        taken = all_of(taken, coordinator_epoch >= partition.coordinator_epoch)
    return taken


def append_marker(
    txn: TransactionalId,
    partition: Partition,
    kind: IdState,
    epoch: int,
    coordinator_epoch: int,
    where: bool,
) -> None:
    """End what is open, and forget what is verified, if `where`; but for the next transaction."""
    ends = choose(kind == PREPARE_COMMIT, Fate.COMMITTED, Fate.ABORTED)
    for transaction in txn.transactions:
        fate = transaction.fate[partition]
        transaction.fate[partition] = choose(all_of(where, fate == Fate.OPEN), ends, fate)
    _forget_verification(txn, partition, epoch, where)
    partition.ahead = all_of(partition.ahead, any_of(not_(where), epoch == partition.epoch))
    partition.epoch = choose(where, epoch, partition.epoch)
    partition.coordinator_epoch = choose(where, coordinator_epoch, partition.coordinator_epoch)


def _forget_verification(
    txn: TransactionalId, partition: Partition, epoch: int, where: bool
) -> None:
    """What is verified is so no more, if `where`; of the next transaction it may be.

    Where it may not, the guard that a record has got as it came is lost, too.
    """
    if not txn.options.verified_records_are_guarded:
        return
    late = partition.late_record
    here = all_of(where, partition.record == Sent.VERIFIED)
    there = all_of(where, late.sent == Sent.VERIFIED)
    if txn.has_versions_2:
        is_next = any_of(epoch == txn.producer.epoch, _ends_before(txn, epoch, txn.producer.epoch))
        here = all_of(here, not_(is_next))
        there = all_of(there, epoch != late.epoch, not_(_ends_before(txn, epoch, late.epoch)))
        if not txn.options.next_record_waits_for_the_marker:
            came = any_of(partition.record == Sent.SENT, partition.record == Sent.VERIFIED)
            stop(txn, all_of(where, is_next, came))
    refuse_record(txn, partition, here)
    late.reset(where=there)


def _ends_before(txn: TransactionalId, epoch: int, other: int) -> bool:
    """The epoch is the last of a producer id, and the other is of a later one."""
    return all_of(is_last(txn, epoch), other > epoch)


def is_ready(txn: TransactionalId, partition: Partition, sent: Sent, epoch: int) -> bool:
    """The record need not be verified any more: it is, or the same epoch is open, or nobody asks.

    One that is fenced is refused without asking.
    """
    if not txn.verifies:
        return sent == Sent.SENT
    open_here = all_of(txn.is_open(partition), epoch == partition.epoch)
    fenced = epoch < partition.epoch
    return any_of(sent == Sent.VERIFIED, all_of(sent == Sent.SENT, any_of(open_here, fenced)))


@action(
    "{partition} gets the record of the producer",
    at="UnifiedLog.analyzeAndValidateProducerState",
    since="0.11.0.0",
    about="KIP-98, KIP-890",
    settings="transaction.partition.verification.enable",
)
def partition_get_record(txn: TransactionalId, partition: Partition) -> None:
    """It is appended and acknowledged, or refused, as its epoch is fenced.

    After one with its sequence, which the producer has given up, it is taken for a duplicate. Of
    INVALID_TXN_STATE Kafka Streams ends, though its producer could abort (KAFKA-19690).
    """
    epoch = txn.producer.epoch
    require(is_ready(txn, partition, partition.record, epoch))
    taken = epoch >= partition.epoch
    duplicate = all_of(partition.ahead, epoch == partition.epoch)

    fate = choose(duplicate, Fate.LEFT_OUT, Fate.OPEN)
    for transaction in txn.transactions:
        here = all_of(taken, txn.is_current(transaction))
        transaction.fate[partition] = choose(here, fate, transaction.fate[partition])
    partition.epoch = choose(taken, epoch, partition.epoch)
    partition.ahead = all_of(partition.ahead, not_(taken))
    partition.record = choose(taken, Sent.ACKNOWLEDGED, partition.record)
    if txn.verifies and not txn.options.stale_epoch_is_told:
        stop(txn, not_(taken))
    else:
        refuse_record(txn, partition, not_(taken))


@action(
    "{partition} gets a record that the producer has given up",
    at="UnifiedLog.analyzeAndValidateProducerState",
    since="0.11.0.0",
    about="KIP-890, KAFKA-14402",
    settings="transaction.partition.verification.enable",
)
def partition_get_late_record(txn: TransactionalId, partition: Partition) -> None:
    """The same; if a later record had its sequence in this epoch, it is dropped as a duplicate."""
    late = partition.late_record
    require(is_ready(txn, partition, late.sent, late.epoch))
    overtaken = some(
        all_of(t.number > late.transaction, t.fate[partition] != Fate.NONE)
        for t in txn.transactions
    )
    taken = any_of(
        late.epoch > partition.epoch, all_of(late.epoch == partition.epoch, not_(overtaken))
    )

    for transaction in txn.transactions:
        here = all_of(taken, transaction.number == late.transaction)
        transaction.fate[partition] = choose(here, Fate.OPEN, transaction.fate[partition])
    partition.epoch = choose(taken, late.epoch, partition.epoch)
    if txn.reuses_sequences:
        partition.ahead = any_of(partition.ahead, taken)
    late.reset()


@action(
    "{partition} forgets the producer",
    at="ProducerStateManager.removeExpiredProducers",
    since="0.11.0.0",
    about="KAFKA-9144",
    settings="markers.keep.producer.state",
)
def partition_forget_producer(txn: TransactionalId, partition: Partition) -> None:
    """By the time of its records it has been idle for long. If markers count, nothing is late."""
    require(not txn.options.markers_keep_producer_state)
    require(not_(txn.is_open(partition)))
    require(any_of(partition.epoch > 0, partition.coordinator_epoch > 0))

    spend(txn, EXPIRIES)
    partition.epoch = 0
    partition.coordinator_epoch = 0
    partition.ahead = False
