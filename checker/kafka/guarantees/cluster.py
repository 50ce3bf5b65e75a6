"""A cluster as its operator describes it: by flags, by files, and by a release's defaults.

What was read is told with what it means to the model, what was left at its default with its value,
and what means nothing by its number.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from checker.kafka.guarantees.config_files import Described, Entry, read_config
from checker.kafka.guarantees.kafka_keys import (
    BY_NAME,
    DEFAULT_NAMES,
    METADATA,
    RACK,
    READ_OTHERWISE,
    REBALANCE,
    REMOTE,
    REMOTE_KEYS,
    REPLICATION,
    ROLES,
    WITHOUT_MEANING,
    ZOOKEEPER,
    setting_of,
)
from checker.kafka.guarantees.releases import (
    Mode,
    Release,
    has_feature,
    release_named,
    rules_held_back,
)
from checker.kafka.guarantees.topics import Topic
from model.kafka.protocol import KAFKA
from model.kafka.racks import Racks, racks_within
from model.kafka.settings.eligible_replicas import ELR, ELR_FEATURE
from model.language.declare.history import version_of
from model.language.declare.settings import as_text, describe
from model.language.errors import UsageError, few_of, unknown_name

FIRST = "first.partition.replicas"

REPLICAS = 3
"""Replicas where nobody says how many."""

MOST = 5
"""Replicas that are searched at most."""

FLAG = "as asked"

NEW_CLUSTERS = "new clusters have it so, upgraded ones may not: see kafka-features describe"


@dataclass(frozen=True)
class Told:
    """One thing that the answer rests on: its value, where it is from, what it means."""

    name: str
    value: str
    origin: str
    means: str = ""


FIRST_TIERED = "3.6.0"


@dataclass(frozen=True)
class Cluster:
    """What is asked about, but for the faults.

    `settings` are those that were given; others are the release's: `read` and `defaults` tell, of
    what an operator may set. `ignored` are keys of the files that mean nothing to the model;
    `unused` are those that operators know to matter, and why they do not. `tiered`: the topic has
    remote segments.
    """

    release: Release
    replicas: int
    settings: Mapping[str, str]
    rebalances: bool
    read: tuple[Told, ...]
    defaults: tuple[Told, ...]
    ignored: tuple[str, ...] = ()
    unused: Mapping[str, str] = field(default_factory=dict)
    tiered: bool = False


def describe_cluster(
    kafka: str,
    files: Iterable[Path | Described] = (),
    settings: Mapping[str, str] | None = None,
    *,
    replicas: int | None = None,
    racks: str | None = None,
    mode: str | None = None,
    topic: str | None = None,
) -> Cluster:
    """The cluster that flags and files describe; `UsageError` in one line for what cannot be.

    In place of a file may stand what it says.
    """
    described = [each if isinstance(each, Described) else read_config(each) for each in files]
    chosen = entries_of(described, topic)
    release = release_named(kafka, mode or mode_of_keys(chosen))
    metadata = chosen.get(METADATA)
    held = rules_held_back(release, metadata.value) if metadata else {}
    flags = settings or {}
    remote = _remote(release, chosen, flags)
    given, read = _given(chosen.values(), {k: v for k, v in flags.items() if k not in REMOTE_KEYS})
    given = {**held, **given}
    about = next((t for d in described for t in d.topics.values() if topic in (None, t.name)), None)
    count, origin = _replicas(about, chosen, replicas)
    placed = _placed(racks, count)
    if placed is not None:
        given["broker.rack"] = placed
    if about is not None and len(about.counts) > 1 and about.replicas < count:
        given.setdefault(FIRST, str(about.replicas))
    _refuse_impossible(release, given, count)
    rebalance = chosen.get(REBALANCE)
    rack = chosen.get(RACK) if racks is None else None
    told = [*read.values()]
    told += [
        Told(e.key, e.value, e.file, READ_OTHERWISE[e.key])
        for e in (rebalance, metadata, rack)
        if e
    ]
    told.append(Told("replicas", str(count), origin))
    told += [] if about is None else _told_of(about, count, given)
    if placed is not None:
        told.append(Told("racks", placed, FLAG))
    told += remote
    known = {*BY_NAME, *READ_OTHERWISE, *(each.name for each in remote)}
    others = [key for key in chosen if key not in known]
    return Cluster(
        release, count, given, rebalance is None or rebalance.value.lower() != "false", tuple(told),
        tuple(_defaults(release, given, count)),
        tuple(key for key in others if key not in WITHOUT_MEANING),
        {key: WITHOUT_MEANING[key] for key in others if key in WITHOUT_MEANING}, bool(remote),
    )  # fmt: skip


def _remote(release: Release, chosen: Mapping[str, Entry], flags: Mapping[str, str]) -> list[Told]:
    """The keys of tiered storage, if the topic has it; `UsageError` where it cannot."""
    found = {key: (entry.value, entry.file) for key, entry in chosen.items() if key in REMOTE_KEYS}
    found |= {key: (value, FLAG) for key, value in flags.items() if key in REMOTE_KEYS}
    value, where = found.get(REMOTE, ("false", ""))
    if value.lower() not in ("true", "false"):
        raise UsageError(f"{REMOTE} cannot be {value!r}: valid are true, false")
    if value.lower() == "false":
        return []
    if version_of(release.asked) < version_of(FIRST_TIERED):
        raise UsageError(
            f"Kafka {release.asked} has no {REMOTE} ({where}): it begins with {FIRST_TIERED}"
        )
    return [Told(key, *about, REMOTE_KEYS[key]) for key, about in found.items()]


def entries_of(described: Sequence[Described], topic: str | None) -> dict[str, Entry]:
    """The entry of each key that files give for one topic and its brokers, the narrowest scope's.

    `UsageError` if it is not said which topic, or if two that matter differ.
    """
    entries = _of_topic([e for each in described for e in each.entries], described, topic)
    return {entry.key: entry for entry in _decided(entries)}


def _given(
    entries: Iterable[Entry], flags: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, Told]]:
    """The settings that files and flags give, and what is told of each: flags go first."""
    given: dict[str, str] = {}
    read: dict[str, Told] = {}
    known = describe(KAFKA.settings)
    found = [
        (entry.key, entry.value, entry.file)
        for entry in sorted(entries, key=lambda entry: entry.scope)
        if entry.key in BY_NAME
    ]
    for key, value, where in [*found, *((key, value, FLAG) for key, value in flags.items())]:
        try:
            name, wanted = (key, value) if key not in BY_NAME else setting_of(key, value)
            if name in WITHOUT_MEANING or name not in known:
                KAFKA.model({}, {name: wanted})  # which says so
            known[name].parse(wanted)
        except UsageError as error:
            raise UsageError(str(error) if where == FLAG else f"{where}: {error}") from None
        given[name] = wanted
        means = BY_NAME[key].means if key in BY_NAME else known[name].words
        read[name] = Told(key, value, where, means)
    return given, read


def _of_topic(
    entries: Sequence[Entry], described: Sequence[Described], topic: str | None
) -> list[Entry]:
    """The entries of one topic, and of no topic; `UsageError` if it is not said which."""
    names = sorted({e.topic for e in entries if e.topic} | {n for d in described for n in d.topics})
    if topic is not None and topic not in names:
        if not names:
            raise UsageError(f"--topic {topic}: no file describes a topic")
        raise unknown_name("topic in these files", topic, names)
    if topic is None and len(names) > 1:
        raise UsageError(
            f"the files describe several topics: choose one by --topic: {few_of(names)}"
        )
    return [entry for entry in entries if entry.topic in ("", topic or "".join(names))]


def _decided(entries: Iterable[Entry]) -> list[Entry]:
    """One entry a key, of the narrowest scope; `UsageError` if two that matter differ there."""
    found: dict[str, Entry] = {}
    for entry in entries:
        other = found.get(entry.key)
        if other is None or entry.scope > other.scope:
            found[entry.key] = entry
        elif (
            entry.scope == other.scope
            and entry.value != other.value
            and (entry.key in BY_NAME or entry.key in (REBALANCE, REPLICATION))
        ):
            if entry.file == other.file:
                raise UsageError(
                    f"{entry.file}: {entry.key} is there twice, {other.value} and {entry.value}"
                )
            raise UsageError(
                f"{entry.key} is {other.value} in {other.file} and {entry.value} in "
                f"{entry.file}: leave out one of the files"
            )
    return list(found.values())


def mode_of_keys(chosen: Container[str]) -> Mode | None:
    """Where the metadata are kept, as far as the keys say that brokers have."""
    if ROLES in chosen:
        return Mode.KRAFT
    return Mode.ZOOKEEPER if ZOOKEEPER in chosen else None


def _replicas(
    about: Topic | None, chosen: Mapping[str, Entry], asked: int | None
) -> tuple[int, str]:
    if about is not None:
        return _of_partitions(about, asked), FLAG if asked is not None else "kafka-topics"
    if asked is not None:
        return asked, FLAG
    if REPLICATION in chosen:
        entry = chosen[REPLICATION]
        if not entry.value.isascii() or not entry.value.isdecimal():
            raise UsageError(f"{entry.file}: {REPLICATION}={entry.value} is no number")
        return int(entry.value), entry.file
    return REPLICAS, "nothing says otherwise"


def _of_partitions(topic: Topic, asked: int | None) -> int:
    """How many replicas the partitions have that are asked about.

    A search begins with a leader and all replicas in sync, so `UsageError` for what is offline or
    moves; and where numbers differ, unless one of them is asked for.
    """
    for partition in topic.partitions:
        where = f"topic {topic.name}, {partition.words}"
        if partition.leader is None:
            raise UsageError(f"{where} is offline (Leader: none): ask again once it has a leader")
        if partition.moves:
            raise UsageError(f"{where} is being reassigned: ask again once that has ended")
    first = topic.partitions[0] if topic.partitions else None
    if first is not None and len(first.replicas) != topic.replicas:
        raise UsageError(
            f"topic {topic.name} has ReplicationFactor {topic.replicas}, and {first.words} has "
            f"{len(first.replicas)} replicas: give one whole output of kafka-topics --describe"
        )
    if asked is None and len(counts := topic.counts) > 1:
        numbers = " or ".join(map(str, counts))
        raise UsageError(
            f"partitions of topic {topic.name} have {numbers} replicas: choose by --replicas "
            f"{numbers}"
        )
    return topic.replicas if asked is None else asked


def _told_of(about: Topic, replicas: int, given: Mapping[str, str]) -> Iterator[Told]:
    """What is known of the topic's partitions that the search does not begin with."""
    for partition in about.partitions:
        if len(partition.replicas) == replicas and len(partition.isr) < replicas:
            yield Told(
                f"{partition.words} in sync", f"{len(partition.isr)} of {replicas}", "kafka-topics",
                "the search begins with all in sync, so count each missing one as a fault more",
            )  # fmt: skip
    if FIRST in given:
        yield Told(
            "replicas of the first partition", given[FIRST], "kafka-topics",
            "the controller counts them for min.insync.replicas (finding 0014)",
        )  # fmt: skip


