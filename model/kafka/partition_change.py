"""How the controller writes a partition change (`PartitionChangeBuilder`): ISR, ELR, leader.

Each change is a new partition epoch. The ELR holds the eligible leader replicas (KIP-966).
"""

from __future__ import annotations

from typing import Any

from model.kafka.choices import ShrinkStartsEpoch
from model.kafka.state import Broker, TopicPartition
from model.language import SetOf, all_of, any_of, choose, is_none, minimum, not_, some


def eligible_after(partition: TopicPartition, isr: SetOf[Broker]) -> SetOf[Broker]:
    """The ELR once the ISR is `isr`, and the replicas are those of now."""
    return eligible_among(partition, partition.controller.replicas, isr)


def eligible_among(
    partition: TopicPartition, replicas: SetOf[Broker], isr: SetOf[Broker]
) -> SetOf[Broker]:
    """The ELR once the ISR is `isr`: whoever left while it is below its minimum (KIP-966).

    Nobody asks whether they are among the replicas; with the fix, they are (finding 0004).
    """
    controller = partition.controller
    nobody = partition.brokers.none()
    if not partition.options.eligible_leader_replicas:
        return nobody
    left = controller.eligible.union(controller.isr).minus(isr)
    if partition.replicas_move and partition.options.elr_of_replicas_only:
        left = left.intersection(replicas)
    return choose(isr.size >= min_isr_of_elr(partition), nobody, left)


def min_isr_of_elr(partition: TopicPartition) -> int:
    """So many in the ISR need no ELR.

    With the fix, no more than any active broker goes by (finding 0021).
    """
    number = partition.min_isr
    if not (partition.min_isr_may_be_unread and partition.options.elr_min_isr_read_by_all):
        return number
    late = some(
        all_of(not_(b.fenced), b.min_isr_unread + b.min_isr_next > 0) for b in partition.brokers
    )
    former = partition.within_replicas(partition.options.min_insync_replicas)
    return choose(late, minimum(number, former), number)


def eligible_without(
    partition: TopicPartition, broker: Broker, isr: SetOf[Broker]
) -> SetOf[Broker]:
    """The ELR once the ISR is `isr`, as a broker leaves that is fenced, or is to be forgotten.

    It enters the ELR or stays there; with the fix, not if it is unregistered (finding 0018).
    """
    eligible = eligible_after(partition, isr)
    if not partition.options.unregistration_leaves_elr:
        return eligible
    return choose(broker.unregistered, eligible.without_member(broker), eligible)


def changes_elr(partition: TopicPartition, broker: Broker, eligible: SetOf[Broker]) -> bool:
    """Looking at the partition anew, since a member of the ELR is unregistered, changes the ELR.

    The ISR is large enough since replicas have become fewer; or the member leaves, with the fix.
    """
    controller = partition.controller
    return all_of(controller.eligible.contains(broker), eligible != controller.eligible)


def isr_without(partition: TopicPartition, broker: Broker) -> SetOf[Broker]:
    """The ISR without a broker; without ELR its last member stays."""
    isr = partition.controller.isr
    left = isr.without_member(broker)
    if partition.options.eligible_leader_replicas:
        return left
    return choose(left.is_empty, isr, left)


def change_partition(
    partition: TopicPartition, isr: SetOf[Broker], eligible: SetOf[Broker], where: bool = True
) -> None:
    """Write ISR and ELR in a new partition epoch, where the condition holds.

    The leader has to read it, and no request of the epoch before can be accepted any more.
    """
    controller = partition.controller
    controller.isr = choose(where, isr, controller.isr)
    controller.eligible = choose(where, eligible, controller.eligible)
    controller.min_isr_changed_last = choose(where, 0, controller.min_isr_changed_last)
    outdate_leader(partition, where)
    void_request(partition, where)


def outdate_leader(partition: TopicPartition, where: bool = True) -> None:
    """Where the condition holds, no leader in office knows the partition epoch any more."""
    controller = partition.controller
    controller.leader_is_current = all_of(controller.leader_is_current, not_(where))
    controller.image_unread = all_of(controller.image_unread, not_(where))


