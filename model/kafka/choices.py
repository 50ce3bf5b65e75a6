"""What settings of the broker model are chosen from that are neither numbers nor yes or no."""

from __future__ import annotations

from enum import StrEnum


class Truncation(StrEnum):
    """How a follower finds out which part of its log to throw away."""

    HIGH_WATERMARK = "high_watermark"  # its own HW, at once (up to 0.10)
    LEADER_EPOCH = "leader_epoch"  # KIP-101: one lookup of its last epoch at the leader
    LEADER_EPOCH_ITERATED = "leader_epoch_iterated"  # KIP-279: lookups until both know the epoch
    DIVERGING_FETCH = "diverging_fetch"  # KIP-595: the answer to a fetch says so


class IsrChanges(StrEnum):
    """How a leader has the ISR changed."""

    ZOOKEEPER = "zookeeper"  # it writes to ZooKeeper itself, and knows at once (up to 2.6)
    ALTER_PARTITION = "alter_partition"  # it asks the controller, and hears later (KIP-497)


class ShrinkStartsEpoch(StrEnum):
    """Which shrinks of the ISR start a leader epoch, though the leader stays."""

    NEVER = "never"  # since metadata version 3.6
    BY_CONTROLLER = "by_controller"  # those of the controller's own (ZooKeeper)
    ALWAYS = "always"  # those that the leader asks for too (KRaft, up to 3.5)


class FetchAnswers(StrEnum):
    """Whether the answer to a fetch is a message of its own in the model."""

    AT_ONCE = "at_once"  # it arrives in the same step, or never
    IN_FLIGHT = "in_flight"  # it arrives later, whatever has happened since
    READ_LATE = "read_late"  # the same, and its record is what the leader's file has by then

    @property
    def travel(self) -> bool:
        """They arrive in a step of their own."""
        return self != FetchAnswers.AT_ONCE


class EpochCache(StrEnum):
    """What brokers know of leader epochs."""

    LOG = "log"  # what the entries of their logs say
    KEPT = "kept"  # what their leader-epoch caches say


class EpochFile(StrEnum):
    """When what goes from the leader-epoch cache goes from its checkpoint file."""

    AT_ONCE = "at_once"  # in the same step (up to 3.6)
    UNSYNCED = "unsynced"  # at once, but a power loss may undo it, or empty the file (3.7)
    LATER = "later"  # when a thread of the scheduler comes to it (since 3.8)


class LogFile(StrEnum):
    """When truncation of the log is in its segment file, whatever happens."""

    AT_ONCE = "at_once"  # once the next checkpoint is synced, in the same step (ext4, XFS)
    UNSYNCED = "unsynced"  # when that very file is synced: until then a power loss may undo it


class LogStartFile(StrEnum):
    """When a log's start is in its checkpoint file."""

    AT_ONCE = "at_once"  # in the same step, or what is deleted is gone with its files
    LATER = "later"  # when a thread comes to it, once a minute


class QuickBounce(StrEnum):
    """Which brokers may stop and come back before the controller has noticed."""

    REFUSED = "refused"  # none: registration waits until the old session has ended (KRaft)
    FOLLOWERS = "followers"  # a follower stays in the ISR (ZooKeeper, up to 2.1)
    ANYONE = "anyone"  # a leader even goes on leading in its epoch


class PreferredLeader(StrEnum):
    """Which broker a preferred election makes the leader."""

    ANY = "any"  # any live ISR member: keeps the brokers interchangeable
    FIRST_REPLICA = "first_replica"  # broker 0, where it is a live ISR member


class UpgradeTo(StrEnum):
    """The release that brokers are upgraded to: the name of its preset."""

    NONE = "none"
    KAFKA_0_10 = "kafka-0.10"
    KAFKA_0_11 = "kafka-0.11"
    KAFKA_2_0 = "kafka-2.0"
    KAFKA_2_0_1 = "kafka-2.0.1"
    KAFKA_2_1 = "kafka-2.1"
    KAFKA_2_2 = "kafka-2.2"
    KAFKA_2_4_1 = "kafka-2.4.1"
    KAFKA_2_6_1 = "kafka-2.6.1"
    KAFKA_2_7 = "kafka-2.7"
    KAFKA_2_7_2 = "kafka-2.7.2"
    KAFKA_2_8 = "kafka-2.8"
    KAFKA_2_8_1 = "kafka-2.8.1"
    KAFKA_3_0 = "kafka-3.0"
    KAFKA_3_3 = "kafka-3.3"
    KAFKA_3_4_1 = "kafka-3.4.1"
    KAFKA_3_5 = "kafka-3.5"
    KAFKA_3_5_1 = "kafka-3.5.1"
    KAFKA_3_6 = "kafka-3.6"
    KAFKA_3_7 = "kafka-3.7"
    KAFKA_3_8 = "kafka-3.8"
    KAFKA_3_9 = "kafka-3.9"
    KAFKA_3_9_1 = "kafka-3.9.1"
    KAFKA_4_0 = "kafka-4.0"
    KAFKA_4_0_1 = "kafka-4.0.1"
    KAFKA_4_1 = "kafka-4.1"
    KAFKA_4_2 = "kafka-4.2"
    KAFKA_4_3 = "kafka-4.3"
    KAFKA_3_3_ZOOKEEPER = "kafka-3.3-zookeeper"
    KAFKA_3_4_1_ZOOKEEPER = "kafka-3.4.1-zookeeper"
    KAFKA_3_5_1_ZOOKEEPER = "kafka-3.5.1-zookeeper"
    KAFKA_3_7_ZOOKEEPER = "kafka-3.7-zookeeper"
    KAFKA_3_8_ZOOKEEPER = "kafka-3.8-zookeeper"
    KAFKA_3_9_1_ZOOKEEPER = "kafka-3.9.1-zookeeper"


class ConsumerCommits(StrEnum):
    """When a consumer commits the offset of what it has polled."""

    AFTER = "after_processing"
    BEFORE = "before_processing"
