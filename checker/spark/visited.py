"""The states that a partition owns in earlier levels, kept in a worker's memory between levels.

A worker may be asked about any partition. It fills in the levels that it has neither built nor read
from the store. A set that is being added to is nobody's until its level is whole, and one that
holds more than is asked for is not used, so a task that fails or is run twice finds the same. What
does not fit is forgotten and read again when it is needed.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import psutil

from checker.search.visited_set import VisitedSet
from checker.spark.parcels import LevelJob, owners
from checker.stores.level_files import read_columns
from checker.stores.store import MARKER, Level, LevelFile, Store

_Key = tuple[str, int, int]  # run, partition, partitions
_kept: OrderedDict[_Key, tuple[VisitedSet, int]] = OrderedDict()


def visited_before(job: LevelJob, owner: int, words: int) -> VisitedSet:
    """What the owner holds of the levels before the job's; the caller's until it is remembered."""
    for other in [k for k in _kept if k[0] != job.run]:
        del _kept[other]
    visited, depth = _kept.pop(_key(job, owner), (None, 0))
    if visited is None or depth > job.depth:
        visited, depth = VisitedSet(words, job.exact), 0
    while depth < job.depth:
        _add_level(job, owner, words, visited, depth)
        depth += 1
    return visited


def remember(job: LevelJob, owner: int, visited: VisitedSet) -> None:
    """Keep a set that holds what the owner has of the job's level, too, and of those before."""
    _kept[_key(job, owner)] = visited, job.depth + 1
    while len(_kept) > 1 and sum(v.bytes for v, _ in _kept.values()) > _budget():
        _kept.popitem(last=False)


def _key(job: LevelJob, owner: int) -> _Key:
    return job.run, owner, job.partitions


def _add_level(job: LevelJob, owner: int, words: int, visited: VisitedSet, depth: int) -> None:
    marker = job.storage.read(f"{Store.directory(depth)}/{MARKER}")
    for file in Level.from_json(marker).files:
        is_foreign = file.owner is not None and file.owner[1] == job.partitions
        if file.owner == (owner, job.partitions) or not is_foreign:
            _add_file(job, owner, words, visited, depth, file)


def _add_file(
    job: LevelJob, owner: int, words: int, visited: VisitedSet, depth: int, file: LevelFile
) -> None:
    wanted = ["fingerprint", *(f"word_{w}" for w in range(words) if job.exact)]
    name = f"{Store.directory(depth)}/{file.name}"
    found, *packed = (c.view(np.uint64) for c in read_columns(job.storage, name, wanted))
    mine: Any = slice(None)
    if file.owner != (owner, job.partitions):
        mine = np.flatnonzero(owners(found, job.partitions) == owner)
    if job.exact:
        visited.insert(np.stack([word[mine] for word in packed]))
    else:
        visited.insert_fingerprints(np.ascontiguousarray(found[mine]))


def _budget() -> int:
    """The bytes of tables that a worker may keep: its share of a quarter of the memory."""
    return psutil.virtual_memory().total // (4 * (psutil.cpu_count() or 1))
