"""Epochs that run out: `TransactionMetadata`. A coordinator takes a new producer id then.

Each id has three epochs here, of which the last is for fencing alone; Kafka's ids have 32,768. They
are counted through: epoch 3 is the first of the second id. That keeps one entry for both in a
partition, which is enough where brokers verify, or nothing of the first id is late.
"""

from __future__ import annotations

from model.kafka_transactions.bounds import EPOCHS, NEW_IDS
from model.kafka_transactions.state import Coordinator, TransactionalId
from model.language import all_of, any_of, choose, not_

OF_AN_ID = 3
_LAST = (2, 5, 8)


def is_last(txn: TransactionalId, epoch: int) -> bool:
    """No producer should have it, as it cannot be fenced: `Short.MAX_VALUE`."""
    return all_of(txn.bound(NEW_IDS) > 0, any_of(*(epoch == last for last in _LAST)))


def is_exhausted(txn: TransactionalId, epoch: int) -> bool:
    """The next epoch is that of another id: `isEpochExhausted`."""
    return any_of(is_last(txn, epoch), is_last(txn, epoch + 1))


def first_of_next(epoch: int) -> int:
    """The first epoch of the next id; of the last id's one that is nowhere."""
    later = choose(epoch < 2 * OF_AN_ID, 2 * OF_AN_ID, 3 * OF_AN_ID)
    return choose(epoch < OF_AN_ID, OF_AN_ID, later)


def after(txn: TransactionalId, epoch: int) -> int:
    """The epoch that a producer has next."""
    return choose(is_exhausted(txn, epoch), first_of_next(epoch), epoch + 1)


def is_there(txn: TransactionalId, epoch: int) -> bool:
    """There is such an epoch within the bounds."""
    ids = choose(epoch < OF_AN_ID, 0, choose(epoch < 2 * OF_AN_ID, 1, 2))
    enough = any_of(txn.bound(NEW_IDS) == 0, ids <= txn.bound(NEW_IDS))
    return all_of(enough, epoch <= txn.bound(EPOCHS))


def may_have(txn: TransactionalId, epoch: int) -> bool:
    """There is such an epoch within the bounds, and if it is the last of its id another id."""
    if not txn.has_versions_2:
        return is_there(txn, epoch)
    ends = is_last(txn, epoch)
    return all_of(is_there(txn, epoch), any_of(not_(ends), is_there(txn, first_of_next(epoch))))


def can_fence(txn: TransactionalId, coordinator: Coordinator) -> bool:
    """There is an epoch to fence with: `prepareFenceProducerEpoch`."""
    return any_of(txn.options.fences_at_the_last_epoch, not_last(txn, coordinator.epoch))


def not_last(txn: TransactionalId, epoch: int) -> bool:
    """Another epoch of the same id is left."""
    return any_of(txn.bound(NEW_IDS) == 0, all_of(*(epoch != last for last in _LAST)))


def fencing(txn: TransactionalId, coordinator: Coordinator) -> int:
    """The epoch of an abort that fences."""
    step = 1 if not txn.has_versions_2 or txn.options.fences_bump_once else 2
    stays = any_of(coordinator.failed_fence, is_last(txn, coordinator.epoch))
    return choose(stays, coordinator.epoch, coordinator.epoch + step)


def overflows(txn: TransactionalId, coordinator: Coordinator) -> bool:
    """Fencing would go beyond the last epoch, which only a bump by two does."""
    if not txn.has_versions_2 or txn.options.fences_bump_once:
        return False
    return is_last(txn, coordinator.epoch + 1)


def completing(txn: TransactionalId, coordinator: Coordinator) -> int:
    """The epoch of what is complete: with version 2 that of the next id after the last one."""
    if not txn.has_versions_2:
        return coordinator.epoch
    rotates = is_last(txn, coordinator.epoch)
    if not txn.options.fences_take_a_new_id:
        rotates = all_of(rotates, not_(coordinator.keeps_its_id))
    return choose(rotates, first_of_next(coordinator.epoch), coordinator.epoch)
