"""Lemmas about the broker model, in the order in which proofs use them."""

from __future__ import annotations

from properties.claims import Property
from properties.kafka.lemmas.answers import (
    answers_bring_what_was_exposed,
    answers_cut_what_may_go,
    answers_of_this_epoch,
)
from properties.kafka.lemmas.committed import (
    acknowledged_records_were_exposed,
    candidates_follow_holders,
    candidates_hold_what_was_exposed,
    high_watermarks_cover_what_was_exposed,
    leaders_hold_what_was_exposed,
    what_may_be_exposed_is_held,
)
from properties.kafka.lemmas.consumers import consumer_in_order, exposed_at_one_offset
from properties.kafka.lemmas.epochs import (
    epochs_name_leaders,
    memory_of_the_stopped,
    views_not_ahead,
)
from properties.kafka.lemmas.faults import (
    deposed_alive,
    eligible_replicas_left,
    no_election_after_a_missed_epoch,
    stops_counted,
)
from properties.kafka.lemmas.isr import (
    controller_in_order,
    isr_is_live,
    leader_counts_candidates,
    leader_counts_the_isr,
    positions_of_this_epoch,
    request_of_the_leader,
)
from properties.kafka.lemmas.logs import (
    epochs_in_logs,
    follower_has_prefix,
    log_matching,
    record_ids_issued,
    records_come_from_leaders,
)
from properties.kafka.safety import high_watermark_within_log, one_leader_per_epoch

KAFKA_LEMMAS: tuple[Property, ...] = (
    high_watermark_within_log,
    memory_of_the_stopped,
    views_not_ahead,
    epochs_name_leaders,
    one_leader_per_epoch,
    answers_of_this_epoch,
    record_ids_issued,
    epochs_in_logs,
    log_matching,
    records_come_from_leaders,
    follower_has_prefix,
    controller_in_order,
    isr_is_live,
    request_of_the_leader,
    leader_counts_the_isr,
    deposed_alive,
    stops_counted,
    eligible_replicas_left,
    no_election_after_a_missed_epoch,
    leader_counts_candidates,
    positions_of_this_epoch,
    what_may_be_exposed_is_held,
    candidates_hold_what_was_exposed,
    leaders_hold_what_was_exposed,
    candidates_follow_holders,
    high_watermarks_cover_what_was_exposed,
    acknowledged_records_were_exposed,
    answers_bring_what_was_exposed,
    answers_cut_what_may_go,
    exposed_at_one_offset,
    consumer_in_order,
)
