"""What operators rely on: nothing exposed or acknowledged is lost, consumers agree, leaders exist.

An exposed record is one that a consumer could have read: it was below the HW of a leader. Loss
shows when a leader takes office without it, or cuts it; `exposed` and `acknowledged` are ghosts.
"""

from __future__ import annotations

from model.kafka.clients import serves_consumers
from model.kafka.controller import candidates
from model.kafka.state import Broker, TopicPartition
from model.language import Model, all_of, any_of, every, implies, is_none, not_, some
from properties.claims import Property, always, sometimes


def something_is_exposed(partition: TopicPartition) -> bool:
    """A consumer could have read some record."""
    return some(row.exposed >= 0 for row in partition.offsets)


def something_is_acknowledged(partition: TopicPartition) -> bool:
    """Some producer was told that its record is safe."""
    return some(record.acknowledged for record in partition.records)


def has_consumers(model: Model) -> bool:
    """There is a consumer at all."""
    return model.bounds["consumers"] > 0


@always(
    "exposed_records_survive",
    "a record that a consumer could have read is in the log of every later leader, at its offset",
    premise=something_is_exposed,
    failure="{leader} leads in epoch {leader.leader_epoch}, and its log, which ends at "
    "{leader.log.end}, does not hold record {row.exposed} at {row}, where consumers could read it",
    broken_by="kafka --preset kafka-4.0",
)
def exposed_records_survive(partition: TopicPartition) -> bool:
    """The leader in office holds everything that was ever exposed."""
    return every(
        every(
            implies(
                all_of(partition.is_in_office(leader), row.exposed >= 0),
                all_of(leader.log.has(row.number), leader.log[row.number].id == row.exposed),
            )
            for row in partition.offsets
        )
        for leader in partition.brokers
    )


def holds_record(broker: Broker, record_id: int) -> bool:
    """The record is in the broker's log, at any offset."""
    log = broker.log
    return some(all_of(log.has(o), log[o].id == record_id) for o in log.positions)


@always(
    "acknowledged_records_survive",
    "a record that its producer was told is safe is in the log of every later leader",
    premise=something_is_acknowledged,
    failure="{record} was acknowledged, and {leader}, which leads in epoch {leader.leader_epoch}, "
    "does not hold it",
    broken_by="kafka acks=1",
)
def acknowledged_records_survive(partition: TopicPartition) -> bool:
    """The leader in office holds everything that was ever acknowledged."""
    return every(
        every(
            implies(
                all_of(partition.is_in_office(leader), record.acknowledged),
                holds_record(leader, record.number),
            )
            for record in partition.records
        )
        for leader in partition.brokers
    )


@always(
    "acknowledged_record_on_some_disk",
    "a record that its producer was told is safe is on the disk of some broker",
    premise=something_is_acknowledged,
    failure="{record} was acknowledged, and no broker's log holds it",
    broken_by="kafka acks=1 with a power loss",
)
def acknowledged_record_on_some_disk(partition: TopicPartition) -> bool:
    """Nothing acknowledged is gone for good."""
    return every(
        implies(
            record.acknowledged,
            some(holds_record(broker, record.number) for broker in partition.brokers),
        )
        for record in partition.records
    )


@always(
    "logs_agree_below_high_watermark",
    "any two live brokers hold the same entries below both of their high watermarks",
    premise=lambda p: some(some(
        all_of(a != b, a.up, b.up, a.high_watermark > 0, b.high_watermark > 0)
        for b in p.brokers) for a in p.brokers),
    failure="{a} and {b} differ at offset {offset}, below both high watermarks",
    broken_by="kafka unclean.leader.election.enable=true",
)  # fmt: skip
def logs_agree_below_high_watermark(partition: TopicPartition) -> bool:
    """What is committed is the same everywhere."""
    return every(
        every(
            every(
                implies(
                    all_of(a.up, b.up, offset < a.high_watermark, offset < b.high_watermark),
                    a.log.same_entry(b.log, offset),
                )
                for offset in a.log.positions
            )
            for b in partition.brokers
        )
        for a in partition.brokers
    )


