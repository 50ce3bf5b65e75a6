"""Topics as `kafka-topics --describe` prints them: a header line each, and a line a partition.

The header's replication factor is the first partition's. Others may have other numbers, be offline
or under reassignment: all of that is read here, and `cluster.py` judges or refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from model.language.errors import UsageError

Fields = Mapping[str, str]


@dataclass(frozen=True)
class Partition:
    """A partition by its line: ids of brokers; no leader is `None`."""

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    moves: bool

    @property
    def words(self) -> str:
        """How people call it."""
        return f"partition {self.number}"


@dataclass(frozen=True)
class Topic:
    """A topic by its header and its partitions in order, none where the header stands alone."""

    name: str
    replicas: int
    configs: Mapping[str, str]
    partitions: tuple[Partition, ...] = ()

    @property
    def counts(self) -> list[int]:
        """The numbers of replicas that its partitions have."""
        return sorted({len(partition.replicas) for partition in self.partitions})


_NAMES = (
    "Topic|TopicId|PartitionCount|ReplicationFactor|Configs|MarkedForDeletion|Partition|Leader|"
    "Replicas|Isr|Elr|LastKnownElr|Offline|Adding Replicas|Removing Replicas"
)
_FIELD = re.compile(rf"(?:^|(?<=\s))({_NAMES}): ?")
_NUMBERS = re.compile(r"(\d+(, ?\d+)*)?")
_NOBODY = ("none", "-1")


def is_of_a_topic(line: str) -> bool:
    """Whether a line begins as those of `kafka-topics --describe` do."""
    return line.lstrip().startswith("Topic:")


def read_topics(lines: Iterable[str], where: str) -> dict[str, Topic]:
    """The topics by their names; `UsageError` in one line for a line that is not as Kafka's are."""
    headers: dict[str, Fields] = {}
    partitions: dict[str, list[Partition]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        fields = _fields(line)
        try:
            name = fields["Topic"]
            if "Partition" in fields:
                partitions.setdefault(name, []).append(_partition(fields))
            else:
                headers[name] = {"factor": str(_number(fields["ReplicationFactor"])), **fields}
        except (KeyError, ValueError):
            raise UsageError(
                f"{where}, line {number}: {line.strip()[:60]!r} is not as kafka-topics --describe "
                "prints it: give its whole output"
            ) from None
    for name in partitions:
        if name not in headers:
            raise UsageError(
                f"{where}: the line of topic {name} with its ReplicationFactor is missing: give "
                "what kafka-topics --describe --topic prints, without --under-replicated-partitions"
            )
    return {
        name: _topic(name, fields, sorted(partitions.get(name, ()), key=lambda p: p.number), where)
        for name, fields in headers.items()
    }


def _fields(line: str) -> Fields:
    """The named values of a line; what stands before the first name has the name of nothing."""
    before, *parts = _FIELD.split(line)
    found = {name: value.strip() for name, value in zip(parts[::2], parts[1::2], strict=True)}
    return {} if before.strip() else found


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(text)
    return int(text)


def _brokers(text: str) -> tuple[int, ...]:
    if _NUMBERS.fullmatch(text) is None:
        raise ValueError(text)
    return tuple(int(each) for each in text.split(",") if each)


def _partition(fields: Fields) -> Partition:
    leader = fields["Leader"]
    return Partition(
        _number(fields["Partition"]), None if leader in _NOBODY else _number(leader),
        _brokers(fields["Replicas"]), _brokers(fields["Isr"]),
        any(fields.get(f"{what} Replicas") for what in ("Adding", "Removing")),
    )  # fmt: skip


def _topic(name: str, fields: Fields, partitions: Sequence[Partition], where: str) -> Topic:
    count = fields.get("PartitionCount", "")
    if partitions and count != str(len(partitions)):
        raise UsageError(
            f"{where}: topic {name} has PartitionCount {count or 'left out'}, and lines of "
            f"{len(partitions)}: give the whole output of kafka-topics --describe"
        )
    listed = re.split(r",(?=[\w.]+=)", fields.get("Configs", ""))
    pairs = (each.partition("=") for each in listed if each)
    configs = {key.strip(): value.strip() for key, _, value in pairs}
    return Topic(name, int(fields["factor"]), configs, tuple(partitions))
