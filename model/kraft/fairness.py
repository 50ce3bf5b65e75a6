"""What nodes keep doing: the fairness under which a quorum is live."""

from __future__ import annotations

from model.kraft import kafka_raft_client_elections as elections
from model.kraft import kafka_raft_client_replication as replication
from model.kraft import kafka_raft_client_snapshots as snapshots
from model.kraft.bounds import EPOCHS, LOG_SIZE
from model.language import Fairness, weak

FETCHING = weak(
    replication.follower_fetch,
    replication.follower_truncate,
    replication.node_flush,
    snapshots.follower_fetch_snapshot,
)
ELECTIONS = weak(
    elections.prospective_stand,
    elections.voter_grant_pre_vote,
    elections.voter_grant_vote,
    elections.candidate_become_leader,
    elections.node_hear_of_epoch,
    elections.resigned_leave,
    elections.resigned_stand,
)

FAIRNESS: tuple[Fairness, ...] = (FETCHING, ELECTIONS)

CUT_BY = (EPOCHS, LOG_SIZE)
"""Quorums have more epochs and longer logs; budgets of faults do run out."""
