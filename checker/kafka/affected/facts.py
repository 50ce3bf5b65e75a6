"""What is known of a cluster: its releases, and what its files say, or what it told of itself.

A key that no file has is at its default only where a file of that kind was given: of a cluster of
which nothing is said, nothing is taken for granted but that it replicates. `live/facts.py` makes
the same of a cluster that runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.kafka.guarantees.cluster import FLAG, entries_of, mode_of_keys
from checker.kafka.guarantees.config_files import Described, Entry, Scope, read_config
from checker.kafka.guarantees.kafka_keys import VOTERS
from checker.kafka.guarantees.releases import Mode, release_named
from checker.kafka.guarantees.topics import Topic
from model.language.declare.history import Version, series_of, version_of
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
class Running:
    """A release, or a line of releases such as `4.3` of which nobody said which one it is.

    `who` runs it, such as `brokers 1, 2`; empty where all do.
    """

    asked: str
    who: str = ""

    @property
    def version(self) -> Version:
        """Its numbers; of a line those of its first release."""
        return version_of(self.asked)

    @property
    def is_line(self) -> bool:
        """Nobody said which release of the line it is."""
        return len(self.asked.split(".")) == len(series_of(self.version))


@dataclass(frozen=True)
class Replicas:
    """How many replicas the partitions of a topic have: the first one, and the one with most."""

    topic: str
    first: int | None
    most: int


@dataclass(frozen=True)
class Facts:
    """A cluster as far as it was described. `mode` is `None` where both are possible.

    `running` has the oldest release first. `clients_told`: clients are of that release too, else
    theirs is not known. `values` has of each key the values that are in force, with where each is;
    of those in `unsaid` others may be in force too, where nobody could look. `directories` are
    those of some brokers; of `all_directories`, of each of them. `voters`: how many controllers
    vote, and what says so.
    """

    running: tuple[Running, ...]
    mode: Mode | None
    values: Mapping[str, tuple[Entry, ...]]
    kinds: frozenset[str] = frozenset()
    replicas: tuple[Replicas, ...] = ()
    directories: tuple[Entry, ...] = ()
    all_directories: bool = True
    voters: tuple[int, str] | None = None
    unsaid: frozenset[str] = frozenset()
    clients_told: bool = True

    @property
    def asked(self) -> str:
        """The releases, as they were asked about."""
        return ", ".join(run.asked for run in self.running)

    @property
    def version(self) -> Version:
        """The oldest that runs."""
        return self.running[0].version

    def entry(self, key: str) -> Entry | None:
        """What is said of a key that has one value for the whole cluster."""
        return next(iter(self.values.get(key, ())), None)


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
    flags = flags_of(settings or {}, valid)
    described = [read_config(path) for path in files]
    entries = entries_of(described, topic)
    told = [entry for each in described for entry in each.entries]
    chosen = {**entries, **flags}
    run = Running(release_named(kafka).asked)
    about = next((t for d in described for t in d.topics.values() if topic in (None, t.name)), None)
    directories = [e for e in told if e.key in ("log.dirs", "log.dir")]
    return Facts(
        (run,), mode_of(run, mode or mode_of_keys(chosen)),
        {key: (entry,) for key, entry in chosen.items()}, kinds_of(described),
        () if about is None else (_replicas(about),),
        tuple(e for k, e in flags.items() if k == "log.dirs") or tuple(directories),
        voters=_voters(chosen.get(VOTERS)),
    )  # fmt: skip


def flags_of(settings: Mapping[str, str], valid: Iterable[str]) -> dict[str, Entry]:
    """What `--set` says; `UsageError` for a key that is none of `valid`."""
    known = frozenset(valid)
    for key in settings:
        if key not in known:
            raise unknown_name("key that decides whom a bug concerns", key, known)
    return {k: Entry(k, v, Scope.TOPIC, FLAG) for k, v in settings.items()}


def mode_of(run: Running, mode: str | None) -> Mode | None:
    """The mode that is said, or that a release has; `UsageError` if it has not got that."""
    if mode == Mode.KRAFT and run.version < FIRST_WITH_KRAFT:
        raise UsageError(f"Kafka {run.asked} has no KRaft: it begins with 2.8")
    if mode == Mode.ZOOKEEPER and run.version >= FIRST_WITHOUT_ZOOKEEPER:
        raise UsageError(f"Kafka {run.asked} has no ZooKeeper: it ends with 3.9")
    if mode is not None:
        return Mode(mode)
    if run.version < FIRST_WITH_KRAFT:
        return Mode.ZOOKEEPER
    return Mode.KRAFT if run.version >= FIRST_WITHOUT_ZOOKEEPER else None


def kinds_of(described: Sequence[Described]) -> frozenset[str]:
    """Of whom there is a properties file: a broker, a producer, a consumer."""
    keys = {e.key for each in described for e in each.entries if e.scope is Scope.STATIC}
    return frozenset(kind for kind, its in KINDS.items() if keys & its)


def _replicas(topic: Topic) -> Replicas:
    first = len(topic.partitions[0].replicas) if topic.partitions else None
    return Replicas(topic.name, first, max([*topic.counts, topic.replicas]))


def _voters(entry: Entry | None) -> tuple[int, str] | None:
    if entry is None:
        return None
    count = len([voter for voter in entry.value.split(",") if voter.strip()])
    return count, f"{VOTERS} names {count} ({entry.file})"