def _placed(racks: str | None, replicas: int) -> str | None:
    """The model's value: from the word `spread` or `together`, or from the replicas' racks."""
    if racks is None or racks in (Racks.SPREAD, Racks.TOGETHER):
        return racks
    names = [name.strip() for name in racks.split(",")]
    if len(names) != replicas or not all(names):
        raise UsageError(
            f"--racks {racks}: write spread, together, or the racks of the {replicas} replicas, "
            "as in a,b,c"
        )
    numbers = [list(dict.fromkeys(names)).index(name) for name in names]
    for each in racks_within({"replicas": replicas}):
        if each.numbers(replicas) == numbers:
            return str(each)
    raise UsageError(
        f"--racks {racks}: of {replicas} replicas the model has a rack for each, or one for all; "
        "ask about a rack with several by so many --power-losses"
    )


def _refuse_impossible(release: Release, given: Mapping[str, str], replicas: int) -> None:
    if not 1 <= replicas <= MOST:
        raise UsageError(f"{replicas} replicas cannot be searched: valid are 1 to {MOST}")
    in_force = _in_force(release, given, replicas)
    least = int(in_force["min.insync.replicas"])
    if least > replicas and in_force["acks"] == "all" and not _caps_min_isr(release):
        raise UsageError(
            f"min.insync.replicas={least} is more than the {replicas} replicas: Kafka "
            f"{release.asked} then refuses every write with acks=all; valid are 1 to {replicas}"
        )
    if given.get(ELR) == "true" and not has_feature(release, ELR):
        raise UsageError(f"Kafka {release.asked} has no {ELR_FEATURE}: it begins with 4.0")


