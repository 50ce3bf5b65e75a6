"""Reads a running cluster: the only module that knows the calls of kafka-python's admin client.

Only requests that change nothing are sent, each with a limit of time. What fails is noted, and the
rest goes on: a cluster that is in trouble is the one that is asked about.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from kafka import errors
from kafka.admin import ConfigResource, KafkaAdminClient

from checker.kafka.guarantees.kafka_keys import AUTO_JOIN, BY_NAME, READ_OTHERWISE, TIERED
from checker.kafka.live.older import described_cluster, described_quorum
from checker.kafka.live.reading import NO_PERMISSION, Reading
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
from model.language.errors import LimitError, UsageError

_NOT_THEIRS = {ELR_FEATURE, "acks", "request.required.acks"}
KEYS = sorted({*BY_NAME, *READ_OTHERWISE, AUTO_JOIN, TIERED} - _NOT_THEIRS)
"""The settings that are asked for, of topics and of brokers: no secret is among them."""

_AT_ONCE = 200  # topics in a request
_PAGE = 2000  # partitions in a response


# --- the connection ------------------------------------------------------------------------------


@contextmanager
def connected(
    servers: list[str], options: Mapping[str, Any], seconds: float
) -> Iterator[KafkaAdminClient]:
    """An admin client; `UsageError` in one line if the cluster cannot be reached."""
    with _last_error() as said:
        try:
            client = KafkaAdminClient(
                bootstrap_servers=servers,
                client_id="highwater",
                request_timeout_ms=int(seconds * 1000),
                bootstrap_timeout_ms=int(seconds * 1000),
                **options,
            )
        except (errors.KafkaError, OSError, ValueError, AssertionError) as error:
            cause = why_unreachable(said[-1] if said else str(error))
            raise UsageError(f"cannot reach {', '.join(servers)}: {cause}") from None
        try:
            yield client
        finally:
            threading.Thread(target=client.close, daemon=True).start()


_CAUSES = {
    "ECONNREFUSED": "nothing listens there (connection refused)",
    "DNS Resolution": "that name has no address (DNS)",
    "'MetadataRequest'": "that is a controller's port, and no broker's",
    "RequestTimedOut": "no response as of Kafka: is it a broker's port for clients, and is "
    "security.protocol (--command-config) that of its listener?",
    "socket disconnected": "the connection is closed: is security.protocol (--command-config) that "
    "of the listener, and are user and password right?",
    "CERTIFICATE_VERIFY_FAILED": "its certificate is not trusted: ssl.truststore.location "
    "(--command-config) has to name its CA, and HOST has to be in the certificate",
    "[SSL": "no TLS there: is security.protocol (--command-config) that of its listener?",
}


def why_unreachable(said: str) -> str:
    """What the client said of a connection that failed, for people: in a clause, without objects.

    `said` is its log line; what is not known here is handed on.
    """
    known = (words for mark, words in _CAUSES.items() if mark in said)
    return next(known, re.sub(r"<Kafka\w+ \[.*?\]>: ", "", said)[:200])


@contextmanager
def _last_error() -> Iterator[list[str]]:
    """The client's logged errors, which say why it does not connect; nothing is printed."""
    said: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= logging.ERROR and "ootstrap" not in record.getMessage():
                said.append(" ".join(record.getMessage().split()))

    log, handler = logging.getLogger("kafka"), Handler()
    before = log.level, log.propagate
    log.setLevel(logging.ERROR)  # below it passwords are logged
    log.propagate = False
    log.addHandler(handler)
    try:
        yield said
    finally:
        log.removeHandler(handler)
        log.level, log.propagate = before


# --- what is read --------------------------------------------------------------------------------


