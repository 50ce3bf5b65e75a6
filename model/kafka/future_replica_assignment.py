"""A move between log directories that ends after the controller has accepted the new directory.

The fetcher reports the directory once both logs end alike, waits until the controller has accepted
it, and replaces the log the next time that they do (KIP-858). In between the controller has the
replica in a directory that it is not in. `future_replica_replace` is all of that in one step; here
one of the two directories is lost meanwhile.
"""

from __future__ import annotations

from model.kafka import replica_alter_log_dirs, unified_log
from model.kafka.bounds import CRASHES, FAILED_DIRECTORIES, LOST_DIRECTORIES
from model.kafka.faults import stop
from model.kafka.state import Broker, TopicPartition
from model.language import action, is_left, minimum, require, spend, use_up


@action(
    "{broker} crashes before its future replica, whose directory is accepted, replaces the log; "
    "the old directory is removed from log.dirs",
    at="LogManager.recoverAbandonedFutureLogs",
    since="3.7.0",
    about="KIP-858, KAFKA-16082",
    settings="abandoned.future.replica.is.kept",
)
def broker_crash_before_replacing(partition: TopicPartition, broker: Broker) -> None:
    """With the fix the broker starts with the future replica; without it with an empty log.

    The controller knows of no directory that is lost: that of the replica is there.
    """
    require(not partition.options.with_zookeeper)
    require(is_left(partition, CRASHES))
    replica_alter_log_dirs.require_caught_up(broker)

    spend(partition, LOST_DIRECTORIES)
    use_up(partition, CRASHES)
    if partition.options.abandoned_future_replica_is_kept:
        broker.high_watermark = minimum(broker.high_watermark, broker.future.high_watermark)
        replica_alter_log_dirs.promote(partition, broker, keeps_epochs=False)
    else:
        unified_log.delete(partition, broker, where=True)
    stop(partition, broker, power_lost=False)


@action(
    "the log directory of {broker}'s future replica fails, after the controller has accepted it",
    at="ReplicaAlterLogDirsThread.removePartitions",
    since="3.7.0",
    about="KIP-858, KAFKA-16297",
    settings="lost.future.replica.reverts.assignment",
)
def future_replica_fail(partition: TopicPartition, broker: Broker) -> None:
    """The log stays where it is. Without the fix the controller takes it to be in what failed."""
    require(not partition.options.with_zookeeper)
    replica_alter_log_dirs.require_caught_up(broker)

    spend(partition, FAILED_DIRECTORIES)
    replica_alter_log_dirs.forget(broker)
    if not partition.options.lost_future_replica_reverts_assignment:
        broker.assigned_elsewhere = True
