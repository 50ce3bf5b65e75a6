"""What an operator, a producer or a consumer chooses, and what surrounds a cluster."""

from __future__ import annotations

from dataclasses import dataclass

from model.acks import Acks
from model.kafka.choices import ConsumerCommits, PreferredLeader
from model.kafka.racks import Racks, racks_within
from model.kafka.settings.modes import ZOOKEEPER
from model.kafka.settings.whose import Whose
from model.language import Role, setting
from model.replicated_log import REPLICAS


@dataclass(frozen=True)
class OperatorSettings:
    """What is chosen of a cluster, and what is taken for granted of it."""

    min_insync_replicas: int = setting(
        1,
        "acks=all needs so many ISR members",
        "min.insync.replicas",
        low=1,
        at="Partition.effectiveMinIsr",
        since="0.8.2.0",
        history="1 0.8.2",
        evidence="Kafka's documentation",
        role=Role.OPERATOR,
    )
    min_insync_replicas_later: int = setting(
        0,
        "what an operator changes min.insync.replicas to; 0: nobody does",
        "min.insync.replicas.later",
        at="ConfigurationControlManager.incrementalAlterConfigs",
        since="0.8.2.0",
        role=Role.SURROUNDING,
    )
    replication_factor: int = setting(
        0,
        "how many brokers have a replica in the initial state: the others can get one; 0: all have",
        "replication.factor",
        high=REPLICAS,
        at="ReplicationControlManager.createTopic",
        since="0.8.0",
        role=Role.SURROUNDING,
    )
    first_partition_replicas: int = setting(
        0,
        "replicas of the topic's partition 0, if the model is of another partition; 0: as many",
        "first.partition.replicas",
        high=REPLICAS,
        at="ReplicationControlManager.getTopicEffectiveMinIsr",
        about="KIP-966, finding 0014",
        since="4.0.0",
        role=Role.GIVEN,
    )
    acks: Acks = setting(
        Acks.ALL,
        "what a producer waits for",
        "acks",
        at="Partition.checkEnoughReplicasReachOffset",
        about="KIP-679",
        since="0.8.0",
        history="1 0.8.2, all 3.0.0",
        evidence="KIP-679: tags",
        role=Role.OPERATOR,
    )
    unclean_leader_election_enable: bool = setting(
        False,
        "with no ISR member live, any live replica may lead",
        "unclean.leader.election.enable",
        at="PartitionChangeBuilder.electAnyLeader",
        about="KIP-106",
        since="0.8.2.0",
        history="true 0.8.2, false 0.11.0",
        evidence="KIP-106: tags",
        role=Role.OPERATOR,
    )
    unclean_election_by_setting: bool = setting(
        True,
        "the controller applies unclean.leader.election.enable, in KRaft too",
        "unclean.election.by.setting",
        at="ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic",
        about="KAFKA-12670",
        history="true 0.8.2, false 3.3.0, true 3.9.0",
        evidence=(
            "KAFKA-12670: sources of 3.5.2 and 3.9.1. Before, KRaft had unclean "
            "elections by hand only. ZooKeeper: in every release"
        ),
        variants={ZOOKEEPER: "true 0.8.2"},
        catalogue="25",
        owner=Whose.CONTROLLER,
    )
    replica_lag_max_messages: int = setting(
        0,
        "the ISR rule before 0.9: drop a follower that is more records behind; 0: by time",
        "replica.lag.max.messages",
        at="Partition.getOutOfSyncReplicas",
        about="KAFKA-1546",
        since="0.8.0",
        history="1 0.8.2, 0 0.9.0",
        evidence="KAFKA-1546; 4000, scaled to 1",
        owner=Whose.LEADER,
    )
    followers_keep_up: bool = setting(
        False,
        "live followers fetch within replica.lag.time.max.ms",
        "followers.keep.up",
        at="Partition.isFollowerOutOfSync",
        role=Role.GIVEN,
    )
    shutdowns_in_turn: bool = setting(
        False,
        "a broker is stopped cleanly only while all others are up and in sync: a rolling restart",
        "shutdowns.in.turn",
        at="the operator",
        role=Role.SURROUNDING,
    )
    log_flush_interval_messages: int = setting(
        0,
        "1: each append is flushed; 0: left to the operating system",
        "log.flush.interval.messages",
        at="UnifiedLog.append",
        since="0.8.0",
        role=Role.OPERATOR,
        slow=True,
    )
    broker_rack: Racks = setting(
        Racks.SPREAD,
        "which brokers share a rack; of three or four, letters may say it, as in aab",
        "broker.rack",
        within=racks_within,
        at="ClusterControlManager.registerBroker",
        since="0.10.0.0",
        role=Role.OPERATOR,
        written={
            Racks.SPREAD: "a rack for each replica",
            Racks.TOGETHER: "all replicas in one rack",
        },
    )
    preferred_leader: PreferredLeader = setting(
        PreferredLeader.ANY,
        "which broker a preferred election picks",
        "preferred.leader",
        at="PartitionChangeBuilder.electPreferredLeader",
        since="0.8.0",
        role=Role.SURROUNDING,
    )
    follower_reads: bool = setting(
        False,
        "consumers may read from followers",
        "follower.reads",
        at="ReplicaManager.findPreferredReadReplica",
        about="KIP-392",
        since="2.4.0",
        role=Role.OPERATOR,
        written={
            "true": "replica.selector.class=RackAwareReplicaSelector",
            "false": "replica.selector.class=LeaderSelector",
        },
    )
    consumer_commits: ConsumerCommits = setting(
        ConsumerCommits.AFTER,
        "when the consumer commits its offset",
        "consumer.commits",
        at="ConsumerCoordinator.commitOffsetsSync",
        since="0.9.0",
        role=Role.SURROUNDING,
    )
