"""Lemmas about the broker model: epochs, and the list of all that proofs about it use.

Logs, ISR and what is committed have modules of their own.
"""

from __future__ import annotations

from model.kafka.state import TopicPartition
from model.language import all_of, any_of, every, implies, is_none, not_
from properties.claims import Property, always
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


@always(
    "memory_of_the_stopped",
    "a broker that is down sees no leader; only leaders keep an ISR, with themselves in it, and "
    "positions",
    failure="{broker} remembers what a broker in its place does not know",
    broken_by="a broker that keeps its view over a crash",
)
def memory_of_the_stopped(partition: TopicPartition) -> bool:
    """Memory is gone with the process, and leadership with it."""
    return every(
        all_of(
            any_of(broker.up, all_of(is_none(broker.leader), broker.leader_epoch == 0)),
            not_(all_of(broker.up, broker.stopped_cleanly)),
            implies(
                broker.leads,
                all_of(
                    broker.isr.contains(broker),
                    any_of(broker.pending_isr.is_empty, broker.pending_isr.contains(broker)),
                ),
            ),
            any_of(
                broker.leads,
                all_of(
                    broker.isr.is_empty,
                    broker.pending_isr.is_empty,
                    every(broker.follower_leo[other] == 0 for other in partition.brokers),
                ),
            ),
        )
        for broker in partition.brokers
    )


@always(
    "views_not_ahead",
    "no broker is in a later leader epoch than the controller",
    failure="{broker} is in epoch {broker.leader_epoch}, the controller in "
    "{partition.controller.leader_epoch}",
    broken_by="a broker that counts epochs by itself",
)
def views_not_ahead(partition: TopicPartition) -> bool:
    """Epochs come from the controller."""
    return every(
        broker.leader_epoch <= partition.controller.leader_epoch for broker in partition.brokers
    )


@always(
    "epochs_name_leaders",
    "brokers in the same epoch see the same leader; in the newest one, the controller's",
    failure="{broker} is in epoch {broker.leader_epoch}, and sees another leader than {other} or "
    "the controller does in that epoch",
    broken_by="a controller that elects without a new epoch",
)
def epochs_name_leaders(partition: TopicPartition) -> bool:
    """A zombie is in an older epoch."""
    return every(
        implies(
            broker.up,
            all_of(
                implies(
                    broker.leader_epoch == partition.controller.leader_epoch,
                    broker.leader == partition.controller.leader,
                ),
                every(
                    implies(
                        all_of(other.up, other.leader_epoch == broker.leader_epoch),
                        other.leader == broker.leader,
                    )
                    for other in partition.brokers
                ),
            ),
        )
        for broker in partition.brokers
    )


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
