"""Lemmas about what is committed in the broker model: why a record once exposed is never lost.

A zombie is a leader that is not in office any more. It may still write, note fetches of followers
that have not heard either, and move its HW. The heart is `what_may_be_exposed_is_held`: each entry
of a leader is held by whoever may lead next, or waits for someone's fetch; and once one of those
moves on without it, the leader never gets its HW past it.
"""

from __future__ import annotations

from model.acks import Acks
from model.kafka.partition import is_frozen
from model.kafka.state import Broker, TopicPartition
from model.language import SetOf, all_of, any_of, every, implies, not_, some
from properties.claims import always
from properties.kafka.lemmas.faults import where_claimed
from properties.kafka.lemmas.isr import is_candidate, now_and_once_heard
from properties.kafka.safety import holds_exposed


def has_left(follower: Broker, leader: Broker) -> bool:
    """`follower` does not follow `leader` in the epoch that it leads.

    If that is not the newest epoch, it never will again.
    """
    return not_(follower.follows_in_epoch(leader))


def is_stuck(partition: TopicPartition, leader: Broker, offset: int) -> bool:
    """A zombie whose HW will never pass `offset`: it waits for someone who has left."""

    def claim(counted: SetOf[Broker], isr: SetOf[Broker]) -> bool:
        return any_of(
            is_frozen(partition, leader, isr),
            some(
                all_of(
                    member != leader,
                    counted.contains(member),
                    leader.follower_leo[member] <= offset,
                    has_left(member, leader),
                )
                for member in partition.brokers
            ),
        )

    zombie = not_(partition.is_in_office(leader))
    return all_of(zombie, now_and_once_heard(partition, leader, claim))


def may_fetch(partition: TopicPartition, leader: Broker, member: Broker, offset: int) -> bool:
    """The leader waits at `offset` for a fetch of `member`, which may still come."""
    return all_of(
        leader.follower_leo[member] <= offset,
        any_of(partition.is_in_office(leader), not_(has_left(member, leader))),
    )


@always(
    "what_may_be_exposed_is_held",
    "where a leader's HW may still pass an offset, whoever may lead next, or leads in a later "
    "epoch, holds its entry there or has yet to fetch it",
    failure="{leader} may expose its entry at offset {offset} without waiting for {member}, which "
    "does not hold it",
    broken_by="kafka diverging.fetch.leaves.leo=false with two records",
)
@where_claimed
def what_may_be_exposed_is_held(partition: TopicPartition) -> bool:
    """The heart of the proof."""
    return every(
        implies(
            all_of(
                leader.leads,
                member != leader,
                any_of(
                    is_candidate(partition, member),
                    all_of(member.leads, member.leader_epoch > leader.leader_epoch),
                ),
            ),
            any_of(
                member.log.same_entry(leader.log, offset),
                may_fetch(partition, leader, member, offset),
                is_stuck(partition, leader, offset),
            ),
        )
        for leader in partition.brokers
        for member in partition.brokers
        for offset in leader.log.positions
    )


@always(
    "candidates_hold_what_was_exposed",
    "whoever may come to lead holds every record that was exposed",
    failure="{broker} may come to lead, and does not hold record {row.exposed} at {row}",
    broken_by="kafka join.isr.from.epoch.start=false",
)
@where_claimed
def candidates_hold_what_was_exposed(partition: TopicPartition) -> bool:
    """Why elections lose nothing."""
    return every(
        implies(
            all_of(row.exposed >= 0, is_candidate(partition, broker)),
            holds_exposed(broker, row),
        )
        for broker in partition.brokers
        for row in partition.offsets
    )


@always(
    "leaders_hold_what_was_exposed",
    "a leader holds every record that was exposed, or is a zombie whose HW stays below it",
    failure="{leader} does not hold record {row.exposed} at {row}, and may expose another there",
    broken_by="a zombie that stops waiting for those who have left",
)
@where_claimed
def leaders_hold_what_was_exposed(partition: TopicPartition) -> bool:
    """Why nobody contradicts what was exposed."""
    return every(
        implies(
            all_of(row.exposed >= 0, leader.leads),
            any_of(holds_exposed(leader, row), is_stuck(partition, leader, row.number)),
        )
        for leader in partition.brokers
        for row in partition.offsets
    )


@always(
    "candidates_follow_holders",
    "the leader that a candidate follows in the same epoch holds every record that was exposed",
    failure="{follower} may come to lead, and follows {leader}, which does not hold record "
    "{row.exposed} at {row}: it may truncate it",
    broken_by="a candidate that follows a leader of an earlier epoch",
)
@where_claimed
def candidates_follow_holders(partition: TopicPartition) -> bool:
    """Why truncation loses nothing: candidates have reached the epoch of each commit."""
    return every(
        implies(
            all_of(
                row.exposed >= 0,
                is_candidate(partition, follower),
                leader.leads,
                not_(has_left(follower, leader)),
            ),
            holds_exposed(leader, row),
        )
        for follower in partition.brokers
        for leader in partition.brokers
        for row in partition.offsets
    )


@always(
    "high_watermarks_cover_what_was_exposed",
    "what a broker has below its HW was exposed; what was exposed of the newest epoch is below the "
    "HW of its leader",
    failure="{broker} has HW {broker.high_watermark}; record {row.exposed} was exposed at {row}",
    broken_by="a follower that takes its own end for its HW",
)
@where_claimed
def high_watermarks_cover_what_was_exposed(partition: TopicPartition) -> bool:
    """High watermarks come from leaders; and who has reached one has all of this epoch."""
    return every(
        all_of(
            implies(row.number < broker.high_watermark, row.exposed >= 0),
            implies(row.number < broker.high_watermark, holds_exposed(broker, row)),
            implies(
                all_of(
                    row.exposed >= 0,
                    partition.is_in_office(broker),
                    broker.log.has(row.number),
                    broker.log[row.number].epoch == broker.leader_epoch,
                ),
                row.number < broker.high_watermark,
            ),
        )
        for broker in partition.brokers
        for row in partition.offsets
    )


@always(
    "acknowledged_records_were_exposed",
    "with acks=all, what was acknowledged was exposed",
    failure="{record} was acknowledged, and no consumer could read it",
    broken_by="a leader that answers the producer before its HW moves",
)
@where_claimed
def acknowledged_records_were_exposed(partition: TopicPartition) -> bool:
    """Producers are answered as the HW passes their record."""
    if partition.options.acks != Acks.ALL:
        return True
    return every(
        implies(
            record.acknowledged,
            some(row.exposed == record.number for row in partition.offsets),
        )
        for record in partition.records
    )
