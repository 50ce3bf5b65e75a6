"""A log directory that fails while its broker runs (KIP-858, `ReplicaManager.handleLogDirFailure`).

The broker lives on: it has other directories, and the replica is offline until the broker starts
again. Until the controller hears of it by a heartbeat, the broker may be a leader that does
nothing. The controller then takes it out of the ISR as if it fenced it, so that it enters the ELR
or stays there (finding 0005), and elects nobody whose directory it knows to have failed.

Before the broker starts again, the disk is back as it was, or an empty one is in its place: the
directory has no marker of a clean stop, so the stop counts as unclean. Or the directory is taken
out of `log.dirs`: the marker is in all that are left, and the replica is made anew in one of them.
With the failed directory still in `log.dirs` it would start as after an unclean stop, the replica
offline as before; that is no step here.
"""

from __future__ import annotations

from model.kafka import unified_log
from model.kafka.bounds import FAILED_DIRECTORIES
from model.kafka.faults import stop_replica
from model.kafka.partition_change import (
    candidates,
    change_partition,
    elect_beside,
    elects_by_leaving,
    eligible_after,
    eligible_without,
    is_acceptable,
    isr_without,
    keep_leader_in_new_epoch,
    may_change_leader,
    new_leader_epoch,
    note_last_known_leader,
    shrink_starts_epoch,
)
from model.kafka.replication_control import fence, require_fencing
from model.kafka.state import Broker, TopicPartition
from model.language import SetOf, action, any_of, every, maximum, not_, require, spend
from model.replicated_log import Offset


@action(
    "the log directory of {broker} fails; its high watermark checkpoint is {checkpoint}",
    at="ReplicaManager.handleLogDirFailure",
    since="3.7.0",
    about="KIP-858, finding 0005",
)
def broker_fail_directory(partition: TopicPartition, broker: Broker, checkpoint: Offset) -> None:
    """The replica is offline: it leads and follows nobody, while the broker lives on."""
    require(not partition.options.with_zookeeper)
    require(broker.is_online, partition.has_replica(broker), partition.exists)
    require(checkpoint <= broker.high_watermark)

    spend(partition, FAILED_DIRECTORIES)
    broker.directory_failed = True
    broker.high_watermark = maximum(checkpoint, unified_log.start_on_disk(partition, broker))
    stop_replica(partition, broker, power_lost=False)


def _hear_of_failure(partition: TopicPartition, broker: Broker) -> None:
    """The broker's next heartbeat says so; those of a fenced broker too."""
    offline = partition.controller.offline
    failed = any_of(broker.directory_failed, broker.assigned_elsewhere)
    require(broker.up, failed, broker.is_registered)
    require(not_(offline.contains(broker)), partition.exists)

    partition.controller.offline = offline.with_member(broker)


def _eligible(partition: TopicPartition, broker: Broker, isr: SetOf[Broker]) -> SetOf[Broker]:
    """The ELR once the ISR is `isr`: with the fix, without the broker."""
    eligible = eligible_after(partition, isr)
    if partition.options.directory_failure_leaves_elr:
        return eligible.without_member(broker)
    return eligible


@action(
    "controller learns that the log directory of {broker} failed",
    at="ReplicationControlManager.handleDirectoriesOffline",
    since="3.7.0",
    about="KIP-858, finding 0005",
    settings="directory.failure.leaves.elr",
)
def controller_hear_of_failure(partition: TopicPartition, broker: Broker) -> None:
    """Take a broker that does not lead out of the ISR (`handleDirectoriesOffline`)."""
    controller = partition.controller
    isr = isr_without(partition, broker)
    eligible = _eligible(partition, broker, isr)
    anew = shrink_starts_epoch(partition, isr)
    changes = any_of(controller.isr.contains(broker), eligible != controller.eligible)
    require(controller.leader != broker)
    require(any_of(not_(anew), may_change_leader(partition)))

    _hear_of_failure(partition, broker)
    keep_leader_in_new_epoch(partition, where=anew)
    change_partition(partition, isr, eligible, where=changes)


