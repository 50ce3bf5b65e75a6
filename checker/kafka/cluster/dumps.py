"""The records on a disk, as Kafka's DumpLogSegments shows them."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.news import News
from checker.kafka.cluster.processes import Processes
from checker.kafka.cluster.programs import QUIET, Programs

HEAP = 160  # MiB
LIMIT = 120.0  # seconds for one dump
_HEAD = struct.Struct(">qi")  # of a batch: its base offset, and how many bytes follow
_LAST = struct.Struct(">i")  # the last offset in it, less its base offset
_MAGIC_AT, _LAST_AT = 16, 23  # bytes from the beginning of the batch
_FILE = re.compile(r"Dumping (.+)$")
_RECORD = re.compile(r"\boffset: \d+ .*\bpayload: (.*)$")


def names_in(lines: Iterable[str]) -> dict[Path, frozenset[str]]:
    """The names of the records of each file that a dump shows.

    A name is a value without the dots that fill it up.
    """
    found: dict[Path, set[str]] = {}
    names: set[str] = set()
    for line in lines:
        if match := _FILE.match(line):
            names = found.setdefault(Path(match[1]), set())
        elif match := _RECORD.search(line):
            names.add(match[1].rstrip("."))
    return {file: frozenset(names) for file, names in found.items()}


def segments(directories: Iterable[Path], topic: str, set_aside: bool = False) -> list[Path]:
    """Every log segment of a topic, and of metadata every snapshot, in folders such as `t-0`.

    Or in those that Kafka has set aside and does not read again: `t-0.x-stray`, `t-0.x-delete`.
    """
    name = re.compile(rf"{re.escape(topic)}-\d+" + (r"\..+" if set_aside else ""))
    return [
        segment
        for directory in directories
        for folder in sorted(directory.glob(f"{topic}-*"))
        if name.fullmatch(folder.name)
        for segment in sorted((*folder.glob("*.log"), *folder.glob("*.checkpoint")))
    ]


def end_below(segment: bytes, offset: int) -> int:
    """Where the batches of a log segment end that begin below an offset, in bytes."""
    end = 0
    for base, _, stop in _batches(segment):
        if base >= offset:
            break
        end = stop
    return end


def magic_of(segment: bytes, offset: int) -> int | None:
    """Where the magic byte is of the batch that begins at an offset; `None` if none does."""
    return next((start + _MAGIC_AT for base, start, _ in _batches(segment) if base == offset), None)


def end_offset(segment: bytes) -> int | None:
    """The offset behind the last batch that is whole; `None` if none is."""
    whole = [(base, start) for base, start, stop in _batches(segment) if stop <= len(segment)]
    return (
        whole[-1][0] + _LAST.unpack_from(segment, whole[-1][1] + _LAST_AT)[0] + 1 if whole else None
    )


def _batches(segment: bytes) -> Iterator[tuple[int, int, int]]:
    """Of each batch the base offset, and where it begins and ends; zeros at the end are none."""
    end = 0
    while end + _HEAD.size <= len(segment):
        base, length = _HEAD.unpack_from(segment, end)
        if length <= 0:
            return
        start, end = end, end + _HEAD.size + length
        yield base, start, end


def dump(
    programs: Programs, processes: Processes, news: News, files: list[Path], log: Path,
    options: tuple[str, ...] = ("--print-data-log",),
) -> dict[Path, frozenset[str]]:  # fmt: skip
    """The names of all records in each of these files, by one dump.

    `UndecidedError` if it does not end in time, or does not show a file.
    """
    lines: list[str] = []
    arguments = [
        QUIET, programs.dump_log_segments, *options, "--files", ",".join(map(str, files)),
    ]  # fmt: skip
    running = processes.start(programs.classpath, arguments, log, lines.append, HEAP)
    if not news.wait(lambda: running.has_ended, LIMIT):
        raise UndecidedError(f"the dump did not end within {LIMIT:.0f} s")
    processes.gone(running)
    shown = names_in(lines)
    for file in files:
        if file not in shown:
            raise UndecidedError(f"the dump does not show {file.relative_to(log.parent)}")
    return shown
