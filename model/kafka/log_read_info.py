"""What a leader reads for an answer, one number after the other (`LogReadInfo`).

`Partition.readRecords` takes the HW and then where the log starts. It holds the partition's lock
for reading, and so do fetches that move the HW, appends, and deletions. In `fetch_at_once.py` all
is of one moment; here a thread stalls between the two numbers. What takes the lock for writing,
such as a change of the ISR or of the leader epoch, waits for the thread: a stall that would have
to end first is the same as none. One thread stalls at a time; the follower waits for its answer.
"""

from __future__ import annotations

from model.kafka import fetch_session, log_manager, unified_log
from model.kafka.bounds import STALLED_READS
from model.kafka.partition import can_fetch, fetch_diverges, note_fetch
from model.kafka.replica_fetcher import answers_at_once
from model.kafka.state import Broker, TopicPartition
from model.language import action, is_none, not_, require, spend


@action(
    "{leader} reads for a fetch from {follower}; the thread stalls after the first offset",
    at="Partition.readRecords",
    since="2.1.0",
    about="KAFKA-7104, finding 0016",
    settings="log.start.read.first",
)
def leader_stall_between_reads(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    """Read the HW alone or, with the fix of finding 0016, where the log starts."""
    stalled = partition.stalled_read
    require(answers_at_once(partition))
    require(is_none(stalled.leader))
    require(can_fetch(partition, follower, leader))
    require(not_(fetch_diverges(partition, follower, leader)))

    start_first = partition.options.log_start_read_first
    spend(partition, STALLED_READS)
    stalled.leader = leader
    stalled.follower = follower
    stalled.number = leader.log_start if start_first else leader.high_watermark


def _answer(partition: TopicPartition, leader: Broker) -> tuple[int, int]:
    """HW and log start of the answer: the number that was read first, and the other one as now."""
    first = partition.stalled_read.number
    if partition.options.log_start_read_first:
        return leader.high_watermark, first
    return first, leader.log_start


def _take(partition: TopicPartition, follower: Broker, high_watermark: int, start: int) -> None:
    """Take the HW and then the log start, or give the partition up.

    A start beyond the HW is refused, and for whatever is thrown the partition is marked as failed
    (`AbstractFetcherThread.processFetchRequest`).
    """
    unified_log.take_answered(partition, follower, high_watermark, start)
    follower.gave_up = unified_log.refuses_start(follower, start)
    fetch_session.begin_anew(partition, follower)
    partition.stalled_read.reset()


@action(
    "the stalled thread of {leader} resumes, and {follower} appends a record",
    at="ReplicaFetcherThread.processPartitionData",
    since="2.1.0",
    about="KAFKA-7104",
)
def follower_take_stalled_record(
    partition: TopicPartition, leader: Broker, follower: Broker
) -> None:
    """Read the other number and a record, note the fetch, and answer."""
    stalled, end = partition.stalled_read, follower.log.end
    require(stalled.leader == leader, stalled.follower == follower)
    require(leader.log_start <= end, end < leader.log.end)

    high_watermark, start = _answer(partition, leader)
    note_fetch(partition, follower, leader, diverging=False)
    unified_log.append(partition, follower, leader.log[end].id, leader.log[end].epoch)
    _take(partition, follower, high_watermark, start)


@action(
    "the stalled thread of {leader} resumes, and {follower} handles an empty response",
    at="ReplicaFetcherThread.processPartitionData",
    since="2.1.0",
    about="KAFKA-7104",
)
def follower_take_stalled_answer(
    partition: TopicPartition, leader: Broker, follower: Broker
) -> None:
    """The same at the leader's end."""
    stalled = partition.stalled_read
    require(stalled.leader == leader, stalled.follower == follower)
    require(follower.log.end == leader.log.end)

    high_watermark, start = _answer(partition, leader)
    note_fetch(partition, follower, leader, diverging=False)
    _take(partition, follower, high_watermark, start)


@action(
    "the stalled thread of {leader} resumes: out of range; {follower} restarts its log",
    at="AbstractFetcherThread.fetchOffsetAndTruncate",
    since="2.1.0",
    about="KAFKA-7104, KAFKA-9491",
    settings="starting.anew.moves.hw",
)
def follower_start_anew_after_stall(
    partition: TopicPartition, leader: Broker, follower: Broker
) -> None:
    """The log starts after the follower's offset by now: `follower_start_anew`, in its fetch."""
    stalled = partition.stalled_read
    require(stalled.leader == leader, stalled.follower == follower)
    require(follower.log.end < leader.log_start)

    log_manager.start_anew(partition, follower, leader)
    stalled.reset()
