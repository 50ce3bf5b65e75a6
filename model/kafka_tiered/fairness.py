"""What brokers keep doing: the fairness under which a replica gets in sync.

Followers fetch, truncate as they are told, and build from the remote store what they cannot fetch;
a leader's task looks up what is remote. Nobody has to copy, to delete, or to be elected; faults are
not fair.
"""

from __future__ import annotations

from model.kafka_tiered import remote_log_manager, replicas
from model.kafka_tiered.bounds import COPIES, LOG_SIZE, MAX_LEADER_EPOCH
from model.language import Fairness, weak

FETCHING = weak(replicas.follower_fetch)
TRUNCATING = weak(replicas.follower_truncate)
BUILDING = weak(replicas.follower_build_from_tier)
LOOKING_UP = weak(remote_log_manager.leader_find_remote_end, by=["broker"])

FAIRNESS: tuple[Fairness, ...] = (FETCHING, TRUNCATING, BUILDING, LOOKING_UP)

CUT_BY = (LOG_SIZE, MAX_LEADER_EPOCH, COPIES)
"""There are more records, epochs and segments; budgets of faults do run out."""
