"""One call: a command in a process of its own, which is ended at its limits and when nobody waits.

Commands keep limits by themselves, and tell how far they came. What does not, as a protocol that
computes while it is imported, is ended from here: first as by Ctrl-C, then at once.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from subprocess import DEVNULL
from typing import TYPE_CHECKING

import anyio
import psutil

from checker.commands.agents.child import main
from checker.commands.agents.folder import Folder
from checker.commands.agents.limits import MEMORY, SECONDS, CallLimits

if TYPE_CHECKING:
    from anyio.abc import ByteReceiveStream

LATE = 5.0
"""Seconds beyond a limit that a command has which keeps it by itself."""
PATIENCE = 7.0
"""Seconds from the first end, as by Ctrl-C, to the second; then to see an end."""
_EVERY = 0.1  # seconds between two looks
CACHE = "HIGHWATER_CACHE"  # as `cache_directory` reads it
_CODE = f"from {main.__module__} import main; main()"


@dataclass(frozen=True)
class Ended:
    """How a call's process ended: what it wrote, and which limit ended it from here, if one did."""

    out: str
    err: str
    status: int
    stopped: str = ""


async def run(
    arguments: Sequence[str], folder: Folder, limits: CallLimits, keeps: Collection[str] = ()
) -> Ended:
    """Run a command in the folder; cancelled, it leaves no process.

    `keeps` are names of the limits that the command keeps by itself.
    Raises `OSError` or `ValueError` for arguments that no process can have.
    """
    environment = {**os.environ, CACHE: os.environ.get(CACHE) or str(folder.cache())}
    command = [sys.executable, "-P", "-c", _CODE, *arguments]
    process = await anyio.open_process(command, stdin=DEVNULL, cwd=folder.root, env=environment)
    seen = psutil.Process(process.pid)
    watch = _Watch(seen, limits, keeps)
    out, err = _Read(process.stdout), _Read(process.stderr)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(watch.look)
            group.start_soon(out.read)
            group.start_soon(err.read)
            status = await process.wait()
            with anyio.move_on_after(PATIENCE):  # what it has started may hold the streams open
                await out.ended.wait()
                await err.ended.wait()
            group.cancel_scope.cancel()
    finally:
        end(seen)
        with anyio.CancelScope(shield=True):
            await process.aclose()
    return Ended(out.text, err.text, status, watch.stopped)


def end(process: psutil.Process, number: int = signal.SIGKILL) -> None:
    """Signal a process and all that it has started; those that have ended are left alone."""
    for each in _family(process):
        with suppress(psutil.NoSuchProcess):
            each.send_signal(number)


def end_all() -> None:
    """End what every call has started: this process starts nothing else."""
    for each in _family(psutil.Process())[1:]:
        with suppress(psutil.NoSuchProcess):
            each.kill()


def _family(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return [process, *process.children(recursive=True)]
    return []


class _Read:
    """What is written to a stream, read as it comes."""

    def __init__(self, stream: ByteReceiveStream | None) -> None:
        assert stream is not None
        self.ended = anyio.Event()
        self._stream, self._found = stream, bytearray()

    async def read(self) -> None:
        """Until the stream ends."""
        async for part in self._stream:
            self._found += part
        self.ended.set()

    @property
    def text(self) -> str:
        """All that was read."""
        return self._found.decode("utf-8", "replace")


class _Watch:
    """Looks at a process's time and memory, and ends it where it is beyond a limit for too long."""

    def __init__(self, process: psutil.Process, limits: CallLimits, keeps: Collection[str]) -> None:
        self.stopped = ""
        self._process, self._limits = process, limits
        self._late = {name: LATE if name in keeps else 0.0 for name in (SECONDS, MEMORY)}

    async def look(self) -> None:
        """Until cancelled."""
        began, since = time.monotonic(), 0.0
        while not self.stopped:
            await anyio.sleep(_EVERY)
            now = time.monotonic()
            beyond = self._beyond(now - began)
            since = (since or now) if beyond else 0.0
            if beyond and now - since >= self._late[beyond]:
                limits = self._limits
                self.stopped = limits.of_time if beyond == SECONDS else limits.of_memory
        end(self._process, signal.SIGINT)
        await anyio.sleep(PATIENCE)
        end(self._process)

    def _beyond(self, seconds: float) -> str:
        """The name of the limit that is exceeded, if one is."""
        if seconds > self._limits.seconds:
            return SECONDS
        return MEMORY if self._memory() > self._limits.memory else ""

    def _memory(self) -> int:
        """Bytes that the process and all that it has started hold."""
        found = 0
        for each in _family(self._process):
            with suppress(psutil.NoSuchProcess):
                found += each.memory_info().rss
        return found
