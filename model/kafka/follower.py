"""What a follower does: it follows, fetches, truncates (`AbstractFetcherThread`).

Each fetch brings at most one record. Where answers arrive at once, a fetch with its answer is one
step, and `leader_handle_fetch` is the fetch whose answer is lost.
"""

from __future__ import annotations

from model.kafka.epochs import end_of_epoch, found_epoch, has_epoch, local_truncation
from model.kafka.leader import can_fetch, fetch_diverges, forget_leadership, note_fetch
from model.kafka.settings import FetchAnswers, Truncation
from model.kafka.state import (
    DIVERGING_ANSWER,
    EMPTY_ANSWER,
    NO_ANSWER,
    RECORD_ANSWER,
    Broker,
    TopicPartition,
)
from model.language import action, all_of, any_of, choose, is_none, minimum, not_, require
from model.replicated_log import Log


def asks_before_fetching(partition: TopicPartition) -> bool:
    """A new follower asks where its last epoch ends before it fetches (KIP-101 to KIP-320)."""
    return partition.options.truncation in (
        Truncation.LEADER_EPOCH,
        Truncation.LEADER_EPOCH_ITERATED,
    )


def truncate(broker: Broker, end: int) -> None:
    """Cut the log at `end`, and the HW with it."""
    broker.high_watermark = minimum(broker.high_watermark, end)
    broker.log.truncate_to(end)


def follow(partition: TopicPartition, broker: Broker) -> None:
    """Take leader and leader epoch from the controller, as follower or, with no leader, neither."""
    controller = partition.controller
    options = partition.options
    follows = all_of(not_(is_none(controller.leader)), controller.leader != broker)
    if options.truncation == Truncation.HIGH_WATERMARK:
        truncate(broker, choose(follows, broker.high_watermark, broker.log.end))
    if asks_before_fetching(partition):
        broker.truncating = all_of(follows, broker.log.end > 0)
    forget_leadership(partition, broker)
    if options.fetch_answers == FetchAnswers.IN_FLIGHT and options.answer_matches_epoch:
        broker.answer.forget()
    broker.leader = controller.leader
    broker.leader_epoch = controller.leader_epoch


@action("{broker} reads who leads, and follows")
def follower_apply_metadata(partition: TopicPartition, broker: Broker) -> None:
    """Become follower of the controller's leader, or follow nobody (`Partition.makeFollower`)."""
    controller = partition.controller
    require(broker.up)
    require(controller.leader != broker)
    require(broker.leader_epoch != controller.leader_epoch)

    follow(partition, broker)


def _at_once(partition: TopicPartition) -> bool:
    return partition.options.fetch_answers == FetchAnswers.AT_ONCE


