"""Reassignment of replicas (`ReplicationControlManager.alterPartitionReassignments`).

An operator names the brokers that should have the partition. The controller adds the new ones,
waits until they are in sync, and takes the others out; until then it can be cancelled, and another
reassignment may take its place (`kafka-reassign-partitions.sh --additional`). Each asks for one
replica more, less or elsewhere than would stay now, or for the list of before. Where enough are in
sync, it ends in the same step (`PartitionChangeBuilder.build`); that is left out where nobody
leads. What brokers do that read of it is in `local_replica_changes.py`.
"""

from __future__ import annotations

from typing import Any

from model.kafka.bounds import (
    PARTITION_MOVES,
    REASSIGNMENT_REPLACEMENTS,
    REPLICA_ADDITIONS,
    REPLICA_MOVES,
    REPLICA_REMOVALS,
)
from model.kafka.partition_change import (
    change_partition,
    completes_reassignment,
    eligible_among,
    is_acceptable,
    is_complete,
    is_reassigned,
    may_change_leader,
    new_leader_epoch,
)
from model.kafka.replication_control import request_is_acceptable
from model.kafka.state import Broker, TopicPartition
from model.language import (
    SetOf,
    action,
    all_of,
    any_of,
    choose,
    every,
    is_left,
    is_none,
    not_,
    require,
    some,
    use_up,
)


def _staying(partition: TopicPartition) -> SetOf[Broker]:
    """Who will have a replica when what is under way has ended."""
    return partition.controller.replicas.minus(partition.controller.removing)


def _lists(partition: TopicPartition, target: SetOf[Broker]) -> tuple[SetOf[Broker], SetOf[Broker]]:
    """Who is added and who is removed, so that `target` has the partition.

    Both by who has a replica now (`PartitionReassignmentReplicas`), also one that is still being
    added. Where nobody is to be added, or removed, the list of the reassignment under way stays as
    it is (`changePartitionReassignment`); with the fix, whoever is wanted still is added still.
    """
    controller = partition.controller
    removing = controller.replicas.minus(target)
    adding = target.minus(controller.replicas)
    if partition.options.replacing_sets_both_lists:
        return adding.union(controller.adding.intersection(target)), removing
    return (
        choose(adding.is_empty, controller.adding, adding),
        choose(removing.is_empty, controller.removing, removing),
    )


def _require_request(partition: TopicPartition, target: SetOf[Broker]) -> None:
    """All who are asked for are registered; where one is under way, this one may take its place."""
    under_way = is_reassigned(partition)
    replaces = is_left(partition, REASSIGNMENT_REPLACEMENTS)
    require(partition.replicas_move, partition.exists, any_of(not_(under_way), replaces))
    require(not_(target.is_empty))
    require(every(any_of(not_(target.contains(b)), b.is_registered) for b in partition.brokers))


def _ask(partition: TopicPartition, target: SetOf[Broker]) -> None:
    """Begin to have `target` as replicas: for now, those of before are, too.

    A partition without a leader cannot be moved back to a live broker that is in the ELR still:
    Kafka would elect it, but fails with an unknown server error, since it looks up the directory of
    a replica that is not there yet (`LeaderAcceptor`, `PartitionRegistration.directory`). A request
    that changes nothing is none.
    """
    controller = partition.controller
    isr, replicas = controller.isr, controller.replicas.union(target)
    adding, removing = _lists(partition, target)
    eligible = eligible_among(partition, replicas, isr)
    leaderless = all_of(is_none(controller.leader), isr.is_empty)
    back = target.minus(controller.replicas).intersection(eligible)
    _require_request(partition, target)
    require(any_of(adding != controller.adding, removing != controller.removing))
    require(not_(is_complete(partition, isr, replicas.minus(removing), adding, removing)))
    require(
        not_(some(all_of(leaderless, back.contains(b), not_(b.fenced)) for b in partition.brokers))
    )

    use_up(partition, REASSIGNMENT_REPLACEMENTS, where=is_reassigned(partition))
    controller.replicas = replicas
    controller.adding = adding
    controller.removing = removing
    change_partition(partition, isr, eligible)


def _ask_and_end(partition: TopicPartition, target: SetOf[Broker], leader: Broker) -> None:
    """Have `target` as replicas at once: enough of them are in sync, so all have a replica now."""
    controller = partition.controller
    isr, replicas = controller.isr, controller.replicas
    adding, removing = _lists(partition, target)
    left = isr.minus(removing)
    _require_request(partition, target)
    require(replicas.includes(target))
    require(is_complete(partition, isr, replicas.minus(removing), adding, removing))
    _require_leader(partition, leader, left)

    under_way = is_reassigned(partition)
    _end(partition, leader, left, removing)
    use_up(partition, REASSIGNMENT_REPLACEMENTS, where=under_way)


