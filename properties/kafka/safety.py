"""What must never be lost or disagree: records, logs, epochs, high watermarks.

An exposed record is one that a consumer could have read: it was below the HW of a leader. Loss
shows when a leader takes office without it, or cuts it; `exposed` and `acknowledged` are ghosts.
"""

from __future__ import annotations

from model.kafka.clients import serves_consumers
from model.kafka.state import Broker, CommittedOffset, TopicPartition
from model.language import Model, all_of, every, implies, not_, some
from properties.claims import always


def deletes_records(model: Model) -> bool:
    """Records may be deleted at a log's start."""
    return model.bounds["record_deletions"] > 0


def something_is_exposed(partition: TopicPartition) -> bool:
    """A consumer could have read some record."""
    return some(row.exposed >= 0 for row in partition.offsets)


def something_is_acknowledged(partition: TopicPartition) -> bool:
    """Some producer was told that its record is safe."""
    return some(record.acknowledged for record in partition.records)


def holds_exposed(broker: Broker, row: CommittedOffset) -> bool:
    """The broker's log holds the record that was exposed at the offset, there."""
    return all_of(has(broker, row.number), broker.log[row.number].id == row.exposed)


def has(broker: Broker, offset: int) -> bool:
    """There is a record at the offset in the broker's log, and not deleted."""
    return all_of(broker.log_start <= offset, broker.log.has(offset))


def is_deleted(partition: TopicPartition, row: CommittedOffset) -> bool:
    """The record that was exposed at the offset was deleted, as it may be."""
    return some(all_of(row.exposed == r.number, r.deleted) for r in partition.records)


@always(
    "exposed_records_survive",
    "a record that a consumer could have read is in the log of every later leader, at its offset",
    premise=something_is_exposed,
    failure="{leader} leads in epoch {leader.leader_epoch}, and its log, which ends at "
    "{leader.log.end}, does not hold record {row.exposed} at {row}, where consumers could read it",
    broken_by="kafka --preset kafka-4.0",
    breach="loses a record that consumers could read",
)
def exposed_records_survive(partition: TopicPartition) -> bool:
    """The leader in office holds everything that was ever exposed."""
    return every(
        implies(
            all_of(
                partition.is_in_office(leader),
                row.exposed >= 0,
                not_(is_deleted(partition, row)),
            ),
            holds_exposed(leader, row),
        )
        for leader in partition.brokers
        for row in partition.offsets
    )


def holds_record(broker: Broker, record_id: int) -> bool:
    """The record is in the broker's log, at any offset."""
    log = broker.log
    return some(all_of(has(broker, o), log[o].id == record_id) for o in log.positions)


@always(
    "acknowledged_records_survive",
    "a record that its producer was told is safe is in the log of every later leader",
    premise=something_is_acknowledged,
    failure="{record} was acknowledged, and {leader}, which leads in epoch {leader.leader_epoch}, "
    "does not hold it",
    broken_by="kafka acks=1",
    breach="loses an acknowledged record",
)
def acknowledged_records_survive(partition: TopicPartition) -> bool:
    """The leader in office holds everything that was ever acknowledged."""
    return every(
        implies(
            all_of(partition.is_in_office(leader), record.acknowledged, not_(record.deleted)),
            holds_record(leader, record.number),
        )
        for leader in partition.brokers
        for record in partition.records
    )


@always(
    "acknowledged_record_on_some_disk",
    "a record that its producer was told is safe is on the disk of some broker",
    premise=something_is_acknowledged,
    failure="{record} was acknowledged, and no broker's log holds it",
    broken_by="kafka acks=1 with a power loss",
    breach="keeps an acknowledged record on no disk",
)
def acknowledged_record_on_some_disk(partition: TopicPartition) -> bool:
    """Nothing acknowledged is gone for good."""
    return every(
        implies(
            all_of(record.acknowledged, not_(record.deleted)),
            some(holds_record(broker, record.number) for broker in partition.brokers),
        )
        for record in partition.records
    )


@always(
    "logs_agree_below_high_watermark",
    "any two live brokers hold the same entries below both of their high watermarks",
    premise=lambda p: some(
        all_of(a != b, a.up, b.up, a.high_watermark > 0, b.high_watermark > 0)
        for a in p.brokers
        for b in p.brokers
    ),
    failure="{a} and {b} differ at offset {offset}, below both high watermarks",
    broken_by="kafka unclean.leader.election.enable=true",
    breach="keeps logs that differ below their high watermarks",
)
def logs_agree_below_high_watermark(partition: TopicPartition) -> bool:
    """What is committed is the same everywhere."""
    return every(
        implies(
            all_of(
                a.up,
                b.up,
                offset < a.high_watermark,
                offset < b.high_watermark,
                a.log_start <= offset,
                b.log_start <= offset,
            ),
            a.log.same_entry(b.log, offset),
        )
        for a in partition.brokers
        for b in partition.brokers
        for offset in a.log.positions
    )


