"""Lemmas about the broker model, in the order in which proofs use them."""

from __future__ import annotations

from properties.claims import Property
from properties.kafka import safety
from properties.kafka.lemmas import answers, committed, consumers, epochs, faults, isr, logs

KAFKA_LEMMAS: tuple[Property, ...] = (
    safety.high_watermark_within_log,
    epochs.memory_of_the_stopped,
    epochs.views_not_ahead,
    epochs.epochs_name_leaders,
    safety.one_leader_per_epoch,
    answers.responses_of_this_epoch,
    logs.record_ids_issued,
    logs.epochs_in_logs,
    logs.log_matching,
    logs.records_come_from_leaders,
    logs.follower_has_prefix,
    isr.controller_in_order,
    isr.isr_is_live,
    isr.request_of_the_leader,
    isr.leader_counts_the_isr,
    faults.deposed_alive,
    faults.stops_counted,
    faults.eligible_replicas_left,
    faults.no_election_after_a_missed_epoch,
    isr.leader_counts_candidates,
    isr.positions_of_this_epoch,
    committed.what_may_be_exposed_is_held,
    committed.candidates_hold_what_was_exposed,
    committed.leaders_hold_what_was_exposed,
    committed.candidates_follow_holders,
    committed.high_watermarks_cover_what_was_exposed,
    committed.acknowledged_records_were_exposed,
    answers.responses_cover_what_was_exposed,
    answers.responses_truncate_nothing_exposed,
    consumers.exposed_at_one_offset,
    consumers.consumer_in_order,
)