def _caps_min_isr(release: Release) -> bool:
    """A leader counts no more than the replicas for `min.insync.replicas` (KAFKA-15583, 3.7.0)."""
    return version_of(release.asked) >= version_of("3.7.0")


def min_isr_in_force(release: Release, given: Mapping[str, str], replicas: int) -> int:
    """The `min.insync.replicas` that a cluster goes by, asked for or by default."""
    return int(_in_force(release, given, replicas)["min.insync.replicas"])


def _in_force(release: Release, given: Mapping[str, str], replicas: int) -> dict[str, str]:
    return as_text(KAFKA.model({"replicas": replicas}, dict(given), release.preset).settings)


def _defaults(release: Release, given: Mapping[str, str], replicas: int) -> list[Told]:
    """The settings of operators that were left at the release's defaults."""
    values = _in_force(release, given, replicas)
    names = [name for name in DEFAULT_NAMES if name not in given]
    keys = [(BY_NAME[DEFAULT_NAMES[name]], values[name]) for name in names]

    def written(setting: str, value: str) -> str:
        return describe(KAFKA.settings)[setting].written_as(value).partition("=")[2]

    return [
        Told(
            key.name, key.default or written(key.setting, value),
            f"Kafka {release.asked}'s default", NEW_CLUSTERS if key.name == ELR_FEATURE else "",
        )
        for key, value in keys
        if key.name != "replica.selector.class" and has_feature(release, key.setting)
    ]  # fmt: skip
