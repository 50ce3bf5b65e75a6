"""A broker reads that it has a replica, or none any more (`LocalReplicaChanges`)."""

from __future__ import annotations

from model.kafka.partition import follow
from model.kafka.state import Broker, TopicPartition
from model.language import action, any_of, is_none, not_, require


@action(
    "{broker} applies metadata that adds its replica, and follows",
    at="ReplicaManager.applyDelta",
    since="0.8.0",
)
def broker_gain_replica(partition: TopicPartition, broker: Broker) -> None:
    """Begin to follow in the leader epoch of before: adding a replica starts no new one."""
    controller = partition.controller
    require(partition.replicas_move)
    require(broker.is_online, controller.replicas.contains(broker), controller.leader != broker)
    require(not_(is_none(controller.leader)), is_none(broker.leader))
    require(broker.leader_epoch == controller.leader_epoch)

    follow(partition, broker)


@action(
    "{broker} applies metadata that removes its replica, and deletes its log",
    at="ReplicaManager.stopPartitions",
    since="0.8.0",
)
def broker_lose_replica(partition: TopicPartition, broker: Broker) -> None:
    """Stop to lead or to follow, and delete the log (`ReplicaManager.stopPartitions`)."""
    require(broker.is_online, not_(partition.has_replica(broker)))
    require(any_of(not_(broker.log.is_empty), not_(is_none(broker.leader))))

    follow(partition, broker)
