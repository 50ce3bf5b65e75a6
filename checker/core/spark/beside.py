"""Parcels that wait in files beside the shuffle, which carries no more than where they are.

Where all workers are on one machine, states need not pass through the JVM: it would copy, compress
and copy them again for a neighbour. The files go when the level is built, and with Spark's own
directory at the latest.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from checker.core.spark.parcels import Kind, Parcel
from checker.core.stores.storage import explained
from model.language.errors import HighwaterError


@contextmanager
def directory_beside(parent: Path | None) -> Iterator[Path | None]:
    """A new directory for the parcels of a level, for that long; none without a parent."""
    if parent is None:
        yield None
        return
    with explained(f"cannot make a directory in {parent}"):
        directory = Path(tempfile.mkdtemp(prefix="parcels-", dir=parent))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def put_beside(parcels: Iterable[Parcel], directory: Path | None) -> Iterator[Parcel]:
    """The parcels, but of those with states only where they are, if a directory is given.

    Each call writes a file of its own: a task that is run twice disturbs nobody.
    """
    if directory is None:
        yield from parcels
        return
    try:
        with explained(f"cannot write to {directory}"):
            file, path = tempfile.mkstemp(dir=directory)
        with os.fdopen(file, "wb", buffering=0) as stream:
            for parcel in parcels:
                yield _put(parcel, stream, path) if parcel.kind == Kind.STATES else parcel
    except HighwaterError as error:
        yield Parcel(0, Kind.ERROR, str(error).encode())


def _put(parcel: Parcel, stream: BinaryIO, path: str) -> Parcel:
    start, content = stream.tell(), memoryview(parcel.content)
    with explained(f"cannot write {path}"):
        while content:
            content = content[stream.write(content) :]
    place = json.dumps([path, start, len(parcel.content)])
    return replace(parcel, kind=Kind.PLACE, content=place.encode())


def get_from_beside(parcels: Iterable[Parcel]) -> Iterator[Parcel]:
    """The parcels as they were before some were put beside. Their contents are not copied."""
    files: dict[str, memoryview] = {}
    for parcel in parcels:
        if parcel.kind != Kind.PLACE:
            yield parcel
            continue
        path, start, size = json.loads(bytes(parcel.content))
        if path not in files:
            with explained(f"cannot read {path}"), open(path, "rb") as stream:
                files[path] = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        yield replace(parcel, kind=Kind.STATES, content=files[path][start : start + size])
