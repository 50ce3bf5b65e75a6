"""A rolling upgrade, as far as the model goes: before it, in new code, and with new features on.

While it lasts, brokers of both releases are there at once. That is not modelled: settings are the
cluster's. So each stage is judged as if all brokers had it, and what differs is told, with whose
rule it is: the controller's changes at one moment, a broker's at each broker's restart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from checker.guarantees.cluster import Cluster
from checker.guarantees.kafka_keys import FINENESS
from checker.guarantees.releases import SERIES, Release
from model.kafka.protocol import KAFKA
from model.kafka.sources import SETTING_SOURCES
from model.language.declare.settings import as_text
from model.language.errors import UsageError

_CONTROLLERS = frozenset({
    "ClusterControlManager", "ConfigurationControlManager", "PartitionChangeBuilder",
    "PartitionReassignmentReplicas", "ReplicationControlManager",
})  # fmt: skip

FEATURES = {"eligible.leader.replicas": "false", "last.known.leader.election": "false"}
"""Settings that a cluster of a new release has only once a feature is switched on, and before."""


@dataclass(frozen=True)
class Stage:
    """A stage of an upgrade: its name, and the cluster if all brokers are at it."""

    name: str
    cluster: Cluster


def stages(cluster: Cluster, target: Release) -> list[Stage]:
    """The stages in order; `UsageError` for what is no rolling upgrade."""
    series = list(SERIES)
    if series.index(target.series) <= series.index(cluster.release.series):
        raise UsageError(
            f"from {cluster.release.series} to {target.series} is no upgrade: valid are "
            f"{', '.join(series[series.index(cluster.release.series) + 1 :]) or 'none'}"
        )
    if target.mode is not cluster.release.mode:
        raise UsageError(
            f"from {cluster.release.series} with ZooKeeper to {target.series} with KRaft is a "
            "migration, which is not modelled: ask about each release by itself"
        )
    new = replace(cluster, release=target)
    found = [Stage(f"before: all brokers {cluster.release.series}", cluster)]
    held = {name: off for name, off in FEATURES.items() if _differs(cluster, new, name)}
    if held:
        waiting = replace(new, settings={**held, **new.settings})
        found.append(Stage(f"all brokers {target.series}, its new features off", waiting))
    found.append(Stage(f"after: all brokers {target.series}", new))
    return found


def _in_force(cluster: Cluster) -> dict[str, str]:
    return as_text(KAFKA.model({}, dict(cluster.settings), cluster.release.preset).settings)


def _differs(one: Cluster, other: Cluster, name: str) -> bool:
    return _in_force(one)[name] != _in_force(other)[name]


def mixed_words(cluster: Cluster, target: Release) -> str:
    """What is different between the releases, whose rules these are, and what is left out."""
    was, now = _in_force(cluster), _in_force(replace(cluster, release=target))
    names = [name for name in was if was[name] != now[name] and name not in FINENESS]
    brokers = [name for name in names if not _is_of_controller(name)]
    controllers = [name for name in names if _is_of_controller(name)]
    if not names:
        return (
            "no rule of the model differs between the two, so brokers of both at once are nothing "
            "new"
        )
    parts = []
    if brokers:
        parts.append(f"each broker's by its own release: {', '.join(brokers)}")
    if controllers:
        parts.append(f"the controller's: {', '.join(controllers)}")
    return (
        "brokers of both releases at once are not modelled: each stage is judged as if all had "
        f"it. What differs is {'; '.join(parts)}"
    )


def _is_of_controller(name: str) -> bool:
    return SETTING_SOURCES[name].place.partition(".")[0] in _CONTROLLERS
