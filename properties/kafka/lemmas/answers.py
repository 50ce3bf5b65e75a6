"""Lemmas about Fetch responses in flight, where they do not arrive at once.

Since KAFKA-18991 a follower drops a response to a request of an earlier epoch. So a response is
of the current leader: a record in it is as good as in the follower's log, and what it makes the
follower truncate is not needed. In the code a response is an `answer`.
"""

from __future__ import annotations

from model.kafka.state import (
    DIVERGING_ANSWER,
    NO_ANSWER,
    RECORD_ANSWER,
    Broker,
    CommittedOffset,
    TopicPartition,
)
from model.language import all_of, any_of, every, implies, not_, some
from properties.claims import always
from properties.kafka.lemmas.committed import is_stuck
from properties.kafka.lemmas.faults import where_claimed
from properties.kafka.lemmas.isr import is_candidate
from properties.kafka.lemmas.logs import has, id_at


@always(
    "responses_of_this_epoch",
    "a Fetch response in flight is from the leader that its follower follows, of the same epoch",
    failure="the response in flight to {follower} is from another leader or epoch than it follows",
    broken_by="kafka fetch.answers=in_flight answer.matches.request.epoch=false",
)
def responses_of_this_epoch(partition: TopicPartition) -> bool:
    """KAFKA-18991: so what it says is true of this epoch's leader."""
    if not partition.options.fetch_answers.travel:
        return True
    controller = partition.controller
    return every(
        implies(
            follower.answer.kind != NO_ANSWER,
            all_of(
                follower.up,
                not_(follower.truncating),
                some(
                    all_of(
                        follower.answer.source == leader,
                        follower.follows(leader),
                        any_of(
                            not_(leader.up),
                            follower.leader_epoch < controller.leader_epoch,
                            partition.is_in_office(leader),
                        ),
                    )
                    for leader in partition.brokers
                ),
                any_of(
                    follower.answer.kind != RECORD_ANSWER,
                    follower.answer.offset < partition.bound("log_size"),
                ),
            ),
        )
        for follower in partition.brokers
    )


def will_hold_exposed(partition: TopicPartition, follower: Broker, row: CommittedOffset) -> bool:
    """The follower holds what was exposed at the offset, or the response brings it."""
    return all_of(
        row.exposed >= 0,
        has(partition, follower, row.number),
        id_at(partition, follower, row.number) == row.exposed,
    )


@always(
    "responses_cover_what_was_exposed",
    "the high watermark in a Fetch response in flight covers only records that were exposed",
    failure="the response to {follower} in flight has HW {follower.answer.high_watermark}, and "
    "what {follower} has at {row} was not exposed",
    broken_by="a response with the leader's log end offset for its HW",
)
@where_claimed
def responses_cover_what_was_exposed(partition: TopicPartition) -> bool:
    """As for a broker's own HW, once the response has arrived."""
    if not partition.options.fetch_answers.travel:
        return True
    return every(
        implies(
            all_of(
                follower.answer.kind != NO_ANSWER,
                follower.answer.kind != DIVERGING_ANSWER,
                follower.answer.offset == follower.log.end,
                row.number < follower.answer.high_watermark,
                has(partition, follower, row.number),
            ),
            will_hold_exposed(partition, follower, row),
        )
        for follower in partition.brokers
        for row in partition.offsets
    )


def cuts(follower: Broker, offset: int) -> bool:
    """The response in flight has a diverging epoch, by which the follower may truncate `offset`.

    Its leader has another entry there, or none: its entries of epochs up to the response's end
    where that says. So it is no matter whether the follower has that epoch (`local_truncation`).
    """
    answer, log = follower.answer, follower.log
    return all_of(
        answer.kind == DIVERGING_ANSWER,
        answer.offset == log.end,
        log.has(offset),
        any_of(log[offset].epoch > answer.epoch, answer.end <= offset),
    )


@always(
    "responses_truncate_nothing_exposed",
    "a Fetch response in flight makes no candidate truncate a record that was exposed, and no "
    "follower one that its leader, or an earlier leader that may still expose it, holds",
    failure="the response in flight makes {follower} truncate what {leader} holds at offset "
    "{offset}, or what was exposed",
    broken_by="a response with a diverging epoch where logs do not diverge",
)
@where_claimed
def responses_truncate_nothing_exposed(partition: TopicPartition) -> bool:
    """A late truncation is as good as one in time."""
    if not partition.options.fetch_answers.travel:
        return True
    exposed = every(
        implies(
            all_of(cuts(follower, row.number), is_candidate(partition, follower)),
            row.exposed < 0,
        )
        for follower in partition.brokers
        for row in partition.offsets
    )
    held = every(
        implies(
            all_of(
                cuts(follower, offset),
                leader.leads,
                leader.leader_epoch <= follower.leader_epoch,
                follower.log.same_entry(leader.log, offset),
            ),
            all_of(
                leader.leader_epoch < follower.leader_epoch,
                is_stuck(partition, leader, offset),
            ),
        )
        for follower in partition.brokers
        for leader in partition.brokers
        for offset in follower.log.positions
    )
    return exposed & held
