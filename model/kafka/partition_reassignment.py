"""Reassignment of replicas (`ReplicationControlManager.alterPartitionReassignments`).

An operator names the brokers that should have the partition. The controller adds the new ones,
waits until they are in sync, and takes the others out; until then it can be cancelled. A broker
that reads that it has no replica any more throws its log away. One is asked for where none is under
way: Kafka also lets one take another's place.
"""

from __future__ import annotations

from typing import Any

from model.kafka.partition import follow
from model.kafka.partition_change import (
    change_partition,
    completes_reassignment,
    eligible_among,
    may_change_leader,
    new_leader_epoch,
)
from model.kafka.replication_control import request_is_acceptable
from model.kafka.state import Broker, TopicPartition
from model.language import SetOf, action, all_of, any_of, is_none, not_, require, some


def _move(partition: TopicPartition, adding: SetOf[Broker], removing: SetOf[Broker]) -> None:
    """Begin to replace replicas by others: for now, both are replicas.

    A partition without a leader cannot be moved back to a live broker that is in the ELR still:
    Kafka would elect it, but fails with an unknown server error, since it looks up the directory of
    a replica that is not there yet (`LeaderAcceptor`, `PartitionRegistration.directory`).
    """
    controller = partition.controller
    replicas = controller.replicas.union(adding)
    eligible = eligible_among(partition, replicas, controller.isr)
    leaderless = all_of(is_none(controller.leader), controller.isr.is_empty)
    back = adding.intersection(eligible)
    require(controller.adding.is_empty, controller.removing.is_empty, partition.exists)
    require(
        not_(some(all_of(leaderless, back.contains(b), not_(b.fenced)) for b in partition.brokers))
    )

    controller.replicas = replicas
    controller.adding = adding
    controller.removing = removing
    change_partition(partition, controller.isr, eligible)


@action("an operator moves the replica of {source} to {destination}")
def operator_move_replica(partition: TopicPartition, source: Broker, destination: Broker) -> None:
    """Ask that another broker has the replica of one."""
    replicas, spent = partition.controller.replicas, partition.spent.replica_moves
    only = partition.brokers.only
    require(partition.replicas_move, spent < partition.bound("replica_moves"))
    require(replicas.contains(source), not_(replicas.contains(destination)))

    _move(partition, only(destination), only(source))
    partition.spent.replica_moves = spent + 1


@action("an operator moves the partition to the brokers that have no replica of it")
def operator_move_partition(partition: TopicPartition) -> None:
    """Ask that all other brokers have the partition, and none of those that have it now."""
    replicas, spent = partition.controller.replicas, partition.spent.partition_moves
    others = partition.brokers.all().minus(replicas)
    require(partition.replicas_move, spent < partition.bound("partition_moves"))
    require(not_(others.is_empty))

    _move(partition, others, replicas)
    partition.spent.partition_moves = spent + 1


def _require_leader(partition: TopicPartition, leader: Broker, isr: SetOf[Broker]) -> None:
    """Who leads with that ISR: whoever leads now, if a member, else a live one."""
    controller = partition.controller
    require(may_change_leader(partition))
    require(isr.contains(leader), not_(leader.fenced))
    require(any_of(leader == controller.leader, _cannot_lead_on(partition, isr)))


def _cannot_lead_on(partition: TopicPartition, isr: SetOf[Broker]) -> bool:
    """The leader, if there is one, is not among those."""
    return not_(
        some(
            all_of(partition.controller.leader == broker, isr.contains(broker))
            for broker in partition.brokers
        )
    )


@action("controller ends the reassignment as the ISR has grown; {leader} leads")
def controller_complete_reassignment(partition: TopicPartition, leader: Broker) -> None:
    """Accept an AlterPartition request and take out who is removed, in a new leader epoch."""
    controller = partition.controller
    isr = controller.request.minus(controller.removing)
    require(request_is_acceptable(partition))
    require(completes_reassignment(partition, controller.request))
    _require_leader(partition, leader, isr)

    _end(partition, leader, isr, controller.removing)


@action("controller ends the reassignment that an election has made complete")
def controller_complete_late_reassignment(partition: TopicPartition) -> None:
    """Take out who is removed, though the ISR has not grown: who was added has been elected alone.

    The election comes after the look at the ISR, so Kafka does this with whatever it changes next;
    here it is a step of its own.
    """
    controller = partition.controller
    isr = controller.isr.minus(controller.removing)
    require(completes_reassignment(partition, controller.isr))
    require(may_change_leader(partition), not_(is_none(controller.leader)))
    require(not_(_cannot_lead_on(partition, isr)))

    _end(partition, controller.leader, isr, controller.removing)


@action("an operator cancels the reassignment; {leader} leads")
def operator_cancel_reassignment(partition: TopicPartition, leader: Broker) -> None:
    """Take out who was added, in a new leader epoch. Refused where nobody else is in sync."""
    controller = partition.controller
    isr = controller.isr.minus(controller.adding)
    require(partition.replicas_move, not_(controller.adding.is_empty))
    _require_leader(partition, leader, isr)

    _end(partition, leader, isr, controller.adding)


def _end(partition: TopicPartition, leader: Any, isr: SetOf[Broker], out: SetOf[Broker]) -> None:
    """Take replicas out, in a new leader epoch, with the ISR that is left."""
    controller = partition.controller
    replicas = controller.replicas.minus(out)
    eligible = eligible_among(partition, replicas, isr)
    controller.replicas = replicas
    controller.adding = partition.brokers.none()
    controller.removing = partition.brokers.none()
    new_leader_epoch(partition, leader)
    change_partition(partition, isr, eligible)


@action("{broker} reads that it has a replica, and follows")
def broker_gain_replica(partition: TopicPartition, broker: Broker) -> None:
    """Begin to follow in the leader epoch of before: adding a replica starts no new one."""
    controller = partition.controller
    require(partition.replicas_move)
    require(broker.up, controller.adding.contains(broker))
    require(not_(is_none(controller.leader)), is_none(broker.leader))
    require(broker.leader_epoch == controller.leader_epoch)

    follow(partition, broker)


@action("{broker} reads that it has no replica any more, and throws its log away")
def broker_lose_replica(partition: TopicPartition, broker: Broker) -> None:
    """Stop to lead or to follow, and delete the log (`ReplicaManager.stopPartitions`)."""
    require(broker.up, not_(partition.has_replica(broker)))
    require(any_of(not_(broker.log.is_empty), not_(is_none(broker.leader))))

    follow(partition, broker)
