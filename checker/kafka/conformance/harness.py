"""One Java process a release: it is given runs as lines of JSON and answers with Kafka's states.

A run is a line, so that the process is asked once for some dozens of steps. It ends when its input
does, also if this process is killed, and takes its brokers' files with it.
"""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from checker.kafka.conformance.plan import has_elr
from checker.kafka.conformance.projection import Numbers, Projection, writes_epochs_later
from checker.kafka.releases.compile import compile_java
from checker.kafka.releases.jars import at_least, mocks, release
from checker.kafka.releases.jdk import SMALL, java
from checker.kafka.releases.patch import patched_classes
from model.acks import Acks
from model.kafka.choices import ConsumerCommits, EpochCache, FetchAnswers, LogFile, LogStartFile
from model.kafka.settings import KafkaSettings
from model.language import Model
from model.language.errors import UsageError
from model.language.protocol import Instance

JAVA = (*SMALL, "-Xmx512m", "-Xss512k")
MEMORY_FILES = Path("/dev/shm")
END_SECONDS, END_SOON = 20.0, 1.0
"""Seconds that the process has to remove its files, and where something has ended the work."""


@dataclass(frozen=True)
class Answer:
    """What Kafka did on a run: a row of `states` before the first step and after each that ran.

    `notes` and `failures` are words by state; `stopped` says why Kafka's classes stopped early.
    """

    states: Numbers
    notes: dict[int, list[str]] = field(default_factory=dict)
    failures: dict[int, list[str]] = field(default_factory=dict)
    stopped: str = ""


@dataclass(frozen=True)
class Drive:
    """Random steps that Kafka allowed: a row of `states` before the first event and after each.

    An event is its name and the brokers that it is about.
    """

    events: list[list[Any]]
    states: Numbers
    stopped: str = ""


class Harness:
    """Kafka's classes of one release, as a context manager; `UsageError` if it cannot run.

    With `fix`, the name of a fix in `checker/kafka/releases/patches`, it is laid on them.
    """

    def __init__(self, version: str, fix: str = "") -> None:
        chosen = release(version)
        fixed = f"{patched_classes(chosen, fix)}:" if fix else ""
        also = mocks()
        classes = compile_java(chosen, sources(version), also=also)
        memory = MEMORY_FILES if MEMORY_FILES.is_dir() else Path(tempfile.gettempdir())
        self.version, self.fix = version, fix
        self.root = memory / f"highwater-conform-{secrets.token_hex(8)}"
        logging = str(files("checker.kafka.conformance").joinpath("java", "log4j.properties"))
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (it stays open)
        self._process = subprocess.Popen(
            [
                *(java(), *JAVA, f"-Dlog4j.configuration=file:{logging}"),
                *("-cp", f"{classes}:{fixed}{also}:{chosen.classpath}"),
                *("highwater.Main", str(self.root)),
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            start_new_session=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(END_SECONDS if kind is None else END_SOON)

    def close(self, within: float = END_SECONDS) -> None:
        """End the process; it removes its files."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(within)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            shutil.rmtree(self.root, ignore_errors=True)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def send(self, model: Model, projection: Projection, steps: Sequence[Instance]) -> None:
        """Have a run taken; `receive` gives what came out, in the order of what was sent."""
        taken = [[step.action.name, *step.arguments] for step in steps]
        self._write({**self._world(model, projection), "steps": taken})

    def drive(self, model: Model, projection: Projection, chosen: dict[str, int]) -> Drive:
        """Have Kafka take random steps; `chosen` is what `Main.java` says a drive has."""
        self._write({**self._world(model, projection), "drive": chosen})
        told = self._told()
        states = np.array(told["states"], np.int64)
        return Drive(told.get("events", []), states, told.get("stopped", ""))

    def _world(self, model: Model, projection: Projection) -> dict[str, Any]:
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
            "commits_first": options.consumer_commits == ConsumerCommits.BEFORE,
            "acks": -1 if options.acks == Acks.ALL else int(options.acks),
            "cells": projection.wanted,
        }

    def _write(self, asked: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(asked, separators=(",", ":")) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def receive(self) -> Answer:
        """What came out of the oldest run that was sent and not received yet."""
        return _answer(self._told())

    def _told(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        told: dict[str, Any] = json.loads(line)
        return told

    def _ended(self) -> UsageError:
        self._errors.seek(0)
        told = [line.strip() for line in self._errors if line.strip()]
        return UsageError(
            f"the Java process of Kafka {self.version} ended: {told[-1] if told else 'no reason'}"
        )

    def run(self, model: Model, projection: Projection, steps: Sequence[Instance]) -> Answer:
        """Have a run taken, and wait for what comes out."""
        self.send(model, projection, steps)
        return self.receive()


def _answer(told: dict[str, Any]) -> Answer:
    def by_state(kind: str) -> dict[int, list[str]]:
        return {int(state): words for state, words in told.get(kind, {}).items()}

    states = np.array(told["states"], np.int64)
    return Answer(states, by_state("notes"), by_state("failures"), told.get("stopped", ""))


def sources(version: str) -> list[Path]:
    """The Java files of a release: the common ones, and of the others the newest not newer.

    A file in `java/since-X` takes the place of an older one of the same name.
    """
    root = Path(str(files("checker.kafka.conformance").joinpath("java")))
    by_age = sorted(root.glob("since-*"), key=lambda path: tuple(map(int, _since(path).split("."))))
    fitting = [path for path in by_age if at_least(version, f"{_since(path)}.0")]
    if not fitting:
        raise UsageError(f"no adapter for Kafka {version}: valid are {_since(by_age[0])} and newer")
    found = {path.name: path for folder in fitting for path in folder.glob("*.java")}
    return sorted([*(root / "common").glob("*.java"), *found.values()])


def _since(folder: Path) -> str:
    return folder.name.removeprefix("since-")
