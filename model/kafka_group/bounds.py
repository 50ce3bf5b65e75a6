"""The sizes of a consumer group, and its budgets: how often each thing may happen."""

from __future__ import annotations

from model.language import Bound

MEMBERS = Bound("members", 2, 1, "consumers of the group", 3)
PARTITIONS = Bound(
    "topic_partitions", 2, 1, "partitions of the topic, with those that are added", 3
)
RECORDS = Bound("records", 1, 1, "records in each partition", 3)
GENERATIONS = Bound("generations", 3, 1, "generations of the group, or group epochs", 6)
CRASHES = Bound("member_crashes", 1, 0, "consumers whose process dies")
LEAVES = Bound("leaves", 0, 0, "consumers that are closed, and say so")
SESSION_TIMEOUTS = Bound(
    "session_timeouts", 1, 0, "live members that the coordinator takes for dead"
)
LOST_COMMITS = Bound("lost_commits", 0, 0, "commits before a revocation that fail, or are left out")
FULL_HEARTBEATS = Bound(
    "full_heartbeats", 0, 0, "heartbeats after an error, by members on the way to an assignment"
)
COORDINATOR_FAILOVERS = Bound(
    "coordinator_failovers", 0, 0, "coordinators that die while the group rebalances"
)
PARTITION_ADDITIONS = Bound(
    "partition_additions", 0, 0, "partitions, of all, that an operator adds later", 1
)
TRUNCATIONS = Bound("truncations", 0, 0, "partitions whose log loses committed records", 1)
OFFSET_EXPIRIES = Bound("offset_expiries", 0, 0, "committed offsets that expire", 1)

BOUNDS = (
    MEMBERS,
    PARTITIONS,
    RECORDS,
    GENERATIONS,
    CRASHES,
    LEAVES,
    SESSION_TIMEOUTS,
    LOST_COMMITS,
    FULL_HEARTBEATS,
    COORDINATOR_FAILOVERS,
    PARTITION_ADDITIONS,
    TRUNCATIONS,
    OFFSET_EXPIRIES,
)