@always(
    "isr_logs_agree",
    "as far as a leader in office has noted an ISR member's LEO, both hold the same entries",
    premise=lambda p: some(some(
        all_of(p.is_in_office(leader), leader.isr.contains(m), leader.follower_leo[m] > 0)
        for m in p.brokers) for leader in p.brokers),
    failure="{leader} believes that {member} holds the same as it does at offset {offset}, but it "
    "does not",
    broken_by="kafka --preset kafka-4.0",
    promised=lambda _: False,
)  # fmt: skip
def isr_logs_agree(partition: TopicPartition) -> bool:
    """What the leader counts on is there, as long as the member is up and in the ISR.

    An early sign of a loss, and not one yet: no one outside can see it. So it is checked by name.
    """
    controller = partition.controller
    return every(
        every(
            every(
                implies(
                    all_of(
                        partition.is_in_office(leader),
                        controller.leader_is_current,
                        controller.isr.contains(member),
                        member.up,
                        member != leader,
                        offset < leader.follower_leo[member],
                    ),
                    leader.log.same_entry(member.log, offset),
                )
                for offset in leader.log.positions
            )
            for member in partition.brokers
        )
        for leader in partition.brokers
    )


@always(
    "consumers_agree",
    "no two reads of one offset give different records",
    premise=something_is_exposed,
    failure="{broker} serves another record at {row} than record {row.exposed}, which was exposed "
    "there before",
    broken_by="kafka unclean.leader.election.enable=true",
)
def consumers_agree(partition: TopicPartition) -> bool:
    """Whatever a broker serves is what was exposed there first."""
    return every(
        every(
            implies(
                all_of(
                    serves_consumers(partition, broker),
                    row.number < broker.high_watermark,
                    row.exposed >= 0,
                ),
                broker.log[row.number].id == row.exposed,
            )
            for row in partition.offsets
        )
        for broker in partition.brokers
    )


@always(
    "consumer_reads_only_committed",
    "a follower that serves consumers serves only what a leader has committed at that offset",
    premise=lambda p: some(all_of(b.up, not_(b.leads), b.high_watermark > 0) for b in p.brokers),
    failure="{broker}, a follower, serves another record at {row} than any leader has committed",
    broken_by="kafka diverging.answer.hw.ignored=false follower.reads=true",
    promised=lambda model: bool(model.settings.follower_reads),
)
def consumer_reads_only_committed(partition: TopicPartition) -> bool:
    """Reading from a follower shows nothing that reading from leaders would not (S11)."""
    return every(
        every(
            implies(
                all_of(
                    serves_consumers(partition, broker),
                    not_(broker.leads),
                    row.number < broker.high_watermark,
                ),
                broker.log[row.number].id == row.exposed,
            )
            for row in partition.offsets
        )
        for broker in partition.brokers
    )


@always(
    "one_leader_per_epoch",
    "no two brokers lead in the same leader epoch",
    premise=lambda p: some(some(all_of(a != b, a.leads, b.leads) for b in p.brokers)
                           for a in p.brokers),
    failure="{a} and {b} both lead in epoch {a.leader_epoch}",
    broken_by="a controller that elects without a new epoch",
)  # fmt: skip
def one_leader_per_epoch(partition: TopicPartition) -> bool:
    """An epoch names its leader."""
    return every(
        every(
            implies(all_of(a.leads, b.leads, a.leader_epoch == b.leader_epoch), a == b)
            for b in partition.brokers
        )
        for a in partition.brokers
    )


@always(
    "high_watermark_within_log",
    "no high watermark is beyond the end of its log",
    premise=lambda p: some(b.high_watermark > 0 for b in p.brokers),
    failure="{broker} has HW {broker.high_watermark}, and its log ends at {broker.log.end}",
    broken_by="a follower that truncates without lowering its HW",
)
def high_watermark_within_log(partition: TopicPartition) -> bool:
    """A HW points at something."""
    return every(broker.high_watermark <= broker.log.end for broker in partition.brokers)


@always(
    "leader_high_watermark_grows",
    "as long as a broker leads, its high watermark only grows",
    of_steps=True,
    failure="{broker} leads, and its HW falls",
    broken_by="a leader that sets its HW to the least LEO of its ISR, up or down",
)
def leader_high_watermark_grows(before: TopicPartition, after: TopicPartition) -> bool:
    """What a leader has exposed stays exposed."""
    return every(
        implies(
            all_of(broker.leads, after.brokers[broker].leads),
            broker.high_watermark <= after.brokers[broker].high_watermark,
        )
        for broker in before.brokers
    )


