"""The sizes of a consumer group, and its budgets: how often each thing may happen."""

from __future__ import annotations

from model.language import Bound, bounds_in, budget

MEMBERS = Bound("members", 2, 1, "consumers of the group", 3)

PARTITIONS = Bound(
    "topic_partitions", 2, 1, "partitions of the topic, with those that are added", 3
)

RECORDS = Bound("records", 1, 1, "records in each partition", 3)

GENERATIONS = Bound("generations", 3, 1, "generations of the group, or group epochs", 6)

CRASHES = budget("member_crashes", "consumers whose process dies", default=1)
LEAVES = budget("leaves", "consumers that are closed, and say so")
SESSION_TIMEOUTS = budget(
    "session_timeouts", "live members that the coordinator takes for dead", default=1
)
LOST_COMMITS = budget("lost_commits", "commits before a revocation that fail, or are left out")
FULL_HEARTBEATS = budget(
    "full_heartbeats", "heartbeats after an error, by members on the way to an assignment"
)
COORDINATOR_FAILOVERS = budget(
    "coordinator_failovers", "coordinators that die while the group rebalances"
)
PARTITION_ADDITIONS = budget(
    "partition_additions", "partitions, of all, that an operator adds later", maximum=1
)
TRUNCATIONS = budget("truncations", "partitions whose log loses committed records", maximum=1)
OFFSET_EXPIRIES = budget("offset_expiries", "committed offsets that expire", maximum=1)

BOUNDS = bounds_in(globals())
