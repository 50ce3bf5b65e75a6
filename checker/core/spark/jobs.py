"""The tasks of `checker.core.spark.worker` as Spark jobs: one a level, with one shuffle.

Only notes come back to the driver: for each partition the name of the file that it wrote, and
counts.
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
    from pyspark.sql import DataFrame, SparkSession

PARCELS = "to int, kind int, content binary"
NOTES = "note string"

Batches = Iterable[Any]


def build_level(spark: SparkSession, job: LevelJob, work: list[Slice]) -> list[dict[str, Any]]:
    """Expand all of `work`, and have owners store the states of the level; their notes."""
    shipment = ship(spark)
    slices = spark.range(0, len(work), 1, numPartitions=len(work))
    with directory_beside(_directory() if shipment.is_for_one_machine else None) as beside:
        parcels = slices.mapInArrow(shipment.task(expand_task, job, work, beside), PARCELS)
        received = parcels.repartitionById(job.partitions, "to")
        return collect_notes(received.mapInArrow(shipment.task(keep_task, job), NOTES))


def renumber_level(spark: SparkSession, job: LevelJob, ranges: Ranges) -> list[dict[str, Any]]:
    """Write the files of a level anew with smaller numbers; notes that name the new files."""
    shipment = ship(spark)
    count = len(ranges.files)
    places = spark.range(0, count, 1, numPartitions=count)
    split = places.mapInArrow(shipment.task(split_task, job, ranges), PARCELS)
    received = split.repartitionById(job.partitions, "to")
    ranked = received.mapInArrow(shipment.task(rank_task, ranges.shift), PARCELS)
    returned = ranked.repartitionById(count, "to")
    return collect_notes(returned.mapInArrow(shipment.task(rewrite_task, job, ranges), NOTES))


def check_files(spark: SparkSession, store: Store) -> None:
    """Have workers compare all files of a store with their digests: `UsageError` if one differs."""
    files, cores = list(store.files()), spark.sparkContext.defaultParallelism
    places = spark.range(0, len(files), 1, numPartitions=min(len(files), 4 * cores))
    task = ship(spark).task(check_task, store.storage.anywhere, files)
    collect_notes(places.mapInArrow(task, NOTES))


def collect_notes(notes: DataFrame) -> list[dict[str, Any]]:
    """Run the job; its notes, or the `UsageError` that a worker reports."""
    return checked(row.note for row in notes.collect())


def checked(notes: Iterable[str]) -> list[dict[str, Any]]:
    """The notes read, or the `UsageError` that one of them reports."""
    found = [json.loads(note) for note in notes]
    for note in found:
        if "error" in note:
            raise UsageError(note["error"])
    return found


# --- in the workers --------------------------------------------------------------------------


def expand_task(
    job: LevelJob, work: list[Slice], beside: Path | None, batches: Batches
) -> Iterator[Any]:
    """Expand the slices whose places in `work` come in."""
    for place in _places(batches):
        parcels = expand_slice(job, work[place], _directory("visited"), is_sieved=beside is None)
        yield from _as_batches(put_beside(parcels, beside))


def keep_task(job: LevelJob, batches: Batches) -> Iterator[Any]:
    """Store what is new of the parcels that come in."""
    parcels = get_from_beside(_parcels(batches))
    yield from _note_batches(keep_new(job, parcels, _directory("visited")))


def split_task(job: LevelJob, ranges: Ranges, batches: Batches) -> Iterator[Any]:
    """Split the numbers of the files whose places come in."""
    for place in _places(batches):
        yield from _as_batches(split_numbers(job, ranges, place))


def rank_task(shift: int, batches: Batches) -> Iterator[Any]:
    """Rank the numbers that come in."""
    yield from _as_batches(rank_numbers(shift, _parcels(batches)))


def rewrite_task(job: LevelJob, ranges: Ranges, batches: Batches) -> Iterator[Any]:
    """Write a file with the numbers that come in."""
    yield from _note_batches(rewrite_file(job, ranges, _parcels(batches)))


def check_task(
    storage: Storage, files: list[tuple[int, LevelFile]], batches: Batches
) -> Iterator[Any]:
    """Compare the files whose places come in with their digests; a note if one differs."""
    yield from _note_batches(check_contents(storage, [files[k] for k in _places(batches)]))


def _directory(*names: str) -> Path:
    """A directory that workers of one executor share, and that goes with it."""
    from pyspark import SparkFiles

    return Path(SparkFiles.getRootDirectory(), *names)


def _places(batches: Batches) -> Iterator[int]:
    for batch in batches:
        yield from batch.column(0).to_pylist()


def _as_batches(parcels: Iterable[Parcel]) -> Iterator[Any]:
    """One Arrow batch a parcel."""
    import pyarrow as pa

    schema = pa.schema([("to", pa.int32()), ("kind", pa.int32()), ("content", pa.binary())])
    for parcel in parcels:
        columns = [[parcel.to], [int(parcel.kind)], [parcel.content]]
        arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _parcels(batches: Batches) -> Iterator[Parcel]:
    for batch in batches:
        to, kind, content = batch.columns
        for row in range(batch.num_rows):
            yield Parcel(to[row].as_py(), kind[row].as_py(), content[row].as_buffer())


def _note_batches(notes: Iterable[str]) -> Iterator[Any]:
    """One Arrow batch a note."""
    import pyarrow as pa

    for note in notes:
        yield pa.RecordBatch.from_arrays([pa.array([note], pa.string())], names=["note"])
