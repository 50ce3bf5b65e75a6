"""Where the broker model's actions and settings are in Kafka.

Places are methods at commit 1eb7644 (trunk, 2024-10-25). A release is the first with the rule, in
whichever class it then was (before 2.8 the controller's part was `KafkaController`): as Kafka's
tags show, or for fixes as `docs/broker-model.md` says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from model.sources import Source, sources_in

_ACTIONS = """
action | in Kafka | first release | about it | settings
producer_send | Partition.appendRecordsToLeader | 0.8.0 | | acks, min.insync.replicas
leader_stall_before_waiting | ReplicaManager.appendRecords | 0.8.0 | KAFKA-1148 |
    acks, min.insync.replicas
leader_answer_stalled_produce | Partition.checkEnoughReplicasReachOffset | 0.8.0 | KAFKA-1148
leader_stall_in_check | Partition.checkEnoughReplicasReachOffset | 0.8.0 | KAFKA-1148 |
    acks, min.insync.replicas
leader_answer_stalled_check | Partition.checkEnoughReplicasReachOffset | 0.8.0 | KAFKA-1148
follower_fetch_record | AbstractFetcherThread.processFetchRequest | 0.8.0 | | fetch.answers
follower_fetch_high_watermark | ReplicaFetcherThread.processPartitionData | 0.8.0 | |
    fetch.answers, fetch.sessions
leader_handle_fetch | Partition.updateFollowerFetchState | 0.8.0 | KIP-320, KAFKA-13141 |
    fetch.fenced.by.epoch, diverging.fetch.leaves.leo
leader_stall_before_noting | Partition.fetchRecords | 0.8.0 | finding 0008
leader_stall_after_noting | Partition.updateFollowerFetchState | 0.8.0 | finding 0008
leader_finish_stalled_fetch | Partition.updateFollowerFetchState | 0.8.0 | finding 0008
leader_expand_by_stalled_fetch | Partition.maybeExpandIsr | 0.8.0 | finding 0008 |
    isr.join.checks.replica
leader_stall_between_reads | Partition.readRecords | 2.1.0 | KAFKA-7104, finding 0016 |
    log.start.read.first
follower_take_stalled_record | ReplicaFetcherThread.processPartitionData | 2.1.0 | KAFKA-7104
follower_take_stalled_answer | ReplicaFetcherThread.processPartitionData | 2.1.0 | KAFKA-7104
follower_start_anew_after_stall | AbstractFetcherThread.fetchOffsetAndTruncate | 2.1.0 |
    KAFKA-7104, KAFKA-9491 | starting.anew.moves.hw
follower_send_fetch | Partition.fetchRecords | 0.8.0 | KAFKA-7104 | fetch.answers, fetch.sessions
follower_receive_record | ReplicaFetcherThread.processPartitionData | 0.8.0 | | fetch.answers
follower_receive_rewritten_record | UnifiedLog.analyzeAndValidateRecords | 0.8.0 |
    KAFKA-18723, finding 0019 |
    append.up.to.leader.epoch, fetch.answers, truncation.begins.segment
follower_receive_high_watermark | ReplicaFetcherThread.processPartitionData | 0.8.0 | |
    fetch.answers
follower_receive_divergence | AbstractFetcherThread.truncateOnFetchResponse | 2.8.0 |
    KIP-595, KAFKA-18991 | fetch.answers
follower_ignore_answer | AbstractFetcherThread.processFetchRequest | 0.8.0 | | fetch.answers
follower_truncate | AbstractFetcherThread.maybeTruncate | 0.11.0 | KIP-101, KIP-279, KIP-320 |
    truncation, fetch.fenced.by.epoch
follower_truncate_without_epochs | AbstractFetcherThread.truncateToHighWatermark | 0.11.0 |
    KIP-101 | epoch.cache
follower_truncate_on_fetch | AbstractFetcherThread.truncateOnFetchResponse | 2.8.0 | KIP-595 |
    truncation
follower_take_diverging_high_watermark | ReplicaFetcherThread.processPartitionData | 2.8.0 |
    KAFKA-14704 | diverging.answer.hw.ignored, truncation