def _moved(partition: TopicPartition, source: Broker, destination: Broker) -> SetOf[Broker]:
    staying = _staying(partition)
    require(is_left(partition, REPLICA_MOVES))
    require(staying.contains(source), not_(staying.contains(destination)))

    return staying.without_member(source).with_member(destination)


@action(
    "an operator moves the replica of {source} to {destination}",
    at="ReplicationControlManager.changePartitionReassignment",
    since="1.1.0",
    about="KIP-455, finding 0004",
    settings="elr.of.replicas.only",
)
def operator_move_replica(partition: TopicPartition, source: Broker, destination: Broker) -> None:
    """Ask that another broker has the replica of one."""
    _ask(partition, _moved(partition, source, destination))
    use_up(partition, REPLICA_MOVES)


@action(
    "an operator moves the replica of {source} to {destination} in one step; {leader} leads",
    at="ReplicationControlManager.changePartitionReassignment",
    since="2.4.0",
    about="KIP-455, finding 0013",
    settings="replacing.sets.both.lists",
)
def operator_move_replica_at_once(
    partition: TopicPartition, source: Broker, destination: Broker, leader: Broker
) -> None:
    """The same where another was under way, of which the destination is in sync still."""
    _ask_and_end(partition, _moved(partition, source, destination), leader)
    use_up(partition, REPLICA_MOVES)


@action(
    "an operator moves the partition to the brokers without a replica",
    at="ReplicationControlManager.changePartitionReassignment",
    since="1.1.0",
    about="KIP-455, finding 0004",
    settings="elr.of.replicas.only",
)
def operator_move_partition(partition: TopicPartition) -> None:
    """Ask that all other brokers have the partition, and none of those that have it now."""
    replicas = partition.controller.replicas
    others = partition.brokers.all().minus(replicas)
    require(is_left(partition, PARTITION_MOVES))
    require(not_(is_reassigned(partition)))
    _ask(partition, others)

    use_up(partition, PARTITION_MOVES)


def _increased(partition: TopicPartition, broker: Broker) -> SetOf[Broker]:
    staying = _staying(partition)
    require(is_left(partition, REPLICA_ADDITIONS), not_(staying.contains(broker)))

    return staying.with_member(broker)


@action(
    "an operator adds a replica on {broker}",
    at="ReplicationControlManager.changePartitionReassignment",
    since="1.1.0",
    about="KIP-455, finding 0013",
    settings="replacing.sets.both.lists",
)
def operator_add_replica(partition: TopicPartition, broker: Broker) -> None:
    """Ask for a replica more."""
    _ask(partition, _increased(partition, broker))
    use_up(partition, REPLICA_ADDITIONS)


@action(
    "an operator adds a replica on {broker} in one step; {leader} leads",
    at="ReplicationControlManager.changePartitionReassignment",
    since="2.4.0",
    about="KIP-455, finding 0013",
    settings="replacing.sets.both.lists",
)
def operator_add_replica_at_once(partition: TopicPartition, broker: Broker, leader: Broker) -> None:
    """The same where another was under way, and the replica is in sync still."""
    _ask_and_end(partition, _increased(partition, broker), leader)
    use_up(partition, REPLICA_ADDITIONS)


def _decreased(partition: TopicPartition, broker: Broker) -> SetOf[Broker]:
    staying = _staying(partition)
    require(is_left(partition, REPLICA_REMOVALS), staying.contains(broker))

    return staying.without_member(broker)


@action(
    "an operator removes the replica of {broker}",
    at="ReplicationControlManager.changePartitionReassignment",
    since="1.1.0",
    about="KIP-455, KAFKA-19975",
    settings="replacing.sets.both.lists, reassignment.waits.for.all",
)
def operator_remove_replica(partition: TopicPartition, broker: Broker) -> None:
    """Ask for a replica less: it waits until all others are in sync."""
    _ask(partition, _decreased(partition, broker))
    use_up(partition, REPLICA_REMOVALS)


@action(
    "an operator removes the replica of {broker} in one step; {leader} leads",
    at="PartitionReassignmentReplicas.maybeCompleteReassignment",
    since="1.1.0",
    about="KIP-455, finding 0004",
    settings="elr.of.replicas.only",
)
def operator_remove_replica_at_once(
    partition: TopicPartition, broker: Broker, leader: Broker
) -> None:
    """The same where all others are in sync."""
    _ask_and_end(partition, _decreased(partition, broker), leader)
    use_up(partition, REPLICA_REMOVALS)


def _original(partition: TopicPartition) -> SetOf[Broker]:
    require(is_reassigned(partition))
    return partition.controller.replicas.minus(partition.controller.adding)


