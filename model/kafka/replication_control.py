"""What the controller does (`ReplicationControlManager`): fencing, elections, AlterPartition."""

from __future__ import annotations

from model.kafka.bounds import (
    CONTROLLER_FAILOVERS,
    FALSE_FENCINGS,
    PREFERRED_ELECTIONS,
    UNCLEAN_ELECTIONS,
)
from model.kafka.choices import PreferredLeader
from model.kafka.partition import advance_high_watermark
from model.kafka.partition_change import (
    candidates,
    change_partition,
    changes_elr,
    completes_reassignment,
    elect,
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
    void_request,
)
from model.kafka.state import Broker, TopicPartition
from model.language import (
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
    spend,
    use_up,
)


def require_fencing(partition: TopicPartition, broker: Broker) -> None:
    """The broker is dead, wants to stop or is unregistered; or the budget lets it seem dead."""
    require(not_(broker.fenced))
    require(any_of(_is_to_leave(broker), is_left(partition, FALSE_FENCINGS)))


def _is_to_leave(broker: Broker) -> bool:
    return any_of(not_(broker.up), broker.shutting_down, broker.unregistered)


def _epochs_of_leaving(partition: TopicPartition, leader: Broker) -> int:
    """How many leader epochs begin as the leader leaves.

    Unregistering looks at the partitions of whose ISR it is, and then at those that the index of
    the ELR has for it, each as it was before. One that the index still has, though the leader is in
    no ELR, is changed twice (`ReplicationControlManager.handleBrokerUnregistered`, finding 0007).
    """
    indexed = partition.controller.index_left_over.contains(leader)
    epochs: int = choose(all_of(leader.unregistered, indexed), 2, 1)
    return epochs


def fence(partition: TopicPartition, broker: Broker) -> None:
    use_up(partition, FALSE_FENCINGS, where=not_(_is_to_leave(broker)))
    broker.fenced = True


@action(
    "controller fences {broker}",
    at="ReplicationControlManager.handleBrokerFenced",
    since="0.8.0",
    about="KIP-966",
    settings="eligible.leader.replicas, isr.shrink.starts.epoch",
)
def controller_fence_broker(partition: TopicPartition, broker: Broker) -> None:
    """Fence a broker that does not lead: its session has expired. It leaves the ISR.

    Or it is unregistered, which has the controller look at partitions of whose ELR it is, too.
    """
    isr = isr_without(partition, broker)
    eligible = eligible_without(partition, broker, isr)
    in_isr = partition.controller.isr.contains(broker)
    anew = shrink_starts_epoch(partition, isr)
    require_fencing(partition, broker)
    require(partition.controller.leader != broker)
    require(any_of(not_(anew), may_change_leader(partition)))
    require(not_(elects_by_leaving(partition, isr, eligible)))

    fence(partition, broker)
    keep_leader_in_new_epoch(partition, where=anew)
    changes = all_of(broker.unregistered, changes_elr(partition, broker, eligible))
    change_partition(partition, isr, eligible, where=any_of(in_isr, changes))


@action(
    "controller fences the leader {broker} and elects {successor}",
    at="ReplicationControlManager.handleBrokerFenced",
    since="0.8.0",
    about="KIP-966",
    settings="eligible.leader.replicas",
)
def controller_fence_leader(partition: TopicPartition, broker: Broker, successor: Broker) -> None:
    """Fence the leader; a live ISR member, or with an empty ISR an eligible replica, leads on."""
    isr = isr_without(partition, broker)
    eligible = eligible_without(partition, broker, isr)
    epochs = _epochs_of_leaving(partition, broker)
    require_fencing(partition, broker)
    require(partition.controller.leader == broker)
    require(may_change_leader(partition, epochs))
    require(successor != broker, is_acceptable(partition, successor))
    require(candidates(partition, isr, eligible).contains(successor))

    fence(partition, broker)
    elect_beside(partition, successor, isr, eligible, epochs)


@action(
    "controller fences the leader {broker}; no replica can be elected",
    at="ReplicationControlManager.handleBrokerFenced",
    since="0.8.0",
    about="KIP-966",
    settings="eligible.leader.replicas, last.known.leader.election",
)
def controller_fence_last_leader(partition: TopicPartition, broker: Broker) -> None:
    """Fence the leader and leave the partition without one."""
    isr = isr_without(partition, broker)
    eligible = eligible_without(partition, broker, isr)
    epochs = _epochs_of_leaving(partition, broker)
    options = candidates(partition, isr, eligible)
    require_fencing(partition, broker)
    require(partition.controller.leader == broker)
    require(may_change_leader(partition, epochs))
    require(
        every(any_of(m == broker, m.fenced, not_(options.contains(m))) for m in partition.brokers)
    )

    fence(partition, broker)
    new_leader_epoch(partition, None, epochs=epochs)
    change_partition(partition, isr, eligible)
    note_last_known_leader(partition, broker, isr)