follower_stall_before_truncating | AbstractFetcherThread.processFetchRequest | 2.8.0 | KIP-595 |
    truncation, fetch.answers
follower_stall_without_epochs | AbstractFetcherThread.fetchTruncatingPartitions | 0.11.0 |
    KIP-101 | truncation, fetch.answers
follower_finish_truncating | AbstractFetcherThread.truncateOnFetchResponse | 2.8.0 | finding 0009
leader_propose_expand | Partition.maybeExpandIsr | 0.8.0 | KIP-497, KAFKA-7128 |
    isr.changes, join.isr.from.epoch.start
leader_propose_shrink | Partition.maybeShrinkIsr | 0.8.0 | KIP-497, KAFKA-1546 |
    isr.changes, replica.lag.max.messages, followers.keep.up
leader_propose_shrink_to_itself | Partition.maybeShrinkIsr | 0.8.0 | KIP-497, KAFKA-1546 |
    isr.changes, replica.lag.max.messages, followers.keep.up
controller_apply_isr_change | ReplicationControlManager.alterPartition | 2.7.0 |
    KIP-497, KIP-841, KIP-903 |
    isr.shrink.starts.epoch, isr.unfenced.brokers.only, broker.epoch.checked
controller_reject_isr_change | ReplicationControlManager.ineligibleReplicasForIsr | 3.3.0 |
    KIP-841, KIP-903 | isr.unfenced.brokers.only, broker.epoch.checked
leader_hear_isr_refusal | Partition.submitAlterPartition | 3.3.0 | finding 0017, KAFKA-13091 |
    refused.isr.change.moves.hw
leader_apply_metadata | Partition.makeLeader | 0.8.0 | finding 0001, finding 0008 |
    reset.follower.leo.every.epoch, fetch.noted.in.its.epoch
leader_hear_isr_answer | Partition.handleAlterPartitionUpdate | 2.7.0 | KIP-497 | isr.answer.apart
leader_read_known_image | Partition.makeLeader | 2.8.0 | KIP-497, finding 0002 |
    pending.isr.survives.image
follower_apply_metadata | Partition.makeFollower | 0.8.0 | KIP-101, KAFKA-7164 |
    truncation, truncate.every.epoch
controller_elect_preferred_leader | PartitionChangeBuilder.electPreferredLeader | 0.8.0 | |
    preferred.leader
controller_fence_broker | ReplicationControlManager.handleBrokerFenced | 0.8.0 | KIP-966 |
    eligible.leader.replicas, isr.shrink.starts.epoch
controller_fence_leader | ReplicationControlManager.handleBrokerFenced | 0.8.0 | KIP-966 |
    eligible.leader.replicas
controller_fence_last_leader | ReplicationControlManager.handleBrokerFenced | 0.8.0 | KIP-966 |
    eligible.leader.replicas, last.known.leader.election
controller_unfence_broker | ReplicationControlManager.handleBrokerUnfenced | 0.8.0
controller_unfence_and_elect | ReplicationControlManager.handleBrokerUnfenced | 0.8.0 | KIP-966
controller_elect_last_known_leader | PartitionChangeBuilder.canElectLastKnownLeader | 4.0.0 |
    KIP-966, KAFKA-19522
controller_elect_unclean_leader | PartitionChangeBuilder.electAnyLeader | 0.8.0 | KIP-106 |
    unclean.leader.election.enable, unclean.election.by.setting
controller_fail_over | QuorumController.claim | 0.8.0
leader_resend_isr_change | AlterPartitionManager.maybePropagateIsrChanges | 2.7.0 | KIP-497
broker_assign_directory | ReplicationControlManager.handleAssignReplicasToDirs | 3.7.0 |
    KIP-858, finding 0003 | assignment.keeps.elr
operator_change_min_isr | ConfigurationControlManager.incrementalAlterConfigs | 0.8.2.0 |
    KIP-966, finding 0006, finding 0007 |
    min.insync.replicas.later, min.isr.change.keeps.elr, clearing.updates.elr.index
