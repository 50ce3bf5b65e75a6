"""Kafka's own formats, read as they are: properties files, and what its tools print.

A real file has hundreds of keys: nothing is judged here, every key is handed on with the place that
it was read at. A text that is none of these formats is refused: who is answered with defaults in
its place takes them for an answer about the cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import javaproperties

from checker.core.files import read_bounded
from checker.kafka.guarantees.kafka_keys import BY_NAME, OTHER_KEYS, READ_OTHERWISE
from checker.kafka.guarantees.topics import Topic, is_of_a_topic, read_topics
from model.kafka.settings import KafkaSettings
from model.kafka.settings.eligible_replicas import ELR_FEATURE
from model.language.errors import UsageError

MAX_BYTES = 10_000_000
"""Longer files are no configuration."""


class Scope(IntEnum):
    """Whose a value is; a later one goes before those above it."""

    STATIC = 0  # a properties file
    CLUSTER = 1  # kafka-configs: the default of all brokers; kafka-features
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
    """What a file says: configuration, and its topics by their names."""

    entries: tuple[Entry, ...]
    topics: Mapping[str, Topic] = field(default_factory=dict)


_SECTION = re.compile(r"(?:Dynamic|All|Default) configs for (topic|broker|brokers)\b *(.*?) *are:")
_CONFIG = re.compile(r"\s+(?P<key>\S+?)=(?P<value>.*?) sensitive=\w+ synonyms=\{.*\}\s*")
_FEATURE = re.compile(r"Feature: ?(?P<name>\S+)\s.*FinalizedVersionLevel: ?(?P<level>\S+)")
_KEY = re.compile(r"[A-Za-z][\w.-]*")
_YAML = re.compile(r"(---|\s*[\w.-]+:|\s*- .*)\s*")


def read_config(path: Path) -> Described:
    """A properties file, or what Kafka's tools print: see `FORMATS`.

    `UsageError` in one line if it is none of these.
    """
    text = _text(path)
    lines = text.splitlines()
    if any(_SECTION.match(line) for line in lines):
        return Described(tuple(_of_kafka_configs(lines, path)))
    if any(map(is_of_a_topic, lines)):
        return _of_kafka_topics(lines, path)
    if any(line.startswith("Feature:") for line in lines):
        return Described(tuple(_of_kafka_features(lines, path)))
    return Described(tuple(_of_properties(text, path)))


FORMATS = (
    "properties files, and what kafka-configs --describe, kafka-topics --describe or "
    "kafka-features describe prints"
)
"""What is recognised."""


def _text(path: Path) -> str:
    try:
        content = read_bounded(path, MAX_BYTES)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    if len(content) > MAX_BYTES:
        raise UsageError(f"{path} has more than {MAX_BYTES:,} bytes: it is no configuration")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: {error}") from error


def _of_properties(text: str, path: Path) -> Iterator[Entry]:
    """Every line of a properties file: a key that comes twice is handed on twice."""
    try:
        found = javaproperties.loads(text, object_pairs_hook=list)
    except (javaproperties.InvalidUEscapeError, ValueError) as error:
        raise UsageError(f"{path}: {error}") from None
    known = {*BY_NAME, *READ_OTHERWISE, *KafkaSettings.not_modelled, *OTHER_KEYS}
    if any(_YAML.fullmatch(line) for line in text.splitlines()):
        raise UsageError(f"{path} is not recognised, and looks like YAML: valid are {FORMATS}")
    if not all(_KEY.fullmatch(key) for key, _ in found) or known.isdisjoint(dict(found)):
        raise UsageError(f"{path} is not recognised, it is no configuration: valid are {FORMATS}")
    for key, value in found:
        yield Entry(key, value.strip(), Scope.STATIC, str(path))


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


def _of_kafka_features(lines: Iterable[str], path: Path) -> Iterator[Entry]:
    """The finalized levels; a feature that is not printed is at level 0."""
    levels = {ELR_FEATURE: "0"}
    for line in filter(str.strip, lines):
        feature = _FEATURE.match(line)
        if feature is None:
            raise UsageError(f"{path}: {line.strip()[:60]!r} is no line of kafka-features describe")
        levels[feature["name"]] = feature["level"]
    for name, level in levels.items():
        yield Entry(name, level, Scope.CLUSTER, str(path))


def _of_kafka_topics(lines: Iterable[str], path: Path) -> Described:
    topics = read_topics(lines, str(path))
    entries = tuple(
        Entry(key, value, Scope.TOPIC, str(path), topic.name)
        for topic in topics.values()
        for key, value in topic.configs.items()
    )
    return Described(entries, topics)
