"""What the ISR and the leader must be like: live members, no needless drops, no idle partition."""

from __future__ import annotations

from model.kafka.partition_change import candidates
from model.kafka.state import Broker, TopicPartition
from model.language import all_of, any_of, every, implies, is_none, not_, some
from properties.claims import always


@always(
    "isr_members_unfenced",
    "while there is a leader, every ISR member is unfenced",
    premise=lambda p: some(b.fenced for b in p.brokers),
    failure="{broker} is fenced, and in the ISR {partition.controller.isr}",
    broken_by="kafka isr.unfenced.brokers.only=false",
    promised=lambda model: bool(model.settings.unfenced_brokers_only),
)
def isr_members_unfenced(partition: TopicPartition) -> bool:
    """A fenced broker in the ISR holds up the HW, and may be all that is left of it."""
    controller = partition.controller
    return every(
        implies(
            all_of(not_(is_none(controller.leader)), controller.isr.contains(broker)),
            not_(broker.fenced),
        )
        for broker in partition.brokers
    )


def is_leaving(broker: Broker) -> bool:
    """The broker is fenced, and will not ask to take part before it starts anew."""
    return all_of(broker.fenced, any_of(not_(broker.up), broker.shutting_down, broker.unregistered))


@always(
    "only_live_brokers_are_unfenced",
    "a fenced broker that is down, wants to stop or is unregistered stays fenced until it is back",
    of_steps=True,
    premise=lambda p: some(is_leaving(b) for b in p.brokers),
    failure="{broker} is down, wants to stop or is unregistered, and was unfenced",
    broken_by="a controller that unfences whoever is fenced",
)
def only_live_brokers_are_unfenced(before: TopicPartition, after: TopicPartition) -> bool:
    """Heartbeats unfence. A broker that dies stays unfenced until the controller notices."""
    return every(
        implies(is_leaving(broker), after.brokers[broker].fenced) for broker in before.brokers
    )


@always(
    "in_sync_replica_is_live_or_no_leader",
    "where there is a leader, some ISR member is unfenced",
    premise=lambda p: some(b.fenced for b in p.brokers),
    broken_by="a controller that fences a broker and leaves it the leader",
)
def in_sync_replica_is_live_or_no_leader(partition: TopicPartition) -> bool:
    """The ISR is never all dead unseen."""
    controller = partition.controller
    return any_of(
        is_none(controller.leader),
        some(all_of(controller.isr.contains(b), not_(b.fenced)) for b in partition.brokers),
    )


@always(
    "partition_has_leader_when_a_candidate_lives",
    "where there is no leader, nobody who may be elected cleanly is live",
    premise=lambda p: is_none(p.controller.leader),
    failure="there is no leader, and {broker} could be elected",
    broken_by="a controller that unfences a broker and forgets to elect",
)
def partition_has_leader_when_a_candidate_lives(partition: TopicPartition) -> bool:
    """The controller elects as soon as it can."""
    controller = partition.controller
    return every(
        implies(
            all_of(
                is_none(controller.leader),
                candidates(partition, controller.isr, controller.eligible).contains(broker),
            ),
            broker.fenced,
        )
        for broker in partition.brokers
    )


def asks_out(
    before: TopicPartition, after: TopicPartition, leader: Broker, follower: Broker
) -> bool:
    """In this step, `leader` drops `follower` from the ISR, or asks the controller to."""
    later = after.brokers[leader]
    asked = all_of(
        leader.pending_isr.is_empty,
        not_(later.pending_isr.is_empty),
        not_(later.pending_isr.contains(follower)),
    )
    written = all_of(
        after.controller.isr != before.controller.isr, not_(later.isr.contains(follower))
    )
    return all_of(
        before.is_in_office(leader),
        before.controller.leader_is_current,
        after.controller.leader_is_current,
        leader.isr.contains(follower),
        any_of(asked, written),
    )


@always(
    "caught_up_follower_stays_in_sync",
    "where live followers keep up, none of them is dropped from the ISR",
    of_steps=True,
    failure="{leader} drops {follower}, which is live and fetches in time",
    broken_by="kafka followers.keep.up=true replica.lag.max.messages=1",
    promised=lambda model: bool(model.settings.followers_keep_up),
)
def caught_up_follower_stays_in_sync(before: TopicPartition, after: TopicPartition) -> bool:
    """A burst of records is no reason to drop a follower that fetches all the time.

    The model has no clock: only the setting says that live followers fetch in time.
    """
    if not before.options.followers_keep_up:
        return True
    return every(
        implies(asks_out(before, after, leader, follower), not_(follower.follows_in_epoch(leader)))
        for leader in before.brokers
        for follower in before.brokers
    )
