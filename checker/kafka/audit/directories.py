"""Log directories of brokers, and the replicas in them, put together by partition.

A log directory is what `log.dirs` names: it holds a folder for each replica, and checkpoints for
all of them. A broker may have several. Folders that Kafka is about to delete, has set aside or is
still filling (`-delete`, `-stray`, `-future`) are no replicas. The first two are copies that may
hold what the replicas have lost.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from checker.kafka.audit import checkpoints
from checker.kafka.audit.checkpoints import EpochStart, Partition
from checker.kafka.audit.quorum import METADATA_TOPIC, snapshots_in
from model.language.errors import UsageError, unknown_name

_FOLDER = re.compile(r"([A-Za-z0-9._-]{1,249})-([0-9]{1,10})")
_SET_ASIDE = re.compile(r"([A-Za-z0-9._-]+)-([0-9]{1,10})\.[0-9a-f]{32}-(delete|stray|future)")


@dataclass(frozen=True)
class Replica:
    """One replica's folder, and all that the files around its log say.

    Offsets are `None` where no checkpoint has them; the metadata log's high watermark is the end of
    its newest snapshot. `set_aside` names a folder of the same partition that Kafka threw away: a
    checkpoint may then still be about that one.
    """

    name: str
    folder: Path
    broker: int | None
    topic: str
    partition: int
    topic_id: str | None
    high_watermark: int | None
    recovery_point: int | None
    log_start: int | None
    cleaned_to: int | None
    epochs: tuple[EpochStart, ...] | None
    clean_shutdown: bool
    set_aside: tuple[str, ...]

    @property
    def is_of_quorum(self) -> bool:
        """It is a copy of the controllers' log."""
        return (self.topic, self.partition) == (METADATA_TOPIC, 0)


@dataclass(frozen=True)
class Group:
    """The replicas of one partition of one topic id, in the order in which they were named.

    `set_aside` are the folders of copies of it that Kafka threw away, in any directory.
    """

    topic: str
    partition: int
    topic_id: str | None
    replicas: tuple[Replica, ...]
    set_aside: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """As Kafka writes it: topic and number."""
        return f"{self.topic}-{self.partition}"


@dataclass
class Directories:
    """What was found: partitions, and in words what was not read and why."""

    groups: list[Group] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    set_aside: dict[Partition, list[Path]] = field(default_factory=lambda: defaultdict(list))


def find_replicas(
    paths: Sequence[Path], topic: str | None = None, partition: int | None = None
) -> Directories:
    """The partitions in log directories, sorted; of one topic or number, if it is given.

    Raises `UsageError` for what is no log directory, and for a topic or number that none holds.
    """
    found = Directories()
    replicas: list[Replica] = []
    for path in _different(paths):
        replicas += _replicas(path, _broker(path), found)
    if topic is not None:
        if topic not in {replica.topic for replica in replicas}:
            raise unknown_name("topic in these directories", topic, {r.topic for r in replicas})
        replicas = [replica for replica in replicas if replica.topic == topic]
    if partition is not None:
        known = sorted({replica.partition for replica in replicas})
        if partition not in known:
            raise UsageError(
                f"no partition {partition} in these directories: valid are "
                f"{', '.join(map(str, known)) or 'none'}"
            )
        replicas = [replica for replica in replicas if replica.partition == partition]
    found.groups = list(_groups(replicas, found.set_aside))
    return found


def _different(paths: Sequence[Path]) -> list[Path]:
    """Refuses a directory that is named twice: it would agree with itself."""
    seen: dict[Path, Path] = {}
    for path in paths:
        real = path.resolve()
        if real in seen:
            raise UsageError(f"{path} is the directory {seen[real]} again: name each once")
        seen[real] = path
    return list(paths)


