"""Ends processes and removes directories when whoever started them is gone, however that came.

Run as a script with a pipe as its input, and with nothing but the standard library. Each line is a
word and its object: `process 12`, `ended 12`, `directory /x`. When the pipe closes, processes that
have not ended are killed, and directories are removed. Killing the parent with SIGKILL closes the
pipe, too.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress


def left(lines: Iterable[str]) -> tuple[set[int], set[str]]:
    """The processes that have not ended, and the directories, once the lines end."""
    processes: set[int] = set()
    directories: set[str] = set()
    for line in lines:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "process":
            processes.add(int(rest))
        elif word == "ended":
            processes.discard(int(rest))
        elif word == "directory":
            directories.add(rest)
    return processes, directories


def main() -> None:
    """Wait for the end of the input, then clear up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    processes, directories = left(sys.stdin)
    for process in processes:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
    for directory in directories:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
