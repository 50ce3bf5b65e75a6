"""Elections, and brokers that stop and start again."""

from __future__ import annotations

from model.kafka_tiered.bounds import CRASHES, MAX_LEADER_EPOCH, UNCLEAN_ELECTIONS
from model.kafka_tiered.state import UNKNOWN, Broker, Tiered
from model.language import (
    action,
    all_of,
    any_of,
    choose,
    every,
    implies,
    maximum,
    not_,
    require,
    smallest,
    spend,
)
from model.replicated_log import NO_EPOCH


def _elect(partition: Tiered, broker: Broker) -> None:
    _note_former_leaders(partition)
    broker.led_in = NO_EPOCH
    partition.epoch = partition.epoch + 1
    partition.leader = broker
    for other in partition.brokers:
        other.follows = False
    broker.leads = True
    broker.kept_epoch = NO_EPOCH
    broker.follows = True
    broker.building = False
    broker.ousted = False


def _note_former_leaders(partition: Tiered) -> None:
    """Whoever still believes to lead goes on in its epoch, of which nothing else is asked."""
    for other in partition.brokers:
        latest = all_of(other.leads, other.led_in == NO_EPOCH)
        other.led_in = choose(latest, partition.epoch, other.led_in)


def _require_election(partition: Tiered, broker: Broker) -> None:
    require(broker.up, not_(partition.is_leader(broker)))
    require(partition.epoch < partition.bound(MAX_LEADER_EPOCH))


@action(
    "the controller elects {broker}",
    at="PartitionChangeBuilder.electLeader",
    since="3.6.0",
)
def controller_elect(partition: Tiered, broker: Broker) -> None:
    """A clean election, whether the leader has died or another is preferred."""
    _require_election(partition, broker)
    require(partition.lacks_nothing(broker))

    _elect(partition, broker)


@action(
    "the controller elects {broker}, which lacks committed records",
    at="PartitionChangeBuilder.electLeader",
    since="3.6.0",
)
def controller_elect_uncleanly(partition: Tiered, broker: Broker) -> None:
    """No broker that is up has every committed record. What the new leader lacks is lost.

    So is what is remote of offsets of which it knows no epoch, as it was being built: it cannot
    read it, and deletes it.
    """
    _require_election(partition, broker)
    require(
        every(
            implies(other.up, not_(partition.lacks_nothing(other))) for other in partition.brokers
        )
    )

    spend(partition, UNCLEAN_ELECTIONS)
    start = partition.cache_start(broker)
    gone = choose(partition.tiered, start, broker.local_start)
    lost_to = choose(broker.log_start < start, gone, partition.expired_to)
    partition.expired_to = maximum(partition.expired_to, lost_to)
    kept = smallest(
        choose(
            any_of(
                place.number >= broker.end,
                all_of(place.number >= start, broker.lineage[place] != place.committed),
            ),
            place.number,
            partition.high_watermark,
        )
        for place in partition.places
    )
    for place in partition.places:
        place.committed = choose(place.number >= kept, NO_EPOCH, place.committed)
    for other in partition.brokers:
        other.ousted = True
    _elect(partition, broker)
    partition.unclean_epoch = partition.epoch


@action(
    "{broker} stops",
    at="KafkaServer.shutdown",
    since="3.6.0",
    settings="restart.keeps.last.epoch",
)
def broker_crash(partition: Tiered, broker: Broker) -> None:
    """Its log stays; what loading it does to the leader epoch cache is done at once."""
    require(broker.up)

    spend(partition, CRASHES)
    partition.stop(broker)


@action(
    "{broker} starts again",
    at="ReplicaManager.startup",
    since="3.6.0",
    about="KAFKA-15351",
    settings="restart.keeps.log.start",
)
def broker_restart(partition: Tiered, broker: Broker) -> None:
    """It is back with the log that it had, and follows nobody yet.

    Without KAFKA-15351 its log starts at its first local record. The epochs below stay in the file
    until the log start is raised; here they go at once.
    """
    require(not_(broker.up))

    broker.up = True
    broker.noted_start = UNKNOWN
    kept = broker.log_start if partition.options.restart_keeps_log_start else broker.local_start
    partition.raise_log_start(broker, choose(partition.tiered, kept, broker.local_start))