def void_request(partition: TopicPartition, where: bool = True) -> None:
    """Where the condition holds, no AlterPartition request under way can be accepted any more."""
    controller = partition.controller
    controller.request = choose(where, partition.brokers.none(), controller.request)
    controller.joiner_restarted = all_of(controller.joiner_restarted, not_(where))


def registers_cleanly(partition: TopicPartition, broker: Broker) -> bool:
    """The broker registers as one that has stopped cleanly; with the fix, with all directories.

    A directory of which the controller knows that it has failed is none of the last registration's.
    Of one that was unregistered the controller knows no broker epoch that it could have stopped in
    (`ClusterControlManager.registerBroker`).
    """
    known = all_of(broker.stopped_cleanly, not_(broker.unregistered))
    if partition.options.registration_counts_directories:
        unheard = not_(partition.controller.offline.contains(broker))
        lacks_one = any_of(broker.directory_lost > 0, all_of(broker.directory_dropped, unheard))
        return all_of(known, not_(lacks_one))
    return known


def lose_place_if_unclean(partition: TopicPartition, broker: Broker) -> bool:
    """Take a broker that registers after an unclean stop out of ISR and ELR; whether it was there.

    It may have lost the end of its log (`ReplicationControlManager.handleBrokerUncleanShutdown`).
    """
    controller = partition.controller
    kept = controller.isr.without_member(broker)
    eligible = eligible_after(partition, kept).without_member(broker)
    listed = any_of(controller.eligible.contains(broker), controller.isr.contains(broker))
    lost = all_of(listed, not_(registers_cleanly(partition, broker)))
    last = all_of(lost, is_none(controller.leader), not_(controller.isr.is_empty), kept.is_empty)
    change_partition(partition, kept, eligible, where=lost)
    if partition.options.last_member_is_last_known_leader:
        known = controller.last_known_leader
        controller.last_known_leader = choose(last, broker, known)
    return lost


def candidates(
    partition: TopicPartition, isr: SetOf[Broker], eligible: SetOf[Broker]
) -> SetOf[Broker]:
    """Who may be elected cleanly, dead or alive: the ISR, or the ELR if that is empty.

    Whoever is in the ELR and no replica may not, nor whose directory is known to have failed.
    """
    if partition.replicas_move:
        eligible = eligible.intersection(partition.controller.replicas)
    return choose(isr.is_empty, eligible, isr).minus(partition.controller.offline)


def elects_by_leaving(
    partition: TopicPartition, isr: SetOf[Broker], eligible: SetOf[Broker]
) -> bool:
    """As a member leaves the ISR of a partition without a leader, somebody in the ELR may lead.

    Only a member whose directory is known to have failed is there, is live, and was not elected.
    """
    controller = partition.controller
    options = candidates(partition, isr, eligible)
    return all_of(
        not_(controller.isr.intersection(controller.offline).is_empty),
        is_none(controller.leader),
        some(all_of(not_(m.fenced), options.contains(m)) for m in partition.brokers),
    )


def is_acceptable(partition: TopicPartition, broker: Broker) -> bool:
    """The broker is unfenced, and its directory is not known to have failed (`LeaderAcceptor`)."""
    return all_of(not_(broker.fenced), not_(partition.controller.offline.contains(broker)))


def is_reassigned(partition: TopicPartition) -> bool:
    """A reassignment is under way."""
    controller = partition.controller
    return any_of(not_(controller.adding.is_empty), not_(controller.removing.is_empty))


def completes_reassignment(partition: TopicPartition, isr: SetOf[Broker]) -> bool:
    """With that ISR a reassignment under way is done (`completeReassignmentIfNeeded`)."""
    if not partition.replicas_move:
        return False
    controller = partition.controller
    stay = controller.replicas.minus(controller.removing)
    return is_complete(partition, isr, stay, controller.adding, controller.removing)


