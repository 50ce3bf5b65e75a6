"""The controllers of a cluster: one that all are told of, or a quorum whose voters may change.

The first controller that a schedule names founds the quorum and is its only voter; others read the
metadata as observers until a step adds them, as an operator does (KIP-853). Or all are configured
as voters, as before KIP-853, until a step raises `kraft.version`; they stay configured then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from checker.kafka.cluster.frames import CONTROLLER

METADATA_LOG = "__cluster_metadata"
DECODED = "--cluster-metadata-decoder"  # for DumpLogSegments


@dataclass(frozen=True)
class Quorum:
    """The node ids of the controllers; if a schedule names them, the first founds the quorum.

    `voters_configured`: they are all voters, in `controller.quorum.voters` of every node.
    """

    controllers: tuple[int, ...] = (CONTROLLER,)
    voters_configured: bool = False

    @property
    def is_dynamic(self) -> bool:
        """A schedule names the controllers, which come and go as voters: metadata is evidence."""
        return self.controllers != (CONTROLLER,)

    def settings(self, addresses: Mapping[int, str]) -> dict[str, str]:
        """By what every node finds the controllers, whose addresses are given by node id."""
        if self.is_dynamic and not self.voters_configured:
            listed = ",".join(addresses[node] for node in self.controllers)
            return {"controller.quorum.bootstrap.servers": listed}
        voters = ",".join(f"{node}@{addresses[node]}" for node in self.controllers)
        return {"controller.quorum.voters": voters}

    def format_options(self, node: int) -> tuple[str, ...]:
        """What Kafka's storage tool is to know of a node's part in the quorum."""
        if not self.is_dynamic or self.voters_configured or node not in self.controllers:
            return ()
        return ("--standalone",) if node == self.controllers[0] else ("--no-initial-controllers",)


def directory_id(disk: Path) -> str:
    """The id that the storage tool gave a disk. `KeyError` if it gave none."""
    text = (disk / "meta.properties").read_text(encoding="utf-8")
    found = re.search(r"^directory\.id=(\S+)$", text, re.MULTILINE)
    if found is None:
        raise KeyError(f"{disk} has no directory.id")
    return found[1]


def topic_names(payloads: Iterable[str]) -> frozenset[str]:
    """`topic NAME` for each topic that records of the metadata log make, as a dump decodes them."""
    records = [json.loads(payload) for payload in payloads if payload.startswith("{")]
    return frozenset(
        topic_name(record["data"]["name"]) for record in records if record["type"] == "TOPIC_RECORD"
    )


def topic_name(topic: str) -> str:
    """How a topic's own record is called in the evidence, beside the records in the topic."""
    return f"topic {topic}"
