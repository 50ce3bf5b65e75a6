"""The rules of replication that releases differ in: the ISR, truncation, the high watermark."""

from __future__ import annotations

from dataclasses import dataclass

from model.kafka.choices import (
    IsrChanges,
    QuickBounce,
    ShrinkStartsEpoch,
    Truncation,
)
from model.kafka.settings.modes import ZOOKEEPER
from model.kafka.settings.whose import Whose
from model.language import setting


@dataclass(frozen=True)
class ReplicationRules:
    """How leader and followers keep their logs alike, and the ISR in step."""

    isr_changes: IsrChanges = setting(
        IsrChanges.ALTER_PARTITION,
        "how a leader has the ISR changed",
        "isr.changes",
        at="AlterPartitionManager.submit",
        about="KIP-497",
        history="zookeeper 0.8.2, alter_partition 2.7.0",
        evidence="KIP-497: tags",
        owner=Whose.LEADER,
        with_feature=True,
    )
    shrink_starts_epoch: ShrinkStartsEpoch = setting(
        ShrinkStartsEpoch.NEVER,
        "which shrinks of the ISR start a leader epoch",
        "isr.shrink.starts.epoch",
        at="PartitionChangeBuilder.triggerLeaderEpochBumpForIsrShrinkIfNeeded",
        about="KAFKA-15021",
        history="by_controller 0.8.2, always 3.3.0, never 3.6.0",
        evidence=(
            "KAFKA-15021: sources of 2.7.0, the classes of 3.5.2 and 3.6.2; KRaft from 3.3 on. "
            "ZooKeeper: `KafkaController.tryProcessAlterPartition`, 3.9.0"
        ),
        variants={ZOOKEEPER: "by_controller 0.8.2"},
        owner=Whose.CONTROLLER,
        with_feature=True,
    )
    quick_bounce: QuickBounce = setting(
        QuickBounce.REFUSED,
        "which restarted broker may register before its old session is fenced",
        "quick.bounce",
        at="ClusterControlManager.registerBroker",
        about="KAFKA-7235",
        history="followers 0.8.2, refused 2.2.0",
        evidence="KAFKA-7235, broker epochs in ZooKeeper (PR 5821): tags",
        owner=Whose.CONTROLLER,
    )
    truncation: Truncation = setting(
        Truncation.DIVERGING_FETCH,
        "how a follower finds what to truncate",
        "truncation",
        at="AbstractFetcherThread.maybeTruncate",
        about="KIP-101, KIP-279, KIP-595",
        since="0.11.0",
        history=(
            "high_watermark 0.8.2, leader_epoch 0.11.0, leader_epoch_iterated "
            "2.0.0, diverging_fetch 2.8.0"
        ),
        evidence=("PR 2808, PR 4882, PR 9382 (with IBP 2.7; 2.7 has the leader's side only): tags"),
        catalogue="1, 6",
        owner=Whose.FOLLOWER,
        with_feature=True,
    )
    truncates_every_epoch: bool = setting(
        True,
        "a follower truncates in every leader epoch, even under the same leader",
        "truncate.every.epoch",
        at="Partition.makeFollower",
        about="KAFKA-7164",
        history="false 0.8.2, true 2.0.1 2.1.0",
        evidence="PR 5436: tags; sources of 0.11.0.0, 2.0.0, 2.1.0",
        catalogue="8",
        owner=Whose.FOLLOWER,
    )
    join_isr_from_epoch_start: bool = setting(
        True,
        "to join the ISR a follower must have reached the start of the leader's epoch",
        "join.isr.from.epoch.start",
        at="Partition.isFollowerInSync",
        about="KAFKA-7128",
        history="false 0.8.2, true 2.0.1 2.1.0",
        evidence="PR 5557: tags",
        catalogue="9",
        owner=Whose.LEADER,
    )
    fetch_fenced_by_epoch: bool = setting(
        True,
        "leader and follower must agree on the leader epoch",
        "fetch.fenced.by.epoch",
        at="Partition.checkCurrentLeaderEpoch",
        about="KIP-320",
        history="false 0.8.2, true 2.1.0",
        evidence="PR 5661: tags",
        catalogue="10",
        owner=Whose.FOLLOWER,
        with_feature=True,
    )
    diverging_fetch_leaves_leo: bool = setting(
        True,
        "a fetch that diverges does not change the LEO that the leader knows",
        "diverging.fetch.leaves.leo",
        at="Partition.fetchRecords",
        about="KAFKA-13141",
        history="false 0.8.2, true 2.7.2 2.8.1 3.0.0",
        evidence="PR 11136: tags",
        catalogue="14",
        owner=Whose.LEADER,
    )
    diverging_hw_ignored: bool = setting(
        True,
        "the HW of a diverging fetch response is ignored",
        "diverging.answer.hw.ignored",
        at="AbstractFetcherThread.processFetchRequest",
        about="KAFKA-14704",
        history="false 0.8.2, true 3.4.1 3.5.0",
        evidence="PR 13230: tags",
        catalogue="15",
        owner=Whose.FOLLOWER,
    )
    answer_matches_epoch: bool = setting(
        True,
        "a fetch response is processed only in the leader epoch of its request",
        "answer.matches.request.epoch",
        at="AbstractFetcherThread.processFetchRequest",
        about="KAFKA-18991",
        history="false 0.8.2, true 3.9.1 4.0.1 4.1.0",
        evidence="PR 19223: bytecode of the published jars",
        catalogue="18",
        owner=Whose.FOLLOWER,
    )
    appends_up_to_epoch: bool = setting(
        True,
        "a follower appends no record of a later leader epoch than its own",
        "append.up.to.leader.epoch",
        at="UnifiedLog.analyzeAndValidateRecords",
        about="KAFKA-18723",
        history="false 0.8.2, true 3.9.1 4.0.1 4.1.0",
        evidence="PR 18852: bytecode of the published jars",
        catalogue="17",
        owner=Whose.FOLLOWER,
    )
    maximal_isr: bool = setting(
        True,
        "the HW counts the pending ISR too",
        "maximal.isr",
        at="Partition.maybeIncrementLeaderHW",
        about="KIP-497, KAFKA-8836",
        history="false 0.8.2, true 2.7.0",
        evidence="PR 9100: tags; before, the ISR was written at once",
        catalogue="19",
        owner=Whose.LEADER,
        with_feature=True,
    )
    unfenced_brokers_only: bool = setting(
        True,
        "only unfenced brokers may join the ISR",
        "isr.unfenced.brokers.only",
        at="Partition.isReplicaIsrEligible",
        about="KIP-841, KAFKA-13916",
        history="false 0.8.2, true 3.3.0",
        evidence="PR 12240: tags. ZooKeeper: only live brokers, sources of 3.3.2 and 3.9.0",
        catalogue="21",
        owner=Whose.CONTROLLER,
    )
    broker_epoch_checked: bool = setting(
        True,
        "an ISR change names broker epochs, which must be current",
        "broker.epoch.checked",
        at="Partition.addBrokerEpochToIsr",
        about="KIP-903, KAFKA-14139",
        history="false 0.8.2, true 3.5.0",
        evidence="PR 13408: tags. ZooKeeper: `Partition.addBrokerEpochToIsr` names none, 3.9.0",
        variants={ZOOKEEPER: "false 0.8.2"},
        catalogue="22",
        owner=Whose.CONTROLLER,
    )
    hw_frozen_below_min_isr: bool = setting(
        True,
        "no HW advance while the ISR is below its minimum",
        "hw.frozen.below.min.isr",
        at="Partition.isUnderMinIsr",
        about="KAFKA-15583",
        history="false 0.8.2, true 3.7.0",
        evidence="PR 14594: tags (3.7.0, not 4.0)",
        catalogue="26",
        owner=Whose.LEADER,
    )
