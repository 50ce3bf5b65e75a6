"""What a partition should come to in the end, once faults are over and brokers fetch.

Budgets of faults run out, so "once they are over" needs no saying. Operators, clients and faults
are never fair; brokers and the controller are, as `model/kafka/fairness.py` has it. Each promise is
of a state of affairs that should not last: what ends it, be it another fault, ends the promise too.
"""

from __future__ import annotations

from model.acks import Acks
from model.kafka.choices import IsrChanges
from model.kafka.partition import fetch_diverges, is_answered, is_frozen
from model.kafka.partition_change import candidates
from model.kafka.state import Broker, ProducedRecord, TopicPartition
from model.language import Model, all_of, any_of, is_none, not_, some
from properties.kafka.safety import deletes_records
from properties.liveness import Liveness, leads_to


def is_waited_for(partition: TopicPartition, record: ProducedRecord) -> bool:
    """A live leader in office that appended the record, with a large enough ISR, has not answered.

    A leader that has appended it in an earlier leadership will not answer the producer.
    """
    return all_of(
        not_(record.acknowledged),
        some(
            all_of(
                leader.up,
                partition.is_in_office(leader),
                leader.isr.size >= partition.min_isr_of(leader),
                some(
                    all_of(
                        leader.log_start <= offset,
                        leader.log.has(offset),
                        leader.log[offset].id == record.number,
                        leader.log[offset].epoch >= leader.leading_since,
                    )
                    for offset in leader.log.positions
                ),
            )
            for leader in partition.brokers
        ),
    )


def _waits_for_all(model: Model) -> bool:
    return bool(model.settings.acks == Acks.ALL)


@leads_to(
    "records_are_acknowledged",
    "a record that a live leader with a large enough ISR has appended is acknowledged, unless that "
    "leader or its ISR goes",
    is_waited_for,
    of="records",
    broken_by="kafka with a false fencing: a refused ISR change",
    promised=_waits_for_all,
)
def records_are_acknowledged(partition: TopicPartition, record: ProducedRecord) -> bool:
    """Else a producer waits until its delivery times out."""
    return not_(is_waited_for(partition, record))


def lags_behind_its_log(partition: TopicPartition, leader: Broker) -> bool:
    """A live leader in office, whose HW may move, has a record above it."""
    return all_of(
        leader.up,
        partition.is_in_office(leader),
        not_(is_frozen(partition, leader, leader.isr)),
        leader.high_watermark < leader.log.end,
    )


@leads_to(
    "high_watermark_reaches_the_end",
    "a live leader's high watermark reaches the end of its log, unless it leads no more or its ISR "
    "is too small",
    lags_behind_its_log,
    of="brokers",
    broken_by="kafka with a false fencing: a refused ISR change",
)
def high_watermark_reaches_the_end(partition: TopicPartition, leader: Broker) -> bool:
    """Else consumers wait for what is as safe as it will ever be."""
    return not_(lags_behind_its_log(partition, leader))


def is_left_out(partition: TopicPartition, follower: Broker) -> bool:
    """A live, unfenced broker with a replica is not in the ISR of a live leader in office."""
    controller = partition.controller
    return all_of(
        follower.up,
        not_(follower.fenced),
        partition.exists,
        partition.has_replica(follower),
        not_(controller.isr.contains(follower)),
        some(all_of(leader.up, partition.is_in_office(leader)) for leader in partition.brokers),
    )


@leads_to(
    "live_followers_are_in_sync_again",
    "a live follower outside the ISR is taken into it again, unless the leader goes",
    is_left_out,
    of="brokers",
)
def live_followers_are_in_sync_again(partition: TopicPartition, follower: Broker) -> bool:
    """Else the partition is left with fewer copies than it was given."""
    return not_(is_left_out(partition, follower))


def could_be_led(partition: TopicPartition) -> bool:
    """There is no leader, and a live broker may be elected cleanly."""
    controller = partition.controller
    return all_of(
        partition.exists,
        is_none(controller.leader),
        some(
            all_of(
                broker.up,
                candidates(partition, controller.isr, controller.eligible).contains(broker),
            )
            for broker in partition.brokers
        ),
    )


