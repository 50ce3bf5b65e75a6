"""Lemmas about the broker model: enough for some of what it promises, not for record survival.

They are preserved by every step of the presets whose fetch answers arrive at once, with or without
unclean elections.
"""

from __future__ import annotations

from model.kafka.state import TopicPartition
from model.language import all_of, every, implies
from properties.claims import Property, always
from properties.kafka_safety import high_watermark_within_log, one_leader_per_epoch


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
    "newest_leader_in_office",
    "whoever leads in the newest epoch is the controller's leader",
    failure="{broker} leads in the newest epoch, but the controller's leader is another",
    broken_by="a controller that elects without a new epoch",
)
def newest_leader_in_office(partition: TopicPartition) -> bool:
    """A zombie is in an older epoch."""
    return every(
        implies(
            all_of(broker.leads, broker.leader_epoch == partition.controller.leader_epoch),
            partition.controller.leader == broker,
        )
        for broker in partition.brokers
    )


@always(
    "record_epochs_not_ahead",
    "no record is of a later epoch than the controller's, nor than its broker's while that leads",
    failure="{broker} holds a record of a later epoch at offset {offset}",
    broken_by="a leader that writes with an epoch of its own",
)
def record_epochs_not_ahead(partition: TopicPartition) -> bool:
    """Records carry the epoch of a leader that was elected, on their way as well."""
    answers = every(
        broker.answer.epoch <= partition.controller.leader_epoch for broker in partition.brokers
    )
    return answers & every(
        every(
            implies(
                broker.log.has(offset),
                all_of(
                    broker.log[offset].epoch <= partition.controller.leader_epoch,
                    implies(broker.leads, broker.log[offset].epoch <= broker.leader_epoch),
                ),
            )
            for offset in broker.log.positions
        )
        for broker in partition.brokers
    )


KAFKA_LEMMAS: tuple[Property, ...] = (
    high_watermark_within_log,
    views_not_ahead,
    newest_leader_in_office,
    one_leader_per_epoch,
    record_epochs_not_ahead,
)
