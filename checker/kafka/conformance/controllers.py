"""Kafka's controllers of one release, a `KafkaRaftClient` each: what they do in given steps.

Each has its own log and `quorum-state` file; messages and time are in the hands of the steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from checker.kafka.conformance.process import JAVA_SOURCES, Runs
from checker.kafka.conformance.rows import Wanted
from checker.kafka.releases.jars import at_least
from model.kraft.settings import KRaftSettings, KRaftVersion
from model.language import Model
from model.language.errors import UsageError
from model.language.protocol import Instance

FIRST = "3.9.0"
"""The first release with `kraft.version` 1."""

SHARED = ("Lines.java", "Parts.java", "ManualClock.java", "ManualScheduler.java")
Step = Sequence[str | int]


class Controllers(Runs):
    """Controllers of one release, perhaps with a fix, as a context manager."""

    def __init__(self, version: str, fix: str = "") -> None:
        if not at_least(version, FIRST):
            raise UsageError(
                f"controllers of Kafka {version} have no voters in their log: "
                f"valid are {FIRST} and newer"
            )
        sources = [
            *sorted((JAVA_SOURCES / "kraft").glob("*.java")),
            *(JAVA_SOURCES / "common" / name for name in SHARED),
        ]
        super().__init__(version, "highwater.RaftMain", sources, fix)

    def send(self, model: Model, projection: Wanted, steps: Sequence[Instance]) -> None:
        """Have a run taken; `receive` gives what came out, in the order of what was sent."""
        options = model.settings
        assert isinstance(options, KRaftSettings)
        nodes = model.bounds["nodes"]
        observers = range(2, 2 + options.observers)
        self.write(
            {
                "nodes": nodes,
                "voters": [node for node in range(1, nodes + 1) if node not in observers],
                "flushes": model.bounds["power_losses"] > 0,
                "auto_join": options.auto_join,
                "segments": not options.whole_fetches,
                "static": options.kraft_version == KRaftVersion.STATIC,
                "cells": projection.wanted,
                "steps": [[step.action.name, *step.arguments] for step in steps],
            }
        )

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
