"""The rules of eligible leader replicas (KIP-966), of reassignments and of log directories."""

from __future__ import annotations

from dataclasses import dataclass

from model.kafka.settings.whose import Whose
from model.language import Role, setting

ELR = "eligible.leader.replicas"
ELR_FEATURE = "eligible.leader.replicas.version"


@dataclass(frozen=True)
class EligibleReplicaRules:
    """Who may lead although it left the ISR, and what takes that from it."""

    eligible_leader_replicas: bool = setting(
        True,
        "replicas that may lead although they left the ISR",
        ELR,
        at="PartitionChangeBuilder.maybePopulateTargetElr",
        about="KIP-966",
        since="4.0.0",  # where it is off by default
        history="false 0.8.2, true 4.1.0",
        evidence="Kafka's documentation: in 4.0.0 off, from 4.1.0 on for new clusters",
        catalogue="27",
        owner=Whose.CONTROLLER,
        with_feature=True,
        role=Role.OPERATOR,
        written={"true": f"{ELR_FEATURE}=1", "false": f"{ELR_FEATURE}=0"},
    )
    last_known_leader: bool = setting(
        True,
        "with ISR and ELR empty the last leader may lead again, whatever it has lost",
        "last.known.leader.election",
        at="PartitionChangeBuilder.canElectLastKnownLeader",
        about="KIP-966",
        since="4.0.0",  # where it is off by default
        history="false 0.8.2, true 4.1.0",
        evidence="goes with it",
        catalogue="27",
        owner=Whose.CONTROLLER,
        with_feature=True,
    )
    last_member_is_last_known_leader: bool = setting(
        False,
        "as ELR is switched on, the last ISR member is recorded as last known leader",
        "last.member.is.last.known.leader",
        at="PartitionChangeBuilder.maybeUpdateLastKnownLeader",
        about="finding 0011",
        fix=True,
        feature=ELR,
    )
    assignment_keeps_elr: bool = setting(
        False,
        "a broker that reports a replica's log directory leaves the ELR as it is",
        "assignment.keeps.elr",
        at="ReplicationControlManager.handleAssignReplicasToDirs",
        about="finding 0003",
        history="false 0.8.2, true 4.3.0",
        evidence="PR 20716: the classes of 4.1.0, 4.2.1, 4.3.1",
        catalogue="39",
        owner=Whose.CONTROLLER,
        feature=ELR,
    )
    min_isr_change_keeps_elr: bool = setting(
        False,
        "a change of min.insync.replicas empties the ELR only where the ISR is large enough, "
        "and so does an election",
        "min.isr.change.keeps.elr",
        at="ReplicationControlManager.replay",
        about="finding 0006",
        fix=True,
        feature=ELR,
    )
    elr_min_isr_read_by_all: bool = setting(
        False,
        "for the ELR a raised min.insync.replicas counts once every active broker has applied it",
        "elr.min.isr.read.by.all",
        at="PartitionChangeBuilder.maybePopulateTargetElr",
        about="finding 0021",
        fix=True,
        feature=ELR,
    )
    min_isr_counts_own_replicas: bool = setting(
        False,
        "the controller's effective min.insync.replicas is by the partition's own "
        "replicas, not those of the topic's first partition",
        "min.isr.counts.own.replicas",
        at="ReplicationControlManager.getTopicEffectiveMinIsr",
        about="finding 0014",
        fix=True,
        feature=ELR,
    )
    clearing_updates_elr_index: bool = setting(
        False,
        "a cleared ELR leaves the controller's index brokersToElrs too",
        "clearing.updates.elr.index",
        at="ReplicationControlManager.removeTopicElrs",
        about="finding 0007",
        fix=True,
        feature=ELR,
    )
    elr_of_replicas_only: bool = setting(
        False,
        "a broker that is not a replica after a reassignment, or was not before, leaves the ELR",
        "elr.of.replicas.only",
        at="PartitionChangeBuilder.maybePopulateTargetElr",
        about="finding 0004",
        fix=True,
        feature=ELR,
    )
    unregistration_leaves_elr: bool = setting(
        False,
        "a broker that is unregistered leaves the ELR",
        "unregistration.leaves.elr",
        at="ReplicationControlManager.handleBrokerUnregistered",
        about="finding 0018",
        fix=True,
        feature=ELR,
    )
    reassignment_waits_for_all: bool = setting(
        True,
        "a reassignment ends when all replicas that stay are in sync, not only "
        "those that are added",
        "reassignment.waits.for.all",
        at="PartitionReassignmentReplicas.maybeCompleteReassignment",
        about="KAFKA-19975",
        history="true 0.8.2, false 4.3.0",
        evidence="PR 21114: the classes of 4.2.1, 4.3.1",
        catalogue="60",
        fix=True,
        owner=Whose.CONTROLLER,
    )
    replacing_sets_both_lists: bool = setting(
        False,
        "a reassignment that replaces another sets addingReplicas and removingReplicas, "
        "even to none",
        "replacing.sets.both.lists",
        at="ReplicationControlManager.changePartitionReassignment",
        about="finding 0013",
        fix=True,
    )
    registration_counts_directories: bool = setting(
        False,
        "a broker that registers without a log directory of before has stopped uncleanly",
        "registration.counts.directories",
        at="ClusterControlManager.registerBroker",
        about="finding 0005",
        fix=True,
        feature=ELR,
    )
    directory_failure_leaves_elr: bool = setting(
        False,
        "a broker whose log directory fails as it runs leaves the ELR, and joins no ISR",
        "directory.failure.leaves.elr",
        at="ReplicationControlManager.handleDirectoriesOffline",
        about="finding 0005",
        fix=True,
        feature=ELR,
    )