@action("{follower} fetches a record from {leader}")
def follower_fetch_record(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """Fetch and append a record; the answer's HW is from before the leader noted this fetch."""
    diverging = fetch_diverges(partition, follower, leader)
    end = follower.log.end
    require(_at_once(partition))
    require(can_fetch(partition, follower, leader))
    require(not_(diverging))
    require(end < leader.log.end)

    follower.high_watermark = minimum(leader.high_watermark, end + 1)
    note_fetch(partition, follower, leader, diverging)
    follower.log.append_copy(leader.log[end])


@action("{follower} fetches from {leader} and learns the high watermark")
def follower_fetch_high_watermark(
    partition: TopicPartition, follower: Broker, leader: Broker
) -> None:
    """Fetch at the leader's end; only the HW is news."""
    diverging = fetch_diverges(partition, follower, leader)
    require(_at_once(partition))
    require(can_fetch(partition, follower, leader))
    require(not_(diverging))
    require(follower.log.end == leader.log.end)
    require(follower.high_watermark != leader.high_watermark)

    follower.high_watermark = leader.high_watermark
    note_fetch(partition, follower, leader, diverging)


def is_out_of_range(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """The leader cannot place the fetch: the offset is beyond its end, or the epoch beyond its own.

    The follower then asks for the leader's end (ListOffsets), here in the same step.
    """
    if partition.options.truncation != Truncation.DIVERGING_FETCH:
        return follower.log.end > leader.log.end
    return all_of(follower.log.end > 0, follower.log.last_epoch > leader.leader_epoch)


def divergence_offset(partition: TopicPartition, follower: Broker, leader: Broker) -> int:
    """Where the follower truncates after a fetch that diverges or is out of range."""
    log, end = follower.log, minimum(follower.log.end, leader.log.end)
    if partition.options.truncation != Truncation.DIVERGING_FETCH:
        return end
    last = log.last_epoch
    answered = local_truncation(log, found_epoch(leader, last), end_of_epoch(leader.log, last))
    return choose(is_out_of_range(partition, follower, leader), end, answered)


@action("{follower} fetches from {leader}, which says that they diverge, and truncates")
def follower_truncate_on_fetch(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """Truncate to what the answer says; if that is too little, the next fetch diverges again."""
    diverging = fetch_diverges(partition, follower, leader)
    end = divergence_offset(partition, follower, leader)
    require(any_of(_at_once(partition), is_out_of_range(partition, follower, leader)))
    require(can_fetch(partition, follower, leader))
    require(diverging, end < follower.log.end)

    note_fetch(partition, follower, leader, diverging)
    truncate(follower, end)


@action("{follower} takes the high watermark from an answer of {leader} that says they diverge")
def follower_take_diverging_high_watermark(
    partition: TopicPartition, follower: Broker, leader: Broker
) -> None:
    """Take the HW before truncating: the two steps of one handler (15, KAFKA-14704)."""
    taken = minimum(leader.high_watermark, follower.log.end)
    require(not partition.options.diverging_hw_ignored)
    require(partition.options.truncation == Truncation.DIVERGING_FETCH)
    require(can_fetch(partition, follower, leader))
    require(fetch_diverges(partition, follower, leader))
    require(follower.high_watermark < taken)

    follower.high_watermark = taken


def epoch_is_unknown(leader: Broker, last: int) -> bool:
    """KIP-101's leader cannot say where `last` ends: its log holds neither it nor a later one."""
    log: Log = leader.log
    return any_of(log.is_empty, log.last_epoch < last)


@action("{follower} asks {leader} where its last epoch ends, and truncates")
def follower_truncate(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """Look up one epoch at the leader, before fetching (KIP-101); again, if need be (KIP-279).

    Request and answer (OffsetsForLeaderEpoch) are one step. KIP-320 has it fenced by epoch (10).
    """
    log, last = follower.log, follower.log.last_epoch
    require(asks_before_fetching(partition))
    require(follower.truncating)
    require(follower.follows(leader), leader.leads)
    if partition.options.fetch_fenced_by_epoch:
        require(follower.leader_epoch == leader.leader_epoch)

    found, end = found_epoch(leader, last), end_of_epoch(leader.log, last)
    if partition.options.truncation == Truncation.LEADER_EPOCH:
        unknown = epoch_is_unknown(leader, last)
        kept = choose(unknown, follower.high_watermark, minimum(end, log.end))
        again = False
    else:
        unknown = last > leader.leader_epoch
        kept = choose(unknown, follower.high_watermark, local_truncation(log, found, end))
        again = all_of(not_(unknown), not_(has_epoch(log, found)), kept > 0)
    follower.truncating = again
    truncate(follower, kept)


# --- answers in flight ---------------------------------------------------------------------------


@action("{follower} sends a fetch to {leader}, which answers")
def follower_send_fetch(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """The leader handles a fetch at once; its answer travels."""
    diverging = fetch_diverges(partition, follower, leader)
    log, end = follower.log, follower.log.end
    has_record = all_of(not_(diverging), end < leader.log.end)
    answer = follower.answer
    require(not _at_once(partition))
    require(can_fetch(partition, follower, leader))
    require(not_(is_out_of_range(partition, follower, leader)))
    require(answer.kind == NO_ANSWER)
    require(any_of(diverging, has_record, follower.high_watermark != leader.high_watermark))

    entry = leader.log[end]
    found = found_epoch(leader, log.last_epoch)
    answer.kind = choose(
        diverging, DIVERGING_ANSWER, choose(has_record, RECORD_ANSWER, EMPTY_ANSWER)
    )
    answer.epoch = choose(diverging, found, choose(has_record, entry.epoch, 0))
    answer.id = choose(has_record, entry.id, 0)
    answer.end = choose(diverging, end_of_epoch(leader.log, log.last_epoch), 0)
    answer.offset = end
    answer.high_watermark = choose(diverging, 0, leader.high_watermark)
    answer.source = leader
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


@action("{follower} receives a record")
def follower_receive_record(partition: TopicPartition, follower: Broker) -> None:
    """Append the record of an answer, and take its HW."""
    answer = follower.answer
    require(not _at_once(partition))
    require(answer.kind == RECORD_ANSWER, takes_answer(follower))

    follower.high_watermark = minimum(answer.high_watermark, follower.log.end + 1)
    follower.log.append(id=answer.id, epoch=answer.epoch)
    follower.answer.forget()


@action("{follower} receives an empty answer and takes its high watermark")
def follower_receive_high_watermark(partition: TopicPartition, follower: Broker) -> None:
    """Take the HW of an answer without records."""
    answer = follower.answer
    require(not _at_once(partition))
    require(answer.kind == EMPTY_ANSWER, takes_answer(follower))

    follower.high_watermark = minimum(answer.high_watermark, follower.log.end)
    follower.answer.forget()


@action("{follower} receives an answer that the logs diverge, and truncates")
def follower_receive_divergence(partition: TopicPartition, follower: Broker) -> None:
    """Truncate as an answer says, without asking for which leader epoch it was given (18)."""
    answer = follower.answer
    require(not _at_once(partition))
    require(answer.kind == DIVERGING_ANSWER, takes_answer(follower))

    truncate(follower, local_truncation(follower.log, answer.epoch, answer.end))
    follower.answer.forget()


@action("{follower} does not take the answer under way: it is late, or lost")
def follower_ignore_answer(partition: TopicPartition, follower: Broker) -> None:
    """Drop an answer; the follower will fetch again."""
    require(not _at_once(partition))
    require(follower.answer.kind != NO_ANSWER)

    follower.answer.forget()
