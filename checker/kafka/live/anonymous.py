"""A snapshot without names: for who shows what was read, or what was answered, to others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from checker.kafka.live.snapshot import Broker, Snapshot


def anonymous(snapshot: Snapshot) -> Snapshot:
    """The same with topics, hosts, racks, directories and the cluster's id replaced.

    Numbers stay: ids of brokers, ports, partitions. So do Kafka's own words and values of settings.
    """
    topics, hosts, racks, paths = (_names(what) for what in ("topic", "host", "rack", "directory"))

    def of_broker(broker: Broker) -> Broker:
        directories = broker.directories
        return replace(
            broker,
            host=hosts(broker.host),
            rack=None if broker.rack is None else racks(broker.rack),
            directories=directories
            and tuple(replace(each, path=paths(each.path)) for each in directories),
            settings={
                key: replace(each, value=racks(each.value) if key == "broker.rack" else each.value)
                for key, each in broker.settings.items()
            },
        )

    return replace(
        snapshot,
        cluster_id="cluster",
        brokers=tuple(map(of_broker, snapshot.brokers)),
        topics=tuple(replace(topic, name=topics(topic.name)) for topic in snapshot.topics),
    )


def _names(what: str) -> Callable[[str], str]:
    """A name for each name, in the order in which they are asked for: `topic-1`."""
    known: dict[str, str] = {}
    return lambda name: known.setdefault(name, f"{what}-{len(known) + 1}")