leader_read_min_isr | DynamicConfigPublisher.onMetadataUpdate | 0.8.2.0 | KIP-966
operator_delete_topic | ReplicationControlManager.deleteTopics | 0.8.1 | KIP-966, finding 0007
controller_renounce | BrokersToElrs.partitionsWithBrokerInElr | 4.0.0 | KIP-966, finding 0007
operator_move_replica | ReplicationControlManager.changePartitionReassignment | 1.1.0 |
    KIP-455, finding 0004 | elr.of.replicas.only
operator_move_replica_at_once | ReplicationControlManager.changePartitionReassignment | 2.4.0 |
    KIP-455, finding 0013 | replacing.sets.both.lists
operator_move_partition | ReplicationControlManager.changePartitionReassignment | 1.1.0 |
    KIP-455, finding 0004 | elr.of.replicas.only
operator_add_replica | ReplicationControlManager.changePartitionReassignment | 1.1.0 |
    KIP-455, finding 0013 | replacing.sets.both.lists
operator_add_replica_at_once | ReplicationControlManager.changePartitionReassignment | 2.4.0 |
    KIP-455, finding 0013 | replacing.sets.both.lists
operator_remove_replica | ReplicationControlManager.changePartitionReassignment | 1.1.0 |
    KIP-455, KAFKA-19975 | replacing.sets.both.lists, reassignment.waits.for.all
operator_remove_replica_at_once | PartitionReassignmentReplicas.maybeCompleteReassignment |
    1.1.0 | KIP-455, finding 0004 | elr.of.replicas.only
operator_restore_replicas | ReplicationControlManager.changePartitionReassignment | 2.4.0 |
    KIP-455, finding 0013 | replacing.sets.both.lists, reassignment.waits.for.all
operator_restore_replicas_at_once | PartitionReassignmentReplicas.maybeCompleteReassignment |
    2.4.0 | KIP-455, finding 0013 | replacing.sets.both.lists, reassignment.waits.for.all
operator_cancel_reassignment | ReplicationControlManager.cancelPartitionReassignment | 2.4.0 |
    KIP-455, finding 0004 | elr.of.replicas.only
controller_complete_reassignment | PartitionChangeBuilder.completeReassignmentIfNeeded | 1.1.0 |
    KAFKA-19975, finding 0004 | elr.of.replicas.only, reassignment.waits.for.all
controller_complete_late_reassignment | PartitionChangeBuilder.completeReassignmentIfNeeded |
    1.1.0 | KAFKA-19975, finding 0004 | elr.of.replicas.only, reassignment.waits.for.all
broker_gain_replica | ReplicaManager.applyDelta | 0.8.0
broker_lose_replica | ReplicaManager.stopPartitions | 0.8.0
operator_unregister_broker | ReplicationControlManager.handleBrokerUnregistered | 2.8.0 |
    KIP-500, finding 0018 | unregistration.leaves.elr
broker_crash | ReplicaManager.checkpointHighWatermarks | 0.8.0
broker_shut_down | LogManager.shutdown | 0.8.0 | | shutdowns.in.turn
broker_ask_to_stop | BrokerHeartbeatManager.calculateNextBrokerState | 2.8.0 | KAFKA-13916 |
    shutdowns.in.turn
broker_stop_as_asked | BrokerLifecycleManager.beginShutdown | 2.8.0
broker_lose_power | UnifiedLog.append | 0.8.0 | | log.flush.interval.messages
broker_lose_power_and_epochs | LeaderEpochCheckpointFile.write | 3.7.0 | KAFKA-16541 |
    epoch.cache, epoch.file
broker_lose_power_and_truncation | LogSegment.truncateTo | 0.8.0 | | log.file, epoch.cache
follower_lose_power_appending | UnifiedLog.append | 0.11.0 | |
    log.file, epoch.cache, log.flush.interval.messages, fetch.answers
follower_lose_power_receiving | UnifiedLog.append | 0.11.0 | |
    log.file, epoch.cache, log.flush.interval.messages, fetch.answers
