"""What members and coordinator keep doing: the fairness under which a group is live.

Threads that loop are fair: a consumer's poll and its heartbeats, the coordinator's timers and its
answers. Faults, operators, producers and processes that start again are not.
"""

from __future__ import annotations

from model.kafka_group import classic, consumer, consumer_protocol, membership
from model.kafka_group.bounds import GENERATIONS, RECORDS
from model.language import Fairness, weak

POLLING = weak(consumer.consumer_poll, consumer.consumer_process, consumer.consumer_commit)
MEMBERS_JOIN = weak(
    classic.consumer_join,
    classic.consumer_commit_before_rejoin,
    classic.consumer_rejoin,
    classic.leader_sync,
    classic.consumer_sync,
    classic.leader_see_new_partitions,
    membership.consumer_hear_it_is_fenced,
)
HEARTBEATS = weak(
    consumer_protocol.consumer_join_by_heartbeat,
    consumer_protocol.coordinator_handle_heartbeat,
    consumer_protocol.consumer_hear_heartbeat,
    consumer_protocol.consumer_revoke,
    consumer_protocol.consumer_take_assignment,
)
COORDINATOR = weak(
    classic.coordinator_complete_join,
    consumer_protocol.coordinator_see_new_partitions,
    membership.coordinator_expire_session,
)

FAIRNESS: tuple[Fairness, ...] = (POLLING, MEMBERS_JOIN, HEARTBEATS, COORDINATOR)

CUT_BY = (GENERATIONS, RECORDS)
"""Groups have more generations, and partitions more records; budgets of faults do run out."""