@always(
    "isr_logs_agree",
    "as far as a leader in office has noted an ISR member's LEO, both hold the same entries",
    premise=lambda p: some(
        all_of(p.is_in_office(leader), leader.isr.contains(m), leader.follower_leo[m] > 0)
        for leader in p.brokers
        for m in p.brokers
    ),
    failure="{leader} believes that {member} holds the same as it does at offset {offset}, but it "
    "does not",
    broken_by="kafka --preset kafka-4.0",
    promised=lambda _: False,
)
def isr_logs_agree(partition: TopicPartition) -> bool:
    """What the leader counts on is there, as long as the member is up and in the ISR.

    An early sign of a loss, and not one yet: no one outside can see it. So it is checked by name.
    """
    controller = partition.controller
    return every(
        implies(
            all_of(
                partition.is_in_office(leader),
                controller.leader_is_current,
                controller.isr.contains(member),
                member.up,
                member != leader,
                offset < leader.follower_leo[member],
                leader.log_start <= offset,
                member.log_start <= offset,
            ),
            leader.log.same_entry(member.log, offset),
        )
        for leader in partition.brokers
        for member in partition.brokers
        for offset in leader.log.positions
    )


@always(
    "consumers_agree",
    "no two reads of one offset give different records",
    premise=something_is_exposed,
    failure="{broker} serves another record at {row} than record {row.exposed}, which was exposed "
    "there before",
    broken_by="kafka unclean.leader.election.enable=true",
    breach="serves two records at one offset",
)
def consumers_agree(partition: TopicPartition) -> bool:
    """Whatever a broker serves is what was exposed there first."""
    return every(
        implies(
            all_of(
                serves_consumers(partition, broker),
                broker.log_start <= row.number,
                row.number < broker.high_watermark,
                row.exposed >= 0,
            ),
            broker.log[row.number].id == row.exposed,
        )
        for broker in partition.brokers
        for row in partition.offsets
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
    """Reading from a follower shows nothing that reading from leaders would not (KIP-392)."""
    return every(
        implies(
            all_of(
                serves_consumers(partition, broker),
                not_(broker.leads),
                broker.log_start <= row.number,
                row.number < broker.high_watermark,
            ),
            broker.log[row.number].id == row.exposed,
        )
        for broker in partition.brokers
        for row in partition.offsets
    )


@always(
    "one_leader_per_epoch",
    "no two brokers lead in the same leader epoch",
    premise=lambda p: some(all_of(a != b, a.leads, b.leads) for a in p.brokers for b in p.brokers),
    failure="{a} and {b} both lead in epoch {a.leader_epoch}",
    broken_by="a controller that elects without a new epoch",
    breach="has two leaders in one epoch",
)
def one_leader_per_epoch(partition: TopicPartition) -> bool:
    """An epoch names its leader."""
    return every(
        implies(all_of(a.leads, b.leads, a.leader_epoch == b.leader_epoch), a == b)
        for a in partition.brokers
        for b in partition.brokers
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
    "log_starts_within_high_watermarks",
    "a log that is in use starts at its high watermark or before",
    premise=lambda p: some(b.log_start > 0 for b in p.brokers),
    failure="the log of {broker} starts at {broker.log_start}, and its HW is "
    "{broker.high_watermark}",
    broken_by="kafka starting.anew.moves.hw=false",
    promised=deletes_records,
)
def log_starts_within_high_watermarks(partition: TopicPartition) -> bool:
    """What is not committed is not deleted (`maybeIncrementLogStartOffset`)."""
    return every(
        implies(broker.up, broker.log_start <= broker.high_watermark)
        for broker in partition.brokers
    )


@always(
    "only_what_was_deleted_is_missing",
    "a log starts after a committed record only if that was deleted",
    premise=lambda p: some(b.log_start > 0 for b in p.brokers),
    failure="the log of {broker} starts at {broker.log_start}, and record {row.exposed} at {row} "
    "was not deleted",
    broken_by="a follower that starts anew at the leader's end",
    promised=deletes_records,
)
def only_what_was_deleted_is_missing(partition: TopicPartition) -> bool:
    """Log starts come from deletions, however many brokers pass them on."""
    return every(
        implies(
            all_of(row.number < broker.log_start, row.exposed >= 0),
            is_deleted(partition, row),
        )
        for broker in partition.brokers
        for row in partition.offsets
    )


@always(
    "logs_hold_issued_records",
    "a log holds only records that were sent",
    premise=lambda p: some(not_(b.log.is_empty) for b in p.brokers),
    failure="{broker} holds at offset {offset} a record that was not sent yet",
    broken_by="a power loss that leaves more entries than there were",
)
def logs_hold_issued_records(partition: TopicPartition) -> bool:
    """No entry is blank, or made up."""
    return every(
        implies(has(broker, offset), broker.log[offset].id < partition.next_record)
        for broker in partition.brokers
        for offset in broker.log.positions
    )


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
    "leader epochs only grow, at the controller and at a replica that stays up",
    of_steps=True,
    failure="{broker} goes back to an earlier leader epoch",
    broken_by="a broker that takes old metadata",
)
def epochs_grow(before: TopicPartition, after: TopicPartition) -> bool:
    """Time runs forwards, as long as there is the topic."""
    return implies(
        after.exists,
        all_of(
            before.controller.leader_epoch <= after.controller.leader_epoch,
            every(
                implies(
                    all_of(broker.up, after.brokers[broker].is_online, after.has_replica(broker)),
                    broker.leader_epoch <= after.brokers[broker].leader_epoch,
                )
                for broker in before.brokers
            ),
        ),
    )
