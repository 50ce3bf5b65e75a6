"""What is known of a cluster: its release, and what its properties files and topics say.

A key that no file has is at its default only where a file of that kind was given: of a cluster of
which nothing is said, nothing is taken for granted but that it replicates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from checker.kafka.guarantees.cluster import FLAG, entries_of, mode_of_files
from checker.kafka.guarantees.config_files import Described, Entry, Scope, read_config
from checker.kafka.guarantees.releases import Mode, release_named
from checker.kafka.guarantees.topics import Topic
from model.language.declare.history import Version, version_of
from model.language.errors import UsageError, unknown_name

FIRST_WITH_KRAFT, FIRST_WITHOUT_ZOOKEEPER = version_of("2.8"), version_of("4.0")

BROKER, PRODUCER, CONSUMER = "broker", "producer", "consumer"
KINDS: Mapping[str, frozenset[str]] = {
    BROKER: frozenset({
        "broker.id", "node.id", "process.roles", "zookeeper.connect", "log.dirs", "log.dir",
        "listeners", "num.partitions", "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
    }),
    PRODUCER: frozenset({
        "acks", "enable.idempotence", "linger.ms", "batch.size", "retries", "value.serializer",
        "key.serializer", "transactional.id", "compression.type", "delivery.timeout.ms",
    }),
    CONSUMER: frozenset({
        "group.id", "group.protocol", "auto.offset.reset", "key.deserializer",
        "value.deserializer", "partition.assignment.strategy",
    }),
}  # fmt: skip
"""Keys by which a properties file is known to be of a broker, a producer or a consumer."""


@dataclass(frozen=True)
class Facts:
    """A cluster as far as it was described. `mode` is `None` where both are possible.

    `directories` are the values of `log.dirs` of all files, one for each broker.
    """

    asked: str
    version: Version
    mode: Mode | None
    entries: Mapping[str, Entry]
    kinds: frozenset[str]
    topic: Topic | None
    directories: tuple[Entry, ...]

    def entry(self, key: str) -> Entry | None:
        """What is said of a key."""
        return self.entries.get(key)


def facts_of(
    kafka: str,
    files: Iterable[Path] = (),
    settings: Mapping[str, str] | None = None,
    valid: Iterable[str] = (),
    *,
    mode: str | None = None,
    topic: str | None = None,
) -> Facts:
    """What flags and files say; `UsageError` in one line for what cannot be.

    `settings` go before all files; only keys of `valid` may be there.
    """
    known = frozenset(valid)
    for key in settings or {}:
        if key not in known:
            raise unknown_name("key that decides whom a bug concerns", key, known)
    described = [read_config(path) for path in files]
    entries = entries_of(described, topic)
    told = [entry for each in described for entry in each.entries]
    flags = {k: Entry(k, v, Scope.TOPIC, FLAG) for k, v in (settings or {}).items()}
    chosen = {**entries, **flags}
    asked = release_named(kafka).asked
    version = version_of(asked)
    return Facts(
        asked, version, _mode(asked, version, mode or mode_of_files(chosen)), chosen,
        frozenset(kind for each in described for kind in _kinds(each)),
        next((t for d in described for t in d.topics.values() if topic in (None, t.name)), None),
        tuple(e for e in (*told, *flags.values()) if e.key in ("log.dirs", "log.dir")),
    )  # fmt: skip


def _mode(asked: str, version: Version, mode: str | None) -> Mode | None:
    """`UsageError` if the release has not got it."""
    if mode == Mode.KRAFT and version < FIRST_WITH_KRAFT:
        raise UsageError(f"Kafka {asked} has no KRaft: it begins with 2.8")
    if mode == Mode.ZOOKEEPER and version >= FIRST_WITHOUT_ZOOKEEPER:
        raise UsageError(f"Kafka {asked} has no ZooKeeper: it ends with 3.9")
    if mode is not None:
        return Mode(mode)
    if version < FIRST_WITH_KRAFT:
        return Mode.ZOOKEEPER
    return Mode.KRAFT if version >= FIRST_WITHOUT_ZOOKEEPER else None


def _kinds(described: Described) -> Iterable[str]:
    keys = {entry.key for entry in described.entries if entry.scope is Scope.STATIC}
    return (kind for kind, its in KINDS.items() if keys & its)
