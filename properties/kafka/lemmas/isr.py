"""Lemmas about the broker model's ISR: who may come to lead, and whom a leader counts.

"Candidates" are all whom the controller may make the leader, now or once they are back, without an
unclean election, and who hold what they held.
"""

from __future__ import annotations

from collections.abc import Callable

from model.kafka.alter_partition import is_lost_request_for
from model.kafka.partition import is_frozen, maximal_isr
from model.kafka.settings import KafkaSettings
from model.kafka.state import Broker, TopicPartition
from model.language import SetOf, all_of, any_of, choose, every, implies, is_none, not_, some, spent
from properties.claims import always
from properties.kafka.lemmas.faults import (
    missed_an_epoch,
    nobody_will_take_office,
    what_loses,
    where_claimed,
)


def nothing_was_lost(partition: TopicPartition) -> bool:
    """No log has lost its end so far, but by truncation."""
    options: KafkaSettings = partition.options
    losing = what_loses(synced=options.log_flush_interval_messages == 1)
    return all_of(*(spent(partition, fault) == 0 for fault in losing))


def is_asked_for(partition: TopicPartition, broker: Broker) -> bool:
    """An ISR change that the controller may still accept has the broker in it.

    It is under way, or was lost with a controller and will be asked for again.
    """
    controller = partition.controller
    asked = any_of(controller.request.contains(broker), is_lost_request_for(partition, broker))
    if partition.options.broker_epoch_checked:
        asked = all_of(asked, not_(controller.joiner_restarted))
    return asked


def is_candidate(partition: TopicPartition, broker: Broker) -> bool:
    """The broker may come to lead: it is in ISR or ELR, or asked for, or the last known leader.

    Not if it stopped uncleanly where that may cost records: it will not come back as a candidate.
    Without the fix of finding 0001 only the leader itself, where it is certain that nobody else
    will take office.
    """
    controller = partition.controller
    lossless = nothing_was_lost(partition)
    candidate = all_of(
        any_of(
            controller.isr.contains(broker),
            controller.eligible.contains(broker),
            is_asked_for(partition, broker),
            all_of(lossless, controller.last_known_leader == broker),
        ),
        any_of(lossless, broker.up, broker.stopped_cleanly),
    )
    if partition.options.reset_leo_every_epoch:
        return candidate
    closed = nobody_will_take_office(partition)
    return all_of(candidate, any_of(controller.leader == broker, not_(closed)))


def is_counted(partition: TopicPartition, leader: Broker, member: Broker) -> bool:
    """The leader does not move its HW beyond what it knows the member to hold."""
    return maximal_isr(partition, leader).contains(member)


def now_and_once_heard(
    partition: TopicPartition,
    leader: Broker,
    claim: Callable[[SetOf[Broker], SetOf[Broker]], bool],
) -> bool:
    """What is claimed of whom the leader counts, and of its ISR.

    It has to hold as they are, and as they will be once it hears of an ISR that was accepted.
    """
    accepted = leader.pending_isr
    return all_of(
        claim(maximal_isr(partition, leader), leader.isr),
        implies(leader.isr_accepted, claim(accepted, accepted)),
    )


@always(
    "controller_in_order",
    "the leader is an unfenced ISR member; an ELR, or a last known leader, is there only where "
    "the ISR is below its minimum, or there is no leader; with a minimum of 1 the ELR is one",
    failure="the controller's leader {broker} is fenced or not in the ISR, or its lists contradict "
    "each other",
    broken_by="a controller that fences a broker and leaves it the leader",
)
def controller_in_order(partition: TopicPartition) -> bool:
    """What the controller's own rules keep in order."""
    controller, options = partition.controller, partition.options
    eligible = controller.eligible.is_empty
    if options.eligible_leader_replicas:
        short = controller.isr.size < partition.min_isr
        one = any_of(partition.min_isr > 1, controller.eligible.size == 1)
        eligible = any_of(eligible, all_of(short, one))
    last_known = is_none(controller.last_known_leader)
    if options.eligible_leader_replicas and options.last_known_leader:
        last_known = any_of(last_known, is_none(controller.leader))
    return all_of(
        eligible,
        last_known,
        every(
            implies(
                controller.leader == broker,
                all_of(controller.isr.contains(broker), not_(broker.fenced)),
            )
            for broker in partition.brokers
        ),
    )


@always(
    "isr_is_live",
    "the ISR of a leader is unfenced; without a leader it is empty, and the last one is known, or "
    "without ELR one fenced broker",
    failure="the ISR is {partition.controller.isr}, and {broker} is not as it should be there",
    broken_by="a controller that lets a fenced broker into the ISR",
)
def isr_is_live(partition: TopicPartition) -> bool:
    """KIP-841: so a leader that nobody can succeed leaves an empty ISR behind."""
    controller, options = partition.controller, partition.options
    if not options.unfenced_brokers_only:
        return True
    led = every(
        implies(controller.isr.contains(broker), not_(broker.fenced))
        for broker in partition.brokers
    )
    if not options.eligible_leader_replicas:
        left = every(
            implies(controller.isr.contains(broker), broker.fenced) for broker in partition.brokers
        )
        left = all_of(left, controller.isr.size == 1)
        return choose(is_none(controller.leader), left, led)
    empty = controller.isr.is_empty
    if options.last_known_leader:
        empty = all_of(empty, not_(is_none(controller.last_known_leader)))
    return choose(is_none(controller.leader), empty, led)


