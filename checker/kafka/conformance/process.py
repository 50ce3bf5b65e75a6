"""One Java process a release that is asked by lines of JSON, each answered by one.

It ends when its input does, also if this process is killed, and takes its files with it.
"""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from checker.kafka.conformance.rows import Numbers, Wanted
from checker.kafka.releases.compile import compile_java
from checker.kafka.releases.jars import release
from checker.kafka.releases.jdk import SMALL, java
from checker.kafka.releases.patch import patched_classes
from model.language import Model
from model.language.errors import UsageError
from model.language.protocol import Instance

JAVA = (*SMALL, "-Xmx512m", "-Xss512k")
JAVA_SOURCES = Path(str(files("checker.kafka.conformance").joinpath("java")))
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


class JavaProcess:
    """The class `main`, with Kafka's of one release, as a context manager; `UsageError` if it
    cannot run.

    With `fix`, the name of a fix in `checker/kafka/releases/patches`, it is laid on them. `also` is
    put before the release's jars.
    """

    def __init__(
        self, version: str, main: str, sources: Sequence[Path], fix: str = "", also: str = ""
    ) -> None:
        chosen = release(version)
        fixed = str(patched_classes(chosen, fix)) if fix else ""
        classes = compile_java(chosen, sources, also=also)
        path = ":".join(filter(None, (str(classes), fixed, also, chosen.classpath)))
        memory = MEMORY_FILES if MEMORY_FILES.is_dir() else Path(tempfile.gettempdir())
        self.version, self.fix = version, fix
        self.root = memory / f"highwater-conform-{secrets.token_hex(8)}"
        logging = JAVA_SOURCES / "log4j.properties"
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (it stays open)
        self._process = subprocess.Popen(
            [
                *(java(), *JAVA, f"-Dlog4j.configuration=file:{logging}"),
                *("-cp", path, main, str(self.root)),
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

    def write(self, asked: dict[str, Any]) -> None:
        """Ask something; `told` gives the answers in the order of what was asked."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(asked, separators=(",", ":")) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def told(self) -> dict[str, Any]:
        """The next answer. `UsageError` if the process ended."""
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


class Runs(JavaProcess, ABC):
    """A process that takes runs of a model; each protocol's harness says how it is asked."""

    @abstractmethod
    def send(self, model: Model, projection: Wanted, steps: Sequence[Instance]) -> None:
        """Have a run taken; `receive` gives what came out, in the order of what was sent."""

    def receive(self) -> Answer:
        """What came out of the oldest run that was sent and not received yet."""
        told = self.told()

        def by_state(kind: str) -> dict[int, list[str]]:
            return {int(state): words for state, words in told.get(kind, {}).items()}

        states = np.array(told["states"], np.int64)
        return Answer(states, by_state("notes"), by_state("failures"), told.get("stopped", ""))

    def run(self, model: Model, projection: Wanted, steps: Sequence[Instance]) -> Answer:
        """Have a run taken, and wait for what comes out."""
        self.send(model, projection, steps)
        return self.receive()
