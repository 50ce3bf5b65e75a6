"""Lemmas about the broker model's epochs: what a broker remembers, and who leads in which epoch."""

from __future__ import annotations

from model.kafka.state import TopicPartition
from model.language import all_of, any_of, every, implies, is_none, not_
from properties.claims import always


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
