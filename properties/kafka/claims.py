"""The broker model's properties, in order, and its witnesses: what the model must be able to do.

`safety` says what must never be lost or disagree, `isr` what ISR and leader must be like,
`consumers` what a consumer is promised, `availability` what is not promised.
"""

from __future__ import annotations

from model.kafka.state import TopicPartition
from model.language import all_of, not_, some
from properties.claims import Property, sometimes
from properties.kafka import availability, consumers, isr, safety


@sometimes("a_record_is_exposed", "a consumer can read a record")
def a_record_is_exposed(partition: TopicPartition) -> bool:
    """Without that, nothing exposed could be lost."""
    return safety.something_is_exposed(partition)


@sometimes("a_record_is_acknowledged", "a producer is told that its record is safe")
def a_record_is_acknowledged(partition: TopicPartition) -> bool:
    """Without that, nothing acknowledged could be lost."""
    return safety.something_is_acknowledged(partition)


@sometimes("a_follower_learns_the_high_watermark", "a follower's high watermark rises above 0")
def a_follower_learns_the_high_watermark(partition: TopicPartition) -> bool:
    """The last of the four steps of a commit."""
    return some(all_of(b.up, not_(b.leads), b.high_watermark > 0) for b in partition.brokers)


@sometimes("the_leader_changes", "another broker takes office after a record is exposed")
def the_leader_changes(partition: TopicPartition) -> bool:
    """Without leader changes, nothing could be lost."""
    return some(
        all_of(
            partition.is_in_office(b), b.leader_epoch > 0, safety.something_is_exposed(partition)
        )
        for b in partition.brokers
    )


@sometimes("a_follower_truncates", "a log becomes shorter while its broker is up", of_steps=True)
def a_follower_truncates(before: TopicPartition, after: TopicPartition) -> bool:
    """Without truncation, there would be little to get wrong."""
    return some(
        all_of(b.up, after.brokers[b].up, after.brokers[b].log.end < b.log.end)
        for b in before.brokers
    )


@sometimes("a_zombie_writes", "a broker appends as leader that no longer leads", of_steps=True)
def a_zombie_writes(before: TopicPartition, after: TopicPartition) -> bool:
    """Without zombies, there would be nothing to fence."""
    return some(
        all_of(
            b.leads,
            before.controller.leader_epoch > b.leader_epoch,
            after.brokers[b].log.end > b.log.end,
        )
        for b in before.brokers
    )


@sometimes("a_broker_rejoins", "a broker that has left the ISR comes back into it", of_steps=True)
def a_broker_rejoins(before: TopicPartition, after: TopicPartition) -> bool:
    """Without that, the rules for joining would be idle."""
    return some(
        all_of(
            not_(before.controller.isr.contains(b)),
            after.controller.isr.contains(b),
            after.controller.leader != b,
        )
        for b in before.brokers
    )


KAFKA_PROPERTIES: tuple[Property, ...] = (
    safety.exposed_records_survive,
    safety.acknowledged_records_survive,
    safety.acknowledged_record_on_some_disk,
    safety.logs_agree_below_high_watermark,
    safety.isr_logs_agree,
    safety.consumers_agree,
    safety.consumer_reads_only_committed,
    safety.one_leader_per_epoch,
    safety.high_watermark_within_log,
    safety.log_starts_within_high_watermarks,
    safety.only_what_was_deleted_is_missing,
    safety.logs_hold_issued_records,
    safety.leader_high_watermark_grows,
    safety.epochs_grow,
    isr.isr_members_unfenced,
    isr.only_live_brokers_are_unfenced,
    isr.in_sync_replica_is_live_or_no_leader,
    isr.partition_has_leader_when_a_candidate_lives,
    isr.caught_up_follower_stays_in_sync,
    consumers.no_record_skipped,
    consumers.no_record_delivered_twice,
    consumers.order_kept,
    a_record_is_exposed,
    a_record_is_acknowledged,
    a_follower_learns_the_high_watermark,
    the_leader_changes,
    a_follower_truncates,
    a_zombie_writes,
    a_broker_rejoins,
    availability.partition_has_leader,
    availability.live_replicas_have_a_leader,
    availability.followers_are_told_where_to_truncate,
    availability.reassignments_can_end,
    availability.leader_takes_writes,
    availability.leader_exposes_what_the_isr_holds,
    availability.followers_go_on_fetching,
    availability.directory_moves_go_on,
    availability.brokers_can_register,
)