@action(
    "controller learns that the log directory of the leader {broker} failed; elects {successor}",
    at="ReplicationControlManager.handleDirectoriesOffline",
    since="3.7.0",
    about="KIP-858, finding 0005",
    settings="directory.failure.leaves.elr",
)
def controller_hear_of_leaders_failure(
    partition: TopicPartition, broker: Broker, successor: Broker
) -> None:
    """A live ISR member, or with an empty ISR an eligible replica, leads on."""
    isr = isr_without(partition, broker)
    eligible = _eligible(partition, broker, isr)
    require(partition.controller.leader == broker, successor != broker)
    require(may_change_leader(partition), is_acceptable(partition, successor))
    require(candidates(partition, isr, eligible).contains(successor))

    _hear_of_failure(partition, broker)
    elect_beside(partition, successor, isr, eligible)


@action(
    "controller learns that the log directory of the leader {broker} failed; nobody can lead",
    at="ReplicationControlManager.handleDirectoriesOffline",
    since="3.7.0",
    about="KIP-858, finding 0005",
    settings="directory.failure.leaves.elr, last.known.leader.election",
)
def controller_hear_of_last_leaders_failure(partition: TopicPartition, broker: Broker) -> None:
    """The partition has no leader."""
    isr = isr_without(partition, broker)
    eligible = _eligible(partition, broker, isr)
    options = candidates(partition, isr, eligible)
    require(partition.controller.leader == broker)
    require(may_change_leader(partition))
    require(
        every(any_of(m == broker, m.fenced, not_(options.contains(m))) for m in partition.brokers)
    )

    _hear_of_failure(partition, broker)
    new_leader_epoch(partition, None)
    change_partition(partition, isr, eligible)
    note_last_known_leader(partition, broker, isr)


@action(
    "controller fences {broker}, whose log directory failed, and elects {successor}",
    at="ReplicationControlManager.handleBrokerFenced",
    since="4.0.0",
    about="KIP-966",
)
def controller_fence_and_elect(
    partition: TopicPartition, broker: Broker, successor: Broker
) -> None:
    """Of a partition without a leader the only ISR member leaves, which could not be elected.

    It had been asked to join before its directory failed: the controller does not look at that.
    """
    isr = isr_without(partition, broker)
    eligible = eligible_without(partition, broker, isr)
    require_fencing(partition, broker)
    require(elects_by_leaving(partition, isr, eligible))
    require(partition.controller.isr.contains(broker), successor != broker)
    require(may_change_leader(partition), is_acceptable(partition, successor))
    require(candidates(partition, isr, eligible).contains(successor))

    fence(partition, broker)
    elect_beside(partition, successor, isr, eligible)


def _repair(broker: Broker) -> None:
    """While the broker is down."""
    require(not_(broker.up), broker.directory_failed)

    broker.directory_failed = False


@action(
    "the failed log directory of {broker} is back",
    at="LogManager.readBrokerEpochFromCleanShutdownFiles",
    since="4.0.0",
    about="KIP-966",
)
def broker_regain_directory(partition: TopicPartition, broker: Broker) -> None:
    """With the log as it was, and without a marker of the stop since."""
    _repair(broker)
    broker.stopped_cleanly = False


@action(
    "an empty disk replaces the failed log directory of {broker}",
    at="LogManager.readBrokerEpochFromCleanShutdownFiles",
    since="4.0.0",
    about="KIP-966",
)
def broker_replace_directory(partition: TopicPartition, broker: Broker) -> None:
    """With neither log nor marker."""
    _repair(broker)
    broker.stopped_cleanly = False
    unified_log.delete(partition, broker, where=True)


@action(
    "the failed log directory of {broker} is removed from log.dirs",
    at="LogManager.readBrokerEpochFromCleanShutdownFiles",
    since="4.0.0",
    about="KIP-966, finding 0005",
)
def broker_drop_directory(partition: TopicPartition, broker: Broker) -> None:
    """After a clean stop, the marker is in each directory that is left."""
    _repair(broker)
    broker.directory_dropped = True
    unified_log.delete(partition, broker, where=True)
