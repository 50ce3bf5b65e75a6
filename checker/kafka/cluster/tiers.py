"""The remote store of a cluster with tiered storage: a directory that may refuse reads or stall.

What writes and reads it is `Tier.java` in each broker, around the store of Kafka's own tests
(or `Store.java`, where these are not published).
"""

from __future__ import annotations

import os
from pathlib import Path

STORE = "kafka-tiered-storage"  # LocalTieredStorage's own folder


class Tier:
    """The store in a directory, and the settings that brokers use it by. `store`: its class."""

    def __init__(self, directory: Path, store: str) -> None:
        self._directory, self._store = directory, store
        directory.mkdir()

    def settings(self, brokers: int) -> dict[str, str]:
        """Of all nodes: small segments, copied soon, and deleted from the local log soon."""
        return {
            "remote.log.storage.system.enable": "true",
            "remote.log.storage.manager.class.name": "Tier",
            "rsm.config.dir": str(self._directory),
            "rsm.config.store": self._store,
            "remote.log.metadata.manager.listener.name": "BROKER",
            "rlmm.config.remote.log.metadata.topic.replication.factor": str(brokers),
            "rlmm.config.remote.log.metadata.topic.num.partitions": "1",
            "remote.log.manager.task.interval.ms": "500",
            "log.retention.check.interval.ms": "500",
            "log.initial.task.delay.ms": "500",
            "log.segment.bytes": "1048576",  # the least since 4.0
            "log.local.retention.bytes": "1",
        }

    def refuse(self, broker: int) -> None:
        """What the broker wants to read, from now on."""
        self._refusal(broker).touch()

    def serve(self, broker: int) -> None:
        """Let it read again."""
        self._refusal(broker).unlink(missing_ok=True)

    def stall(self, broker: int) -> None:
        """Keep what the broker copies waiting, from now on."""
        self._stall(broker).touch()

    def take(self, broker: int) -> None:
        """Let what it copies come to its end."""
        self._stall(broker).unlink(missing_ok=True)

    def segments(self, topic: str) -> list[Path]:
        """The log segments of a topic that are in the store, by partition and base offset."""
        return sorted((self._directory / STORE).glob(f"{topic}-[0-9]*/*.log"))

    def linked(self, topic: str) -> list[Path]:
        """The same under the names that Kafka's DumpLogSegments asks for: links that stay."""
        links = []
        for number, segment in enumerate(self.segments(topic)):
            folder = self._directory / "links" / f"{topic}-{number}"
            folder.mkdir(parents=True)
            links.append(folder / f"{segment.name.partition('-')[0]}.log")
            os.link(segment, links[-1])
        return links

    def _refusal(self, broker: int) -> Path:
        return self._directory / f"refuse-{broker}"

    def _stall(self, broker: int) -> Path:
        return self._directory / f"stall-{broker}"
