"""Log directories of brokers with several disks (JBOD), as far as the controller hears of them.

Which directory a replica is in is not state: what matters here is what else a report of it changes,
and that a broker may come back without one.
"""

from __future__ import annotations

from model.kafka import unified_log
from model.kafka.bounds import DIRECTORY_ASSIGNMENTS, LOST_DIRECTORIES
from model.kafka.partition_change import change_partition
from model.kafka.state import Broker, TopicPartition
from model.language import action, not_, require, spend


def assign_directory(partition: TopicPartition, where: bool = True) -> None:
    """Write a replica's directory, where the condition holds; that may empty the ELR."""
    controller = partition.controller
    eligible = controller.eligible
    if not partition.options.assignment_keeps_elr:
        eligible = partition.brokers.none()
    change_partition(partition, controller.isr, eligible, where)


@action(
    "{broker} reports its replica's log directory; the ELR is emptied",
    at="ReplicationControlManager.handleAssignReplicasToDirs",
    since="3.7.0",
    about="KIP-858, finding 0003",
    settings="assignment.keeps.elr",
)
def broker_assign_directory(partition: TopicPartition, broker: Broker) -> None:
    """Write the directory as a partition change that does not know of the ELR (finding 0003).

    Sent for a move between directories or its cancelling, a directory whose id has changed, and a
    new replica (`broker_restart`). Where it knows of the ELR, or there is none, it changes nothing.
    """
    controller = partition.controller
    require(partition.options.eligible_leader_replicas)
    require(not partition.options.assignment_keeps_elr)
    require(broker.is_online, not_(controller.eligible.is_empty))
    require(partition.has_replica(broker), broker.is_registered)

    spend(partition, DIRECTORY_ASSIGNMENTS)
    assign_directory(partition)


@action(
    "{broker} loses its log directory while it is down",
    at="LogManager.loadLogs",
    since="4.0.0",
    about="KIP-966, finding 0005",
)
def broker_lose_directory(partition: TopicPartition, broker: Broker) -> None:
    """Lose the log of a broker that has stopped cleanly: its disk failed, and is in use no more.

    The marker of the clean stop is in each directory, and those that are left have it. So the
    broker registers as one that has lost nothing (finding 0005), and is given an empty replica.
    """
    require(not_(broker.up), broker.stopped_cleanly, not_(broker.log.is_empty))
    require(not_(broker.directory_failed))

    spend(partition, LOST_DIRECTORIES)
    unified_log.delete(partition, broker, where=True)
    broker.directory_lost = 1
