"""Fetches whose answers arrive at once (`AbstractFetcherThread.processFetchRequest`).

Each brings at most one record. A fetch and its answer are one step; `leader_handle_fetch` is the
fetch whose answer is lost.
"""

from __future__ import annotations

from model.kafka import fetch_session, unified_log
from model.kafka.partition import can_fetch, fetch_diverges, note_fetch
from model.kafka.replica_fetcher import answers_at_once
from model.kafka.state import Broker, TopicPartition
from model.language import action, maximum, not_, require


@action(
    "{follower} fetches a record from {leader}",
    at="AbstractFetcherThread.processFetchRequest",
    since="0.8.0",
    settings="fetch.answers",
)
def follower_fetch_record(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """Fetch and append a record; the answer's HW is from before the leader noted this fetch."""
    diverging = fetch_diverges(partition, follower, leader)
    end = follower.log.end
    require(answers_at_once(partition))
    require(can_fetch(partition, follower, leader))
    require(not_(diverging))
    require(end < leader.log.end)

    high_watermark = leader.high_watermark
    note_fetch(partition, follower, leader, diverging)
    fetch_session.begin_anew(partition, follower)
    unified_log.append(partition, follower, leader.log[end].id, leader.log[end].epoch)
    unified_log.take_answered(partition, follower, high_watermark, leader.log_start)


@action(
    "{follower} fetches from {leader} and learns the high watermark",
    at="ReplicaFetcherThread.processPartitionData",
    since="0.8.0",
    settings="fetch.answers, fetch.sessions",
)
def follower_fetch_high_watermark(
    partition: TopicPartition, follower: Broker, leader: Broker
) -> None:
    """Fetch at the leader's end; only the HW is news."""
    diverging = fetch_diverges(partition, follower, leader)
    require(answers_at_once(partition))
    require(can_fetch(partition, follower, leader))
    require(not_(diverging))
    require(follower.log.end == leader.log.end)
    taken = maximum(leader.high_watermark, follower.log_start)
    require(follower.high_watermark != taken)
    require(not_(fetch_session.leaves_out(partition, follower, leader)))

    follower.high_watermark = taken
    fetch_session.begin_anew(partition, follower)
    note_fetch(partition, follower, leader, diverging)
    unified_log.take_start(partition, follower, leader.log_start)
