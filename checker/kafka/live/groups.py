"""Partitions with the same settings and placement are one group, which `ask` judges once.

A group becomes the `Cluster` that is judged of files: its settings are entries with the places that
they come from, so that there is one rule for what a key means.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from checker.kafka.guarantees.cluster import FIRST, MOST, Cluster, describe_cluster, mode_of_keys
from checker.kafka.guarantees.config_files import Described, Entry, Scope
from checker.kafka.guarantees.kafka_keys import BY_NAME, METADATA, REBALANCE, REMOTE
from checker.kafka.guarantees.releases import Mode
from checker.kafka.live.danger import least_of
from checker.kafka.live.snapshot import Partition, Snapshot, Topic
from model.kafka.settings.eligible_replicas import ELR_FEATURE
from model.language.declare.history import version_of
from model.language.errors import UsageError

_DEFAULT = "DEFAULT_CONFIG"
_SOURCES = {
    "DYNAMIC_TOPIC_CONFIG": "the topic's own",
    "DYNAMIC_BROKER_CONFIG": "a broker's own",
    "DYNAMIC_DEFAULT_BROKER_CONFIG": "the cluster's default",
    "STATIC_BROKER_CONFIG": "the brokers' files",
}
_OF_BROKERS = ("replica.selector.class",)
_KRAFT_ALONE_SINCE, _KRAFT_SINCE = "4.0", "3.3"


@dataclass(frozen=True)
class Kind:
    """What partitions of one group have in common.

    `settings` are those that are not at the release's defaults. `racks` are numbers of the
    replicas' racks, the preferred leader's first; empty where they do not matter or are not known.
    `first` is how many replicas the topic's first partition has, where the controller counts fewer
    by it.
    """

    replicas: int
    settings: tuple[tuple[str, str], ...]
    racks: tuple[int, ...] = ()
    first: int | None = None


@dataclass(frozen=True)
class Group:
    """Partitions that are judged together; `origins` say of each setting where it comes from."""

    kind: Kind
    topics: tuple[str, ...]
    partitions: int
    origins: Mapping[str, str]

    @property
    def words(self) -> str:
        """What they have in common, in a line."""
        kind = self.kind
        parts = ["1 replica" if kind.replicas == 1 else f"{kind.replicas} replicas"]
        if kind.racks:
            parts.append(f"racks {','.join(map(str, kind.racks))}")
        if kind.first is not None:
            parts.append(f"partition 0 has {kind.first}")
        parts += [f"{key}={value} ({self.origins[key]})" for key, value in kind.settings]
        return ", ".join(parts)


def groups_of(cluster: Snapshot, with_racks: bool = False) -> list[Group]:
    """The groups, the largest first; by racks too if the question is about them."""
    found: dict[Kind, tuple[dict[str, int], dict[str, set[str]]]] = {}
    for topic in cluster.topics:
        settings = _in_force(topic)
        for partition in topic.partitions:
            kind = _kind(cluster, topic, partition, settings, with_racks)
            topics, origins = found.setdefault(kind, ({}, {}))
            topics[topic.name] = topics.get(topic.name, 0) + 1
            for key, (_, origin) in settings.items():
                origins.setdefault(key, set()).add(origin)
    groups = [
        Group(
            kind, tuple(_by_size(topics)), sum(topics.values()),
            {key: ", ".join(sorted(each)) for key, each in origins.items()},
        )
        for kind, (topics, origins) in found.items()
    ]  # fmt: skip
    return sorted(groups, key=lambda group: (-group.partitions, group.topics))


def _by_size(topics: Mapping[str, int]) -> list[str]:
    """The topics with the most partitions first."""
    return sorted(topics, key=lambda name: (-topics[name], name))


def _kind(
    cluster: Snapshot,
    topic: Topic,
    partition: Partition,
    settings: Mapping[str, tuple[str, str]],
    with_racks: bool,
) -> Kind:
    replicas = [each for each in partition.replicas if each not in partition.adding]
    values = tuple(sorted((key, value) for key, (value, _) in settings.items()))
    first = len(topic.partitions[0].replicas)
    asked = least_of(topic)
    counts_fewer = cluster.has_elr and asked is not None and first < min(asked, len(replicas))
    return Kind(
        len(replicas), values, _racks(cluster, replicas) if with_racks else (),
        first if counts_fewer else None,
    )  # fmt: skip


def _in_force(topic: Topic) -> dict[str, tuple[str, str]]:
    """The topic's settings that mean something and are no defaults: value, and where it is from."""
    return {
        key: (each.value, _SOURCES.get(each.source, each.source))
        for key, each in topic.settings.items()
        if key in BY_NAME and each.source != _DEFAULT
    }


