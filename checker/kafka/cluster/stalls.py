"""Threads of brokers that stall: a debugger stops one at the beginning of a method, and lets it go.

The broker's classes are the release's own, and all its other threads go on. A thread that the
system does not run for some seconds, that waits for a lock or for its disk, stalls in the same way.
"""

from __future__ import annotations

from contextlib import suppress

from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.news import News
from checker.kafka.cluster.processes import Process, Processes
from checker.kafka.cluster.programs import Programs

AGENT = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"
"""What has a JVM wait for a debugger, on a port that it says."""
HEAP, LIMIT = 64, 60.0  # MiB, seconds


class Stalls:
    """The threads of one JVM that stall; `port`: where it waits for debuggers, one at a time.

    `thread`: the one that stalls at a method, by its name, empty if none has come.
    """

    def __init__(self, programs: Programs, processes: Processes, news: News, port: int) -> None:
        self._processes, self._news = processes, news
        self._said: dict[str, str] = {}
        self._threads: dict[str, str] = {}
        self._process: Process = processes.start(
            programs.clients, ["Stalls", str(port)], processes.directory / "stalls.log",
            self._hear, HEAP,
        )  # fmt: skip

    def add(self, method: str, caller: str = "", call: int = 1) -> None:
        """Stall the first thread that comes to a method from now on, or comes there by that call.

        `A|B.run` is the method `run` of A or of B: classes have other names in other releases.
        `caller`: the method that has to have called it; empty: whichever has. `UndecidedError` if
        there is no such method, or nobody answers at the port.
        """
        self._said.pop(method, None)
        self._threads.pop(method, None)
        places = [place.rpartition(".")[::2] for place in (method, caller) if place]
        called = (*places[0], str(call), *(places[1] if caller else ()))
        with suppress(OSError):
            self._process.write(" ".join((method, *called)))
        self._news.wait(lambda: method in self._said or self._process.has_ended, LIMIT)
        if self._said.get(method) != "ready":
            raise UndecidedError(f"no thread can be stalled at {method}")

    @property
    def has_ended(self) -> bool:
        """Nobody is stalled any more: the JVM has ended."""
        return self._process.has_ended

    def thread(self, method: str = "") -> str:
        """The name of the thread that stalls there, or of one that stalls anywhere."""
        return self._threads.get(method, "") if method else next(iter(self._threads.values()), "")

    def let_go(self, method: str) -> None:
        """Let the thread go on that stalls there, or was to."""
        self._threads.pop(method, None)
        with suppress(OSError):
            self._process.write(f"go {method}")

    def end(self) -> None:
        """Let all of them go on."""
        self._processes.gone(self._process)

    def _hear(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        method, _, thread = rest.partition(" ")
        if word in ("ready", "none"):
            self._said[method] = word
        elif word == "stalled":
            self._threads[method] = thread