broker_sync_truncation | LogSegment.truncateTo | 0.8.0 | | log.file
broker_lose_page_cache | LogManager.shutdown | 0.8.0 | | log.flush.interval.messages
broker_lose_disk | LogManager.loadLogs | 0.8.0 | KIP-903
rack_lose_power | UnifiedLog.append | 0.8.0 | | broker.rack, log.flush.interval.messages
rack_lose_uneven_ends | UnifiedLog.append | 0.8.0 | KAFKA-3919 |
    broker.rack, log.flush.interval.messages
broker_lose_directory | LogManager.loadLogs | 4.0.0 | KIP-966, finding 0005
broker_fail_directory | ReplicaManager.handleLogDirFailure | 3.7.0 | KIP-858, finding 0005
controller_hear_of_failure | ReplicationControlManager.handleDirectoriesOffline | 3.7.0 |
    KIP-858, finding 0005 | directory.failure.leaves.elr
controller_hear_of_leaders_failure | ReplicationControlManager.handleDirectoriesOffline | 3.7.0 |
    KIP-858, finding 0005 | directory.failure.leaves.elr
controller_hear_of_last_leaders_failure | ReplicationControlManager.handleDirectoriesOffline |
    3.7.0 | KIP-858, finding 0005 | directory.failure.leaves.elr, last.known.leader.election
controller_fence_and_elect | ReplicationControlManager.handleBrokerFenced | 4.0.0 | KIP-966
broker_regain_directory | LogManager.readBrokerEpochFromCleanShutdownFiles | 4.0.0 | KIP-966
broker_replace_directory | LogManager.readBrokerEpochFromCleanShutdownFiles | 4.0.0 | KIP-966
broker_drop_directory | LogManager.readBrokerEpochFromCleanShutdownFiles | 4.0.0 |
    KIP-966, finding 0005
broker_restart | ClusterControlManager.registerBroker | 0.8.0 |
    KAFKA-7235, KIP-966, finding 0005, finding 0011 |
    quick.bounce, eligible.leader.replicas, registration.counts.directories,
    last.member.is.last.known.leader
broker_flush_epochs | LeaderEpochFileCache.writeIfDirExists | 3.7.0 |
    KAFKA-15046, KAFKA-16541 | epoch.cache, epoch.file
broker_swap_log | Partition.maybeReplaceCurrentWithFutureReplica | 1.1.0 |
    KAFKA-15608, KAFKA-20961 | epoch.cache, swapped.log.keeps.epochs
broker_delete_records | UnifiedLog.deleteOldSegments | 0.8.0 | KAFKA-5634, KIP-107 |
    epoch.cache, retention.stops.at.hw
broker_checkpoint_log_start | LogManager.checkpointLogStartOffsets | 0.11.0 | KIP-107 |
    log.start.file
follower_fetch_log_start | ReplicaFetcherThread.processPartitionData | 0.11.0 | KIP-107 |
    fetch.answers, fetch.sessions
follower_start_anew | AbstractFetcherThread.fetchOffsetAndTruncate | 0.8.0 | KAFKA-9491 |
    starting.anew.moves.hw
consumer_poll | FetchCollector.collectFetch | 0.9.0 | KIP-392 | follower.reads, consumer.commits
consumer_process | the application
consumer_commit | ConsumerCoordinator.commitOffsetsSync | 0.9.0 | | consumer.commits
consumer_restart | ConsumerCoordinator.initWithCommittedOffsetsIfNeeded | 0.9.0
broker_upgrade | BrokerServer.startup | 0.8.0
controller_upgrade | FeatureControlManager.updateFeatures | 3.3.0 | KIP-778
"""

_SETTINGS = """
setting | in Kafka | first release | about it
min.insync.replicas | Partition.effectiveMinIsr | 0.8.2.0
min.insync.replicas.later | ConfigurationControlManager.incrementalAlterConfigs | 0.8.2.0
replication.factor | ReplicationControlManager.createTopic | 0.8.0
first.partition.replicas | ReplicationControlManager.getTopicEffectiveMinIsr | 4.0.0 | KIP-966,
    finding 0014
