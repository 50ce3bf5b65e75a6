"""Which settings and faults the lemmas about records are for, and what budgets for faults rule out.

Finding 0001 is mended in no Kafka. So records survive only where no election can follow a leader
that missed an epoch: with three leader epochs in all, with no leader deposed alive, or with one
preferred election and one broker that stops, as in the default bounds. The lemmas here say so; with
the fix (`reset.follower.leo.every.epoch`) they are idle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps

from model.kafka.bounds import (
    CONTROLLED_SHUTDOWNS,
    DIRECTORY_ASSIGNMENTS,
    FAILED_DIRECTORIES,
    FALSE_FENCINGS,
    FAULTS,
    LOST_DIRECTORIES,
    MAX_LEADER_EPOCH,
    MIN_ISR_CHANGES,
    PREFERRED_ELECTIONS,
    RACK_FAILURES,
    SHUTDOWNS,
    UNCLEAN_ELECTIONS,
    UNREGISTRATIONS,
)
from model.kafka.choices import ShrinkStartsEpoch
from model.kafka.fault import Fault
from model.kafka.settings import KafkaSettings
from model.kafka.state import Broker, TopicPartition
from model.language import (
    Loses,
    Stops,
    all_of,
    any_of,
    count,
    every,
    implies,
    is_left,
    is_none,
    not_,
    some,
    spent,
)
from properties.claims import always

UNCLEAN_STOPS = tuple(
    fault for fault in FAULTS if fault.stops in (Stops.UNCLEANLY, Stops.AS_IF_UNCLEANLY)
)
"""What stops one broker uncleanly, or has it taken for such; racks apart."""
LEADING_TO_ELECTIONS = tuple(fault for fault in FAULTS if fault.leads_to_election)
LOSING_UNSYNCED = tuple(fault for fault in FAULTS if fault.loses >= Loses.UNSYNCED)
LOSING_ALL = tuple(fault for fault in FAULTS if fault.loses >= Loses.ALL)


def what_loses(synced: bool) -> tuple[Fault, ...]:
    """The faults by which a log may lose its end, where all is `synced` as it is written or not."""
    return LOSING_ALL if synced else LOSING_UNSYNCED


def none_may(partition: TopicPartition, faults: Iterable[Fault]) -> bool:
    """Within these bounds none of the faults happens."""
    return all_of(*(partition.bound(fault) == 0 for fault in faults))


def logs_are_kept(partition: TopicPartition) -> bool:
    """No log loses its end, but by truncation, within these bounds."""
    synced = partition.options.log_flush_interval_messages == 1
    return none_may(partition, what_loses(synced))


def unclean_stops_allowed(partition: TopicPartition) -> int:
    """How many brokers may stop uncleanly, or are taken for such as unregistered; racks apart."""
    return sum(partition.bound(fault) for fault in UNCLEAN_STOPS)


def losers_never_lead(partition: TopicPartition) -> bool:
    """Whoever has lost records never leads again (KIP-966), not even as the last known leader.

    That one is not elected while somebody is left in ISR or ELR: as long as fewer brokers than the
    minimal ISR have stopped uncleanly.
    """
    options: KafkaSettings = partition.options
    if not options.eligible_leader_replicas:
        return False
    noticed = True
    if not options.registration_counts_directories:
        noticed = partition.bound(LOST_DIRECTORIES) == 0
    if not (options.registration_counts_directories and options.directory_failure_leaves_elr):
        noticed = all_of(noticed, partition.bound(FAILED_DIRECTORIES) == 0)
    if not options.last_known_leader:
        return noticed
    return all_of(
        noticed,
        unclean_stops_allowed(partition) < partition.min_isr,
        partition.bound(RACK_FAILURES) == 0,
    )


def few_elections(partition: TopicPartition) -> bool:
    """No election can follow a leader that missed an epoch, within these bounds.

    Where shrinks start epochs, a leader that goes on looks as if it had missed one: not claimed.
    """
    if partition.options.shrink_starts_epoch != ShrinkStartsEpoch.NEVER:
        return False
    stops = unclean_stops_allowed(partition) + partition.bound(SHUTDOWNS)
    preferred = partition.bound(PREFERRED_ELECTIONS)
    only_the_dead_leave = none_may(
        partition, (FALSE_FENCINGS, CONTROLLED_SHUTDOWNS, UNREGISTRATIONS)
    )
    return any_of(
        partition.bound(MAX_LEADER_EPOCH) <= 2,
        all_of(only_the_dead_leave, preferred == 0),
        all_of(
            only_the_dead_leave,
            preferred <= 1,
            stops <= 1,
            partition.bound(RACK_FAILURES) == 0,
        ),
    )


def is_claimed(partition: TopicPartition) -> bool:
    """Records survive under these settings and bounds, if all other fixes are on.

    There are no unclean elections, none after a leader that missed an epoch, and no broker leads
    that has lost records.
    """
    options: KafkaSettings = partition.options
    clean = partition.bound(UNCLEAN_ELECTIONS) == 0
    assigned = partition.bound(DIRECTORY_ASSIGNMENTS) == 0
    changed = partition.bound(MIN_ISR_CHANGES) == 0
    return all_of(
        any_of(assigned, options.assignment_keeps_elr),
        any_of(changed, options.min_insync_replicas_later == 0),
        any_of(clean, not options.unclean_leader_election_enable),
        any_of(options.reset_leo_every_epoch, few_elections(partition)),
        any_of(logs_are_kept(partition), losers_never_lead(partition)),
    )


def where_claimed(claim: Callable[[TopicPartition], bool]) -> Callable[[TopicPartition], bool]:
    """The claim, where `is_claimed`; elsewhere it says nothing."""

    @wraps(claim)
    def limited(partition: TopicPartition) -> bool:
        return implies(is_claimed(partition), claim(partition))

    return limited


def unclean_stops(partition: TopicPartition) -> int:
    """How often brokers have stopped uncleanly, or are taken to have; racks apart."""
    return sum(spent(partition, fault) for fault in UNCLEAN_STOPS)


def no_more_elections(partition: TopicPartition) -> bool:
    """The last leader epoch is reached, or every fault that leads to an election is spent."""
    return any_of(
        partition.controller.leader_epoch == partition.bound(MAX_LEADER_EPOCH),
        all_of(
            not_(is_none(partition.controller.leader)),
            *(not_(is_left(partition, fault)) for fault in LEADING_TO_ELECTIONS),
            every(
                any_of(
                    all_of(broker.is_online, not_(broker.shutting_down), not_(broker.unregistered)),
                    broker.fenced,
                )
                for broker in partition.brokers
            ),
        ),
    )


def nobody_will_take_office(partition: TopicPartition) -> bool:
    """There are no more elections, and who was elected last is in office, or down for good."""
    return all_of(
        no_more_elections(partition),
        some(
            all_of(
                partition.controller.leader == broker,
                any_of(not_(broker.up), partition.is_in_office(broker)),
            )
            for broker in partition.brokers
        ),
    )


def missed_an_epoch(partition: TopicPartition, leader: Broker) -> bool:
    """The leader still knows positions from an epoch before the last one that it missed."""
    if partition.options.reset_leo_every_epoch:
        return False
    return all_of(leader.leads, leader.leading_since != leader.leader_epoch)


@always(
    "deposed_alive",
    "a leader is fenced, or deposed while it lives, only by a preferred election or a false "
    "fencing",
    failure="{leader} was deposed or fenced while it lived, and nothing was spent on it",
    broken_by="a controller that fences a broker that sends heartbeats",
)
def deposed_alive(partition: TopicPartition) -> bool:
    """Without those, there are no zombies; but a leader may have yet to read that it goes on."""
    controller = partition.controller
    goes_on = partition.options.shrink_starts_epoch != ShrinkStartsEpoch.NEVER
    return every(
        implies(
            all_of(leader.leads, spent(partition, FALSE_FENCINGS) == 0),
            all_of(
                not_(leader.fenced),
                controller.last_known_leader != leader,
                any_of(
                    partition.is_in_office(leader),
                    all_of(goes_on, controller.leader == leader),
                    spent(partition, PREFERRED_ELECTIONS) > 0,
                ),
            ),
        )
        for leader in partition.brokers
    )


def stopped_uncleanly(partition: TopicPartition) -> int:
    """How many brokers are down after an unclean stop."""
    return count(
        all_of(not_(broker.up), not_(broker.stopped_cleanly)) for broker in partition.brokers
    )


@always(
    "stops_counted",
    "no more brokers are down than have stopped, cleanly or not",
    failure="more brokers are down than have stopped",
    broken_by="a broker that goes down by itself",
)
def stops_counted(partition: TopicPartition) -> bool:
    """A rack that loses power may take several, and is left out."""
    clean = count(broker.stopped_cleanly for broker in partition.brokers)
    return implies(
        spent(partition, RACK_FAILURES) == 0,
        all_of(
            stopped_uncleanly(partition) <= unclean_stops(partition),
            clean <= spent(partition, SHUTDOWNS),
        ),
    )


@always(
    "eligible_replicas_left",
    "with ELR, the places in ISR and ELR are as many as the minimal ISR, less those of brokers "
    "that have come back from an unclean stop",
    failure="ISR {partition.controller.isr} and ELR {partition.controller.eligible} are smaller "
    "than unclean stops account for",
    broken_by="a controller that drops brokers from the ELR while the ISR is small",
)
def eligible_replicas_left(partition: TopicPartition) -> bool:
    """KIP-966: fewer unclean stops than the minimal ISR leave somebody who may lead."""
    options: KafkaSettings = partition.options
    if options.unclean_leader_election_enable or not options.eligible_leader_replicas:
        return True
    controller = partition.controller
    places = controller.isr.union(controller.eligible).size
    not_back = stopped_uncleanly(partition)
    return implies(
        spent(partition, RACK_FAILURES) == 0,
        places + unclean_stops(partition) >= partition.min_isr + not_back,
    )


@always(
    "no_election_after_a_missed_epoch",
    "no election follows where a leader missed an epoch, and kept what it knew of followers",
    failure="{leader} leads again, or will, without having seen the epoch in between, and there "
    "may be another election",
    broken_by="a preferred leader that is elected again while it lags, and then another",
)
def no_election_after_a_missed_epoch(partition: TopicPartition) -> bool:
    """Finding 0001 needs three elections, of which the second and third follow closely."""
    if partition.options.reset_leo_every_epoch:
        return True
    return implies(
        few_elections(partition),
        every(
            implies(
                leader.leads,
                all_of(
                    leader.leading_since <= leader.leader_epoch,
                    implies(
                        missed_an_epoch(partition, leader),
                        all_of(partition.is_in_office(leader), no_more_elections(partition)),
                    ),
                    implies(
                        all_of(
                            partition.controller.leader == leader,
                            not_(partition.is_in_office(leader)),
                        ),
                        no_more_elections(partition),
                    ),
                ),
            )
            for leader in partition.brokers
        ),
    )
