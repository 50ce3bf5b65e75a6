"""What nodes keep doing: the fairness under which a quorum is live.

Timeouts expire, also of followers whose leader is well: the model has no time. So fetching and
voting are strongly fair: a timeout that comes before the fetch or the vote does not do so always,
as a fetch resets it, and as it is drawn at random. What faults, operators and clients do is not.
"""

from __future__ import annotations

from model.kraft import kafka_raft_client_elections as elections
from model.kraft import kafka_raft_client_replication as replication
from model.kraft import kafka_raft_client_snapshots as snapshots
from model.kraft.bounds import EPOCHS, LOG_SIZE
from model.language import Fairness, strong, weak

FLUSHING = weak(replication.node_flush, replication.leader_count_flushed)
TIME_OUTS = weak(
    elections.node_time_out, elections.node_time_out_at_once, elections.prospective_give_up
)
FETCHING = strong(
    replication.follower_fetch,
    replication.follower_truncate,
    snapshots.follower_fetch_snapshot,
)
ELECTIONS = strong(
    elections.prospective_stand,
    elections.voter_grant_pre_vote,
    elections.voter_grant_vote,
    elections.candidate_become_leader,
    elections.node_hear_of_epoch,
    elections.resigned_leave,
    elections.resigned_stand,
    elections.leader_resign_as_removed,
)

FAIRNESS: tuple[Fairness, ...] = (FLUSHING, TIME_OUTS, ELECTIONS, FETCHING)

CUT_BY = (EPOCHS, LOG_SIZE)
"""Quorums have more epochs and longer logs; budgets of faults do run out."""
