"""What asynchronous ISR updates (KIP-497) claim: the HW never passes a member of the true ISR."""

from __future__ import annotations

from model.async_isr.protocol import Partition
from model.language import every, implies, not_
from properties.claims import Property, always, sometimes


@always(
    "valid_high_watermark",
    "every member of the controller's ISR holds all records below the high watermark",
    premise=lambda partition: partition.high_watermark > 0,
    failure="{member} is in the controller's ISR {partition.controller_isr}, so it can be elected, "
    "but its end is {member.end} and the high watermark is {partition.high_watermark}",
    breach="serves a record that the next leader may lack",
    broken_by="async_isr maximal_isr=false",
)
def valid_high_watermark(partition: Partition) -> bool:
    """Whoever the controller may elect holds what consumers could read."""
    return every(
        implies(partition.controller_isr.contains(member), member.end >= partition.high_watermark)
        for member in partition.replicas
    )


@always(
    "well_formed",
    "versions grow from the leader's to the controller's, and later ones are blank",
    breach="is in a malformed state",
    broken_by="a leader that takes a version before the controller has written it",
)
def well_formed(partition: Partition) -> bool:
    """One state has one representation."""
    blank = every(
        implies(not_(partition.was_written(version)), version.isr.is_empty)
        for version in partition.versions
    )
    return blank & (partition.leader_version <= partition.controller_version)


@sometimes("a_record_commits", "the high watermark rises above 0")
def a_record_commits(partition: Partition) -> bool:
    """Without commits, nothing could be lost."""
    return partition.high_watermark > 0


@sometimes("a_change_is_pending", "the leader does not know which ISR is in force")
def a_change_is_pending(partition: Partition) -> bool:
    """Without a pending change, the maximal ISR would be the committed one."""
    return not_(partition.pending_isr.is_empty)


ASYNC_ISR_PROPERTIES: tuple[Property, ...] = (
    valid_high_watermark,
    well_formed,
    a_record_commits,
    a_change_is_pending,
)