acks | Partition.checkEnoughReplicasReachOffset | 0.8.0 | KIP-679
unclean.leader.election.enable | PartitionChangeBuilder.electAnyLeader | 0.8.2.0 | KIP-106
unclean.election.by.setting |
    ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic | 3.9.0 |
    KAFKA-12670
replica.lag.max.messages | Partition.getOutOfSyncReplicas | 0.8.0 | KAFKA-1546
followers.keep.up | Partition.isFollowerOutOfSync
shutdowns.in.turn | the operator
log.flush.interval.messages | UnifiedLog.append | 0.8.0
broker.rack | ClusterControlManager.registerBroker | 0.10.0.0
preferred.leader | PartitionChangeBuilder.electPreferredLeader | 0.8.0
follower.reads | ReplicaManager.findPreferredReadReplica | 2.4.0 | KIP-392
consumer.commits | ConsumerCoordinator.commitOffsetsSync | 0.9.0
isr.changes | AlterPartitionManager.submit | 2.7.0 | KIP-497
isr.shrink.starts.epoch | PartitionChangeBuilder.triggerLeaderEpochBumpForIsrShrinkIfNeeded |
    3.6.0 | KAFKA-15021
quick.bounce | ClusterControlManager.registerBroker | 2.2.0 | KAFKA-7235
truncation | AbstractFetcherThread.maybeTruncate | 0.11.0 | KIP-101, KIP-279, KIP-595
truncate.every.epoch | Partition.makeFollower | 2.0.1 | KAFKA-7164
join.isr.from.epoch.start | Partition.isFollowerInSync | 2.0.1 | KAFKA-7128
fetch.fenced.by.epoch | Partition.checkCurrentLeaderEpoch | 2.1.0 | KIP-320
diverging.fetch.leaves.leo | Partition.fetchRecords | 2.7.2 | KAFKA-13141
diverging.answer.hw.ignored | AbstractFetcherThread.processFetchRequest | 3.4.1 | KAFKA-14704
answer.matches.request.epoch | AbstractFetcherThread.processFetchRequest | 3.9.1 | KAFKA-18991
append.up.to.leader.epoch | UnifiedLog.analyzeAndValidateRecords | 3.9.1 | KAFKA-18723
maximal.isr | Partition.maybeIncrementLeaderHW | 2.7.0 | KIP-497, KAFKA-8836
isr.unfenced.brokers.only | Partition.isReplicaIsrEligible | 3.3.0 | KIP-841, KAFKA-13916
broker.epoch.checked | Partition.addBrokerEpochToIsr | 3.5.0 | KIP-903, KAFKA-14139
hw.frozen.below.min.isr | Partition.isUnderMinIsr | 3.7.0 | KAFKA-15583
eligible.leader.replicas | PartitionChangeBuilder.maybePopulateTargetElr | 4.0.0 | KIP-966
last.known.leader.election | PartitionChangeBuilder.canElectLastKnownLeader | 4.0.0 | KIP-966
last.member.is.last.known.leader | PartitionChangeBuilder.maybeUpdateLastKnownLeader | |
    finding 0011
assignment.keeps.elr | ReplicationControlManager.handleAssignReplicasToDirs | 4.3.0 | finding 0003
min.isr.change.keeps.elr | ReplicationControlManager.replay | | finding 0006
elr.min.isr.read.by.all | PartitionChangeBuilder.maybePopulateTargetElr | | finding 0021
min.isr.counts.own.replicas | ReplicationControlManager.getTopicEffectiveMinIsr | |
    finding 0014
clearing.updates.elr.index | ReplicationControlManager.removeTopicElrs | | finding 0007
elr.of.replicas.only | PartitionChangeBuilder.maybePopulateTargetElr | | finding 0004
unregistration.leaves.elr | ReplicationControlManager.handleBrokerUnregistered | | finding 0018
reassignment.waits.for.all | PartitionReassignmentReplicas.maybeCompleteReassignment | 2.8.0 |
    KAFKA-19975
