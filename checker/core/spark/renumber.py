"""Give the states of a level new, smaller numbers in the same order.

A number holds the number of the parent, so numbers grow by some bits a level. Before they would no
longer fit, the numbers of a level (not its states) are sorted: each file sends its numbers to
ranges, a range ranks what it got and sends the ranks back, and the file is written anew with them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from checker.core.spark.parcels import LevelJob, Parcel
from checker.core.spark.workshop import workshop
from checker.core.stores.level_files import read_columns, read_rows, write_rows
from checker.core.stores.store import LevelFile
from model.language.errors import HighwaterError


@dataclass(frozen=True)
class Ranges:
    """How the numbers of a level are spread: range r holds those from `cuts[r-1]` to `cuts[r]`.

    A new number is the range's, `shift` bits to the left, plus the rank in the range.
    """

    files: tuple[LevelFile, ...]
    cuts: tuple[int, ...]
    shift: int


def choose_ranges(files: Sequence[LevelFile], samples: Sequence[int], partitions: int) -> Ranges:
    """Ranges of about equal size, judged by a sample of the numbers."""
    cuts = np.quantile(samples, np.linspace(0, 1, partitions + 1)[1:-1], method="lower")
    size = sum(file.rows for file in files)
    return Ranges(tuple(files), tuple(cuts.tolist()), size.bit_length())


def split_numbers(job: LevelJob, ranges: Ranges, place: int) -> Iterator[Parcel]:
    """The numbers of a file, to their ranges; `kind` says which file they are of."""
    [numbers] = read_columns(job.storage, job.depth, ranges.files[place], ["number"])
    ends = [*np.searchsorted(numbers, ranges.cuts, side="right").tolist(), len(numbers)]
    start = 0
    for to, end in enumerate(ends):
        yield Parcel(to, place, numbers[start:end].tobytes())
        start = end


def rank_numbers(shift: int, parcels: Iterable[Parcel]) -> Iterator[Parcel]:
    """The new numbers of a range, back to their files; `kind` says which range they are of."""
    received = list(parcels)
    arrays = [np.frombuffer(parcel.content, np.int64) for parcel in received]
    if not received:
        return
    both = np.concatenate(arrays)
    new = np.empty(len(both), np.int64)
    new[np.argsort(both)] = np.arange(len(both))
    new += received[0].to << shift
    start = 0
    for parcel, array in zip(received, arrays, strict=True):
        part = new[start : start + len(array)]
        yield Parcel(parcel.kind, parcel.to, part.tobytes())
        start += len(array)


def rewrite_file(job: LevelJob, ranges: Ranges, parcels: Iterable[Parcel]) -> Iterator[str]:
    """Write a file anew with the numbers that the ranges sent."""
    received = sorted(parcels, key=lambda parcel: parcel.kind)
    if not received:
        return
    try:
        file = ranges.files[received[0].to]
        numbers = np.concatenate([np.frombuffer(p.content, np.int64) for p in received])
        rows = read_rows(job.storage, job.depth, file, workshop(job).words)
        new = write_rows(job.storage, job.depth, replace(rows, numbers=numbers), file.owner)
        yield json.dumps({"file": new.__dict__})
    except HighwaterError as error:
        yield json.dumps({"error": str(error)})
