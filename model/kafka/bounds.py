"""The sizes of the broker model, and its budgets: how often each thing may happen.

Each is declared here alone, with all that is said of it. The order is that of the state's cells.
"""

from __future__ import annotations

from model import replicated_log
from model.kafka.fault import fault, faults_in
from model.language import Loses, Stops, bounds_in

REPLICAS = replicated_log.REPLICAS
LOG_SIZE = replicated_log.LOG_SIZE.with_default(1)
MAX_RECORDS = replicated_log.MAX_RECORDS.with_default(1)
MAX_LEADER_EPOCH = replicated_log.MAX_LEADER_EPOCH.with_default(3)

CRASHES = fault(
    "crashes", "brokers whose process dies; the log is kept", default=1,
    stops=Stops.UNCLEANLY, walked=2, covered={},
)  # fmt: skip
POWER_LOSSES = fault(
    "power_losses", "brokers that lose power, and with it any unflushed end of the log",
    stops=Stops.UNCLEANLY, loses=Loses.UNSYNCED, walked=1, covered={},
)  # fmt: skip
CACHE_LOSSES = fault(
    "cache_losses",
    "machines that lose power after their broker crashed, and so their page cache",
    loses=Loses.UNSYNCED, needs={"crashes": (1, 2)}, walked=1, covered={"crashes": 1},
)  # fmt: skip
DISK_LOSSES = fault(
    "disk_losses", "brokers that stop uncleanly and start with an empty disk",
    stops=Stops.UNCLEANLY, loses=Loses.ALL, walked=1, covered={},
)  # fmt: skip
SHUTDOWNS = fault(
    "shutdowns",
    "clean stops without a controlled shutdown, which timed out or is off "
    "(controlled.shutdown.enable=false)",
    stops=Stops.CLEANLY, walked=1, covered={"preferred_elections": 1},
)  # fmt: skip
CONTROLLED_SHUTDOWNS = fault(
    "controlled_shutdowns", "clean stops with a controlled shutdown",
    stops=Stops.CLEANLY, walked=1, covered={"controller_failovers": 1},
)  # fmt: skip
RACK_FAILURES = fault(
    "rack_failures", "racks that lose power",
    stops=Stops.SEVERAL_UNCLEANLY, loses=Loses.UNSYNCED,
    needs={"broker.rack": ("aab", "abb", "aabb", "abba"), "min.insync.replicas": (3,)},
    walked=1, covered={"crashes": 1},
)  # fmt: skip
FALSE_FENCINGS = fault(
    "false_fencings", "live brokers that the controller fences",
    elects=True, walked=2, covered={"controller_failovers": 1},
)  # fmt: skip
UNCLEAN_ELECTIONS = fault(
    "unclean_elections", "unclean elections, where they are enabled", default=1,
    drawn=(), asked=False, walked=1, covered={"crashes": 1, "controller_failovers": 1},
)  # fmt: skip
PREFERRED_ELECTIONS = fault(
    "preferred_elections", "elections of a preferred leader", default=1,
    elects=True, walked=3, covered={},
)  # fmt: skip
CONTROLLER_FAILOVERS = fault(
    "controller_failovers", "times that another controller takes over", walked=1
)
DIRECTORY_ASSIGNMENTS = fault(
    "directory_assignments", "times that a broker reports a replica's log directory",
    walked=1, covered={"power_losses": 1}, since="4.0.0",
)  # fmt: skip
LOST_DIRECTORIES = fault(
    "lost_directories", "log directories of stopped brokers that are lost",
    stops=Stops.UNCLEANLY, loses=Loses.ALL, needs={"shutdowns": (1, 2)},
    walked=1, covered={"shutdowns": 1}, since="4.0.0",
)  # fmt: skip
FAILED_DIRECTORIES = fault(
    "failed_directories", "log directories that fail while their broker runs",
    stops=Stops.UNCLEANLY, loses=Loses.ALL, needs={"shutdowns": (1, 2)},
)  # fmt: skip
MIN_ISR_CHANGES = fault(
    "min_isr_changes", "times that an operator changes min.insync.replicas", maximum=1,
    needs={"min.insync.replicas.later": (1, 2, 3)},
    walked=1, covered={"shutdowns": 1}, since="4.0.0",
)  # fmt: skip
TOPIC_DELETIONS = fault(
    "topic_deletions", "times that an operator deletes the topic", maximum=1,
    counted=False, covered={"crashes": 1, "min_isr_changes": 1}, since="4.0.0",
)  # fmt: skip
REPLICA_MOVES = fault(
    "replica_moves",
    "replicas that an operator moves, one at a time; needs --set replication.factor=N",
    needs={"replication.factor": (2, 3)}, walked=1, since="4.0.0",
)  # fmt: skip
PARTITION_MOVES = fault(
    "partition_moves",
    "times that an operator moves all replicas; needs --set replication.factor=N",
    needs={"replication.factor": (2,), "replicas": (4, 5)}, walked=1, since="4.0.0",
)  # fmt: skip
REPLICA_ADDITIONS = fault(
    "replica_additions", "replicas that an operator adds; needs --set replication.factor=N",
    needs={"replication.factor": (2, 3)}, walked=1, since="4.0.0",
)  # fmt: skip
REPLICA_REMOVALS = fault(
    "replica_removals", "replicas that an operator removes; needs --set replication.factor=N",
    needs={"replication.factor": (3,)}, walked=1, since="4.0.0",
)  # fmt: skip
REASSIGNMENT_REPLACEMENTS = fault(
    "reassignment_replacements",
    "reassignments that replace one in progress; needs --set replication.factor=N",
    needs={"replication.factor": (2, 3), "replica_moves": (1, 2)}, walked=2, since="4.0.0",
)  # fmt: skip
UNREGISTRATIONS = fault(
    "unregistrations", "times that an operator unregisters a broker",
    stops=Stops.AS_IF_UNCLEANLY, walked=1, covered={"shutdowns": 1}, since="4.0.0",
)  # fmt: skip
STALLED_FETCHES = fault(
    "stalled_fetches", "request threads that stall while they handle a follower's fetch",
    walked=1, covered={"preferred_elections": 1},
)  # fmt: skip
STALLED_TRUNCATIONS = fault(
    "stalled_truncations", "fetcher threads that stall before they truncate as a response says",
    walked=1, covered={"preferred_elections": 1},
)  # fmt: skip
STALLED_PRODUCES = fault(
    "stalled_produces",
    "request threads that stall after an append, before they check that the ISR has the record",
    walked=1, covered={"preferred_elections": 1},
)  # fmt: skip
STALLED_CHECKS = fault(
    "stalled_checks",
    "request threads that stall after an append, while they check that the ISR has the record",
    walked=1, covered={"preferred_elections": 1},
)  # fmt: skip
STALLED_READS = fault(
    "stalled_reads",
    "request threads that stall in a fetch, between reading the high watermark and the log start",
    needs={"epoch.cache": ("kept",), "record_deletions": (1, 2)}, walked=1, covered={},
)  # fmt: skip
DIRECTORY_MOVES = fault(
    "directory_moves", "replicas that move to another log directory of their broker",
    covered={}, since="3.9.1",
)  # fmt: skip
RECORD_DELETIONS = fault(
    "record_deletions", "times that a broker deletes records at its log's start",
    needs={"epoch.cache": ("kept",), "max_records": (2, 3, 4), "log_size": (2, 3, 4)},
)  # fmt: skip
UPGRADES = fault(
    "upgrades", "brokers that start again in the release upgrade.to",
    counted=False, drawn=(), asked=False,
)  # fmt: skip
CONTROLLER_UPGRADES = fault(
    "controller_upgrades", "times that the controller takes the rules of upgrade.to", maximum=1,
    counted=False, drawn=(), asked=False,
)  # fmt: skip
CONSUMERS = fault(
    "consumers", "consumers of the partition", maximum=1,
    counted=False, drawn=(), asked=False, walked=1,
)  # fmt: skip
CONSUMER_RESTARTS = fault(
    "consumer_restarts", "times that the consumer dies",
    drawn=(), walked=1, covered={"consumers": 1},
)  # fmt: skip

BOUNDS = bounds_in(globals())
FAULTS = faults_in(BOUNDS)
