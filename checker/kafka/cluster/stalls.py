"""Threads of brokers that stall: a debugger stops one at the beginning of a method, and lets it go.

The broker's classes are the release's own, and all its other threads go on. A thread that the
system does not run for some seconds, that waits for a lock or for its disk, stalls in the same way.
"""

from __future__ import annotations

from itertools import chain

from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.news import News
from checker.kafka.cluster.processes import Process, Processes
from checker.kafka.cluster.programs import Programs

AGENT = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"
"""What has a JVM wait for a debugger, on a port that it says."""
HEAP, LIMIT = 64, 60.0  # MiB, seconds


class Stall:
    """One thread of a JVM, the first that comes to `method`; `port`: where it waits for debuggers.

    `A|B.run` is the method `run` of A or of B: classes have other names in other releases.

    `caller`: the method that has to have called it; empty: whichever has.
    `UndecidedError` if there is no such method, or nobody answers at the port.
    """

    def __init__(
        self, programs: Programs, processes: Processes, news: News, port: int, method: str,
        caller: str = "",
    ) -> None:  # fmt: skip
        self._processes, self._is_ready, self.thread = processes, False, ""
        places = [method.rpartition(".")[::2] for method in (method, caller) if method]
        self._process: Process = processes.start(
            programs.clients, ["Stalls", str(port), *chain.from_iterable(places)],
            processes.directory / "stalls.log", self._hear, HEAP,
        )  # fmt: skip
        news.wait(lambda: self._is_ready or self._process.has_ended, LIMIT)
        if not self._is_ready:
            raise UndecidedError(f"no thread can be stalled at {method}")

    def end(self) -> None:
        """Let the thread go on."""
        self._processes.gone(self._process)

    def _hear(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "ready":
            self._is_ready = True
        elif word == "stalled":
            self.thread = rest
