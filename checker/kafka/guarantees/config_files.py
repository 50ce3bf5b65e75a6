"""Kafka's own formats, read as they are: properties files, and what its tools print of topics.

A real file has hundreds of keys: nothing is judged here, every key is handed on with the place that
it was read at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import javaproperties

from model.language.errors import UsageError

MAX_BYTES = 10_000_000
"""Longer files are no configuration."""


class Scope(IntEnum):
    """Whose a value is; a later one goes before those above it."""

    STATIC = 0  # a properties file
    CLUSTER = 1  # kafka-configs: the default of all brokers
    BROKER = 2  # kafka-configs: one broker
    TOPIC = 3  # kafka-configs or kafka-topics: the topic


@dataclass(frozen=True)
class Entry:
    """One key with its value: whose, and from which file."""

    key: str
    value: str
    scope: Scope
    file: str
    topic: str = ""


@dataclass(frozen=True)
class Described:
    """What a file says: configuration, and the numbers of replicas of its topics by their names."""

    entries: tuple[Entry, ...]
    replicas: Mapping[str, int] = field(default_factory=dict)


_SECTION = re.compile(r"(?:Dynamic|All|Default) configs for (topic|broker|brokers)\b *(.*?) *are:")
_CONFIG = re.compile(r"\s+(?P<key>\S+?)=(?P<value>.*?) sensitive=\w+ synonyms=\{.*\}\s*")
_TOPIC = re.compile(r"Topic: ?(?P<name>\S+)\s.*ReplicationFactor: ?(?P<factor>\d+)")
_KEY = re.compile(r"[A-Za-z][\w.-]*")
_CONFIGS = re.compile(r"\bConfigs: ?(?P<configs>\S*)")


def read_config(path: Path) -> Described:
    """A properties file, or what `kafka-configs --describe` or `kafka-topics --describe` printed.

    `UsageError` in one line if it is neither.
    """
    text = _text(path)
    lines = text.splitlines()
    if any(_SECTION.match(line) for line in lines):
        return Described(tuple(_of_kafka_configs(lines, path)))
    if any(_TOPIC.match(line) for line in lines):
        return _of_kafka_topics(lines, path)
    try:
        found = javaproperties.loads(text)
    except (javaproperties.InvalidUEscapeError, ValueError) as error:
        raise UsageError(f"{path}: {error}") from None
    if not any(value.strip() and _KEY.fullmatch(key) for key, value in found.items()):
        raise UsageError(
            f"{path} is no configuration: valid are properties files, and what kafka-configs "
            "--describe or kafka-topics --describe prints"
        )
    return Described(tuple(Entry(k, v.strip(), Scope.STATIC, str(path)) for k, v in found.items()))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    if len(content) > MAX_BYTES:
        raise UsageError(f"{path} has more than {MAX_BYTES:,} bytes: it is no configuration")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: {error}") from error


def _of_kafka_configs(lines: Iterable[str], path: Path) -> Iterator[Entry]:
    scope, topic = Scope.CLUSTER, ""
    for line in lines:
        section = _SECTION.match(line)
        if section is not None:
            kind, name = section[1], section[2]
            scope = {"topic": Scope.TOPIC, "broker": Scope.BROKER}.get(kind, Scope.CLUSTER)
            topic = name if scope is Scope.TOPIC else ""
            continue
        config = _CONFIG.fullmatch(line)
        if config is not None:
            yield Entry(config["key"], config["value"].strip(), scope, str(path), topic)
        elif line.strip():
            raise UsageError(
                f"{path}: {line.strip()[:60]!r} is no line of kafka-configs --describe"
            )


def _of_kafka_topics(lines: Iterable[str], path: Path) -> Described:
    entries: list[Entry] = []
    replicas: dict[str, int] = {}
    for line in lines:
        topic = _TOPIC.match(line)
        if topic is None:
            continue  # its partitions
        name = topic["name"]
        replicas[name] = int(topic["factor"])
        configs = _CONFIGS.search(line)
        listed = re.split(r",(?=[\w.]+=)", configs["configs"]) if configs is not None else []
        for part in filter(None, listed):
            key, _, value = part.partition("=")
            entries.append(Entry(key, value, Scope.TOPIC, str(path), name))
    return Described(tuple(entries), replicas)
