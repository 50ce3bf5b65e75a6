"""The tasks of `checker.core.spark.worker` as Spark jobs: one a level, with one shuffle.

Only notes come back to the driver: for each partition the name of the file that it wrote, and
counts. Plain RDDs of Python values carry parcels: a task on one takes half the processor time that
one of a DataFrame takes, which passes Arrow and a plan of SQL.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.core.spark.beside import directory_beside, get_from_beside, put_beside
from checker.core.spark.parcels import LevelJob, Parcel, Slice
from checker.core.spark.renumber import Ranges, rank_numbers, rewrite_file, split_numbers
from checker.core.spark.ship import ship
from checker.core.spark.worker import check_contents, expand_slice, keep_new
from checker.core.stores.storage import Storage
from checker.core.stores.store import LevelFile, Store
from model.language.errors import UsageError

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext

Pair = tuple[int, tuple[int, bytes]]
"""A parcel on its way: where it goes, its kind and its content."""


def build_level(spark: SparkContext, job: LevelJob, work: list[Slice]) -> list[dict[str, Any]]:
    """Expand all of `work`, and have owners store the states of the level; their notes."""
    shipment = ship(spark)
    with directory_beside(_directory() if shipment.is_for_one_machine else None) as beside:
        expand = shipment.task(expand_task, job, work, beside)
        parcels = _delivered(_places(spark, len(work)).mapPartitions(expand), job.partitions)
        return checked(parcels.mapPartitions(shipment.task(keep_task, job)).collect())


def renumber_level(spark: SparkContext, job: LevelJob, ranges: Ranges) -> list[dict[str, Any]]:
    """Write the files of a level anew with smaller numbers; notes that name the new files."""
    shipment = ship(spark)
    count = len(ranges.files)
    split = _places(spark, count).mapPartitions(shipment.task(split_task, job, ranges))
    received = _delivered(split, job.partitions)
    ranked = received.mapPartitions(shipment.task(rank_task, ranges.shift))
    rewrite = shipment.task(rewrite_task, job, ranges)
    return checked(_delivered(ranked, count).mapPartitions(rewrite).collect())


def check_files(spark: SparkContext, store: Store) -> None:
    """Have workers compare all files of a store with their digests: `UsageError` if one differs."""
    files, cores = list(store.files()), spark.defaultParallelism
    places = spark.parallelize(range(len(files)), min(len(files), 4 * cores))
    task = ship(spark).task(check_task, store.storage.anywhere, files)
    checked(places.mapPartitions(task).collect())


def _places(spark: SparkContext, count: int) -> RDD[int]:
    """Numbers from 0 on, a task each."""
    return spark.parallelize(range(count), count)


def _delivered(pairs: RDD[Pair], partitions: int) -> RDD[Pair]:
    """Parcels, each in the partition that it goes to."""
    return pairs.partitionBy(partitions, int)


def checked(notes: Iterable[str]) -> list[dict[str, Any]]:
    """The notes read, or the `UsageError` that one of them reports."""
    found = [json.loads(note) for note in notes]
    for note in found:
        if "error" in note:
            raise UsageError(note["error"])
    return found


# --- in the workers --------------------------------------------------------------------------


def expand_task(
    job: LevelJob, work: list[Slice], beside: Path | None, places: Iterable[int]
) -> Iterator[Pair]:
    """Expand the slices whose places in `work` come in."""
    for place in places:
        parcels = expand_slice(job, work[place], _directory("visited"), is_sieved=beside is None)
        yield from _as_pairs(put_beside(parcels, beside))


def keep_task(job: LevelJob, pairs: Iterable[Pair]) -> Iterator[str]:
    """Store what is new of the parcels that come in."""
    yield from keep_new(job, get_from_beside(_parcels(pairs)), _directory("visited"))


def split_task(job: LevelJob, ranges: Ranges, places: Iterable[int]) -> Iterator[Pair]:
    """Split the numbers of the files whose places come in."""
    for place in places:
        yield from _as_pairs(split_numbers(job, ranges, place))


def rank_task(shift: int, pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Rank the numbers that come in."""
    yield from _as_pairs(rank_numbers(shift, _parcels(pairs)))


def rewrite_task(job: LevelJob, ranges: Ranges, pairs: Iterable[Pair]) -> Iterator[str]:
    """Write a file with the numbers that come in."""
    yield from rewrite_file(job, ranges, _parcels(pairs))


def check_task(
    storage: Storage, files: list[tuple[int, LevelFile]], places: Iterable[int]
) -> Iterator[str]:
    """Compare the files whose places come in with their digests; a note if one differs."""
    yield from check_contents(storage, [files[k] for k in places])


def _directory(*names: str) -> Path:
    """A directory that workers of one executor share, and that goes with it."""
    from pyspark import SparkFiles

    return Path(SparkFiles.getRootDirectory(), *names)


def _as_pairs(parcels: Iterable[Parcel]) -> Iterator[Pair]:
    for parcel in parcels:
        yield parcel.to, (int(parcel.kind), bytes(parcel.content))


def _parcels(pairs: Iterable[Pair]) -> Iterator[Parcel]:
    for to, (kind, content) in pairs:
        yield Parcel(to, kind, content)