def read_cluster(
    client: KafkaAdminClient,
    topic: str | None,
    seconds: float,
    left: Callable[[], float] = lambda: float("inf"),
    tell: Callable[[str], None] = lambda _: None,
) -> Snapshot:
    """All of a cluster, or of the topics that a pattern such as `pay*` matches.

    `seconds` limit each request, `left` says how many there are for all of it. `UsageError` if no
    topic matches a pattern, or the brokers are not told; `LimitError` if time ran out before.
    """
    reading = Reading(client, seconds, left, tell)
    tell("reading brokers and features")
    features, supported = _features(reading)
    told = reading.ask("brokers", partial(described_cluster, client))
    if told is None:
        words = f"the cluster does not tell its brokers: {reading.told[-1].why}"
        raise UsageError(words) if left() > 0 else LimitError(words)
    found = [_broker(each) for each in told["brokers"]]
    with_fenced = bool(found) and all(broker.fenced is not None for broker in found)
    topics = _topics(reading, topic)
    topics, reassignments_told = _reassigned(reading, topics)
    topics = _with_settings(reading, topics)
    brokers = [_asked(reading, broker) for broker in sorted(found, key=lambda b: b.id)]
    named = {each for topic in topics for p in topic.partitions for each in p.replicas}
    for number in sorted(named - {broker.id for broker in found}):
        reading.note("log directories and settings", "down, or not registered", number)
    tell("reading consumer groups and the quorum")
    groups = _groups(reading, [broker.id for broker in brokers if broker.release])
    quorum = _quorum(reading)
    return Snapshot(
        datetime.now(UTC).isoformat(timespec="seconds"), str(told.get("cluster_id") or ""),
        features, supported, with_fenced, tuple(brokers), tuple(topics), quorum,
        reassignments_told, reading.told, groups,
    )  # fmt: skip


def _features(reading: Reading) -> tuple[dict[str, int] | None, dict[str, int] | None]:
    """The finalized levels, and the highest that a broker has in its code."""
    told = reading.ask("features", reading.client.describe_features)
    if told is None:
        return None, None
    return (
        {name: each["finalized"][1] for name, each in told.items() if "finalized" in each},
        {name: each["supported"][1] for name, each in told.items() if "supported" in each},
    )


def _broker(told: Mapping[str, Any]) -> Broker:
    return Broker(
        told["broker_id"], told["host"], told["port"], told.get("rack"), told.get("is_fenced")
    )


def _asked(reading: Reading, broker: Broker) -> Broker:
    """The broker with what it tells of itself, if it is up."""
    if broker.fenced:
        reading.note("log directories and settings", "fenced", broker.id)
        return broker
    client, number = reading.client, broker.id
    reading.tell(f"reading broker {number}")
    everything = "release, log directories and settings"
    version = reading.ask(everything, lambda: client.get_broker_version_data(number), number)
    if version is None:
        return broker
    listed = reading.ask(
        "log directories", lambda: client.describe_log_dirs({}, [number])[0]["log_dirs"], number
    )
    if listed == []:
        reading.note("log directories", NO_PERMISSION, number)
    wanted = [ConfigResource("broker", str(number), dict.fromkeys(KEYS))]
    configs = reading.ask(
        "settings", lambda: client.describe_configs(wanted, config_filter="all"), number
    )
    settings = _settings((configs or {}).get("broker", {}).get(str(number), {}))
    if configs is not None and not settings:
        reading.note("settings", NO_PERMISSION, number)
    return replace(
        broker, release=".".join(map(str, version.broker_version[:2])), settings=settings,
        directories=tuple(map(_directory, listed)) if listed else None,
    )  # fmt: skip


def _directory(told: Mapping[str, Any]) -> Directory:
    code = told["error_code"]
    return Directory(told["log_dir"], errors.for_code(code).__name__ if code else "")


def _settings(told: Mapping[str, Mapping[str, Any]]) -> dict[str, Setting]:
    return {
        key: Setting(str(each["value"]), each["config_source"])
        for key, each in sorted(told.items())
        if each["value"] is not None
    }


def _topics(reading: Reading, pattern: str | None) -> list[Topic]:
    """The topics with their partitions, by pages; by one request in releases without these."""
    reading.tell("reading topics")
    names: list[str] = []
    if pattern is not None:
        known = reading.ask("names of topics", reading.client.list_topics) or []
        names = sorted(name for name in known if fnmatchcase(name, pattern))
        if not names:
            raise UsageError(f"--topic {pattern}: no topic that is visible here is called so")
    found: dict[str, list[Partition]] = {}
    refused = 0
    for page in _pages(reading, names):
        for topic in page:
            code = topic["error_code"]
            refused += bool(code) and issubclass(errors.for_code(code), errors.AuthorizationError)
            if not code:
                partitions = found.setdefault(topic["name"], [])
                partitions += map(_partition, topic["partitions"])
        count = sum(map(len, found.values()))
        reading.tell(f"reading topics: {count:,} partitions of {len(found):,} topics")
    if refused:
        reading.note(f"partitions of {refused:,} topics", NO_PERMISSION)
    if not found:
        reading.note("topics", "there are none, or there is no permission to see any")
    return [
        Topic(name, tuple({p.number: p for p in sorted(each, key=lambda p: p.number)}.values()))
        for name, each in sorted(found.items())
    ]


