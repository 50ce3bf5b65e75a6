"""An application that somebody asks about, as choices of the models of clients and transactions.

What it writes in transactions is `kafka_transactions`, what its producer sends `kafka_producer`,
what it reads in a group `kafka_group`: one facet each. Brokers and clients may be of two releases:
each rule is that of the side that has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from checker.kafka.guarantees import application_keys as keys
from checker.kafka.guarantees.cluster import FLAG, Told
from checker.kafka.guarantees.config_files import Entry, Scope, read_config
from checker.kafka.guarantees.facets import (
    GROUP,
    PRODUCER,
    STREAMS,
    TRANSACTIONAL_PRODUCER,
    TRANSACTIONS,
    Facet,
    at_brokers,
)
from model.kafka.releases import SERIES, is_of_a_series
from model.language.declare.history import version_of
from model.language.errors import UsageError

EXACTLY_ONCE_SINCE, VERSION_2_SINCE, CONSUMER_SINCE = map(version_of, ("2.6", "4.0", "4.0"))


@dataclass(frozen=True)
class Stated:
    """A promise that is not searched: whether a setting breaks it, and in words why.

    `is_kept` is `None` where nothing judges it. `instead`: with what it is kept.
    """

    about: str
    is_kept: bool | None
    words: str
    instead: str = ""


@dataclass(frozen=True)
class Application:
    """What is asked about, but for the faults.

    `read` and `assumed` are what files and flags say and leave out; `ignored` are keys without
    meaning, `unused` those that people know to matter, and why they do not.
    """

    brokers: str
    clients: str
    words: str
    facets: tuple[Facet, ...]
    stated: tuple[Stated, ...]
    read: tuple[Told, ...]
    assumed: tuple[Told, ...]
    ignored: tuple[str, ...] = ()
    unused: Mapping[str, str] = field(default_factory=dict)


def describe_application(
    kafka: str,
    files: Sequence[Path] = (),
    settings: Mapping[str, str] | None = None,
    clients: str | None = None,
) -> Application:
    """The application that a release of brokers, its own files and flags describe.

    `clients` is the release of its clients, by default the brokers'. `UsageError` in one line for
    what there is not, and for what Kafka refuses.
    """
    brokers = _release(kafka)
    mine = _release(clients or kafka)
    found = _entries(files, settings or {})
    given = {key: entry.value for key, entry in found.items() if key in keys.MEANT}
    guarantee = _guarantee(given, brokers, mine)
    transactional = guarantee == keys.EXACTLY_ONCE or keys.TRANSACTIONAL_ID in given
    if transactional:
        _refuse_what_transactions_forbid(given)
    version = _transaction_version(given, brokers, mine)
    facets, assumed = [], []
    if transactional:
        facets.append(_of_transactions(given, brokers, mine, version.value))
        assumed += [version] if keys.VERSION not in given or version.means else []
        facets.append(_of_producer(TRANSACTIONAL_PRODUCER, given, brokers, mine))
    elif guarantee or not _only_reads(given):
        facets.append(_of_producer(PRODUCER, given, brokers, mine))
    if guarantee == keys.EXACTLY_ONCE:
        facets.append(at_brokers(STREAMS, brokers, mine, {}))
    reads = bool(guarantee) or bool(_READS & given.keys())
    if reads and guarantee != keys.EXACTLY_ONCE:
        facets.append(_of_group(given, brokers, mine, by_streams=bool(guarantee)))
    isolation = given.get(keys.ISOLATION, keys.COMMITTED)
    if transactional and keys.ISOLATION not in given:
        assumed.append(Told(keys.ISOLATION, isolation, "of those who read what is written"))
    return Application(
        brokers, mine, _words(guarantee, transactional), tuple(facets),
        tuple(_stated(transactional, isolation)),
        tuple(Told(key, found[key].value, found[key].file, _means(key)) for key in given),
        tuple(assumed),
        tuple(key for key in found if key not in keys.MEANT and key not in keys.WITHOUT_MEANING),
        {key: keys.WITHOUT_MEANING[key] for key in found if key in keys.WITHOUT_MEANING},
    )  # fmt: skip


_READS = {
    keys.ISOLATION,
    keys.AUTO_COMMIT,
    keys.GROUP_ID,
    keys.PROTOCOL,
    keys.ASSIGNOR,
    "auto.offset.reset",
}


def _only_reads(given: Mapping[str, str]) -> bool:
    """Nothing of a producer is configured, and something of a consumer is."""
    return bool(_READS & given.keys()) and not {*keys.OF_PRODUCER} & given.keys()


def _release(text: str) -> str:
    asked = text.strip().removeprefix("kafka-")
    if not is_of_a_series(asked) or version_of(asked) < version_of("0.11"):
        raise UsageError(
            f"there is no Kafka {text} with transactions here: valid are releases of 0.11 to "
            f"{SERIES[-1]}"
        )
    return asked


def _entries(files: Iterable[Path], flags: Mapping[str, str]) -> dict[str, Entry]:
    """Each key without its prefix; flags go before files. `UsageError` if two files differ."""
    found: dict[str, Entry] = {}
    for path in files:
        for entry in read_config(path).entries:
            key = keys.plain(entry.key)
            other = found.setdefault(key, entry)
            if other.value != entry.value and key in keys.MEANT:
                raise UsageError(
                    f"{key} is {other.value} in {other.file} and {entry.value} in {entry.file}: "
                    "leave out one of them"
                )
    for key, value in flags.items():
        name = keys.plain(key)
        if name not in keys.MEANT:
            raise UsageError(
                f"{key} is no key of an application that is known here: valid are "
                f"{', '.join(sorted(keys.MEANT))}"
            )
        found[name] = Entry(name, value, Scope.STATIC, FLAG)
    return found


def _guarantee(given: Mapping[str, str], brokers: str, clients: str) -> str:
    """The guarantee of Streams; empty for an application without it."""
    value = given.get(keys.GUARANTEE, "")
    if not value and keys.APPLICATION_ID in given:
        value = keys.AT_LEAST_ONCE  # the default
    if value == "exactly_once_beta" and version_of(clients) < version_of("4.0"):
        value = keys.EXACTLY_ONCE
    if value and value not in keys.GUARANTEES:
        valid = ", ".join(keys.GUARANTEES)
        raise UsageError(f"{keys.GUARANTEE} cannot be {value!r}: valid are {valid}")
    oldest = min(version_of(brokers), version_of(clients))
    if value == keys.EXACTLY_ONCE and oldest < EXACTLY_ONCE_SINCE:
        raise UsageError(f"{keys.GUARANTEE}={value} begins with 2.6 (KIP-447)")
    return value


def _refuse_what_transactions_forbid(given: Mapping[str, str]) -> None:
    """As ProducerConfig does: transactions need idempotence, and that needs the rest."""
    wrong = {
        keys.IDEMPOTENCE: given.get(keys.IDEMPOTENCE, "true").lower() != "true",
        "acks": given.get("acks", "all") not in ("all", "-1"),
        "retries": given.get("retries", "1") == "0",
    }
    for key, is_wrong in wrong.items():
        if is_wrong:
            raise UsageError(f"{key}={given[key]}: Kafka refuses it of a transactional producer")


def _transaction_version(given: Mapping[str, str], brokers: str, clients: str) -> Told:
    """The version that counts, and why it is not what is configured."""
    value = given.get(keys.VERSION, "")
    if value not in ("", "0", "1", "2"):
        raise UsageError(f"{keys.VERSION} cannot be {value!r}: valid are 0, 1, 2")
    if version_of(brokers) < VERSION_2_SINCE:
        if value == "2":
            raise UsageError(f"{keys.VERSION}=2: Kafka {brokers} has no such version, 4.0 has")
        return Told(keys.VERSION, "0", f"Kafka {brokers} has no other")
    if version_of(clients) < VERSION_2_SINCE:
        return Told(keys.VERSION, "0", f"clients of {clients} know no other", "for this producer")
    if not value:
        return Told(keys.VERSION, "2", "a new cluster's; one that was upgraded has 0 until raised")
    return Told(keys.VERSION, "2" if value == "2" else "0", "as given")


def _of_transactions(given: Mapping[str, str], brokers: str, clients: str, version: str) -> Facet:
    chosen = {key: given[key] for key in keys.OF_TRANSACTIONS if key in given}
    chosen[keys.VERSION] = version
    can_rise = min(version_of(brokers), version_of(clients)) >= VERSION_2_SINCE and version != "2"
    return at_brokers(TRANSACTIONS, brokers, clients, chosen, features=can_rise)


def _of_producer(kind: Facet, given: Mapping[str, str], brokers: str, clients: str) -> Facet:
    chosen = {key: given[key] for key in keys.OF_PRODUCER if key in given}
    if kind is TRANSACTIONAL_PRODUCER:
        chosen |= {"acks": "all", keys.IDEMPOTENCE: "true"}
        chosen.setdefault("retries", "2147483647")
    return at_brokers(kind, brokers, clients, chosen)


def _of_group(given: Mapping[str, str], brokers: str, clients: str, *, by_streams: bool) -> Facet:
    chosen = {}
    if by_streams:
        chosen["auto.offset.reset"] = "earliest"  # of Streams' consumers, unless it says otherwise
    else:
        chosen["auto.offset.reset"] = "latest"  # the consumer's default
    if "auto.offset.reset" in given:
        chosen["auto.offset.reset"] = given["auto.offset.reset"]
    if keys.ASSIGNOR in given:
        first = given[keys.ASSIGNOR].split(",")[0].strip().rpartition(".")[2]
        if first in keys.ASSIGNORS:
            chosen[keys.ASSIGNOR] = keys.ASSIGNORS[first]
    protocol = given.get(keys.PROTOCOL, "classic").lower()
    if protocol == "consumer":
        if min(version_of(brokers), version_of(clients)) < CONSUMER_SINCE:
            raise UsageError(f"{keys.PROTOCOL}=consumer is modelled from 4.0 on")
    elif protocol != "classic":
        raise UsageError(f"{keys.PROTOCOL} cannot be {protocol!r}: valid are classic, consumer")
    chosen[keys.PROTOCOL] = protocol
    return at_brokers(GROUP, brokers, clients, chosen)


def _words(guarantee: str, transactional: bool) -> str:
    if guarantee:
        return f"Kafka Streams with {guarantee}"
    return "a transactional producer" if transactional else "a producer or consumer"


def _stated(transactional: bool, isolation: str) -> Iterable[Stated]:
    if isolation not in (keys.COMMITTED, keys.UNCOMMITTED):
        valid = f"{keys.COMMITTED}, {keys.UNCOMMITTED}"
        raise UsageError(f"{keys.ISOLATION} cannot be {isolation!r}: valid are {valid}")
    if transactional and isolation == keys.UNCOMMITTED:
        yield Stated(
            "aborted records, to consumers", False,
            f"{keys.ISOLATION}={isolation} shows what is aborted, without any fault",
            f"{keys.ISOLATION}={keys.COMMITTED}",
        )  # fmt: skip


def _means(key: str) -> str:
    return keys.MEANS.get(key, "")
