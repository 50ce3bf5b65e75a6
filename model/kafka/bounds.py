"""The sizes of the broker model, and its budgets: how often each thing may happen."""

from __future__ import annotations

from model.language import Bound
from model.replicated_log import LOG_SIZE, MAX_LEADER_EPOCH, MAX_RECORDS, REPLICAS

CRASHES = Bound("crashes", 1, 0, "brokers whose process dies; the log is kept")
POWER_LOSSES = Bound("power_losses", 0, 0, "brokers that lose power, and any part of the log's end")
CACHE_LOSSES = Bound(
    "cache_losses",
    0,
    0,
    "machines that lose power after their broker has crashed, before it starts",
)
DISK_LOSSES = Bound("disk_losses", 0, 0, "brokers that die and lose the whole log")
SHUTDOWNS = Bound("shutdowns", 0, 0, "clean stops without a controlled shutdown")
CONTROLLED_SHUTDOWNS = Bound(
    "controlled_shutdowns", 0, 0, "brokers that ask the controller to be let go, and stop cleanly"
)
RACK_FAILURES = Bound("rack_failures", 0, 0, "racks that lose power")
FALSE_FENCINGS = Bound("false_fencings", 0, 0, "live brokers that the controller takes for dead")
UNCLEAN_ELECTIONS = Bound("unclean_elections", 1, 0, "unclean elections, where they are enabled")
PREFERRED_ELECTIONS = Bound("preferred_elections", 1, 0, "elections of a preferred leader")
CONTROLLER_FAILOVERS = Bound(
    "controller_failovers", 0, 0, "times that another controller takes over"
)
DIRECTORY_ASSIGNMENTS = Bound(
    "directory_assignments", 0, 0, "times that a broker reports a replica's log directory"
)
LOST_DIRECTORIES = Bound(
    "lost_directories", 0, 0, "log directories that are taken from a stopped broker"
)
FAILED_DIRECTORIES = Bound(
    "failed_directories", 0, 0, "log directories that fail while their broker runs"
)
MIN_ISR_CHANGES = Bound(
    "min_isr_changes", 0, 0, "times that an operator changes min.insync.replicas", 1
)
TOPIC_DELETIONS = Bound("topic_deletions", 0, 0, "times that an operator deletes the topic", 1)
REPLICA_MOVES = Bound(
    "replica_moves", 0, 0, "times that an operator moves one replica, with replication.factor"
)
PARTITION_MOVES = Bound(
    "partition_moves", 0, 0, "times that an operator moves all replicas, with replication.factor"
)
REPLICA_ADDITIONS = Bound(
    "replica_additions", 0, 0, "times that an operator adds one replica, with replication.factor"
)
REPLICA_REMOVALS = Bound(
    "replica_removals", 0, 0, "times that an operator removes one replica, with replication.factor"
)
REASSIGNMENT_REPLACEMENTS = Bound(
    "reassignment_replacements",
    0,
    0,
    "reassignments that take the place of one under way, with replication.factor",
)
UNREGISTRATIONS = Bound("unregistrations", 0, 0, "times that an operator unregisters a broker")
STALLED_FETCHES = Bound(
    "stalled_fetches", 0, 0, "request threads that stall while they handle a follower's fetch"
)
STALLED_TRUNCATIONS = Bound(
    "stalled_truncations", 0, 0, "fetcher threads that stall before they truncate as an answer says"
)
STALLED_PRODUCES = Bound(
    "stalled_produces", 0, 0, "request threads that stall after they have appended a record"
)
STALLED_CHECKS = Bound(
    "stalled_checks",
    0,
    0,
    "request threads that stall within the check of a record that they have appended",
)
STALLED_READS = Bound(
    "stalled_reads", 0, 0, "request threads that stall between two numbers that a fetch reads"
)
LOG_SWAPS = Bound("log_swaps", 0, 0, "times that a log's copy in another directory takes its place")
RECORD_DELETIONS = Bound(
    "record_deletions", 0, 0, "times that a broker deletes records at its log's start"
)
UPGRADES = Bound("upgrades", 0, 0, "brokers that start again in the release upgrade.to")
CONTROLLER_UPGRADES = Bound(
    "controller_upgrades", 0, 0, "times that the controller takes the rules of upgrade.to", 1
)
CONSUMERS = Bound("consumers", 0, 0, "consumers of the partition", 1)
CONSUMER_RESTARTS = Bound("consumer_restarts", 0, 0, "times that the consumer dies")

BOUNDS = (
    REPLICAS,
    LOG_SIZE.with_default(1),
    MAX_RECORDS.with_default(1),
    MAX_LEADER_EPOCH.with_default(3),
    CRASHES,
    POWER_LOSSES,
    CACHE_LOSSES,
    DISK_LOSSES,
    SHUTDOWNS,
    CONTROLLED_SHUTDOWNS,
    RACK_FAILURES,
    FALSE_FENCINGS,
    UNCLEAN_ELECTIONS,
    PREFERRED_ELECTIONS,
    CONTROLLER_FAILOVERS,
    DIRECTORY_ASSIGNMENTS,
    LOST_DIRECTORIES,
    FAILED_DIRECTORIES,
    MIN_ISR_CHANGES,
    TOPIC_DELETIONS,
    REPLICA_MOVES,
    PARTITION_MOVES,
    REPLICA_ADDITIONS,
    REPLICA_REMOVALS,
    REASSIGNMENT_REPLACEMENTS,
    UNREGISTRATIONS,
    STALLED_FETCHES,
    STALLED_TRUNCATIONS,
    STALLED_PRODUCES,
    STALLED_CHECKS,
    STALLED_READS,
    LOG_SWAPS,
    RECORD_DELETIONS,
    UPGRADES,
    CONTROLLER_UPGRADES,
    CONSUMERS,
    CONSUMER_RESTARTS,
)
