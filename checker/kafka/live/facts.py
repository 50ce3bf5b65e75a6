"""What a running cluster told, as the facts by which `affected` says which bugs concern it.

A value that some broker or topic did not tell is not taken for a default: what depends on it is
said not to be known. What clients do no broker knows, but for the groups that there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from checker.core.amounts import counted
from checker.kafka.affected.conditions import KEYS
from checker.kafka.affected.facts import (
    BROKER,
    FIRST_WITHOUT_ZOOKEEPER,
    Facts,
    Replicas,
    Running,
    flags_of,
    kinds_of,
    mode_of,
)
from checker.kafka.guarantees.cluster import entries_of
from checker.kafka.guarantees.config_files import Described, Entry, Scope
from checker.kafka.guarantees.kafka_keys import AUTO_JOIN, LEVEL, TIERED
from checker.kafka.guarantees.releases import release_named
from checker.kafka.live.danger import few
from checker.kafka.live.groups import features_of, refuse_wrong, told_mode
from checker.kafka.live.snapshot import Broker, Setting, Snapshot, Topic
from model.language.declare.history import version_of

OF_TOPICS = ("min.insync.replicas", "unclean.leader.election.enable")
OF_BROKERS = ("replica.selector.class", TIERED)
PROTOCOL = "group.protocol"
_LEVEL_SINCE = version_of("3.9")


def facts_of_cluster(
    cluster: Snapshot,
    kafka: str | None = None,
    mode: str | None = None,
    others: Sequence[Described] = (),
    settings: Mapping[str, str] | None = None,
) -> Facts:
    """What is known of a cluster; `others` are files, such as a producer's, `settings` flags.

    `UsageError` in one line for a release, a file or a key that cannot be.
    """
    flags = flags_of(settings or {}, KEYS)
    refuse_wrong(cluster, kafka, mode, others)
    running = _running(cluster, kafka)
    told = told_mode(cluster) if running[0].version < FIRST_WITHOUT_ZOOKEEPER else None
    entries = [*features_of(cluster), *_settings(cluster), *entries_of(others, None).values()]
    if cluster.features is not None and running[0].version >= _LEVEL_SINCE:
        level = str(cluster.features.get(LEVEL, 0))
        entries.append(Entry(LEVEL, level, Scope.CLUSTER, "features"))
    values: dict[str, tuple[Entry, ...]] = {}
    for each in entries:
        values[each.key] = (*values.get(each.key, ()), each)
    values |= {key: (entry,) for key, entry in flags.items()}
    all_brokers = bool(cluster.brokers) and all(broker.settings for broker in cluster.brokers)
    kinds = kinds_of(others) | ({BROKER} if all_brokers else set())
    return Facts(
        running, mode_of(running[0], mode or told), values, kinds,
        tuple(Replicas(t.name, *_counts(t)) for t in cluster.topics if t.partitions),
        tuple(_directories(cluster.brokers)),
        all(broker.directories is not None for broker in cluster.brokers), _voters(cluster),
        frozenset(_unsaid(cluster)) - flags.keys(), clients_told=False,
    )  # fmt: skip


def _running(cluster: Snapshot, kafka: str | None) -> tuple[Running, ...]:
    """The release that is asked about, else the lines that brokers run, each with its brokers."""
    if kafka is not None:
        return (Running(release_named(kafka).asked),)
    if len(cluster.lines) == 1:
        return (Running(cluster.line),)
    return tuple(
        Running(line, _brokers(broker.id for broker in cluster.brokers if broker.release == line))
        for line in cluster.lines
    )


def _brokers(ids: Iterable[object]) -> str:
    found = [str(number) for number in ids]
    return f"broker{'s' if len(found) > 1 else ''} {few(found)}"


def _counts(topic: Topic) -> tuple[int | None, int]:
    """How many replicas the first partition has, if it was told, and the one with most."""
    first = topic.partitions[0]
    counts = [len(each.replicas) for each in topic.partitions]
    return None if first.number else counts[0], max(counts)


def _directories(brokers: Iterable[Broker]) -> Iterator[Entry]:
    """Of each broker as many as it has: numbers, as a path may have a comma."""
    for broker in brokers:
        if broker.directories is not None:
            numbers = ",".join(map(str, range(len(broker.directories))))
            yield Entry("log.dirs", numbers, Scope.BROKER, f"broker {broker.id}")


def _voters(cluster: Snapshot) -> tuple[int, str] | None:
    if cluster.quorum is None:
        return None
    count = len(cluster.quorum.voters)
    return count, f"{counted(count, 'controller')} {'votes' if count == 1 else 'vote'}"


# --- settings ------------------------------------------------------------------------------------


def _settings(cluster: Snapshot) -> Iterator[Entry]:
    """Each value of each key, with where it is in force; of brokers where there are no topics."""
    brokers = [(str(broker.id), broker.settings) for broker in cluster.brokers]
    topics = [(topic.name, topic.settings) for topic in cluster.topics]
    for key in OF_TOPICS:
        if topics:
            yield from _of(key, topics, lambda names: f"topic{'s' * (len(names) > 1)} {few(names)}")
        else:
            yield from _of(key, brokers, _brokers)
    for key in OF_BROKERS:
        yield from _of(key, brokers, _brokers)
    controllers = {str(voter.id) for voter in (cluster.quorum.voters if cluster.quorum else ())}
    yield from _of(AUTO_JOIN, [each for each in brokers if each[0] in controllers], _brokers)
    for kind, count in sorted((cluster.consumer_groups or {}).items()):
        yield Entry(PROTOCOL, kind, Scope.CLUSTER, counted(count, "group"))


def _of(
    key: str,
    told: Sequence[tuple[str, Mapping[str, Setting]]],
    words: Callable[[list[str]], str],
) -> Iterator[Entry]:
    by_value: dict[str, list[str]] = {}
    for name, settings in told:
        if key in settings:
            by_value.setdefault(settings[key].value, []).append(name)
    for value, names in sorted(by_value.items()):
        yield Entry(key, value, Scope.BROKER, words(names))


def _unsaid(cluster: Snapshot) -> Iterator[str]:
    """The keys that may have other values too, where nobody could look.

    Who may not describe the cluster is not told of every group, nor of its reassignments.
    """
    no_broker = not cluster.brokers or any(not broker.settings for broker in cluster.brokers)
    if no_broker:
        yield from OF_BROKERS
    if any(not topic.settings for topic in cluster.topics) or (no_broker and not cluster.topics):
        yield from OF_TOPICS
    told = {broker.id for broker in cluster.brokers if broker.settings}
    if cluster.quorum is None or not {voter.id for voter in cluster.quorum.voters} <= told:
        yield AUTO_JOIN
    if not cluster.consumer_groups or not cluster.reassignments_told:
        yield PROTOCOL
