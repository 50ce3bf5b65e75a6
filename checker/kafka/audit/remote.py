"""The directory of a remote store, as Kafka's `LocalTieredStorage` lays it out, and its segments.

It has a folder for each partition, TOPIC-PARTITION-ID, with the files of each segment beside each
other: OFFSET-ID.log, its indexes, its leader epochs, and its snapshot of producers. They are
written in this order, so a segment that has them all was copied whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from checker.kafka.audit.directories import Group
from checker.kafka.audit.remote_metadata import Key
from checker.kafka.audit.segments import Contents, Segment, read_segments
from model.language.errors import UsageError

STORE = "kafka-tiered-storage"  # LocalTieredStorage's own folder, in the directory it is given
REQUIRED = (".log", ".index", ".timeindex", ".leader_epoch_checkpoint", ".snapshot")
_PARTITION = re.compile(r"([A-Za-z0-9._-]{1,249})-([0-9]{1,10})-([A-Za-z0-9_-]{22})")
_FILE = re.compile(r"([0-9]{20})-([A-Za-z0-9_-]{22})(\.[a-z_]+)")


@dataclass
class RemoteSegment:
    """The files of one remote segment, by how their names end, and its offset by their names.

    `contents` is what its log holds, once it was read; `error` says why it could not be opened.
    """

    identity: str
    base: int
    files: dict[str, Path] = field(default_factory=dict)
    contents: Contents = field(default_factory=Contents)
    error: str = ""

    @property
    def lacks(self) -> tuple[str, ...]:
        """Of the files that each segment must have, the ends of the names that are not there."""
        return tuple(each for each in REQUIRED if each not in self.files)

    def read(self) -> None:
        """Read the log to its end."""
        contents = self.contents
        if ".log" not in self.files:
            return
        try:
            for _ in read_segments([Segment(self.files[".log"], self.base)], None, contents):
                pass
        except OSError as error:
            self.error = error.strerror or str(error)


@dataclass
class RemoteStore:
    """What a directory holds: segments by partition, and in words what was not read and why."""

    partitions: dict[Key, list[RemoteSegment]] = field(default_factory=dict)
    topics: dict[Key, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def key_of(self, group: Group) -> Key:
        """A partition's key; where its replicas do not tell the topic's id, by the topic's name."""
        if group.topic_id is None:
            for key, topic in self.topics.items():
                if (topic, key[1]) == (group.topic, group.partition):
                    return key
        return group.topic_id or "", group.partition

    def without(self, groups: Iterable[Group]) -> list[str]:
        """In words, what is not compared: partitions that none of these is, and what is no file."""
        known = {self.key_of(group) for group in groups}
        return self.skipped + [
            f"{topic}-{number}, id {topic_id}: in the remote store, and no replica of it here"
            for (topic_id, number), topic in self.topics.items()
            if (topic_id, number) not in known
        ]


@dataclass(frozen=True)
class RemoteRow:
    """A remote segment: offsets `base` to `until` (exclusive), leader epochs, what the metadata
    says of it, whether brokers read it, and which files it lacks.
    """

    identity: str
    base: int
    until: int
    epochs: tuple[int, ...]
    state: str | None
    is_read: bool
    lacks: tuple[str, ...]


@dataclass(frozen=True)
class Remote:
    """What a remote store has of a partition: its segments; in words, those that brokers read, and
    those that were deleted; and how many of all cannot be read.
    """

    segments: tuple[RemoteRow, ...]
    log_start: int
    words: str
    deleted: str
    has_metadata: bool
    unread: int


def find_segments(directory: Path) -> RemoteStore:
    """The segments in a store's directory, by offset. `UsageError` for what is no such directory.

    Takes also the directory that `LocalTieredStorage` is given, which has the store in a folder.
    """
    if not directory.is_dir():
        what = "is not a directory" if directory.exists() else "does not exist"
        raise UsageError(f"{directory} {what}: give the directory of the remote store")
    if (directory / STORE).is_dir():
        directory = directory / STORE
    found = RemoteStore()
    entries = sorted(directory.iterdir())
    for entry in entries:
        match = _PARTITION.fullmatch(entry.name)
        if match is None or not entry.is_dir():
            found.skipped.append(f"{entry}: no folder of a partition in a remote store")
            continue
        key = match[3], int(match[2])
        found.topics[key] = match[1]
        found.partitions[key] = _segments(entry, found)
    if entries and not found.partitions:
        raise UsageError(
            f"{directory} is no remote store: no folder is named TOPIC-PARTITION-ID, as those of "
            "Kafka's LocalTieredStorage are"
        )
    return found


def _segments(folder: Path, found: RemoteStore) -> list[RemoteSegment]:
    segments: dict[str, RemoteSegment] = {}
    for path in sorted(folder.iterdir()):
        match = _FILE.fullmatch(path.name)
        if match is None:
            found.skipped.append(f"{path}: no file of a remote segment")
            continue
        segment = segments.setdefault(match[2], RemoteSegment(match[2], int(match[1])))
        segment.files[match[3]] = path
    return list(segments.values())
