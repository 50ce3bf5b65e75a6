"""Kafka's transaction coordinators of one release, partitions and a producer: runs of the model.

`kafka_transactions` says what is a step; `java/coordinator/TxnActions.java` what it is on Kafka.
"""

from __future__ import annotations

from collections.abc import Sequence

from checker.kafka.conformance.process import JAVA_SOURCES, Runs
from checker.kafka.conformance.rows import Wanted
from checker.kafka.releases.jars import at_least, mocks
from model.kafka_transactions.settings import TransactionSettings
from model.language import Model
from model.language.errors import UsageError
from model.language.protocol import Instance

FIRST = "3.9.0"
"""The oldest release that was tried."""

SHARED = ("Lines.java", "Parts.java", "ManualClock.java", "ManualScheduler.java", "Scala.java")


class TransactionCoordinators(Runs):
    """Coordinators of one release, as a context manager; `UsageError` if it cannot run."""

    def __init__(self, version: str, fix: str = "") -> None:
        if not at_least(version, FIRST):
            raise UsageError(
                f"coordinators of Kafka {version} are not compared: valid are {FIRST} and newer"
            )
        sources = [
            *sorted((JAVA_SOURCES / "coordinator").glob("*.java")),
            JAVA_SOURCES / "sender" / "OwnSender.java",
            *(JAVA_SOURCES / "common" / name for name in SHARED),
        ]
        super().__init__(version, "highwater.TxnMain", sources, fix, mocks())

    def send(self, model: Model, projection: Wanted, steps: Sequence[Instance]) -> None:
        """Have a run taken; `receive` gives what came out, in the order of what was sent."""
        options = model.settings
        assert isinstance(options, TransactionSettings)
        version = int(options.transaction_version.value)
        self.write(
            {
                "partitions": model.bounds["topic_partitions"],
                "transactions": model.bounds["transactions"],
                "failovers": model.bounds["coordinator_failovers"],
                "version": version,
                "verifies": version == 2 or options.verification,
                "blanks": options.dead_values_are_blank,
                "cells": projection.wanted,
                "steps": [[step.action.name, *step.arguments] for step in steps],
            }
        )
