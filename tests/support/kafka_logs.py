"""Log directories of brokers as tests need them, with batches as kafka-python writes them."""

from dataclasses import dataclass, field, replace

from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kafka.record.util import calc_crc32c

TOPIC_ID = "Qx3sTBbVSzqxdRZzVJVCdA"
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


@dataclass(frozen=True)
class Wanted:
    """A batch to write: its first offset, leader epoch and values; `None` leaves an offset out."""

    base: int
    epoch: int
    values: tuple[bytes | None, ...]
    codec: str = "none"
    producer: int | None = None
    is_control: bool = False
    control_type: int = 1

    @property
    def until(self):
        return self.base + len(self.values)

    def with_value(self, offset, value):
        place = offset - self.base
        values = (*self.values[:place], value, *self.values[place + 1 :])
        return replace(self, values=values)

    def encoded(self):
        has_producer = self.producer is not None
        builder = DefaultRecordBatchBuilder(
            2, CODECS[self.codec], has_producer, self.producer if has_producer else -1,
            0 if has_producer else -1, self.base if has_producer else -1, 1 << 20,
        )  # fmt: skip
        key = bytes([0, 0, 0, self.control_type]) if self.is_control else b"key"
        for place, value in enumerate(self.values):
            if value is not None:
                headers = [("header", b"x")]
                builder.append(place, 1_700_000_000_000 + self.base + place, key, value, headers)
        layout = DefaultRecordBatch.HEADER_STRUCT
        built = bytearray(builder.build())
        header = list(layout.unpack_from(built))
        header[0], header[2], header[6] = self.base, self.epoch, len(self.values) - 1
        header[5] |= DefaultRecordBatch.CONTROL_MASK if self.is_control else 0
        layout.pack_into(built, 0, *header)
        header[4] = calc_crc32c(memoryview(built)[DefaultRecordBatch.ATTRIBUTES_OFFSET :])
        layout.pack_into(built, 0, *header)
        return bytes(built)


@dataclass
class Disk:
    """One broker's log directory with one replica in it; `write` puts it on the disk.

    `epochs` defaults to what the batches say, `segments` to one that starts with the first batch.
    """

    batches: list[Wanted] = field(default_factory=list)
    broker: int | None = 0
    high_watermark: int | None = 0
    recovery_point: int | None = None
    log_start: int | None = None
    cleaned_to: int | None = None
    epochs: list[tuple[int, int]] | None = None
    segments: list[int] | None = None
    is_clean: bool = True
    topic: str = "orders"
    topic_id: str | None = TOPIC_ID

    def write(self, directory):
        folder = directory / f"{self.topic}-0"
        folder.mkdir(parents=True)
        if self.broker is not None:
            (directory / "meta.properties").write_text(f"#\nversion=1\nnode.id={self.broker}\n")
        if self.is_clean:
            (directory / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":7}')
        for name, offset in (
            ("replication-offset-checkpoint", self.high_watermark),
            ("recovery-point-offset-checkpoint", self.recovery_point),
            ("log-start-offset-checkpoint", self.log_start),
            ("cleaner-offset-checkpoint", self.cleaned_to),
        ):
            lines = [] if offset is None else [f"{self.topic} 0 {offset}"]
            (directory / name).write_text("\n".join(["0", str(len(lines)), *lines]) + "\n")
        if self.topic_id is not None:
            metadata = f"version: 0\ntopic_id: {self.topic_id}"
            (folder / "partition.metadata").write_text(metadata)
        entries = epochs_of(self.batches) if self.epochs is None else self.epochs
        lines = [f"{epoch} {offset}" for epoch, offset in entries]
        (folder / "leader-epoch-checkpoint").write_text(
            "\n".join(["0", str(len(lines)), *lines]) + "\n"
        )
        self._write_segments(folder)
        return directory

    def _write_segments(self, folder):
        first = self.batches[0].base if self.batches else 0
        for base in self.segments if self.segments is not None else [first]:
            segment_file(folder, base).touch()
        for batch in self.batches:
            names = sorted(path.name for path in folder.glob("*.log"))
            holds = [name for name in names if int(name[:20]) <= batch.base][-1]
            with (folder / holds).open("ab") as file:
                file.write(batch.encoded())


def leader_change(offset, epoch, leader):
    """The batch with which a leader begins its epoch (`LeaderChangeMessage`, version 1)."""
    value = b"\0\1" + leader.to_bytes(4, "big") + b"\1\1\0"
    return Wanted(offset, epoch, (value,), is_control=True, control_type=2)


def voters_record(offset, epoch, nodes):
    """A batch with a VotersRecord; a node's directory id is its number sixteen times."""
    of_node = b"".join(
        node.to_bytes(4, "big") + bytes([node]) * 16 + b"\2\2C\2h\x23\x85\0" + b"\0\0\0\1\0\0"
        for node in nodes
    )
    value = b"\0\0" + bytes([len(nodes) + 1]) + of_node + b"\0"
    return Wanted(offset, epoch, (value,), is_control=True, control_type=6)


def segment_file(folder, base):
    return folder / f"{base:020}.log"


def epochs_of(batches):
    """The epoch cache that fits batches."""
    entries: list[tuple[int, int]] = []
    for batch in batches:
        if not entries or batch.epoch > entries[-1][0]:
            entries.append((batch.epoch, batch.base))
    return entries


def batches_of(sizes, epochs=(), codec="none", first=0):
    """Batches on end of these sizes, with these epochs (or all 0) and values that all differ."""
    made, base = [], first
    for place, size in enumerate(sizes):
        epoch = epochs[place] if epochs else 0
        values = tuple(b"record %d" % offset for offset in range(base, base + size))
        made.append(Wanted(base, epoch, values, codec))
        base += size
    return made
