"""The settings of a consumer group: Kafka's own, and one for each fix of consumers and coordinator.

A fix names its KIP or issue. The defaults are those of Kafka 4.3 with the classic protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from model.language import setting


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
        GroupProtocol.CLASSIC, "who works out the assignment (KIP-848)", "group.protocol"
    )
    assignor: Assignor = setting(
        Assignor.RANGE, "how partitions are split", "partition.assignment.strategy"
    )
    sticky_claims: StickyClaims = setting(
        StickyClaims.NEWEST_CLAIM,
        "whom a sticky assignor believes (KAFKA-7026, KAFKA-12984, KAFKA-14639)",
        "sticky.claims",
    )
    consumer_commits: Commits = setting(
        Commits.AFTER, "when a consumer commits its offsets", "consumer.commits"
    )
    commit_on_revocation: bool = setting(
        True,
        "offsets are committed before partitions are given up: enable.auto.commit, or a listener",
        "commit.on.revocation",
    )
    revocation_stops_fetching: bool = setting(
        True,
        "nothing is polled between that commit and the revocation (KAFKA-14196)",
        "revocation.stops.fetching",
    )
    auto_offset_reset: OffsetReset = setting(
        OffsetReset.EARLIEST, "where to begin without an offset", "auto.offset.reset"
    )
    new_partitions_from_start: bool = setting(
        False,
        "partitions that are added to the topic are read from their beginning (KIP-1327)",
        "new.partitions.from.start",
    )
    commit_names_epoch: bool = setting(
        True,
        "a committed offset names its leader epoch, by which truncation is noticed (KIP-320)",
        "commit.names.epoch",
    )
    offsets_expire_in_use: bool = setting(
        False,
        "committed offsets of a group with members expire (KAFKA-4682)",
        "offsets.expire.in.use",
    )
    commit_checks_generation: bool = setting(
        True,
        "a commit must come from a member, and of this generation or epoch",
        "commit.checks.generation",
    )
    commit_by_assignment_epoch: bool = setting(
        True,
        "a commit of an older member epoch counts for partitions assigned by then (KAFKA-20066)",
        "commit.by.assignment.epoch",
    )
    reconciling_is_named: bool = setting(
        False,
        "a full heartbeat names also what a member is about to begin with (catalogue 77)",
        "reconciling.is.named",
    )
