"""KRaft's control records: who led an epoch, and who votes, as the metadata log and snapshots say.

kafka-python decodes them; it has no schema of VotersRecord, so its fields are listed here, after
Kafka's `VotersRecord.json` (KIP-853). A LeaderChangeMessage (KIP-595) begins with its version and
the leader.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka.protocol.data_container import DataContainer
from kafka.protocol.schemas import StructField
from kafka.record.default_records import DefaultRecordBatch

from checker.kafka.audit.schemas import field, printed_id
from checker.kafka.audit.segments import Batch, Contents, read_file, read_log

_LEADER_CHANGE, _VOTERS = 2, 6


@dataclass(frozen=True, order=True, slots=True)
class Voter:
    """A voter by its node id and the id of its log directory, as Kafka prints that."""

    node: int
    directory: str


@dataclass(frozen=True, slots=True)
class LeaderChange:
    """The first record of an epoch: where it stands, and who led."""

    offset: int
    epoch: int
    leader: int


@dataclass(frozen=True, slots=True)
class Voters:
    """A VotersRecord: where it stands in a log or snapshot, and the voters from there on."""

    offset: int
    epoch: int
    voters: frozenset[Voter]

    @property
    def nodes(self) -> tuple[int, ...]:
        """The voters' node ids, in order."""
        return tuple(sorted(voter.node for voter in self.voters))


def control_records_of_log(folder: Path, contents: Contents) -> Iterator[LeaderChange | Voters]:
    """Those of the log in a folder, in order, while `contents` is filled in."""
    for item in read_log(folder, None, contents):
        if isinstance(item, Batch):
            yield from _of_batch(item)


def control_records_of_snapshot(path: Path) -> Iterator[LeaderChange | Voters]:
    """Those of a snapshot, which is one file of batches; what cannot be read is left out."""
    for batch in read_file(path):
        yield from _of_batch(batch)


def _of_batch(batch: Batch) -> Iterator[LeaderChange | Voters]:
    parsed = DefaultRecordBatch(batch.data)
    if not parsed.is_control_batch:
        return
    for record in parsed:
        kind = int.from_bytes(record.key[2:4], "big")
        if kind == _LEADER_CHANGE:
            leader = int.from_bytes(record.value[2:6], "big", signed=True)
            yield LeaderChange(record.offset, batch.epoch, leader)
        elif kind == _VOTERS:
            yield Voters(record.offset, batch.epoch, _voters(record.value))


class _VotersRecord(DataContainer):  # type: ignore[misc]  # kafka-python has no types
    """The value of a VotersRecord."""

    _struct = StructField(
        field(
            "VotersRecord",
            [
                field("Form", "int16"),
                field(
                    "Voters",
                    [
                        field("VoterId", "int32"),
                        field("VoterDirectoryId", "uuid"),
                        field(
                            "Endpoints",
                            [field("Name", "string"), field("Host", "string"),
                             field("Port", "uint16")],
                            "[]Endpoint",
                        ),
                        field("Supported", [field("Min", "int16"), field("Max", "int16")]),
                    ],
                    "[]Voter",
                ),
            ],
        )
    )  # fmt: skip


_VotersRecord._struct.set_data_class(_VotersRecord)


def _voters(value: bytes) -> frozenset[Voter]:
    version = int.from_bytes(value[:2], "big")
    said = _VotersRecord.decode(io.BytesIO(value), version=version, compact=True, tagged=True)
    return frozenset(
        Voter(each.voter_id, printed_id(each.voter_directory_id.bytes)) for each in said.voters
    )