def may_unfence(broker: Broker) -> bool:
    """The broker is up and fenced, and does not want to stop: its heartbeats bring it back.

    Not those of one that was unregistered: they are refused, and it does not register anew before
    it starts again (`BrokerLifecycleManager`).
    """
    return all_of(broker.up, broker.fenced, not_(broker.shutting_down), not_(broker.unregistered))


def is_elected_when_unfenced(partition: TopicPartition, broker: Broker) -> bool:
    """The partition has no leader, and the broker may be elected cleanly."""
    controller = partition.controller
    return all_of(
        is_none(controller.leader),
        candidates(partition, controller.isr, controller.eligible).contains(broker),
    )


@action(
    "controller unfences {broker}",
    at="ReplicationControlManager.handleBrokerUnfenced",
    since="0.8.0",
)
def controller_unfence_broker(partition: TopicPartition, broker: Broker) -> None:
    """Let a broker that has registered take part again."""
    require(may_unfence(broker))
    require(not_(is_elected_when_unfenced(partition, broker)))

    broker.fenced = False


@action(
    "controller unfences {broker} and elects it",
    at="ReplicationControlManager.handleBrokerUnfenced",
    since="0.8.0",
    about="KIP-966",
)
def controller_unfence_and_elect(partition: TopicPartition, broker: Broker) -> None:
    """Unfence a broker that may lead a partition that has no leader."""
    controller = partition.controller
    require(may_unfence(broker))
    require(is_elected_when_unfenced(partition, broker))
    require(may_change_leader(partition))

    elect(partition, broker, controller.isr)
    broker.fenced = False


@action(
    "controller elects {broker}, which is not in sync (unclean)",
    at="PartitionChangeBuilder.electAnyLeader",
    since="0.8.0",
    about="KIP-106",
    settings="unclean.leader.election.enable, unclean.election.by.setting",
)
def controller_elect_unclean_leader(partition: TopicPartition, broker: Broker) -> None:
    """With no leader and no candidate live, let any live replica lead, and lose what it has not."""
    controller = partition.controller
    options = candidates(partition, controller.isr, controller.eligible)
    require(partition.options.unclean_leader_election_enable)
    require(partition.options.unclean_election_by_setting)
    require(may_change_leader(partition), partition.exists)
    require(is_none(controller.leader))
    require(is_acceptable(partition, broker), partition.has_replica(broker))
    require(every(any_of(m.fenced, not_(options.contains(m))) for m in partition.brokers))

    spend(partition, UNCLEAN_ELECTIONS)
    new_leader_epoch(partition, broker)
    change_partition(partition, partition.brokers.only(broker), partition.brokers.none())


@action(
    "controller elects {broker}, the last known leader",
    at="PartitionChangeBuilder.canElectLastKnownLeader",
    since="4.0.0",
    about="KIP-966, KAFKA-19522",
)
def controller_elect_last_known_leader(partition: TopicPartition, broker: Broker) -> None:
    """With ISR and ELR empty, let the last leader lead again, though it may have lost records.

    `unclean.leader.election.enable` does not matter for this. Whoever else could have led has
    stopped uncleanly since, so this is the loss that KIP-966 allows.
    """
    controller = partition.controller
    require(controller.last_known_leader == broker)
    require(controller.isr.is_empty, controller.eligible.is_empty)
    require(is_acceptable(partition, broker))
    require(may_change_leader(partition))

    elect(partition, broker, controller.isr)


@action(
    "controller elects {broker}, the preferred leader",
    at="PartitionChangeBuilder.electPreferredLeader",
    since="0.8.0",
    settings="preferred.leader",
)
def controller_elect_preferred_leader(partition: TopicPartition, broker: Broker) -> None:
    """Give leadership back to the preferred replica (`auto.leader.rebalance.enable`)."""
    controller = partition.controller
    require(may_change_leader(partition))
    require(controller.isr.contains(broker), is_acceptable(partition, broker))
    require(controller.leader != broker)
    if partition.options.preferred_leader == PreferredLeader.FIRST_REPLICA:
        require(broker == partition.brokers[0])

    spend(partition, PREFERRED_ELECTIONS)
    elect(partition, broker, controller.isr)


def request_is_acceptable(partition: TopicPartition) -> bool:
    """Every member may join: unfenced (KIP-841), and of the broker epoch named (KIP-903).

    Nobody asks for its directory; with the fix, it is not known to have failed (finding 0005).
    """
    controller = partition.controller
    acceptable = not_(controller.request.is_empty)
    if partition.options.unfenced_brokers_only:
        acceptable = all_of(
            acceptable,
            every(
                any_of(not_(controller.request.contains(m)), not_(m.fenced))
                for m in partition.brokers
            ),
        )
    if partition.options.broker_epoch_checked:
        acceptable = all_of(acceptable, not_(controller.joiner_restarted))
    if partition.options.directory_failure_leaves_elr:
        acceptable = all_of(
            acceptable, controller.request.intersection(controller.offline).is_empty
        )
    return acceptable


