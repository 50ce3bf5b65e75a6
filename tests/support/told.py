"""Clusters as an admin client tells them, made up for tests."""

from typing import Any

from checker.kafka.live.snapshot import (
    Broker,
    Directory,
    Partition,
    Quorum,
    Setting,
    Snapshot,
    Topic,
    Voter,
)
from model.kafka.settings.eligible_replicas import ELR_FEATURE

OWN, DEFAULT = "DYNAMIC_TOPIC_CONFIG", "DEFAULT_CONFIG"
NOW = 1_800_000_000_000


def partition(number=0, replicas=(0, 1, 2), isr=None, leader=0, **more):
    """A partition: in sync, unless said otherwise."""
    return Partition(number, leader, replicas, replicas if isr is None else isr, **more)


def topic(name, *partitions, least="2", source=OWN, **settings):
    """A topic with its `min.insync.replicas`, and what else is in force there."""
    given = {"min.insync.replicas": least, "unclean.leader.election.enable": "false"} | {
        key.replace("_", "."): value for key, value in settings.items()
    }
    return Topic(name, partitions, {key: Setting(v, source) for key, v in given.items()})


def broker(number, **more):
    """A broker that is up, alone in its rack, with two directories."""
    disks = (Directory("/disk-0"), Directory("/disk-1"))
    usual: dict[str, Any] = {
        "rack": f"rack-{number}",
        "fenced": False,
        "release": "4.3",
        "directories": disks,
    }
    return Broker(number, f"host-{number}", 9092, **(usual | more))


def told(
    *topics: Topic,
    elr: int = 1,
    level: int = 30,
    brokers: tuple[Broker, ...] | None = None,
    voters: int = 3,
    **more: Any,
) -> Snapshot:
    """A healthy cluster of 4.3 with these topics, unless said otherwise."""
    features = {"metadata.version": level, ELR_FEATURE: elr}
    quorum = Quorum(100, 1, 9, tuple(Voter(100 + n, 9, NOW) for n in range(voters)))
    usual: dict[str, Any] = {
        "taken": "2026-11-27T00:00:00+00:00", "cluster_id": "an-id", "features": features,
        "supported": {"metadata.version": level}, "with_fenced": True,
        "brokers": tuple(map(broker, range(4))) if brokers is None else brokers,
        "topics": topics, "quorum": quorum,
    }  # fmt: skip
    return Snapshot(**(usual | more))