def is_complete(
    partition: TopicPartition,
    isr: SetOf[Broker],
    stay: SetOf[Broker],
    adding: SetOf[Broker],
    removing: SetOf[Broker],
) -> bool:
    """A reassignment that leaves the replicas `stay` is done with that ISR.

    All of those must be in it; since 4.3 all that are added, unless replicas become fewer
    (`PartitionReassignmentReplicas.maybeCompleteReassignment`, KAFKA-19975).
    """
    left = isr.minus(removing)
    everyone = left.includes(stay)
    joined = left.includes(adding)
    if partition.options.reassignment_waits_for_all:
        joined = everyone
    fewer = adding.size < removing.size
    return all_of(
        any_of(not_(adding.is_empty), not_(removing.is_empty)),
        not_(left.is_empty),
        joined,
        any_of(not_(fewer), everyone),
    )


def may_change_leader(partition: TopicPartition, epochs: int = 1) -> bool:
    """The bound on leader epochs leaves room for one more, or for so many."""
    return partition.controller.leader_epoch + epochs <= partition.bound("max_leader_epoch")


def new_leader_epoch(
    partition: TopicPartition, leader: Any, where: bool = True, epochs: int = 1
) -> None:
    """Name a leader, or none, in a new leader epoch, where the condition holds."""
    controller = partition.controller
    controller.leader = choose(where, leader, controller.leader)
    controller.leader_epoch = controller.leader_epoch + choose(where, epochs, 0)
    controller.last_known_leader = choose(where, None, controller.last_known_leader)


def note_last_known_leader(partition: TopicPartition, broker: Broker, isr: SetOf[Broker]) -> None:
    """The partition has lost its leader: where nobody in the ISR is live, it is the last known."""
    if partition.options.eligible_leader_replicas and partition.options.last_known_leader:
        nobody = isr.minus(partition.controller.offline).is_empty
        partition.controller.last_known_leader = choose(nobody, broker, None)


def shrink_starts_epoch(partition: TopicPartition, isr: SetOf[Broker], asked: bool = False) -> bool:
    """Writing `isr` without an election starts a leader epoch, since it lacks a member of now.

    `asked`: the leader has asked for it (`triggerLeaderEpochBumpIfNeeded`, KAFKA-15021).
    """
    rule = partition.options.shrink_starts_epoch
    if rule == ShrinkStartsEpoch.NEVER or (asked and rule == ShrinkStartsEpoch.BY_CONTROLLER):
        return False
    return not_(isr.includes(partition.controller.isr))


def keep_leader_in_new_epoch(partition: TopicPartition, where: bool) -> None:
    """Where the condition holds, the leader goes on in a new leader epoch."""
    controller = partition.controller
    if partition.options.shrink_starts_epoch != ShrinkStartsEpoch.NEVER:
        controller.leader_epoch = controller.leader_epoch + choose(where, 1, 0)


def elect(partition: TopicPartition, leader: Broker, isr: SetOf[Broker]) -> None:
    """Make an ISR member, or with an empty ISR an eligible replica, the leader.

    Whether the ISR is large enough is asked before the election adds to it. With the fix of finding
    0006 an ELR of several may meet a minimum of one, so that it is asked again.
    """
    elect_beside(partition, leader, isr, eligible_after(partition, isr))


def elect_beside(
    partition: TopicPartition,
    leader: Broker,
    isr: SetOf[Broker],
    eligible: SetOf[Broker],
    epochs: int = 1,
) -> None:
    """The same, where it is known who is eligible besides."""
    new_isr = choose(isr.is_empty, partition.brokers.only(leader), isr)
    left = eligible.without_member(leader)
    if partition.options.min_isr_change_keeps_elr:
        reached = new_isr.size >= min_isr_of_elr(partition)
        left = choose(reached, partition.brokers.none(), left)
    new_leader_epoch(partition, leader, epochs=epochs)
    change_partition(partition, new_isr, left)