def _racks(cluster: Snapshot, replicas: Iterable[int]) -> tuple[int, ...]:
    names = [cluster.by_id[each].rack if each in cluster.by_id else None for each in replicas]
    if None in names:
        return ()
    return tuple(list(dict.fromkeys(names)).index(name) for name in names)


# --- as what is judged ---------------------------------------------------------------------------


def as_cluster(
    cluster: Snapshot,
    group: Group,
    kafka: str | None,
    mode: str | None = None,
    others: Sequence[Described] = (),
    settings: Mapping[str, str] | None = None,
) -> Cluster:
    """A group as it is judged; `others` are files, such as a producer's, and `settings` flags.

    `UsageError` in one line for what cannot be judged.
    """
    kind = group.kind
    told = [
        Entry(key, value, Scope.TOPIC, group.origins[key]) for key, value in kind.settings
    ]  # fmt: skip
    first = {} if kind.first is None else {FIRST: str(kind.first)}
    return _described(
        cluster, kafka, mode, [*others, Described(tuple(told))], {**first, **(settings or {})},
        replicas=kind.replicas, racks=",".join(map(str, kind.racks)) or None,
    )  # fmt: skip


def refuse_wrong(
    cluster: Snapshot,
    kafka: str | None,
    mode: str | None = None,
    others: Sequence[Described] = (),
    settings: Mapping[str, str] | None = None,
) -> None:
    """`UsageError` for a release, files or flags with which no group could be judged."""
    if _described(cluster, kafka, mode, others, settings or {}, replicas=MOST).tiered:
        raise UsageError(
            f"{REMOTE} is not read of a running cluster, and its topics are not judged by it: ask "
            "about one topic, with --kafka and what kafka-topics --describe printed"
        )


def _described(
    cluster: Snapshot,
    kafka: str | None,
    mode: str | None,
    told: Sequence[Described],
    settings: Mapping[str, str],
    replicas: int,
    racks: str | None = None,
) -> Cluster:
    release = kafka or cluster.line
    if not release:
        raise UsageError("the release is not known from what was read: say it by --kafka VERSION")
    return describe_cluster(
        release, [*told, Described(tuple(_of_all(cluster)))], settings, replicas=replicas,
        racks=racks, mode=mode or _mode(cluster, release),
    )  # fmt: skip


def _mode(cluster: Snapshot, release: str) -> str | None:
    """Where the metadata is kept, if the release leaves that open and the features were told."""
    line = version_of(release)
    is_open = version_of(_KRAFT_SINCE) <= line < version_of(_KRAFT_ALONE_SINCE)
    return told_mode(cluster) if is_open else None


def told_mode(cluster: Snapshot) -> Mode | None:
    """Where the metadata is kept, by the features; by the brokers' files up to 3.2; if told."""
    if METADATA in (cluster.features or {}):
        return Mode.KRAFT
    told = {key for b in cluster.brokers for key, each in b.settings.items() if each.value}
    return mode_of_keys(told) or (None if cluster.features is None else Mode.ZOOKEEPER)


def features_of(cluster: Snapshot) -> Iterator[Entry]:
    """The finalized features as entries; one that is not finalized is at level 0."""
    if cluster.features is not None and cluster.level:
        yield Entry(METADATA, cluster.level, Scope.CLUSTER, "features")
        if version_of(cluster.line or "0.0") >= version_of(_KRAFT_ALONE_SINCE):
            level = cluster.features.get(ELR_FEATURE, 0)
            yield Entry(ELR_FEATURE, str(level), Scope.CLUSTER, "features")


def _of_all(cluster: Snapshot) -> Iterator[Entry]:
    """What is the same for all groups: the features, and what brokers go by."""
    yield from features_of(cluster)
    for key, wins in (*((key, None) for key in _OF_BROKERS), (REBALANCE, "true")):
        found = [(b.id, b.settings[key]) for b in cluster.brokers if key in b.settings]
        given = [(n, each) for n, each in found if each.source != _DEFAULT]
        values = {each.value for _, each in found}
        if given and (wins not in values):
            number, each = given[0]
            where = f"broker {number}" if len(values) > 1 else _SOURCES.get(each.source, "brokers")
            yield Entry(key, each.value, Scope.CLUSTER, where)
