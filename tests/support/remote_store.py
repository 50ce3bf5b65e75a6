"""Directories of a remote store as `LocalTieredStorage` lays them out, and its metadata topic."""

import base64
from dataclasses import dataclass, field

from checker.kafka.audit.remote import REQUIRED
from tests.support.kafka_logs import TOPIC_ID, Disk, Wanted, epochs_of

STARTED, FINISHED, DELETING, DELETED = range(4)


@dataclass
class Remote:
    """One remote segment: its batches, which of its files to write, and states that are told."""

    batches: list[Wanted]
    number: int = 1
    states: list[int] = field(default_factory=lambda: [STARTED, FINISHED])
    files: tuple[str, ...] = REQUIRED

    @property
    def identity(self):
        return base64.urlsafe_b64encode(bytes([self.number] * 16)).rstrip(b"=").decode()

    def write(self, store):
        folder = store / f"orders-0-{TOPIC_ID}"
        folder.mkdir(parents=True, exist_ok=True)
        for suffix in self.files:
            self.path(store, suffix).write_bytes(b"")
        if ".leader_epoch_checkpoint" in self.files:
            lines = [f"{epoch} {offset}" for epoch, offset in epochs_of(self.batches)]
            text = "\n".join(["0", str(len(lines)), *lines]) + "\n"
            self.path(store, ".leader_epoch_checkpoint").write_text(text)
        if ".log" in self.files:
            content = b"".join(batch.encoded() for batch in self.batches)
            self.path(store, ".log").write_bytes(content)
        return store

    def path(self, store, suffix):
        name = f"{self.batches[0].base:020}-{self.identity}{suffix}"
        return store / f"orders-0-{TOPIC_ID}" / name

    def records(self):
        """A metadata record, and an update for each further state."""
        topic = b"\x07orders" + base64.urlsafe_b64decode(TOPIC_ID + "==") + bytes(4) + b"\0"
        identity = topic + bytes([self.number] * 16) + b"\0"
        epochs = epochs_of(self.batches)
        first, *others = self.states
        yield (
            b"\1\0\0" + identity + _long(self.batches[0].base) + _long(self.batches[-1].until - 1)
            + bytes(4) + _long(1_000) + _long(2_000) + bytes([len(epochs) + 1])
            + b"".join(epoch.to_bytes(4, "big") + _long(at) + b"\0" for epoch, at in epochs)
            + bytes(4) + b"\0" + bytes([first]) + b"\0"
        )  # fmt: skip
        for state in others:
            yield b"\1\1\0" + identity + b"\0\0\0\2" + _long(61_000) + b"\0" + bytes([state, 0])


def _long(number):
    return number.to_bytes(8, "big")


def write_metadata(directory, segments):
    """A broker's log directory with the metadata topic alone."""
    values = tuple(value for segment in segments for value in segment.records())
    batches = [Wanted(0, 0, values)] if values else []
    topic = "__remote_log_metadata"
    return Disk(batches, None, None, topic=topic, topic_id=None).write(directory)
