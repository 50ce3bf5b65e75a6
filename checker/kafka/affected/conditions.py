"""What must be so for a bug to concern a cluster, as far as configuration can say it.

Each condition has a name, by which the catalogue asks for it; words for a table; where to look if
the files do not say; and a function from what is known to yes, no, or not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from checker.kafka.affected.facts import BROKER, CONSUMER, PRODUCER, Facts
from checker.kafka.guarantees.config_files import Entry
from checker.kafka.guarantees.kafka_keys import AUTO_JOIN, LEVEL, TIERED, VOTERS
from checker.kafka.guarantees.releases import Mode, named_mode
from model.kafka.settings.eligible_replicas import ELR_FEATURE
from model.language.declare.history import has, version_of
from model.language.errors import UsageError

ELR_SINCE = version_of("4.0")
SHARE_FEATURE = "share.version"


@dataclass(frozen=True)
class Held:
    """Whether a condition holds, `None` if that is not known; and what says so."""

    is_so: bool | None
    because: str = ""


UNKNOWN = Held(None)


@dataclass(frozen=True)
class Condition:
    """`words` complete "needs"; `look` says where it is to be seen on a cluster."""

    words: str
    look: str
    holds: Callable[[Facts], Held]
    keys: tuple[str, ...] = ()


def _of_key(
    key: str, wanted: Callable[[str], bool], kind: str = "", default: str | None = None
) -> Callable[[Facts], Held]:
    """By the values of a key: yes if one is as wanted, no if all are told, and none is.

    By Kafka's default, where a file of that kind leaves it out.
    """

    def holds(facts: Facts) -> Held:
        told = facts.values.get(key, ())
        if wanting := [entry for entry in told if wanted(entry.value)]:
            return Held(True, "; ".join(map(_said, wanting)))
        if key in facts.unsaid:
            return UNKNOWN
        if told:
            return Held(False, "; ".join(map(_said, told)))
        if default is not None and kind in facts.kinds:
            return Held(wanted(default), f"{key} is left out, so it is {default}")
        return UNKNOWN

    return holds


def _said(entry: Entry) -> str:
    return f"{entry.key}={entry.value} ({entry.file})"


def _same(value: str) -> Callable[[str], bool]:
    return lambda text: text.strip().lower() == value


def _elr(is_on: bool) -> Callable[[Facts], Held]:
    by_key = _of_key(ELR_FEATURE, _same("1"))

    def holds(facts: Facts) -> Held:
        found = Held(False, "there is no ELR before 4.0") if facts.version < ELR_SINCE else (
            by_key(facts)
        )  # fmt: skip
        return found if is_on or found.is_so is None else Held(not found.is_so, found.because)

    return holds


def _elr_to_come(facts: Facts) -> Held:
    """Off, in a release in which it may be switched on."""
    found = _elr(False)(facts)
    return Held(False, found.because) if facts.version < ELR_SINCE else found


def _mode(mode: Mode) -> Callable[[Facts], Held]:
    def holds(facts: Facts) -> Held:
        if facts.mode is None:
            return UNKNOWN
        is_so = facts.mode is mode
        return Held(is_so, "" if is_so else f"the cluster is with {named_mode(facts.mode)}")

    return holds


def _kraft_version(level: str) -> Callable[[Facts], Held]:
    """As finalized; configured voters are level 0, where nothing says otherwise."""

    def holds(facts: Facts) -> Held:
        if facts.mode is Mode.ZOOKEEPER:
            return Held(False, "the cluster is with ZooKeeper")
        if facts.version < version_of("3.9"):
            return Held(level == "0", f"{LEVEL} 1 begins with 3.9")
        if (entry := facts.entry(LEVEL)) is not None:
            return Held(entry.value == level, _said(entry))
        if (entry := facts.entry(VOTERS)) is not None and facts.version < version_of("4.1"):
            return Held(level == "0", f"{VOTERS} is set ({entry.file})")
        return UNKNOWN  # from 4.1 on a quorum with configured voters may have been raised

    return holds


def _one_voter(facts: Facts) -> Held:
    if facts.mode is Mode.ZOOKEEPER:
        return Held(False, "the cluster is with ZooKeeper")
    if facts.voters is None:
        return UNKNOWN
    count, because = facts.voters
    return Held(count == 1, because)


def _several_directories(facts: Facts) -> Held:
    counts: dict[int, Entry] = {}
    for entry in facts.directories:
        counts.setdefault(len([d for d in entry.value.split(",") if d.strip()]), entry)
    most = max(counts, default=0)
    if most < 2 and not facts.all_directories:
        return UNKNOWN
    if not counts:
        return Held(False, "log.dirs is left out") if BROKER in facts.kinds else UNKNOWN
    return Held(most > 1, f"{counts[most].key} names {most} ({counts[most].file})")


def _first_partition_smaller(facts: Facts) -> Held:
    told = [(each.first, each.most, each.topic) for each in facts.replicas if each.first]
    if not told:
        return UNKNOWN
    first, most, topic = next((each for each in told if each[0] < each[1]), told[0])
    whose = f"partition 0 of {topic}" if first < most or len(told) == 1 else (
        f"partition 0 of each topic, such as {topic},"
    )  # fmt: skip
    return Held(first < most, f"{whose} has {first} of {most} replicas")


def _replicas(least: int) -> Callable[[Facts], Held]:
    """Taken for granted where nothing says otherwise."""

    def holds(facts: Facts) -> Held:
        if not facts.replicas:
            return Held(True, "assumed")
        largest = max(facts.replicas, key=lambda each: each.most)
        return Held(largest.most >= least, f"topic {largest.topic} has {largest.most}")

    return holds


def _min_isr(least: int) -> Callable[[Facts], Held]:
    return _of_key("min.insync.replicas", lambda text: _number(text) >= least, BROKER, "1")


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise UsageError(f"min.insync.replicas cannot be {text!r}: valid are whole numbers from 1")
    return int(text)


def _unclean(facts: Facts) -> Held:
    default = "true" if facts.version < version_of("0.11.0") else "false"
    return _of_key("unclean.leader.election.enable", _same("true"), BROKER, default)(facts)


def _idempotence(facts: Facts) -> Held:
    on = has(facts.version, tuple(map(version_of, ("3.0.1", "3.1.1", "3.2.0"))))
    default = str(on).lower() if facts.clients_told else None
    return _of_key("enable.idempotence", _same("true"), PRODUCER, default)(facts)


def _idempotence_left_out(facts: Facts) -> Held:
    entry = facts.entry("enable.idempotence")
    if entry is not None:
        return Held(False, f"enable.idempotence={entry.value} ({entry.file})")
    return Held(True, "enable.idempotence is left out") if PRODUCER in facts.kinds else UNKNOWN


def _consumer_protocol(facts: Facts) -> Held:
    if facts.clients_told and facts.version < version_of("3.7"):
        return Held(False, "it begins with 3.7")
    return _of_key("group.protocol", _same("consumer"), CONSUMER, "classic")(facts)


def _share_groups(facts: Facts) -> Held:
    """No configuration says whether there is one, only that there can be none."""
    if facts.version < version_of("4.1"):
        return Held(False, "they begin with 4.1")
    entry = facts.entry(SHARE_FEATURE)
    return Held(False, _said(entry)) if entry is not None and entry.value == "0" else UNKNOWN


def _commits_without_epoch(facts: Facts) -> Held:
    """No configuration says it; consumers before 2.3 name none."""
    old = facts.clients_told and facts.version < version_of("2.3")
    return Held(True, f"consumers of {facts.asked} name none") if old else UNKNOWN


def _reads_from_followers(value: str) -> bool:
    return not value.endswith("LeaderSelector")


_FEATURES = "`kafka-features.sh describe`"
_REPLICAS = "Replicas in `kafka-topics.sh --describe`"
_CONSUMERS = "the consumers' configuration"
_PRODUCERS = "the producers' configuration"
_SELECTOR = "replica.selector.class"
_IN_FLIGHT = "max.in.flight.requests.per.connection"
_ASSIGNOR = "partition.assignment.strategy"
_LEADER = "org.apache.kafka.common.replica.LeaderSelector"
_RANGE = "org.apache.kafka.clients.consumer.RangeAssignor"

CONDITIONS: Mapping[str, Condition] = {
    "elr": Condition(
        "ELR on", f"{ELR_FEATURE} in {_FEATURES}; new clusters of 4.1 and later have it",
        _elr(True), (ELR_FEATURE,),
    ),
    "elr_off": Condition("ELR off", f"{ELR_FEATURE} in {_FEATURES}", _elr(False), (ELR_FEATURE,)),
    "elr_to_come": Condition(
        "ELR off, and switched on later", f"{ELR_FEATURE} in {_FEATURES}", _elr_to_come,
        (ELR_FEATURE,),
    ),
    "kraft": Condition(
        "KRaft", "whether `process.roles` is set, or say it by --mode", _mode(Mode.KRAFT)
    ),
    "kraft_version_0": Condition(
        "`kraft.version` 0", f"{LEVEL} in {_FEATURES}", _kraft_version("0"), (LEVEL, VOTERS)
    ),
    "kraft_version_1": Condition(
        "`kraft.version` 1", f"{LEVEL} in {_FEATURES}", _kraft_version("1"), (LEVEL, VOTERS)
    ),
    "one_voter": Condition(
        "one voter", "CurrentVoters in `kafka-metadata-quorum.sh describe --status`", _one_voter,
        (VOTERS,),
    ),
    "auto_join": Condition(
        "auto join", f"{AUTO_JOIN} in the controllers' configuration",
        _of_key(AUTO_JOIN, _same("true"), BROKER, "false"), (AUTO_JOIN,),
    ),
    "several_directories": Condition(
        "JBOD", "`log.dirs` of the brokers", _several_directories, ("log.dirs",)
    ),
    "files_apart": Condition(
        "a file system that syncs files apart",
        "the file system of `log.dirs`: ext4 and XFS keep the order of files",
        lambda facts: UNKNOWN,
    ),
    "follower_reads": Condition(
        "reads from followers", f"{_SELECTOR} of the brokers",
        _of_key(_SELECTOR, _reads_from_followers, BROKER, _LEADER), (_SELECTOR,),
    ),
    "first_partition_smaller": Condition(
        "partition 0 with fewer replicas", _REPLICAS, _first_partition_smaller
    ),
    "replicas_3": Condition("three replicas", _REPLICAS, _replicas(3)),
    "min_isr_2": Condition(
        "`min.insync.replicas` 2", "min.insync.replicas in `kafka-configs.sh --describe --all`",
        _min_isr(2),
        ("min.insync.replicas",),
    ),
    "unclean": Condition(
        "unclean elections", "unclean.leader.election.enable of brokers and topics", _unclean,
        ("unclean.leader.election.enable",),
    ),
    "tiered": Condition(
        "tiered storage", f"{TIERED} of the brokers",
        _of_key(TIERED, _same("true"), BROKER, "false"), (TIERED,),
    ),
    "consumer_protocol": Condition(
        "`group.protocol=consumer`", "`kafka-groups.sh --list`: type Consumer",
        _consumer_protocol, ("group.protocol",),
    ),
    "share_groups": Condition(
        "share groups", "`kafka-groups.sh --list`: type Share", _share_groups, (SHARE_FEATURE,)
    ),
    "sticky": Condition(
        "a sticky assignor", f"{_ASSIGNOR} in {_CONSUMERS}",
        _of_key(_ASSIGNOR, lambda text: "Sticky" in text, CONSUMER, _RANGE), (_ASSIGNOR,),
    ),
    "cooperative": Condition(
        "the cooperative assignor", f"{_ASSIGNOR} in {_CONSUMERS}",
        _of_key(_ASSIGNOR, lambda text: "CooperativeSticky" in text, CONSUMER, _RANGE),
        (_ASSIGNOR,),
    ),
    "latest": Condition(
        "`auto.offset.reset=latest`", f"auto.offset.reset in {_CONSUMERS}",
        _of_key("auto.offset.reset", _same("latest"), CONSUMER, "latest"), ("auto.offset.reset",),
    ),
    "commits_without_epoch": Condition(
        "commits without a leader epoch",
        "what applications commit: `new OffsetAndMetadata(offset)` names no leader epoch",
        _commits_without_epoch,
    ),
    "idempotent": Condition(
        "idempotence", f"enable.idempotence in {_PRODUCERS}", _idempotence, ("enable.idempotence",)
    ),
    "idempotence_left_out": Condition(
        "idempotence by default", f"enable.idempotence in {_PRODUCERS}", _idempotence_left_out,
        ("enable.idempotence",),
    ),
    "transactional": Condition(
        "transactions", f"transactional.id in {_PRODUCERS}",
        _of_key("transactional.id", lambda text: bool(text.strip()), PRODUCER, ""),
        ("transactional.id",),
    ),
    "one_in_flight": Condition(
        "one request in flight", f"{_IN_FLIGHT} in {_PRODUCERS}",
        _of_key(_IN_FLIGHT, _same("1"), PRODUCER, "5"),
        (_IN_FLIGHT,),
    ),
}  # fmt: skip

KEYS = tuple(dict.fromkeys(key for each in CONDITIONS.values() for key in each.keys))
"""Keys of Kafka's that decide a condition."""