@leads_to(
    "an_eligible_broker_is_elected",
    "a partition without a leader, of which a live broker may lead, gets one",
    could_be_led,
)
def an_eligible_broker_is_elected(partition: TopicPartition) -> bool:
    """Else it is offline for no reason."""
    return not_(could_be_led(partition))


def is_diverging(partition: TopicPartition, follower: Broker) -> bool:
    """A live follower has to truncate, and a live leader in office would tell it where."""
    return all_of(
        follower.up,
        some(
            all_of(
                leader.up,
                partition.is_in_office(leader),
                is_answered(partition, follower, leader),
                any_of(follower.truncating, fetch_diverges(partition, follower, leader)),
            )
            for leader in partition.brokers
        ),
    )


@leads_to(
    "truncation_ends",
    "a live follower that has to truncate has done so, unless its leader goes",
    is_diverging,
    of="brokers",
)
def truncation_ends(partition: TopicPartition, follower: Broker) -> bool:
    """Else its fetcher goes round for ever."""
    return not_(is_diverging(partition, follower))


def waits_for_an_answer(partition: TopicPartition, leader: Broker) -> bool:
    """A live leader in office has asked for an ISR, and knows of no answer."""
    return all_of(leader.up, partition.is_in_office(leader), not_(leader.pending_isr.is_empty))


@leads_to(
    "isr_changes_are_answered",
    "a live leader that asks for an ISR hears of it, unless it leads no more",
    waits_for_an_answer,
    of="brokers",
    promised=lambda model: bool(model.settings.isr_changes == IsrChanges.ALTER_PARTITION),
)
def isr_changes_are_answered(partition: TopicPartition, leader: Broker) -> bool:
    """Else it can change its ISR no more."""
    return not_(waits_for_an_answer(partition, leader))


def has_every_record(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """A live follower is in sync with its live leader, and at its end."""
    return all_of(
        follower.up,
        follower.follows_in_epoch(leader),
        leader.up,
        partition.is_in_office(leader),
        leader.isr.contains(follower),
        follower.log.end == leader.log.end,
    )


def lags_behind_its_leader(partition: TopicPartition, follower: Broker) -> bool:
    """A live follower that is in sync and has every record has not its live leader's HW."""
    return some(
        all_of(
            has_every_record(partition, follower, leader),
            follower.high_watermark < leader.high_watermark,
        )
        for leader in partition.brokers
    )


@leads_to(
    "followers_learn_the_high_watermark",
    "a live follower that is in sync and has every record learns its live leader's high watermark, "
    "unless either goes, or there is news",
    lags_behind_its_leader,
    of="brokers",
    broken_by="kafka with fetch.sessions=true: what came with a diverging epoch counts as told",
    promised=lambda model: bool(model.settings.fetch_sessions),
)
def followers_learn_the_high_watermark(partition: TopicPartition, follower: Broker) -> bool:
    """Else consumers that read from it are not given what is committed."""
    return not_(lags_behind_its_leader(partition, follower))


def keeps_what_is_deleted(partition: TopicPartition, follower: Broker) -> bool:
    """A live follower that is in sync and has every record starts before its live leader does."""
    return some(
        all_of(
            has_every_record(partition, follower, leader),
            follower.log_start < leader.log_start,
        )
        for leader in partition.brokers
    )


@leads_to(
    "followers_learn_where_the_log_starts",
    "a live follower that is in sync and has every record deletes what its live leader has "
    "deleted, unless either goes, or there is news",
    keeps_what_is_deleted,
    of="brokers",
    broken_by="kafka with fetch.sessions=true: what came with a diverging epoch counts as told",
    promised=lambda model: bool(model.settings.fetch_sessions) and deletes_records(model),
)
def followers_learn_where_the_log_starts(partition: TopicPartition, follower: Broker) -> bool:
    """Else deleted records stay on its disk, and DeleteRecords waits for it."""
    return not_(keeps_what_is_deleted(partition, follower))


KAFKA_LIVENESS: tuple[Liveness, ...] = (
    records_are_acknowledged,
    high_watermark_reaches_the_end,
    live_followers_are_in_sync_again,
    an_eligible_broker_is_elected,
    truncation_ends,
    isr_changes_are_answered,
    followers_learn_the_high_watermark,
    followers_learn_where_the_log_starts,
)
