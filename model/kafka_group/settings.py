"""The settings of a consumer group: Kafka's own, and one for each fix of consumers and coordinator.

A fix names its KIP or issue. The defaults are those of Kafka 4.3 with the classic protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from model.language import Role, setting


class GroupProtocol(StrEnum):
    """Who works out the assignment, and how members come to it."""

    CLASSIC = "classic"  # a member that leads, between JoinGroup and SyncGroup
    CONSUMER = "consumer"  # the coordinator, member by member (KIP-848)


class Assignor(StrEnum):
    """How partitions are split; with the consumer protocol `range`, or for all others `uniform`."""

    RANGE = "range"
    ROUND_ROBIN = "roundrobin"
    STICKY = "sticky"
    COOPERATIVE_STICKY = "cooperative-sticky"  # KIP-429: revoked only what moves


class StickyClaims(StrEnum):
    """Which members a sticky assignor believes that they own what they say."""

    EVERY = "every"  # all: a partition may be kept by two (up to 2.2)
    NEWEST_MEMBERS = "newest_members"  # only members of the newest generation named
    NEWEST_CLAIM = "newest_claim"  # for each partition the member of the newest generation


class Commits(StrEnum):
    """When a consumer commits the offset of what it has polled."""

    AFTER = "after_processing"
    BEFORE = "before_processing"


class OffsetReset(StrEnum):
    """Where a consumer begins without a committed offset."""

    EARLIEST = "earliest"
    LATEST = "latest"


@dataclass(frozen=True)
class GroupSettings:
    """What an operator chooses, and which fixes the Kafka version has."""

    not_modelled: ClassVar[dict[str, str]] = {
        name: "there is no time in the model, so that a member may be taken for dead at any "
        "moment; how often is a bound, such as --session-timeouts"
        for name in (
            "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms",
            "auto.commit.interval.ms", "group.initial.rebalance.delay.ms",
        )
    }  # fmt: skip

    group_protocol: GroupProtocol = setting(
        GroupProtocol.CLASSIC,
        "who works out the assignment",
        "group.protocol",
        at="AsyncKafkaConsumer.subscribe",
        about="KIP-848",
        since="3.7.0",
        history="classic 0.9.0.0",
        role=Role.OPERATOR,
    )
    assignor: Assignor = setting(
        Assignor.RANGE,
        "how partitions are split",
        "partition.assignment.strategy",
        at="AbstractPartitionAssignor.assign",
        about="KIP-54, KIP-429",
        since="0.9.0.0",
        role=Role.OPERATOR,
    )
    sticky_claims: StickyClaims = setting(
        StickyClaims.NEWEST_CLAIM,
        "whom a sticky assignor believes",
        "sticky.claims",
        at="AbstractStickyAssignor.allSubscriptionsEqual",
        about="KAFKA-7026, KAFKA-12984, KAFKA-14639",
        since="2.3.0",
        history=(
            "every 0.9.0.0, newest_claim 2.3.0, newest_members 2.5.1 2.6.0, "
            "newest_claim 3.4.1 3.5.0"
        ),
        evidence=("commits 3e8a10e, c6ad151, ae72257; `AbstractStickyAssignor` of 2.5.0, 2.6.0"),
        catalogue="70, 71",
    )
    consumer_commits: Commits = setting(
        Commits.AFTER,
        "when a consumer commits its offsets",
        "consumer.commits",
        at="the application",
        since="0.9.0.0",
        role=Role.OPERATOR,
    )
    commit_on_revocation: bool = setting(
        True,
        "offsets are committed before partitions are given up: enable.auto.commit, or a listener",
        "commit.on.revocation",
        at="ConsumerCoordinator.onJoinPrepare",
        since="0.9.0.0",
        role=Role.OPERATOR,
    )
    revocation_stops_fetching: bool = setting(
        True,
        "nothing is polled between that commit and the revocation",
        "revocation.stops.fetching",
        at="SubscriptionState.markPendingRevocation",
        about="KAFKA-14196",
        history="true 0.9.0.0, false 3.2.0, true 3.2.3 3.3.0",
        evidence="commits 4b468a9, 536cdf6, 56baf64",
        catalogue="72",
    )
    auto_offset_reset: OffsetReset = setting(
        OffsetReset.EARLIEST,
        "where to begin without an offset",
        "auto.offset.reset",
        at="OffsetFetcher.resetPositionsIfNeeded",
        since="0.9.0.0",
        role=Role.OPERATOR,
    )
    new_partitions_from_start: bool = setting(
        False,
        "partitions that are added to the topic are read from their beginning",
        "new.partitions.from.start",
        at="OffsetFetcher.resetPositionsIfNeeded",
        about="KIP-1327",
        catalogue="74",
        fix=True,
    )
    commit_names_epoch: bool = setting(
        True,
        "a committed offset names its leader epoch, by which truncation is noticed",
        "commit.names.epoch",
        at="SubscriptionState.maybeValidatePositionForCurrentLeader",
        about="KIP-320, KAFKA-7747, KAFKA-19902",
        history="false 0.9.0.0, true 2.3.0",
        evidence="commit 409fabc",
        catalogue="75",
    )
    offsets_expire_in_use: bool = setting(
        False,
        "committed offsets of a group with members expire",
        "offsets.expire.in.use",
        at="ClassicGroup.offsetExpirationCondition",
        about="KAFKA-4682, KIP-211",
        history="true 0.9.0.0, false 2.1.0",
        evidence="commit 418a91b",
        catalogue="73",
    )
    commit_checks_generation: bool = setting(
        True,
        "a commit must come from a member, and of this generation or epoch",
        "commit.checks.generation",
        at="ClassicGroup.validateOffsetCommit",
        since="0.9.0.0",
    )
    commit_by_assignment_epoch: bool = setting(
        True,
        "a commit of an older member epoch counts for partitions assigned by then",
        "commit.by.assignment.epoch",
        at="ConsumerGroup.createAssignmentEpochValidator",
        about="KIP-1251, KAFKA-20066",
        history="false 0.9.0.0, true 4.3.0",
        evidence="`createAssignmentEpochValidator`, in 4.3.0 and 4.3.1",
        catalogue="76",
    )
    reconciling_is_named: bool = setting(
        False,
        "a full heartbeat names also what a member is about to begin with",
        "reconciling.is.named",
        at="HeartbeatState.buildRequestData",
        about="finding 0010",
        catalogue="77",
        fix=True,
    )
