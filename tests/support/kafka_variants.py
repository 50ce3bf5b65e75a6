"""Variants of the broker model with a step more, to ask what a merged step hides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from model.kafka import unified_log
from model.kafka.alter_partition import can_change_isr, propose_isr
from model.kafka.choices import Truncation
from model.kafka.leader_epoch_cache import end_of_epoch, epoch_start, found_epoch
from model.kafka.partition import (
    advance_high_watermark,
    can_fetch,
    fetch_diverges,
    is_remembered,
    note_fetch,
)
from model.kafka.protocol import KAFKA
from model.kafka.state import Broker, TopicPartition
from model.language import Record, action, all_of, any_of, choose, is_none, maximum, not_, require
from model.replicated_log import LeaderEpoch, Offset


@action("{follower} fetches two records from {leader}")
def follower_fetch_two_records(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """Like `follower_fetch_record`, with a record more in the answer."""
    diverging = fetch_diverges(partition, follower, leader)
    end = follower.log.end
    require(can_fetch(partition, follower, leader), not_(diverging))
    require(end + 1 < leader.log.end)

    high_watermark = leader.high_watermark
    note_fetch(partition, follower, leader, diverging)
    for offset in range(2):
        entry = leader.log[end + offset]
        unified_log.append(partition, follower, entry.id, entry.epoch)
    unified_log.take_answered(partition, follower, high_watermark, leader.log_start)


BATCHES = replace(KAFKA, actions=(*KAFKA.actions, follower_fetch_two_records))


class Request(Record):
    """A fetch on its way: where the follower was, its last entry's epoch, and its leader epoch."""

    leader: Broker | None = None
    follower: Broker | None = None
    offset: Offset = 0
    last: LeaderEpoch = 0
    epoch: LeaderEpoch = 0


class WithRequest(TopicPartition):
    """The state, and one fetch that waits in a socket."""

    request: Request = Request.part()


@action("{follower} sends a fetch to {leader}, which waits in a socket")
def follower_send_request(partition: Any, follower: Broker, leader: Broker) -> None:
    """What a fetch says is what the follower's log says now. Others may follow, and overtake it."""
    request = partition.request
    require(is_none(request.leader))
    require(follower.up, follower.follows(leader), not_(follower.truncating))

    request.leader = leader
    request.follower = follower
    request.offset = follower.log.end
    request.last = choose(follower.log.is_empty, 0, follower.log.last_epoch)
    request.epoch = follower.leader_epoch


def is_taken(partition: Any, leader: Broker, follower: Broker) -> bool:
    """The leader takes the offset of the request for the follower's LEO, by what the request says.

    It compares the leader epoch (since 2.1) and the last entry's (since 2.8).
    """
    request, options = partition.request, partition.options
    earlier = any_of(
        found_epoch(leader, request.last) < request.last,
        end_of_epoch(leader.log, request.last) < request.offset,
    )
    by_epochs = options.truncation == Truncation.DIVERGING_FETCH
    diverges = all_of(request.offset > 0, earlier) if by_epochs else False
    current = leader.leader_epoch == request.epoch if options.fetch_fenced_by_epoch else True
    return all_of(
        request.leader == leader,
        request.follower == follower,
        leader.leads,
        current,
        request.offset <= leader.log.end,
        not_(diverges),
    )


def offset_noted(partition: Any, leader: Broker, follower: Broker) -> int:
    """An offset that is lower than the one that is known says no more.

    Kafka notes it, until the next fetch; that the follower was caught up is not forgotten
    (`lastCaughtUpTimeMs`), so that nobody is dropped for it, as here it would be.
    """
    return maximum(leader.follower_leo[follower], partition.request.offset)


@action("{leader} takes the fetch of {follower} from the socket")
def leader_take_request(partition: Any, leader: Broker, follower: Broker) -> None:
    """Check it, and note its offset. The answer is lost, as it says no more than that of another.

    In its leader epoch and at its offset the follower takes what a fetch of now would bring.
    """
    known, offset = leader.follower_leo[follower], offset_noted(partition, leader, follower)
    require(is_taken(partition, leader, follower))

    noted = is_remembered(partition, follower, leader)
    leader.follower_leo[follower] = choose(noted, offset, known)
    partition.request.reset()
    advance_high_watermark(partition, leader, where=known != offset)


@action("{leader} takes the fetch of {follower} from the socket, and asks to let it join")
def leader_expand_by_request(partition: Any, leader: Broker, follower: Broker) -> None:
    """The same where the follower may join by that offset."""
    known, offset = leader.follower_leo[follower], offset_noted(partition, leader, follower)
    require(is_taken(partition, leader, follower))
    require(can_change_isr(partition, leader), not_(leader.isr.contains(follower)))
    require(partition.request.offset >= leader.high_watermark)
    if partition.options.join_isr_from_epoch_start:
        require(partition.request.offset >= epoch_start(leader))

    leader.follower_leo[follower] = offset
    partition.request.reset()
    propose_isr(partition, leader, leader.isr.with_member(follower))
    advance_high_watermark(partition, leader, where=known != offset)


@action("a connection is lost, and with it the fetch that waits")
def lose_request(partition: Any) -> None:
    """Forget the request."""
    require(not_(is_none(partition.request.leader)))

    partition.request.reset()


REQUESTS = replace(
    KAFKA,
    state=WithRequest,
    actions=(
        *KAFKA.actions,
        follower_send_request,
        leader_take_request,
        leader_expand_by_request,
        lose_request,
    ),
)
