"""Fetches whose answers travel: they arrive late, whatever has happened since, or never.

These steps stand in for those of `fetch_at_once.py` with `fetch.answers=in_flight`. The request
itself does not travel: `docs/decisions/0010-broker-model-state.md` says why.
"""

from __future__ import annotations

from model.kafka import fetch_session, unified_log
from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.choices import FetchAnswers
from model.kafka.leader_epoch_cache import (
    answered_end,
    answered_epoch,
    fetched_epoch,
    knows_epoch,
    truncation_end,
)
from model.kafka.partition import can_fetch, fetch_diverges, note_fetch
from model.kafka.replica_fetcher import answers_at_once, is_out_of_range, truncate
from model.kafka.state import (
    DIVERGING_ANSWER,
    EMPTY_ANSWER,
    NO_ANSWER,
    RECORD_ANSWER,
    Broker,
    TopicPartition,
)
from model.language import action, all_of, any_of, choose, is_none, maximum, not_, require


@action(
    "{follower} sends a fetch to {leader}, which sends a response",
    at="Partition.fetchRecords",
    since="0.8.0",
    about="KAFKA-7104",
    settings="fetch.answers, fetch.sessions",
)
def follower_send_fetch(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """The leader handles a fetch at once; its answer travels."""
    diverging = fetch_diverges(partition, follower, leader)
    last, end = fetched_epoch(partition, follower), follower.log.end
    has_record = all_of(not_(diverging), end < leader.log.end)
    answer = follower.answer
    require(not answers_at_once(partition))
    require(can_fetch(partition, follower, leader))
    require(not_(is_out_of_range(partition, follower, leader)))
    require(answer.kind == NO_ANSWER)
    news = any_of(
        follower.high_watermark != maximum(leader.high_watermark, follower.log_start),
        follower.log_start < leader.log_start,
        file_cache.would_forget(partition, follower),
    )
    told = fetch_session.leaves_out(partition, follower, leader)
    require(any_of(diverging, has_record, all_of(news, not_(told))))

    entry = leader.log[end]
    found = answered_epoch(partition, leader, last)
    answer.kind = choose(
        diverging, DIVERGING_ANSWER, choose(has_record, RECORD_ANSWER, EMPTY_ANSWER)
    )
    answer.epoch = choose(diverging, found, choose(has_record, entry.epoch, 0))
    answer.id = choose(has_record, entry.id, 0)
    answer.end = choose(diverging, answered_end(partition, leader, last), 0)
    answer.offset = end
    answer.high_watermark = choose(diverging, 0, leader.high_watermark)
    answer.log_start = choose(diverging, 0, leader.log_start)
    answer.source = leader
    fetch_session.count_as_told(partition, follower, leader, where=True)
    note_fetch(partition, follower, leader, diverging)


def takes_answer(follower: Broker) -> bool:
    """The partition is still with the fetcher that asked, at the offset that it asked for."""
    return all_of(
        not_(is_none(follower.answer.source)),
        follower.leader == follower.answer.source,
        not_(follower.leads),
        follower.answer.offset == follower.log.end,
        not_(follower.truncating),
    )


def _take(partition: TopicPartition, follower: Broker, *, record: bool) -> None:
    """Take the HW and the log start of an answer, with its record or without one."""
    answer = follower.answer
    unified_log.take_answered(partition, follower, answer.high_watermark, answer.log_start)
    file_cache.note_answer(partition, follower, record=record)
    fetch_session.begin_anew(partition, follower)
    answer.reset()


@action(
    "{follower} receives a record",
    at="ReplicaFetcherThread.processPartitionData",
    since="0.8.0",
    settings="fetch.answers",
)
def follower_receive_record(partition: TopicPartition, follower: Broker) -> None:
    """Append the record of an answer, and take its HW and log start."""
    answer = follower.answer
    require(not answers_at_once(partition))
    require(answer.kind == RECORD_ANSWER, takes_answer(follower))

    unified_log.append(partition, follower, answer.id, answer.epoch)
    _take(partition, follower, record=True)


@action(
    "{follower} receives a record that {leader} wrote over the one it had read",
    at="UnifiedLog.analyzeAndValidateRecords",
    since="0.8.0",
    about="KAFKA-18723, finding 0019",
    settings="append.up.to.leader.epoch, fetch.answers, truncation.begins.segment",
)
def follower_receive_rewritten_record(
    partition: TopicPartition, follower: Broker, leader: Broker
) -> None:
    """Append what the leader's file has by now (KAFKA-18723).

    An answer has a slice of the file, whose bytes are read as they are sent: without the
    partition's lock, in whichever leader epoch the leader is by then. A slice that was cut away
    ends the connection. With the fix a record of a later epoch is left out, and so is a fetch that
    brings none (`UnifiedLog.analyzeAndValidateRecords`). Where a log that is truncated goes on in a
    new segment, what was cut away is not written over (finding 0019).
    """
    answer, entry = follower.answer, leader.log[follower.answer.offset]
    require(partition.options.fetch_answers == FetchAnswers.READ_LATE)
    require(not partition.options.truncation_begins_segment)
    require(answer.kind == RECORD_ANSWER, takes_answer(follower))
    require(answer.source == leader, leader.up)
    require(leader.log_start <= answer.offset, answer.offset < leader.log.end)
    require(any_of(entry.epoch != answer.epoch, entry.id != answer.id))
    if partition.options.appends_up_to_epoch:
        require(entry.epoch <= follower.leader_epoch)

    unified_log.append(partition, follower, entry.id, entry.epoch)
    _take(partition, follower, record=True)


@action(
    "{follower} receives an empty response and takes its high watermark",
    at="ReplicaFetcherThread.processPartitionData",
    since="0.8.0",
    settings="fetch.answers",
)
def follower_receive_high_watermark(partition: TopicPartition, follower: Broker) -> None:
    """Take the HW and log start of an answer without records."""
    answer = follower.answer
    require(not answers_at_once(partition))
    require(answer.kind == EMPTY_ANSWER, takes_answer(follower))

    _take(partition, follower, record=False)


@action(
    "{follower} receives a response with a diverging epoch, and truncates",
    at="AbstractFetcherThread.truncateOnFetchResponse",
    since="2.8.0",
    about="KIP-595, KAFKA-18991",
    settings="fetch.answers",
)
def follower_receive_divergence(partition: TopicPartition, follower: Broker) -> None:
    """Truncate as a response says, for whichever leader epoch it was given (KAFKA-18991)."""
    answer = follower.answer
    require(not answers_at_once(partition))
    require(answer.kind == DIVERGING_ANSWER, takes_answer(follower))

    end = truncation_end(partition, follower, answer.epoch, answer.end)
    completed = knows_epoch(partition, follower, answer.epoch)
    truncate(partition, follower, end, completed)
    follower.answer.reset()


@action(
    "{follower} drops the fetch response in flight: it is late or lost",
    at="AbstractFetcherThread.processFetchRequest",
    since="0.8.0",
    settings="fetch.answers",
)
def follower_ignore_answer(partition: TopicPartition, follower: Broker) -> None:
    """Drop an answer; the follower will fetch again, in a new session."""
    require(not answers_at_once(partition))
    require(follower.answer.kind != NO_ANSWER)

    fetch_session.begin_anew(partition, follower)
    follower.answer.reset()
