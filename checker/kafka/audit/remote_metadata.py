"""What `__remote_log_metadata` says of segments in a remote store (KIP-405).

Brokers read a remote segment only if a record of this topic says that its copy is finished. The
topic is a log like others; kafka-python decodes its records by the schemas here, after Kafka's
`RemoteLogSegmentMetadataRecord.json` and its neighbours. Nothing there says why a segment was
deleted; when, and how old its last record was then, is there.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as of_each
from enum import IntEnum
from pathlib import Path
from typing import Any

from kafka.protocol.data_container import DataContainer
from kafka.protocol.schemas import StructField
from kafka.record.default_records import DefaultRecordBatch

from checker.kafka.audit.checkpoints import EpochStart
from checker.kafka.audit.schemas import field, printed_id
from checker.kafka.audit.segments import Batch, Contents, Stretch, read_log

REMOTE_TOPIC = "__remote_log_metadata"
_FOLDER = re.compile(re.escape(REMOTE_TOPIC) + r"-([0-9]{1,10})")
_SEGMENT, _UPDATE, _PARTITION_DELETED = 0, 1, 2
Key = tuple[str, int]
"""A topic's id as Kafka prints it, and a partition's number."""


class State(IntEnum):
    """Kafka's `RemoteLogSegmentState`."""

    COPY_STARTED = 0
    COPY_FINISHED = 1
    DELETE_STARTED = 2
    DELETE_FINISHED = 3


@dataclass(frozen=True)
class Known:
    """One remote segment as its records tell: offsets `base` to `until` (exclusive), leader epochs
    and where they start in it, and who said last what has become of it, at which time.

    `youngest` is the time stamp of its youngest record; times are milliseconds since 1970.
    `finished` and `deletion`: which record, from 1 on, said that its copy is finished, and that its
    deletion begins; 0 if none did.
    """

    identity: str
    base: int
    until: int
    epochs: tuple[EpochStart, ...]
    state: State
    broker: int
    time: int
    youngest: int
    finished: int = 0
    deletion: int = 0

    @property
    def stretches(self) -> list[Stretch]:
        """Its leader epochs, each from where it starts in it to where the next one does."""
        ends = [*(offset for _, offset in self.epochs[1:]), self.until]
        pairs = zip(self.epochs, ends, strict=True)
        return [Stretch(epoch, first, until) for (epoch, first), until in pairs if first < until]

    def at(self, number: int) -> Known:
        """The same, with the number of the record by which it has come to its state."""
        if self.state is State.COPY_FINISHED:
            return replace(self, finished=self.finished or number)
        if self.state is State.DELETE_STARTED:
            return replace(self, deletion=self.deletion or number)
        return self


@dataclass
class RemoteMetadata:
    """The records of the topic in their order, as far as they were found and can be read.

    `unread` counts places and records that cannot be read, `taken` the records that were; `deleted`
    are partitions that were deleted with their topic.
    """

    partitions: dict[Key, dict[str, Known]] = of_each(default_factory=dict)
    deleted: set[Key] = of_each(default_factory=set)
    unread: int = 0
    taken: int = 0


def read_metadata(directories: Iterable[Path]) -> RemoteMetadata:
    """What the topic says in log directories: of each of its partitions, the longest copy there."""
    copies: dict[int, list[Path]] = {}
    for directory in directories:
        for folder in directory.iterdir():
            if folder.is_dir() and (match := _FOLDER.fullmatch(folder.name)):
                copies.setdefault(int(match[1]), []).append(folder)
    found = RemoteMetadata()
    for _, folders in sorted(copies.items()):
        _read_copy(max(folders, key=_end), found)
    return found


def _end(folder: Path) -> int:
    contents = Contents()
    for _ in read_log(folder, None, contents):
        pass
    return contents.end


