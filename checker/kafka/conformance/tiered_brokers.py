"""Kafka's brokers of one release with remote storage, and one store for all: runs of a model."""

from __future__ import annotations

from collections.abc import Sequence

from checker.kafka.conformance.harness import sources
from checker.kafka.conformance.process import JAVA_SOURCES, Runs
from checker.kafka.conformance.rows import Wanted
from checker.kafka.releases.jars import at_least, mocks
from model.language import Model
from model.language.errors import UsageError
from model.language.protocol import Instance

FIRST = "3.9.0"
"""The first release whose copies and deletions are tasks of their own."""


class TieredBrokers(Runs):
    """Brokers of one release, perhaps with a fix, as a context manager."""

    def __init__(self, version: str, fix: str = "") -> None:
        if not at_least(version, FIRST):
            raise UsageError(
                f"tiered storage of Kafka {version} copies and deletes in one task: "
                f"valid are {FIRST} and newer"
            )
        own = sorted((JAVA_SOURCES / "tiered").glob("*.java"))
        super().__init__(version, "highwater.TieredMain", [*sources(version), *own], fix, mocks())

    def send(self, model: Model, projection: Wanted, steps: Sequence[Instance]) -> None:
        """Have a run taken; `receive` gives what came out, in the order of what was sent."""
        self.write(
            {
                "brokers": model.bounds["brokers"],
                "copies": model.bounds["copies"],
                "cells": projection.wanted,
                "steps": [[step.action.name, *step.arguments] for step in steps],
            }
        )
