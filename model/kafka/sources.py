"""Where the broker model's actions and settings are in Kafka.

Places are methods at commit 1eb7644 (trunk, 2024-10-25). A release is the first with the rule, in
whichever class it then was (before 2.8 the controller's part was `KafkaController`): as Kafka's
tags show, or for fixes as `docs/broker-model.md` says.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.sources import Source

_ANSWERS = ("fetch.answers",)
_ELR = "eligible.leader.replicas"
_LAG = ("replica.lag.max.messages", "followers.keep.up")

ACTION_SOURCES: Mapping[str, Source] = {
    "producer_send": Source(
        "Partition.appendRecordsToLeader", "0.8.0", "", ("acks", "min.insync.replicas")
    ),
    "follower_fetch_record": Source(
        "AbstractFetcherThread.processFetchRequest", "0.8.0", "", _ANSWERS
    ),
    "follower_fetch_high_watermark": Source(
        "ReplicaFetcherThread.processPartitionData", "0.8.0", "", _ANSWERS
    ),
    "leader_handle_fetch": Source(
        "Partition.updateFollowerFetchState", "0.8.0", "KIP-320, KAFKA-13141",
        ("fetch.fenced.by.epoch", "diverging.fetch.leaves.leo"),
    ),
    "follower_send_fetch": Source("Partition.fetchRecords", "0.8.0", "", _ANSWERS),
    "follower_receive_record": Source(
        "ReplicaFetcherThread.processPartitionData", "0.8.0", "", _ANSWERS
    ),
    "follower_receive_high_watermark": Source(
        "ReplicaFetcherThread.processPartitionData", "0.8.0", "", _ANSWERS
    ),
    "follower_receive_divergence": Source(
        "AbstractFetcherThread.truncateOnFetchResponse", "2.8.0", "KIP-595, KAFKA-18991", _ANSWERS
    ),
    "follower_ignore_answer": Source(
        "AbstractFetcherThread.processFetchRequest", "0.8.0", "", _ANSWERS
    ),
    "follower_truncate": Source(
        "AbstractFetcherThread.maybeTruncate", "0.11.0", "KIP-101, KIP-279, KIP-320",
        ("truncation", "fetch.fenced.by.epoch"),
    ),
    "follower_truncate_on_fetch": Source(
        "AbstractFetcherThread.truncateOnFetchResponse", "2.8.0", "KIP-595", ("truncation",)
    ),
    "follower_take_diverging_high_watermark": Source(
        "ReplicaFetcherThread.processPartitionData", "2.8.0", "KAFKA-14704",
        ("diverging.answer.hw.ignored", "truncation"),
    ),
    "leader_propose_expand": Source(
        "Partition.maybeExpandIsr", "0.8.0", "KIP-497, KAFKA-7128",
        ("isr.changes", "join.isr.from.epoch.start"),
    ),
    "leader_propose_shrink": Source(
        "Partition.maybeShrinkIsr", "0.8.0", "KIP-497, KAFKA-1546", ("isr.changes", *_LAG)
    ),
    "leader_propose_shrink_to_itself": Source(
        "Partition.maybeShrinkIsr", "0.8.0", "KIP-497, KAFKA-1546", ("isr.changes", *_LAG)
    ),
    "controller_apply_isr_change": Source(
        "ReplicationControlManager.alterPartition", "2.7.0", "KIP-497, KIP-841, KIP-903",
        ("isr.changes", "isr.unfenced.brokers.only", "broker.epoch.checked"),
    ),
    "controller_reject_isr_change": Source(
        "ReplicationControlManager.ineligibleReplicasForIsr", "3.3.0", "KIP-841, KIP-903",
        ("isr.changes", "isr.unfenced.brokers.only", "broker.epoch.checked"),
    ),
    "leader_apply_metadata": Source(
        "Partition.makeLeader", "0.8.0", "finding 0001", ("reset.follower.leo.every.epoch",)
    ),
    "leader_hear_isr_answer": Source(
        "Partition.handleAlterPartitionUpdate", "2.7.0", "KIP-497", ("isr.answer.apart",)
    ),
    "leader_read_known_image": Source(
        "Partition.makeLeader", "2.8.0", "KIP-497, finding 0002", ("pending.isr.survives.image",)
    ),
    "follower_apply_metadata": Source(
        "Partition.makeFollower", "0.8.0", "KIP-101", ("truncation",)
    ),
    "controller_elect_preferred_leader": Source(
        "PartitionChangeBuilder.electPreferredLeader", "0.8.0", "", ("preferred.leader",)
    ),
    "controller_fence_broker": Source(
        "ReplicationControlManager.handleBrokerFenced", "0.8.0", "KIP-966", (_ELR,)
    ),
    "controller_fence_leader": Source(
        "ReplicationControlManager.handleBrokerFenced", "0.8.0", "KIP-966", (_ELR,)
    ),
    "controller_fence_last_leader": Source(
        "ReplicationControlManager.handleBrokerFenced", "0.8.0", "KIP-966",
        (_ELR, "last.known.leader.election"),
    ),
    "controller_unfence_broker": Source(
        "ReplicationControlManager.handleBrokerUnfenced", "0.8.0"
    ),
    "controller_unfence_and_elect": Source(
        "ReplicationControlManager.handleBrokerUnfenced", "0.8.0", "KIP-966"
    ),
    "controller_elect_last_known_leader": Source(
        "PartitionChangeBuilder.canElectLastKnownLeader", "4.0.0", "KIP-966, KAFKA-19522"
    ),
    "controller_elect_unclean_leader": Source(
        "PartitionChangeBuilder.electAnyLeader", "0.8.0", "KIP-106",
        ("unclean.leader.election.enable",),
    ),
    "controller_fail_over": Source("QuorumController.claim", "0.8.0"),
    "leader_resend_isr_change": Source(
        "AlterPartitionManager.maybePropagateIsrChanges", "2.7.0", "KIP-497"
    ),
    "broker_crash": Source("ReplicaManager.checkpointHighWatermarks", "0.8.0"),
    "broker_shut_down": Source("LogManager.shutdown", "0.8.0"),
    "broker_lose_power": Source(
        "UnifiedLog.append", "0.8.0", "", ("log.flush.interval.messages",)
    ),
    "broker_lose_disk": Source("LogManager.loadLogs", "0.8.0", "KIP-903"),
    "rack_lose_power": Source(
        "UnifiedLog.append", "0.8.0", "", ("broker.rack", "log.flush.interval.messages")
    ),
    "broker_restart": Source(
        "ClusterControlManager.registerBroker", "0.8.0", "KAFKA-7235, KIP-966",
        ("quick.bounce", _ELR),
    ),
    "consumer_poll": Source(
        "FetchCollector.collectFetch", "0.9.0", "KIP-392", ("follower.reads", "consumer.commits")
    ),
    "consumer_process": Source("the application"),
    "consumer_commit": Source(
        "ConsumerCoordinator.commitOffsetsSync", "0.9.0", "", ("consumer.commits",)
    ),
    "consumer_restart": Source("ConsumerCoordinator.initWithCommittedOffsetsIfNeeded", "0.9.0"),
}  # fmt: skip

SETTING_SOURCES: Mapping[str, Source] = {
    "min.insync.replicas": Source("Partition.effectiveMinIsr", "0.8.2.0"),
    "acks": Source("Partition.checkEnoughReplicasReachOffset", "0.8.0", "KIP-679"),
    "unclean.leader.election.enable": Source(
        "PartitionChangeBuilder.electAnyLeader", "0.8.2.0", "KIP-106"
    ),
    "replica.lag.max.messages": Source("Partition.getOutOfSyncReplicas", "0.8.0", "KAFKA-1546"),
    "followers.keep.up": Source("Partition.isFollowerOutOfSync"),
    "log.flush.interval.messages": Source("UnifiedLog.append", "0.8.0"),
    "broker.rack": Source("ClusterControlManager.registerBroker", "0.10.0.0"),
    "preferred.leader": Source("PartitionChangeBuilder.electPreferredLeader", "0.8.0"),
    "follower.reads": Source("ReplicaManager.findPreferredReadReplica", "2.4.0", "KIP-392"),
    "consumer.commits": Source("ConsumerCoordinator.commitOffsetsSync", "0.9.0"),
    "isr.changes": Source("AlterPartitionManager.submit", "2.7.0", "KIP-497"),
    "quick.bounce": Source("ClusterControlManager.registerBroker", "2.2.0", "KAFKA-7235"),
    "truncation": Source(
        "AbstractFetcherThread.maybeTruncate", "0.11.0", "KIP-101, KIP-279, KIP-595"
    ),
    "join.isr.from.epoch.start": Source("Partition.isFollowerInSync", "2.0.1", "KAFKA-7128"),
    "fetch.fenced.by.epoch": Source("Partition.checkCurrentLeaderEpoch", "2.1.0", "KIP-320"),
    "diverging.fetch.leaves.leo": Source("Partition.fetchRecords", "2.7.2", "KAFKA-13141"),
    "diverging.answer.hw.ignored": Source(
        "AbstractFetcherThread.processFetchRequest", "3.4.1", "KAFKA-14704"
    ),
    "answer.matches.request.epoch": Source(
        "AbstractFetcherThread.processFetchRequest", "3.9.1", "KAFKA-18991"
    ),
    "maximal.isr": Source("Partition.maybeIncrementLeaderHW", "2.7.0", "KIP-497, KAFKA-8836"),
    "isr.unfenced.brokers.only": Source(
        "Partition.isReplicaIsrEligible", "3.3.0", "KIP-841, KAFKA-13916"
    ),
    "broker.epoch.checked": Source(
        "Partition.addBrokerEpochToIsr", "3.5.0", "KIP-903, KAFKA-14139"
    ),
    "hw.frozen.below.min.isr": Source("Partition.isUnderMinIsr", "3.7.0", "KAFKA-15583"),
    "eligible.leader.replicas": Source(
        "PartitionChangeBuilder.maybePopulateTargetElr", "4.0.0", "KIP-966"
    ),
    "last.known.leader.election": Source(
        "PartitionChangeBuilder.canElectLastKnownLeader", "4.0.0", "KIP-966"
    ),
    "reset.follower.leo.every.epoch": Source("Replica.resetReplicaState", "", "finding 0001"),
    "isr.answer.apart": Source("Partition.handleAlterPartitionUpdate", "2.8.0", "finding 0002"),
    "pending.isr.survives.image": Source(
        "Partition.updateAssignmentAndIsr", "", "finding 0002"
    ),
    "fetch.answers": Source("AbstractFetcherThread.processFetchRequest", "0.8.0"),
}  # fmt: skip