def _broker(path: Path) -> int | None:
    if not path.is_dir():
        what = "is not a directory" if path.exists() else "does not exist"
        raise UsageError(f"{path} {what}: give the log directories of brokers (log.dirs)")
    if any(path.glob("*.log")):
        raise UsageError(f"{path} is the folder of one replica: give the directory that holds it")
    return checkpoints.read_broker(path / checkpoints.BROKER)


def _replicas(path: Path, broker: int | None, found: Directories) -> list[Replica]:
    folders: dict[Partition, Path] = {}
    aside: dict[Partition, list[Path]] = defaultdict(list)
    for folder in sorted(path.iterdir()):
        if not folder.is_dir():
            continue
        if match := _SET_ASIDE.fullmatch(folder.name):
            found.skipped.append(f"{folder}: set aside by Kafka, no replica")
            if match[3] != "future":
                aside[match[1], int(match[2])].append(folder)
                found.set_aside[match[1], int(match[2])].append(folder)
        elif match := _FOLDER.fullmatch(folder.name):
            folders[match[1], int(match[2])] = folder
    offsets = {
        each: checkpoints.read_offsets(path / each)
        for each in (
            checkpoints.HIGH_WATERMARKS, checkpoints.RECOVERY_POINTS,
            checkpoints.LOG_STARTS, checkpoints.CLEANED,
        )
    }  # fmt: skip
    if not folders and not aside and not any((path / each).exists() for each in offsets):
        raise UsageError(f"{path} is no log directory: no folder of a partition, no checkpoint")
    for key in sorted(offsets[checkpoints.HIGH_WATERMARKS].keys() - folders.keys()):
        found.skipped.append(f"{path}: a high watermark of {key[0]}-{key[1]}, but no folder of it")
    clean = (path / checkpoints.CLEAN_SHUTDOWN).exists()
    return [
        Replica(
            str(path), folder, broker, *key,
            checkpoints.read_topic_id(folder / checkpoints.METADATA),
            high_watermark=_committed(folder) or offsets[checkpoints.HIGH_WATERMARKS].get(key),
            recovery_point=offsets[checkpoints.RECOVERY_POINTS].get(key),
            log_start=offsets[checkpoints.LOG_STARTS].get(key),
            cleaned_to=offsets[checkpoints.CLEANED].get(key),
            epochs=checkpoints.read_epochs(folder / checkpoints.EPOCHS),
            clean_shutdown=clean, set_aside=tuple(each.name for each in aside[key]),
        )
        for key, folder in folders.items()
    ]  # fmt: skip


def _committed(folder: Path) -> int | None:
    """Where the newest snapshot ends, if there is one: it holds nothing that is not committed."""
    snapshots = snapshots_in(folder)
    return snapshots[-1].end if snapshots else None


def _groups(
    replicas: Iterable[Replica], set_aside: Mapping[Partition, Sequence[Path]]
) -> Iterable[Group]:
    """By partition and topic id. A replica that does not say its id is of the only one there is."""
    by_partition: dict[Partition, list[Replica]] = defaultdict(list)
    for replica in replicas:
        by_partition[replica.topic, replica.partition].append(replica)
    for (topic, partition), found in sorted(by_partition.items()):
        known = sorted({each.topic_id for each in found if each.topic_id is not None})
        for topic_id in (*known, None) if len(known) > 1 else (known[0] if known else None,):
            same = [each for each in found if len(known) <= 1 or each.topic_id == topic_id]
            copies = tuple(
                folder
                for folder in set_aside.get((topic, partition), ())
                if checkpoints.read_topic_id(folder / checkpoints.METADATA) == topic_id
            )
            if same:
                yield Group(topic, partition, topic_id, _named(same), copies)


def _named(replicas: Sequence[Replica]) -> tuple[Replica, ...]:
    """Replicas by their broker's number where that names only one; a controller is a node."""
    brokers = [replica.broker for replica in replicas]
    return tuple(
        replace(each, name=f"{'node' if each.is_of_quorum else 'broker'} {each.broker}")
        if each.broker is not None and brokers.count(each.broker) == 1
        else each
        for each in replicas
    )
