"""Java processes that end with this one: after Ctrl-C, an error, and also after SIGKILL.

Each has a session of its own, so that Ctrl-C in a terminal reaches this process alone, which then
ends them in order. A watchdog, told of each, does so when nobody is left to (`watchdog.py`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from checker.kafka.cluster import watchdog
from checker.kafka.cluster.news import News
from checker.kafka.releases.jdk import BRIEF, java


class Process:
    """A running Java process, whose output is a log on disk and is heard line by line."""

    def __init__(
        self, running: subprocess.Popen[str], log: Path, hear: Callable[[str], None], news: News
    ) -> None:
        self._running, self._news = running, news
        self._reader = threading.Thread(target=self._read, args=(log, hear), daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._running.pid

    @property
    def has_ended(self) -> bool:
        """Whether it is gone."""
        return self._running.poll() is not None

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._running.send_signal(number)

    def write(self, line: str) -> None:
        """A line on its standard input. `OSError` if it is gone."""
        assert self._running.stdin is not None
        self._running.stdin.write(line + "\n")
        self._running.stdin.flush()

    def kill(self) -> None:
        """End it at once, paused or not, and read what it had said."""
        with suppress(OSError):
            self._running.kill()
        self._running.wait()
        self._reader.join(10)
        for stream in (self._running.stdin, self._running.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _read(self, log: Path, hear: Callable[[str], None]) -> None:
        stream = self._running.stdout
        assert stream is not None
        with log.open("a", encoding="utf-8") as file, suppress(ValueError):
            for line in stream:
                file.write(line)
                with self._news.change():
                    hear(line.rstrip("\n"))
        with self._news.change():
            pass  # it has ended, which somebody may wait for


class Processes:
    """The processes of one run and its directory; leaving the context ends and removes them."""

    def __init__(self, directory: Path, keep: bool, news: News) -> None:
        self.directory, self._news = directory, news
        self._running: list[Process] = []
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", watchdog.__file__],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            text=True, start_new_session=True,
        )  # fmt: skip
        if not keep:
            self._tell(f"directory {directory}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(
        self,
        classpath: str,
        arguments: Sequence[str],
        log: Path,
        hear: Callable[[str], None],
        heap: int,
    ) -> Process:
        """Start `java` on a class and its arguments; at most `heap` MiB of heap."""
        running = subprocess.Popen(
            [java(), f"-Xmx{heap}m", *BRIEF, "-cp", classpath, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            cwd=log.parent, env=_environment(), text=True, encoding="utf-8", errors="replace",
            start_new_session=True,
        )  # fmt: skip
        self._tell(f"process {running.pid}")
        process = Process(running, log, hear, self._news)
        self._running.append(process)
        return process

    def gone(self, process: Process) -> None:
        """Say that a process has been waited for: its number may be somebody else's soon."""
        process.kill()
        if process in self._running:
            self._running.remove(process)
            self._tell(f"ended {process.pid}")

    def end(self) -> None:
        """End every process, and let the watchdog remove the directory unless it is to be kept."""
        for process in tuple(self._running):
            self.gone(process)
        stream: IO[str] | None = self._watchdog.stdin
        if stream is not None and not stream.closed:
            stream.close()
        self._watchdog.wait()

    def _tell(self, line: str) -> None:
        assert self._watchdog.stdin is not None
        self._watchdog.stdin.write(line + "\n")
        self._watchdog.stdin.flush()


def _environment() -> dict[str, str]:
    """The user's, without what would make a JVM print or listen to something of its own."""
    strange = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH")
    return {name: value for name, value in os.environ.items() if name not in strange}