def will_hear(partition: TopicPartition, leader: Broker) -> bool:
    """The leader waits for an ISR that was accepted; since then members may only have left."""
    controller, accepted = partition.controller, leader.pending_isr
    return all_of(
        not_(controller.leader_is_current),
        controller.request.is_empty,
        accepted.includes(controller.isr),
        any_of(accepted.size < partition.min_isr, accepted.includes(controller.eligible)),
        implies(controller.image_unread, accepted == controller.isr),
    )


@always(
    "request_of_the_leader",
    "a leader that is current knows the ISR, and the request under way is its own; without it, it "
    "has died; it waits for the ISR whose acceptance it has yet to hear of",
    failure="{leader} is not in step with the controller's ISR or with the request under way",
    broken_by="a controller that changes the ISR and does not tell the leader",
)
def request_of_the_leader(partition: TopicPartition) -> bool:
    """One bit for freshness, and one request, say what partition epochs say in Kafka."""
    controller = partition.controller
    apart = partition.options.isr_answer_apart
    unread = all_of(
        every(
            implies(
                leader.isr_accepted, all_of(apart, leader.leads, not_(leader.pending_isr.is_empty))
            )
            for leader in partition.brokers
        ),
        implies(
            controller.image_unread,
            all_of(
                apart,
                any_of(
                    controller.leader_is_current,
                    some(
                        all_of(partition.is_in_office(leader), leader.isr_accepted)
                        for leader in partition.brokers
                    ),
                ),
            ),
        ),
    )
    nobody = implies(
        is_none(controller.leader),
        all_of(
            controller.request.is_empty,
            not_(controller.leader_is_current),
        ),
    )
    leads = every(
        implies(
            controller.leader == leader,
            all_of(
                implies(
                    controller.leader_is_current,
                    all_of(partition.is_in_office(leader), leader.isr == controller.isr),
                ),
                implies(
                    all_of(leader.isr_accepted, partition.is_in_office(leader)),
                    will_hear(partition, leader),
                ),
                any_of(
                    controller.request.is_empty,
                    all_of(
                        controller.request.contains(leader),
                        any_of(
                            not_(leader.up),
                            all_of(
                                controller.leader_is_current,
                                leader.pending_isr == controller.request,
                            ),
                        ),
                    ),
                ),
            ),
        )
        for leader in partition.brokers
    )
    return all_of(unread, nobody, leads)


@always(
    "leader_counts_the_isr",
    "the leader in office counts the controller's ISR: it is within its maximal ISR",
    failure="{member} is in the ISR {partition.controller.isr}, and {leader}, which leads with ISR "
    "{leader.isr} and pending ISR {leader.pending_isr}, does not count it",
    broken_by="kafka maximal.isr=false",
)
def leader_counts_the_isr(partition: TopicPartition) -> bool:
    """KIP-497: whatever the controller decides, the leader has counted it from the proposal on."""
    return every(
        implies(
            all_of(partition.is_in_office(leader), partition.controller.isr.contains(member)),
            is_counted(partition, leader, member),
        )
        for leader in partition.brokers
        for member in partition.brokers
    )


def is_waited_for(partition: TopicPartition, leader: Broker, member: Broker) -> bool:
    """The leader counts the member, or does not move its HW at all; that stays so."""

    def claim(counted: SetOf[Broker], isr: SetOf[Broker]) -> bool:
        return any_of(counted.contains(member), is_frozen(partition, leader, isr))

    return now_and_once_heard(partition, leader, claim)


@always(
    "leader_counts_candidates",
    "whoever may come to lead and has not moved on to a later epoch is counted by a leader whose "
    "HW can move",
    failure="{member} may come to lead and has not left the epoch of {leader}, which does not "
    "count it",
    broken_by="kafka maximal.isr=false",
)
@where_claimed
def leader_counts_candidates(partition: TopicPartition) -> bool:
    """The ISR chain: who joins later does so in a later epoch; the ELR waits for a frozen HW."""
    return every(
        implies(
            all_of(
                leader.leads,
                is_candidate(partition, member),
                any_of(
                    partition.is_in_office(leader),
                    all_of(member.up, member.leader_epoch <= leader.leader_epoch),
                ),
            ),
            is_waited_for(partition, leader, member),
        )
        for leader in partition.brokers
        for member in partition.brokers
    )


@always(
    "positions_of_this_epoch",
    "a leader knows positions only of followers that have reached its epoch, or have stopped",
    failure="{leader} takes {follower} for being at {offset} or further, but {follower} is in "
    "epoch {follower.leader_epoch}, before that of {leader}, {leader.leader_epoch}",
    broken_by="a leader that keeps positions over an epoch that it missed",
)
@where_claimed
def positions_of_this_epoch(partition: TopicPartition) -> bool:
    """The fix of finding 0001: a position is as good as the epoch that it was noted in."""
    return every(
        implies(
            all_of(
                leader.leads,
                leader.follower_leo[follower] > 0,
                follower.up,
                not_(missed_an_epoch(partition, leader)),
            ),
            follower.leader_epoch >= leader.leader_epoch,
        )
        for leader in partition.brokers
        for follower in partition.brokers
    )