def hears_of_its_isr_change(partition: TopicPartition, broker: Broker) -> bool:
    """The broker leads, and still waits for the ISR that it has asked for."""
    return all_of(partition.is_in_office(broker), not_(broker.pending_isr.is_empty))


@action(
    "controller accepts the AlterPartition request",
    at="ReplicationControlManager.alterPartition",
    since="2.7.0",
    about="KIP-497, KIP-841, KIP-903",
    settings="isr.shrink.starts.epoch, isr.unfenced.brokers.only, broker.epoch.checked",
)
def controller_apply_isr_change(partition: TopicPartition) -> None:
    """Accept an AlterPartition request; unless it has forgotten it, the leader hears later.

    If that starts a leader epoch, it ignores the answer, and hears by the image. It may end a
    reassignment that only adds replicas.
    """
    controller = partition.controller
    isr = controller.request
    anew = shrink_starts_epoch(partition, isr, asked=True)
    ends = completes_reassignment(partition, isr)
    require(request_is_acceptable(partition))
    require(any_of(not_(ends), controller.removing.is_empty))
    require(any_of(not_(anew), may_change_leader(partition)))

    controller.adding = choose(ends, partition.brokers.none(), controller.adding)
    keep_leader_in_new_epoch(partition, where=anew)
    change_partition(partition, isr, eligible_after(partition, isr))
    if partition.options.isr_answer_apart or partition.min_isr_may_be_unread:
        controller.image_unread = some(
            hears_of_its_isr_change(partition, b) for b in partition.brokers
        )
    if partition.options.isr_answer_apart:
        for broker in partition.brokers:
            hears = hears_of_its_isr_change(partition, broker)
            broker.isr_accepted = any_of(broker.isr_accepted, hears)


def refuse_isr_change(partition: TopicPartition) -> None:
    """Answer INELIGIBLE_REPLICA: the leader goes back to the committed ISR.

    The answer arrives at once: until then the leader would only count one replica more.
    """
    controller = partition.controller
    require(not_(controller.request.is_empty))
    require(not_(request_is_acceptable(partition)))

    void_request(partition)
    read = partition.stalled_read
    read.reset(where=all_of(read.leader == controller.leader, controller.leader_is_current))
    for broker in partition.brokers:
        asked = all_of(broker == controller.leader, controller.leader_is_current)
        broker.pending_isr = choose(asked, partition.brokers.none(), broker.pending_isr)


@action(
    "controller rejects the AlterPartition request",
    at="ReplicationControlManager.ineligibleReplicasForIsr",
    since="3.3.0",
    about="KIP-841, KIP-903",
    settings="isr.unfenced.brokers.only, broker.epoch.checked",
)
def controller_reject_isr_change(partition: TopicPartition) -> None:
    """Refuse a request, after which the leader does not compute its HW anew (finding 0017).

    What the ISR holds waits until something else moves the HW. With the fix: no leader waits for
    the request any more.
    """
    if partition.options.refused_isr_change_moves_hw:
        require(not_(some(hears_of_its_isr_change(partition, b) for b in partition.brokers)))
    refuse_isr_change(partition)


@action(
    "controller rejects the AlterPartition request of {leader}, which recomputes its HW",
    at="Partition.submitAlterPartition",
    since="3.3.0",
    about="finding 0017, KAFKA-13091",
    settings="refused.isr.change.moves.hw",
)
def leader_hear_isr_refusal(partition: TopicPartition, leader: Broker) -> None:
    """Refuse a request, and have the leader count the committed ISR alone."""
    require(partition.options.refused_isr_change_moves_hw)
    require(hears_of_its_isr_change(partition, leader))
    refuse_isr_change(partition)
    advance_high_watermark(partition, leader)


@action(
    "another controller takes over; an AlterPartition request in flight is lost",
    at="QuorumController.claim",
    since="0.8.0",
)
def controller_fail_over(partition: TopicPartition) -> None:
    """The controller dies and another takes over with the same replicated state.

    The leader will send the request again as it was, with the broker epochs that it named. One that
    a live leader has forgotten counts as sent again at once (`leader_read_known_image`).
    """
    controller = partition.controller

    spend(partition, CONTROLLER_FAILOVERS)
    forgotten = some(
        all_of(controller.leader == b, controller.leader_is_current, b.pending_isr.is_empty)
        for b in partition.brokers
    )
    controller.request = choose(forgotten, controller.request, partition.brokers.none())
