"""Kafka's controllers of one release, a `KafkaRaftClient` each: what they do in given steps.

Each has its own log and `quorum-state` file; messages and time are in the hands of the steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from checker.kafka.conformance.process import JAVA_SOURCES, JavaProcess
from model.language.errors import UsageError

SHARED = ("Parts.java", "ManualClock.java", "ManualScheduler.java")
Step = Sequence[str | int]


class Controllers(JavaProcess):
    """Controllers of one release, perhaps with a fix, as a context manager."""

    def __init__(self, version: str, fix: str = "") -> None:
        sources = [
            *sorted((JAVA_SOURCES / "kraft").glob("*.java")),
            *(JAVA_SOURCES / "common" / name for name in SHARED),
        ]
        super().__init__(version, "highwater.RaftMain", sources, fix)

    def play(
        self, nodes: int, voters: Iterable[int], steps: Iterable[Step]
    ) -> list[dict[int, dict[str, Any]]]:
        """Take steps named as in `RaftSteps.java`: what each node shows before and after each.

        Nodes are numbered from 1, the voters are in the bootstrap checkpoint. Raises `UsageError`
        if a step could not be taken.
        """
        self.write({"nodes": nodes, "voters": list(voters), "steps": [list(s) for s in steps]})
        told = self.told()
        if "stopped" in told:
            raise UsageError(f"controllers of Kafka {self.version}: {told['stopped']}")
        return [{node["node"]: node for node in state} for state in told["states"]]
