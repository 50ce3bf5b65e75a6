"""What becomes of a replica in the end, once faults are over and followers fetch."""

from __future__ import annotations

from model.kafka_tiered.state import Broker, Tiered
from model.language import all_of, not_, some
from properties.liveness import Liveness, leads_to


def is_left_out(partition: Tiered, follower: Broker) -> bool:
    """A live broker could not be in the ISR of a leader that is live and knows that it leads."""
    in_sync = all_of(follower.follows, partition.lacks_nothing(follower))
    return all_of(
        follower.up,
        not_(in_sync),
        some(
            all_of(leader != follower, partition.is_leader(leader)) for leader in partition.brokers
        ),
    )


@leads_to(
    "replicas_get_in_sync",
    "a live replica that lacks something fetches it, or builds on the remote store, unless "
    "the leader goes",
    is_left_out,
    of="brokers",
    broken_by="kafka_tiered with an expiration: a log that starts where nothing is",
)
def replicas_get_in_sync(partition: Tiered, follower: Broker) -> bool:
    """Else the partition is left with fewer copies than it was given."""
    return not_(is_left_out(partition, follower))


KAFKA_TIERED_LIVENESS: tuple[Liveness, ...] = (replicas_get_in_sync,)