replacing.sets.both.lists | ReplicationControlManager.changePartitionReassignment | |
    finding 0013
registration.counts.directories | ClusterControlManager.registerBroker | | finding 0005
directory.failure.leaves.elr | ReplicationControlManager.handleDirectoriesOffline | |
    finding 0005
reset.follower.leo.every.epoch | Replica.resetReplicaState | | finding 0001
produce.matches.leader.epoch | Partition.checkEnoughReplicasReachOffset | | KAFKA-1148
truncation.matches.request.epoch | AbstractFetcherThread.truncateOnFetchResponse | | finding 0009
isr.join.checks.replica | Partition.needsExpandIsr | | finding 0008
isr.join.checks.log.start | Partition.isFollowerInSync | | finding 0012
fetch.noted.in.its.epoch | Partition.updateFollowerFetchState | | finding 0008
log.start.read.first | Partition.readRecords | | finding 0016
refused.isr.change.moves.hw | Partition.submitAlterPartition | | finding 0017, KAFKA-13091
isr.answer.apart | Partition.handleAlterPartitionUpdate | 2.8.0 | finding 0002
pending.isr.survives.image | Partition.updateAssignmentAndIsr | | finding 0002
fetch.answers | AbstractFetcherThread.processFetchRequest | 0.8.0
truncation.begins.segment | UnifiedLog.truncateTo | | finding 0019
fetch.sessions | CachedPartition.maybeUpdateResponseData | 1.1.0 |
    KIP-227, KAFKA-14704, KAFKA-18991
session.repeats.diverging.answer | CachedPartition.maybeUpdateResponseData | | finding 0015
epoch.cache | LeaderEpochFileCache.endOffsetFor | 0.11.0 | KIP-101
leader.enters.epoch | Partition.makeLeader | 2.0.1 | KAFKA-7415
truncation.at.end.clears.epochs | UnifiedLog.truncateTo | 2.6.1 | KAFKA-10706
empty.answer.keeps.fetched.epoch | AbstractFetcherThread.processFetchRequest | 3.7.0 |
    KAFKA-15510
epoch.file | LeaderEpochFileCache.truncateFromEndAsyncFlush | 3.8.0 |
    KAFKA-15046, KAFKA-16541
log.file | LogSegment.truncateTo | 0.8.0
recovery.replaces.epochs | LogSegment.recover
log.start.file | LogManager.checkpointLogStartOffsets | 0.11.0 | KIP-107
retention.stops.at.hw | UnifiedLog.deletableSegments | 0.11.0.1 | KAFKA-5634
starting.anew.moves.hw | UnifiedLog.truncateFullyAndStartAt | 2.4.1 | KAFKA-9491
swapped.log.keeps.epochs | UnifiedLog.renameDir | | KAFKA-20961
upgrade.to | the operator
"""


_PROPOSALS = """
KIP-98 - Exactly Once Delivery and Transactional Messaging
KIP-101 - Alter Replication Protocol to use Leader Epoch rather than High Watermark for Truncation
KIP-279: Fix log divergence between leader and follower after fast leader fail over
KIP-320: Allow fetchers to detect and handle log truncation
KIP-497: Add inter-broker API to alter ISR
KIP-794: Strictly Uniform Sticky Partitioner
KIP-841: Fenced replicas should not be allowed to join the ISR in KRaft
KIP-903: Replicas with stale broker epoch should not be allowed to join the ISR
KIP-966: Eligible Leader Replicas
"""

PROPOSAL_PAGES: Mapping[str, str] = {
    re.split(r"[ :]", title)[0]: "https://cwiki.apache.org/confluence/display/KAFKA/"
    + title.replace(":", "%3A").replace(" ", "+")
    for title in _PROPOSALS.strip().splitlines()
}
"""Addresses of the proposals that stored counterexamples are about; pages are named by title."""

ACTION_SOURCES: Mapping[str, Source] = dict(sources_in(_ACTIONS))
SETTING_SOURCES: Mapping[str, Source] = dict(sources_in(_SETTINGS))