def _pages(reading: Reading, names: list[str]) -> Iterator[list[dict[str, Any]]]:
    """Topics page by page; one that is cut off begins the next page."""
    client, seen = reading.client, set[tuple[Any, ...]]()
    cursor: dict[str, Any] | None = None
    chunks = [names[n : n + _AT_ONCE] for n in range(0, len(names), _AT_ONCE)] or [[]]
    while chunks:
        page = partial(client.describe_topic_partitions, chunks[0], _PAGE, cursor)
        told = reading.ask("ELR and last known ELR", page)
        if told is None:
            if not seen:
                yield reading.ask("topics", lambda: client.describe_topics(names or None)) or []
            else:
                reading.note("the rest of the topics", "see above")
            return
        yield told["topics"]
        cursor = told["next_cursor"]
        place = (len(chunks), *(cursor or {}).values())
        if cursor is None:
            chunks.pop(0)
        elif place in seen:
            reading.note("the rest of the topics", "the broker repeats itself")
            return
        seen.add(place)


def _partition(told: Mapping[str, Any]) -> Partition:
    leader = told["leader_id"]
    return Partition(
        told["partition_index"], None if leader < 0 else leader, *(
            tuple(told.get(key) or ())
            for key in (
                "replica_nodes", "isr_nodes", "eligible_leader_replicas", "last_known_elr",
                "offline_replicas",
            )
        ),
    )  # fmt: skip


def _reassigned(reading: Reading, topics: Iterable[Topic]) -> tuple[list[Topic], bool]:
    """The topics with the reassignments that are under way, and whether these were told."""
    reading.tell("reading reassignments")
    told = reading.ask("reassignments", reading.client.list_partition_reassignments)
    moved = {(tp.topic, tp.partition): each for tp, each in (told or {}).items()}

    def of(topic: Topic, partition: Partition) -> Partition:
        each = moved.get((topic.name, partition.number))
        if each is None:
            return partition
        adding, removing = each["adding_replicas"], each["removing_replicas"]
        return replace(partition, adding=tuple(adding), removing=tuple(removing))

    return [
        replace(topic, partitions=tuple(of(topic, each) for each in topic.partitions))
        for topic in topics
    ], told is not None


def _with_settings(reading: Reading, topics: Sequence[Topic]) -> list[Topic]:
    """The topics with their settings, as some broker has them in force."""
    client, found = reading.client, dict[str, dict[str, Setting]]()
    for start in range(0, len(topics), _AT_ONCE):
        names = [topic.name for topic in topics[start : start + _AT_ONCE]]
        reading.tell(f"reading settings of topics: {start:,} of {len(topics):,}")
        wanted = [ConfigResource("topic", name, dict.fromkeys(KEYS)) for name in names]

        page = partial(client.describe_configs, wanted, config_filter="all")
        told = reading.ask("settings of topics", page)
        if told is None:
            break
        for name, each in told.get("topic", {}).items():
            found[name] = _settings(each)
    silent = sum(not found.get(topic.name) for topic in topics)
    if silent and found:
        reading.note(f"settings of {silent:,} of {len(topics):,} topics", NO_PERMISSION)
    return [replace(topic, settings=found.get(topic.name, {})) for topic in topics]


def _groups(reading: Reading, brokers: Iterable[int]) -> dict[str, int] | None:
    """The consumer groups of each type: a broker tells those that it coordinates."""
    found: dict[str, int] = {}
    whole = True
    for number in brokers:
        page = partial(reading.client.list_groups, [number])
        told = reading.ask("consumer groups", page, number)
        whole = whole and told is not None
        for each in told or ():
            kind = (each.get("group_type") or "classic").lower()
            found[kind] = found.get(kind, 0) + 1
    return found if whole else None


def _quorum(reading: Reading) -> Quorum | None:
    told = reading.ask("the quorum", partial(described_quorum, reading.client))
    partitions = [p for topic in (told or {}).get("topics", ()) for p in topic["partitions"]]
    if not partitions:
        return None
    (first, *_) = partitions
    if first.get("error"):
        reading.note("the quorum", NO_PERMISSION if "uthoriz" in first["error"] else "an error")
        return None
    return Quorum(
        first["leader_id"], first["leader_epoch"], first["high_watermark"],
        tuple(
            Voter(v["replica_id"], v["log_end_offset"], v.get("last_caught_up_timestamp") or -1)
            for v in first["current_voters"]
        ),
    )  # fmt: skip
