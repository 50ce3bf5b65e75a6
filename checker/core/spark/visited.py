"""The states that a partition owns in earlier levels, kept in memory between levels.

A worker may be asked about any partition. It takes over what it or another worker of the machine
has, and fills in, from the store, the levels that this lacks. A set that is being added to is
nobody's until its level is whole, and one that holds more than is asked for is not used, so a task
that fails or is run twice finds the same. What does not fit is forgotten, and read again when it is
needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
import psutil

from checker.core.search.fingerprints import fingerprints
from checker.core.search.memory import Table
from checker.core.search.visited_set import VisitedSet
from checker.core.spark.handover import Handover
from checker.core.spark.parcels import LevelJob, owners
from checker.core.spark.shared_table import SharedTable
from checker.core.stores.level_files import read_columns
from checker.core.stores.store import LevelFile, read_marker


def visited_before(job: LevelJob, owner: int, words: int, place: Path | None = None) -> VisitedSet:
    """What the owner holds of the levels before the job's; the caller's until it is remembered.

    Workers of this machine that are given the same `place`, a directory, hand sets to each other.
    """
    handover = _handover(job.run, place)
    handover.forget(_budget())
    given = handover.take(_name(job, owner))
    if given is None or given.depth > job.depth:
        memory = Table if place is None else SharedTable
        visited, depth = VisitedSet(words, job.exact, memory=memory), 0
    else:
        visited, depth = given.visited, given.depth
    while depth < job.depth:
        _add_level(job, owner, words, visited, depth)
        depth += 1
    return visited


def remember(job: LevelJob, owner: int, visited: VisitedSet, place: Path | None = None) -> None:
    """Keep a set that holds what the owner has of the job's level, too, and of those before."""
    handover = _handover(job.run, place)
    handover.give(_name(job, owner), job.depth + 1, visited)
    handover.forget(_budget())


@contextmanager
def at_hand(job: LevelJob, owner: int, place: Path | None = None) -> Iterator[VisitedSet | None]:
    """What the owner holds of earlier levels, or of the first of them, if it need not be built."""
    with _handover(job.run, place).look(_name(job, owner)) as given:
        yield None if given is None or given.depth > job.depth else given.visited


@lru_cache(maxsize=1)
def _handover(run: str, place: Path | None) -> Handover:
    """What this worker has of one run; what it had of another is dropped."""
    return Handover(place)


def _name(job: LevelJob, owner: int) -> str:
    return f"{job.run}-{owner}-of-{job.partitions}"


def _add_level(job: LevelJob, owner: int, words: int, visited: VisitedSet, depth: int) -> None:
    for file in read_marker(job.storage, depth, job.seals[depth + 1]).files:
        is_foreign = file.owner is not None and file.owner[1] == job.partitions
        if file.owner == (owner, job.partitions) or not is_foreign:
            _add_file(job, owner, words, visited, depth, file)


def _add_file(
    job: LevelJob, owner: int, words: int, visited: VisitedSet, depth: int, file: LevelFile
) -> None:
    is_whole = job.exact or not job.storage.is_kept
    wanted = [f"word_{w}" for w in range(words)] if is_whole else ["fingerprint"]
    columns = read_columns(job.storage, depth, file, wanted)
    packed = np.stack([column.view(np.uint64) for column in columns])
    if file.owner != (owner, job.partitions):
        found = fingerprints(packed) if is_whole else packed[0]
        packed = packed[:, np.flatnonzero(owners(found, job.partitions) == owner)]
    if is_whole:
        visited.insert(np.ascontiguousarray(packed))
    else:
        visited.insert_fingerprints(np.ascontiguousarray(packed[0]))


def _budget() -> int:
    """The bytes of tables that a worker may keep: its share of half of the memory."""
    return psutil.virtual_memory().total // (2 * (psutil.cpu_count() or 1))
