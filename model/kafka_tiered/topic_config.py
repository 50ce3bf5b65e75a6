"""`TopicConfigHandler`: tiering is switched off for the topic, and on again (KIP-950)."""

from __future__ import annotations

from model.kafka_tiered import remote_log_leader_epoch_state as listing
from model.kafka_tiered.bounds import TIERING_DISABLINGS
from model.kafka_tiered.state import UNKNOWN, Copy, Tiered
from model.language import (
    action,
    all_of,
    choose,
    every,
    implies,
    largest,
    maximum,
    not_,
    require,
    some,
    spend,
)

# `remote.log.copy.disable` is no step: a leader may copy nothing at any time.


def _require_all_have_heard(partition: Tiered) -> None:
    """Brokers read the metadata in order: who reads of this has heard of every election before."""
    require(every(implies(broker.up, broker.follows) for broker in partition.brokers))


@action(
    "tiering is switched off for the topic",
    at="TopicConfigHandler.maybeUpdateRemoteLogComponents",
    since="3.9.0",
    about="KIP-950, finding 0043",
    settings="untiered.log.is.local",
)
def operator_disable_tiering(partition: Tiered) -> None:
    """The leader's log starts at its first local record, and the leader deletes all that is remote.

    With that every record is given up that some replica does not have locally. Tasks are cancelled,
    copies that have begun among them. Where no leader is up, nothing is deleted.
    """
    require(partition.tiered)
    _require_all_have_heard(partition)

    spend(partition, TIERING_DISABLINGS)
    partition.tiered = False
    given_up = largest(broker.local_start for broker in partition.brokers)
    partition.expired_to = maximum(partition.expired_to, given_up)
    for broker in partition.brokers:
        raised = broker.up if partition.options.untiered_log_is_local else broker.leads
        start = choose(raised, broker.local_start, broker.log_start)
        partition.raise_log_start(broker, start)
        broker.copy_next(UNKNOWN, UNKNOWN)
        broker.building = False
    led = some(partition.is_leader(broker) for broker in partition.brokers)
    for segment in partition.segments:
        partition.forget_copy(segment, where=led)
        listing.delete(partition, segment, where=all_of(led, segment.copy == Copy.FINISHED))


@action(
    "tiering is switched on again for the topic",
    at="TopicConfigHandler.maybeUpdateRemoteLogComponents",
    since="3.9.0",
    about="KIP-950, finding 0039",
)
def operator_enable_tiering(partition: Tiered) -> None:
    """The leader's task looks up what is copied, as that of a new leader does."""
    require(not_(partition.tiered))
    _require_all_have_heard(partition)

    partition.tiered = True
