"""Kafka's brokers of one release, with one controller: runs of a model, and what comes out.

A run is a line, so that the process is asked once for some dozens of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from checker.kafka.conformance.brokers import writes_epochs_later
from checker.kafka.conformance.plan import has_elr
from checker.kafka.conformance.process import JAVA_SOURCES, Runs
from checker.kafka.conformance.rows import Numbers, Wanted
from checker.kafka.releases.jars import at_least, mocks
from model.acks import Acks
from model.kafka.choices import ConsumerCommits, EpochCache, FetchAnswers, LogFile, LogStartFile
from model.kafka.settings import KafkaSettings
from model.language import Model
from model.language.errors import UsageError
from model.language.protocol import Instance


@dataclass(frozen=True)
class Drive:
    """Random steps that Kafka allowed: a row of `states` before the first event and after each.

    An event is its name and the brokers that it is about.
    """

    events: list[list[Any]]
    states: Numbers
    stopped: str = ""


class Harness(Runs):
    """Kafka's classes of one release, as a context manager; `UsageError` if it cannot run.

    With `fix`, the name of a fix in `checker/kafka/releases/patches`, it is laid on them.
    """

    def __init__(self, version: str, fix: str = "") -> None:
        super().__init__(version, "highwater.Main", sources(version), fix, mocks())

    def send(self, model: Model, projection: Wanted, steps: Sequence[Instance]) -> None:
        """Have a run taken; `receive` gives what came out, in the order of what was sent."""
        taken = [[step.action.name, *step.arguments] for step in steps]
        self.write({**self._world(model, projection), "steps": taken})

    def drive(self, model: Model, projection: Wanted, chosen: dict[str, int]) -> Drive:
        """Have Kafka take random steps; `chosen` is what `Main.java` says a drive has."""
        self.write({**self._world(model, projection), "drive": chosen})
        told = self.told()
        states = np.array(told["states"], np.int64)
        return Drive(told.get("events", []), states, told.get("stopped", ""))

    def _world(self, model: Model, projection: Wanted) -> dict[str, Any]:
        options = model.settings
        assert isinstance(options, KafkaSettings)
        return {
            "brokers": model.bounds["replicas"],
            "replicas": options.replication_factor or model.bounds["replicas"],
            "first_partition_replicas": options.first_partition_replicas,
            "min_isr": min(options.min_insync_replicas, model.bounds["replicas"]),
            "later_min_isr": options.min_insync_replicas_later,
            "answers_apart": options.isr_answer_apart,
            "elr": options.eligible_leader_replicas and has_elr(self.version),
            "racks": options.broker_rack.numbers(model.bounds["replicas"]),
            "flushed": options.log_flush_interval_messages == 1,
            "unsynced": options.log_file == LogFile.UNSYNCED,
            "epochs_kept": options.epoch_cache == EpochCache.KEPT,
            "reads_late": options.fetch_answers == FetchAnswers.READ_LATE,
            "record_segments": model.bounds["record_deletions"] > 0,
            "late_log_starts": options.log_start_file == LogStartFile.LATER,
            "late_epochs": writes_epochs_later(options),
            "two_directories": model.bounds["directory_moves"] > 0,
            "commits_first": options.consumer_commits == ConsumerCommits.BEFORE,
            "acks": -1 if options.acks == Acks.ALL else int(options.acks),
            "cells": projection.wanted,
        }


def sources(version: str) -> list[Path]:
    """The Java files of a release: the common ones, and of the others the newest not newer.

    A file in `java/since-X` takes the place of an older one of the same name.
    """
    root = JAVA_SOURCES
    by_age = sorted(root.glob("since-*"), key=lambda path: tuple(map(int, _since(path).split("."))))
    fitting = [path for path in by_age if at_least(version, f"{_since(path)}.0")]
    if not fitting:
        raise UsageError(f"no adapter for Kafka {version}: valid are {_since(by_age[0])} and newer")
    found = {path.name: path for folder in fitting for path in folder.glob("*.java")}
    return sorted([*(root / "common").glob("*.java"), *found.values()])


def _since(folder: Path) -> str:
    return folder.name.removeprefix("since-")
