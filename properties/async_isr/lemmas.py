"""Lemmas about asynchronous ISR updates: the maximal ISR contains every ISR that may be in force.

They hold with and without the setting `maximal_isr`: it decides what the HW makes of them.
"""

from __future__ import annotations

from model.async_isr.protocol import Partition, Replica, toggled
from model.language import SetOf, all_of, every, implies, not_
from properties.async_isr.claims import well_formed
from properties.claims import Property, always


def is_within(isr: SetOf[Replica], other: SetOf[Replica], partition: Partition) -> bool:
    """Every member of `isr` is a member of `other`."""
    return every(implies(isr.contains(m), other.contains(m)) for m in partition.replicas)


@always(
    "leader_knows_its_version",
    "the leader's ISR is the one that the controller wrote as the version that the leader knows",
    failure="the leader knows {version}, whose ISR is {version.isr}, not {partition.leader_isr}",
    broken_by="a leader that takes a version's number and keeps the ISR that it had",
)
def leader_knows_its_version(partition: Partition) -> bool:
    """Versions name ISRs."""
    return every(
        implies(version.number == partition.leader_version, version.isr == partition.leader_isr)
        for version in partition.versions
    )


@always(
    "no_requests_ahead",
    "no change was requested of a version that the leader does not know",
    failure="a change of {replica} was requested of {version}, which the leader does not know yet",
    broken_by="a leader that guesses the controller's version",
)
def no_requests_ahead(partition: Partition) -> bool:
    """Requests carry the version that the leader knows: compare and swap."""
    return every(
        implies(version.number > partition.leader_version, not_(version.requested[replica]))
        for version in partition.versions
        for replica in partition.replicas
    )


@always(
    "requests_are_pending",
    "what a request of the version that the leader knows would lead to, is in the maximal ISR",
    failure="a change of {replica} was requested, and the pending ISR {partition.pending_isr} does "
    "not show it",
    broken_by="a leader that sends a request and forgets it",
)
def requests_are_pending(partition: Partition) -> bool:
    """The leader is prepared for every answer to what it has asked."""
    return every(
        implies(
            all_of(version.number == partition.leader_version, version.requested[replica]),
            is_within(toggled(version.isr, replica), partition.maximal_isr, partition),
        )
        for version in partition.versions
        for replica in partition.replicas
    )


@always(
    "unheard_isrs_shrink",
    "of the versions that the leader has not heard of, each contains the later ones",
    failure="{later} has a member that {earlier} lacks, and the leader has heard of neither",
    broken_by="a controller that adds a replica by itself",
)
def unheard_isrs_shrink(partition: Partition) -> bool:
    """Only the leader asks to expand the ISR, and it asks of the version that it knows."""
    return every(
        implies(
            all_of(
                earlier.number > partition.leader_version,
                later.number > earlier.number,
                partition.was_written(later),
            ),
            is_within(later.isr, earlier.isr, partition),
        )
        for earlier in partition.versions
        for later in partition.versions
    )


@always(
    "maximal_isr_contains_all",
    "the maximal ISR contains every ISR from the leader's version to the controller's",
    failure="{version} has ISR {version.isr}, which the leader's ISR {partition.leader_isr} and "
    "the pending ISR {partition.pending_isr} do not cover",
    broken_by="a leader that asks to expand the ISR and does not count the newcomer",
)
def maximal_isr_contains_all(partition: Partition) -> bool:
    """Whichever ISR is in force, the leader counts all of its members."""
    return every(
        implies(
            all_of(version.number >= partition.leader_version, partition.was_written(version)),
            is_within(version.isr, partition.maximal_isr, partition),
        )
        for version in partition.versions
    )


ASYNC_ISR_LEMMAS: tuple[Property, ...] = (
    well_formed,
    leader_knows_its_version,
    no_requests_ahead,
    requests_are_pending,
    unheard_isrs_shrink,
    maximal_isr_contains_all,
)
