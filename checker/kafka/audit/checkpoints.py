"""The small text files beside Kafka's logs: checkpoints, metadata and the mark of a clean shutdown.

A checkpoint is a version, a count and that many lines of numbers (Kafka's `CheckpointFile`). A
file that is missing or empty says nothing; one that is malformed raises `UsageError`: nothing
that is compared with it could be believed.
"""

from __future__ import annotations

import re
from pathlib import Path

from model.language.errors import UsageError

HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEANED = "cleaner-offset-checkpoint"
EPOCHS = "leader-epoch-checkpoint"
METADATA = "partition.metadata"
BROKER = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

Partition = tuple[str, int]
EpochStart = tuple[int, int]
"""A leader epoch, and the offset at which its leader began."""


def read_offsets(path: Path) -> dict[Partition, int]:
    """An offset for each partition; empty without the file."""
    found = {}
    for line in _entries(path, "TOPIC PARTITION OFFSET", 3) or ():
        topic, partition, offset = line
        found[topic, _number(path, partition)] = _number(path, offset)
    return found


def read_epochs(path: Path) -> tuple[EpochStart, ...] | None:
    """Leader epochs and where they start, in the order of the file; `None` without the file."""
    entries = _entries(path, "EPOCH OFFSET", 2)
    if entries is None:
        return None
    return tuple((_number(path, epoch), _number(path, offset)) for epoch, offset in entries)


def read_topic_id(path: Path) -> str | None:
    """The topic's id in `partition.metadata`; `None` without the file."""
    text = _text(path)
    if text is None:
        return None
    said = _properties(text, ":")
    if said.get("version") != "0" or not said.get("topic_id"):
        raise UsageError(f"{path}: not the metadata of a partition: version: 0 and topic_id: ID")
    return said["topic_id"]


def read_broker(path: Path) -> int | None:
    """The id of the broker in `meta.properties`; `None` if nothing says it."""
    said = _properties(_text(path) or "", "=")
    identity = said.get("node.id", said.get("broker.id", ""))
    return int(identity) if identity.isascii() and identity.isdigit() else None


def _entries(path: Path, form: str, width: int) -> list[list[str]] | None:
    text = _text(path)
    if text is None:
        return None
    lines = text.splitlines()
    if lines and lines[0].strip() != "0":
        raise UsageError(f"{path}: not a checkpoint: line 1 is {_short(lines[0])}, not version 0")
    if len(lines) < 2:
        return []
    count = _number(path, lines[1].strip())
    entries = [line.split() for line in lines[2:]]
    for number, entry in enumerate(entries, start=3):
        if len(entry) != width:
            line = _short(lines[number - 1])
            raise UsageError(f"{path}: not a checkpoint: line {number} is {line}, not {form}")
    if count != len(entries):
        raise UsageError(
            f"{path}: not a checkpoint: {len(entries)} entries, but line 2 says {count}"
        )
    return entries


def _number(path: Path, text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,19}", text):
        raise UsageError(f"{path}: not a checkpoint: {_short(text)} is no whole number")
    return int(text)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


def _properties(text: str, between: str) -> dict[str, str]:
    pairs = (line.partition(between) for line in text.splitlines() if not line.startswith("#"))
    return {name.strip(): value.strip() for name, found, value in pairs if found}


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not a text file") from None