def _read_copy(folder: Path, found: RemoteMetadata) -> None:
    contents = Contents()
    for item in read_log(folder, None, contents):
        for value in _values(item) if isinstance(item, Batch) else ():
            try:
                _apply(value, found)
            except Exception:  # bytes of a CRC that is right: a record of another version
                found.unread += 1
    found.unread += len(contents.damage)


def _values(batch: Batch) -> Iterator[bytes]:
    parsed = DefaultRecordBatch(batch.data)
    if not parsed.is_control_batch:
        yield from (record.value for record in parsed)


def _apply(value: bytes, found: RemoteMetadata) -> None:
    """Take in one record: the version of its frame, its kind, its version, and its fields."""
    frame, kind, version = value[:3]
    if (frame, version) != (1, 0):
        raise ValueError(f"a record of version {version} in a frame of version {frame}")
    said = _SCHEMAS[kind].decode(io.BytesIO(value[3:]), version=0, compact=True, tagged=True)
    if kind == _PARTITION_DELETED:
        found.deleted.add(_key(said.topic_id_partition))
        return
    identity = printed_id(said.remote_log_segment_id.id.bytes)
    segments = found.partitions.setdefault(_key(said.remote_log_segment_id.topic_id_partition), {})
    if kind == _SEGMENT:
        segments[identity] = Known(
            identity, said.start_offset, said.end_offset + 1,
            tuple(sorted((each.leader_epoch, each.offset) for each in said.segment_leader_epochs)),
            State(said.remote_log_segment_state), said.broker_id, said.event_timestamp_ms,
            said.max_timestamp_ms,
        )  # fmt: skip
    else:
        segments[identity] = replace(
            segments[identity], state=State(said.remote_log_segment_state),
            broker=said.broker_id, time=said.event_timestamp_ms,
        )  # fmt: skip
    found.taken += 1
    segments[identity] = segments[identity].at(found.taken)


def _key(said: Any) -> Key:
    return printed_id(said.id.bytes), said.partition


_PARTITION = field(
    "TopicIdPartition",
    [field("Name", "string"), field("Id", "uuid"), field("Partition", "int32")],
    "TopicIdPartitionEntry",
)
_IDENTITY = field(
    "RemoteLogSegmentId", [_PARTITION, field("Id", "uuid")], "RemoteLogSegmentIdEntry"
)
_CUSTOM = field("CustomMetadata", "bytes") | {"nullableVersions": "0+", "default": "null"}


def _schema(name: str, fields: Sequence[dict[str, Any]]) -> Any:
    struct = StructField(field(name, list(fields)))
    container = type(name, (DataContainer,), {"_struct": struct})
    struct.set_data_class(container)
    return container


_SCHEMAS: dict[int, Any] = {
    _SEGMENT: _schema(
        "RemoteLogSegmentMetadataRecord",
        [
            _IDENTITY, field("StartOffset", "int64"), field("EndOffset", "int64"),
            field("BrokerId", "int32"), field("MaxTimestampMs", "int64"),
            field("EventTimestampMs", "int64"),
            field(
                "SegmentLeaderEpochs", [field("LeaderEpoch", "int32"), field("Offset", "int64")],
                "[]SegmentLeaderEpochEntry",
            ),
            field("SegmentSizeInBytes", "int32"), _CUSTOM, field("RemoteLogSegmentState", "int8"),
        ],
    ),
    _UPDATE: _schema(
        "RemoteLogSegmentMetadataUpdateRecord",
        [
            _IDENTITY, field("BrokerId", "int32"), field("EventTimestampMs", "int64"), _CUSTOM,
            field("RemoteLogSegmentState", "int8"),
        ],
    ),
    _PARTITION_DELETED: _schema(
        "RemotePartitionDeleteMetadataRecord",
        [
            _PARTITION, field("BrokerId", "int32"), field("EventTimestampMs", "int64"),
            field("RemotePartitionDeleteState", "int8"),
        ],
    ),
}  # fmt: skip
