"""How often each fault and each step of an operator has been: the budgets that are used up.

As they are state, a search says of everything within what budgets it was.
"""

from __future__ import annotations

from model.kafka.bounds import (
    CACHE_LOSSES,
    CONSUMER_RESTARTS,
    CONTROLLED_SHUTDOWNS,
    CONTROLLER_FAILOVERS,
    CRASHES,
    DIRECTORY_ASSIGNMENTS,
    DISK_LOSSES,
    FAILED_DIRECTORIES,
    FALSE_FENCINGS,
    LOG_SWAPS,
    LOST_DIRECTORIES,
    MIN_ISR_CHANGES,
    PARTITION_MOVES,
    POWER_LOSSES,
    PREFERRED_ELECTIONS,
    RACK_FAILURES,
    REASSIGNMENT_REPLACEMENTS,
    RECORD_DELETIONS,
    REPLICA_ADDITIONS,
    REPLICA_MOVES,
    REPLICA_REMOVALS,
    SHUTDOWNS,
    STALLED_CHECKS,
    STALLED_FETCHES,
    STALLED_PRODUCES,
    STALLED_READS,
    STALLED_TRUNCATIONS,
    UNCLEAN_ELECTIONS,
    UNREGISTRATIONS,
)
from model.language import Annotated, Record, integers


class Spent(Record):
    """How much of each budget for faults is used up."""

    crashes: Annotated[int, integers(0, CRASHES)] = 0
    power_losses: Annotated[int, integers(0, POWER_LOSSES)] = 0
    cache_losses: Annotated[int, integers(0, CACHE_LOSSES)] = 0
    disk_losses: Annotated[int, integers(0, DISK_LOSSES)] = 0
    shutdowns: Annotated[int, integers(0, SHUTDOWNS)] = 0
    controlled_shutdowns: Annotated[int, integers(0, CONTROLLED_SHUTDOWNS)] = 0
    rack_failures: Annotated[int, integers(0, RACK_FAILURES)] = 0
    false_fencings: Annotated[int, integers(0, FALSE_FENCINGS)] = 0
    unclean_elections: Annotated[int, integers(0, UNCLEAN_ELECTIONS)] = 0
    preferred_elections: Annotated[int, integers(0, PREFERRED_ELECTIONS)] = 0
    controller_failovers: Annotated[int, integers(0, CONTROLLER_FAILOVERS)] = 0
    directory_assignments: Annotated[int, integers(0, DIRECTORY_ASSIGNMENTS)] = 0
    lost_directories: Annotated[int, integers(0, LOST_DIRECTORIES)] = 0
    failed_directories: Annotated[int, integers(0, FAILED_DIRECTORIES)] = 0
    min_isr_changes: Annotated[int, integers(0, MIN_ISR_CHANGES)] = 0
    replica_moves: Annotated[int, integers(0, REPLICA_MOVES)] = 0
    partition_moves: Annotated[int, integers(0, PARTITION_MOVES)] = 0
    replica_additions: Annotated[int, integers(0, REPLICA_ADDITIONS)] = 0
    replica_removals: Annotated[int, integers(0, REPLICA_REMOVALS)] = 0
    reassignment_replacements: Annotated[int, integers(0, REASSIGNMENT_REPLACEMENTS)] = 0
    unregistrations: Annotated[int, integers(0, UNREGISTRATIONS)] = 0
    stalled_fetches: Annotated[int, integers(0, STALLED_FETCHES)] = 0
    stalled_truncations: Annotated[int, integers(0, STALLED_TRUNCATIONS)] = 0
    stalled_produces: Annotated[int, integers(0, STALLED_PRODUCES)] = 0
    stalled_checks: Annotated[int, integers(0, STALLED_CHECKS)] = 0
    stalled_reads: Annotated[int, integers(0, STALLED_READS)] = 0
    log_swaps: Annotated[int, integers(0, LOG_SWAPS)] = 0
    record_deletions: Annotated[int, integers(0, RECORD_DELETIONS)] = 0
    consumer_restarts: Annotated[int, integers(0, CONSUMER_RESTARTS)] = 0