@always(
    "epochs_grow",
    "leader epochs only grow, at the controller and at a broker that stays up",
    of_steps=True,
    failure="{broker} goes back to an earlier leader epoch",
    broken_by="a broker that takes old metadata",
)
def epochs_grow(before: TopicPartition, after: TopicPartition) -> bool:
    """Time runs forwards."""
    return all_of(
        before.controller.leader_epoch <= after.controller.leader_epoch,
        every(
            implies(
                all_of(broker.up, after.brokers[broker].up),
                broker.leader_epoch <= after.brokers[broker].leader_epoch,
            )
            for broker in before.brokers
        ),
    )


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
    """A burst of records is no reason to drop a follower that fetches all the time (S3).

    The model has no clock: only the setting says that live followers fetch in time.
    """
    if not before.options.followers_keep_up:
        return True
    return every(
        every(
            implies(
                asks_out(before, after, leader, follower),
                any_of(
                    not_(follower.follows(leader)), follower.leader_epoch != leader.leader_epoch
                ),
            )
            for follower in before.brokers
        )
        for leader in before.brokers
    )


def was_processed(partition: TopicPartition, offset: int) -> bool:
    """The consumer has processed the record that was exposed at `offset`."""
    exposed = partition.offsets[offset].exposed
    return some(
        all_of(exposed == record.number, record.processed > 0) for record in partition.records
    )


@always(
    "no_record_skipped",
    "the consumer has processed every record below the offset that it is at",
    premise=lambda p: p.consumer.processed > 0,
    failure="the consumer is past {row}, and never processed its record",
    broken_by="kafka consumer.commits=before_processing",
    promised=has_consumers,
)
def no_record_skipped(partition: TopicPartition) -> bool:
    """At least once."""
    return every(
        implies(row.number < partition.consumer.processed, was_processed(partition, row.number))
        for row in partition.offsets
    )


@always(
    "no_record_delivered_twice",
    "the consumer processes no record twice",
    premise=lambda p: p.consumer.processed > 0,
    failure="{record} was processed twice",
    broken_by="kafka with a consumer that dies before it commits",
    promised=lambda _: False,
)
def no_record_delivered_twice(partition: TopicPartition) -> bool:
    """At most once: what plain consumers do not promise."""
    return every(record.processed < 2 for record in partition.records)


@always(
    "order_kept",
    "the consumer processes no record for the first time after one of a later offset",
    of_steps=True,
    failure="{row} is processed for the first time, after {later}",
    broken_by="a consumer that polls out of order",
    promised=has_consumers,
)
def order_kept(before: TopicPartition, after: TopicPartition) -> bool:
    """First deliveries are in the order of the log."""
    return every(
        every(
            implies(
                all_of(
                    row.number < later.number,
                    not_(was_processed(before, row.number)),
                    was_processed(after, row.number),
                ),
                not_(was_processed(before, later.number)),
            )
            for later in before.offsets
        )
        for row in before.offsets
    )


# --- witnesses -----------------------------------------------------------------------------------


@sometimes("a_record_is_exposed", "a consumer can read a record")
def a_record_is_exposed(partition: TopicPartition) -> bool:
    """Without that, nothing exposed could be lost."""
    return something_is_exposed(partition)


@sometimes("a_record_is_acknowledged", "a producer is told that its record is safe")
def a_record_is_acknowledged(partition: TopicPartition) -> bool:
    """Without that, nothing acknowledged could be lost."""
    return something_is_acknowledged(partition)


@sometimes("a_follower_learns_the_high_watermark", "a follower's high watermark rises above 0")
def a_follower_learns_the_high_watermark(partition: TopicPartition) -> bool:
    """The last of the four steps of a commit."""
    return some(all_of(b.up, not_(b.leads), b.high_watermark > 0) for b in partition.brokers)


@sometimes("the_leader_changes", "another broker takes office after a record is exposed")
def the_leader_changes(partition: TopicPartition) -> bool:
    """Without leader changes, nothing could be lost."""
    return some(
        all_of(partition.is_in_office(b), b.leader_epoch > 0, something_is_exposed(partition))
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
    exposed_records_survive,
    acknowledged_records_survive,
    acknowledged_record_on_some_disk,
    logs_agree_below_high_watermark,
    isr_logs_agree,
    consumers_agree,
    consumer_reads_only_committed,
    one_leader_per_epoch,
    high_watermark_within_log,
    leader_high_watermark_grows,
    epochs_grow,
    isr_members_unfenced,
    in_sync_replica_is_live_or_no_leader,
    partition_has_leader_when_a_candidate_lives,
    caught_up_follower_stays_in_sync,
    no_record_skipped,
    no_record_delivered_twice,
    order_kept,
    a_record_is_exposed,
    a_record_is_acknowledged,
    a_follower_learns_the_high_watermark,
    the_leader_changes,
    a_follower_truncates,
    a_zombie_writes,
    a_broker_rejoins,
)