@action(
    "an operator reassigns the partition back to its former replicas",
    at="ReplicationControlManager.changePartitionReassignment",
    since="2.4.0",
    about="KIP-455, finding 0013",
    settings="replacing.sets.both.lists, reassignment.waits.for.all",
)
def operator_restore_replicas(partition: TopicPartition) -> None:
    """Ask for the list from before the reassignment under way, instead of cancelling that.

    The tool prints that list, to be kept for this (`ReassignPartitionsCommand`).
    """
    _ask(partition, _original(partition))


@action(
    "an operator restores the former replicas in one step; {leader} leads",
    at="PartitionReassignmentReplicas.maybeCompleteReassignment",
    since="2.4.0",
    about="KIP-455, finding 0013",
    settings="replacing.sets.both.lists, reassignment.waits.for.all",
)
def operator_restore_replicas_at_once(partition: TopicPartition, leader: Broker) -> None:
    """The same where all of them are in sync still."""
    _ask_and_end(partition, _original(partition), leader)


def _require_leader(partition: TopicPartition, leader: Broker, isr: SetOf[Broker]) -> None:
    """Who leads with that ISR: whoever leads now, if a member, else a live one."""
    controller = partition.controller
    require(isr.contains(leader), is_acceptable(partition, leader))
    require(any_of(leader == controller.leader, _cannot_lead_on(partition, isr)))


def _cannot_lead_on(partition: TopicPartition, isr: SetOf[Broker]) -> bool:
    """The leader, if there is one, is not among those."""
    return not_(
        some(
            all_of(partition.controller.leader == broker, isr.contains(broker))
            for broker in partition.brokers
        )
    )


@action(
    "controller completes the reassignment, as the ISR has grown; {leader} leads",
    at="PartitionChangeBuilder.completeReassignmentIfNeeded",
    since="1.1.0",
    about="KAFKA-19975, finding 0004",
    settings="elr.of.replicas.only, reassignment.waits.for.all",
)
def controller_complete_reassignment(partition: TopicPartition, leader: Broker) -> None:
    """Accept an AlterPartition request and take out who is removed, in a new leader epoch.

    Where nobody is, that is a change of the ISR as any (`controller_apply_isr_change`).
    """
    controller = partition.controller
    isr = controller.request.minus(controller.removing)
    require(request_is_acceptable(partition))
    require(completes_reassignment(partition, controller.request))
    require(not_(controller.removing.is_empty))
    _require_leader(partition, leader, isr)

    _end(partition, leader, isr, controller.removing)


@action(
    "controller completes the reassignment after an election",
    at="PartitionChangeBuilder.completeReassignmentIfNeeded",
    since="1.1.0",
    about="KAFKA-19975, finding 0004",
    settings="elr.of.replicas.only, reassignment.waits.for.all",
)
def controller_complete_late_reassignment(partition: TopicPartition) -> None:
    """Take out who is removed, though the ISR has not grown: who was added has been elected alone.

    The election comes after the look at the ISR, so Kafka does this with whatever it changes next;
    here it is a step of its own.
    """
    controller = partition.controller
    isr = controller.isr.minus(controller.removing)
    require(completes_reassignment(partition, controller.isr))
    require(not_(is_none(controller.leader)))
    require(not_(_cannot_lead_on(partition, isr)))

    _end(partition, controller.leader, isr, controller.removing)


@action(
    "an operator cancels the reassignment; {leader} leads",
    at="ReplicationControlManager.cancelPartitionReassignment",
    since="2.4.0",
    about="KIP-455, finding 0004",
    settings="elr.of.replicas.only",
)
def operator_cancel_reassignment(partition: TopicPartition, leader: Broker) -> None:
    """Take out who was added, in a new leader epoch. Refused where nobody else is in sync.

    Where nobody was added, those who were to go stay, and nothing else changes.
    """
    controller = partition.controller
    isr = controller.isr.minus(controller.adding)
    require(partition.replicas_move, is_reassigned(partition))
    _require_leader(partition, leader, isr)

    _end(partition, leader, isr, controller.adding)


def _end(partition: TopicPartition, leader: Any, isr: SetOf[Broker], out: SetOf[Broker]) -> None:
    """Take replicas out, in a new leader epoch, with the ISR that is left.

    Where none goes, there is no new epoch (`triggerLeaderEpochBumpForReplicaReassignmentIfNeeded`).
    """
    controller = partition.controller
    replicas = controller.replicas.minus(out)
    eligible = eligible_among(partition, replicas, isr)
    anew = not_(out.is_empty)
    require(any_of(not_(anew), may_change_leader(partition)))
    controller.replicas = replicas
    controller.adding = partition.brokers.none()
    controller.removing = partition.brokers.none()
    new_leader_epoch(partition, leader, where=anew)
    change_partition(partition, isr, eligible)
