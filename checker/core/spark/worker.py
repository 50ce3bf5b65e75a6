"""What workers do in a level: expand states, send successors to their owners, keep the new.

A state is owned by one partition, chosen by its fingerprint. Nothing here knows of Spark: tasks are
functions from parcels to parcels, and read and write the store themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from checker.core.engines.layout import Words
from checker.core.engines.vectorised import Successors
from checker.core.search.findings import Numbers, sparse
from checker.core.search.fingerprints import fingerprints
from checker.core.search.lineage import StateRows
from checker.core.search.question import DEFAULT_CHUNK
from checker.core.search.recent import Recent
from checker.core.search.visited_set import Flags, VisitedSet
from checker.core.search.watch import first_dead_end, settling
from checker.core.spark.parcels import Kind, LevelJob, Parcel, Slice, owners
from checker.core.spark.visited import at_hand, remember, visited_before
from checker.core.spark.workshop import Workshop, workshop
from checker.core.stores.level_files import check_content, in_order, read_rows, write_rows
from checker.core.stores.storage import Storage
from checker.core.stores.store import LevelFile
from model.language.errors import HighwaterError

PARCEL_BYTES = 1 << 22


# --- expanding -------------------------------------------------------------------------------


def expand_slice(
    job: LevelJob, work: Slice, place: Path | None = None, is_sieved: bool = True
) -> Iterator[Parcel]:
    """Expand the states of a slice; parcels of successors to their owners, then a note.

    Of equal successors the first is sent, which has the least number, since the states of a slice
    come in the order of their numbers, and hardly any other. Where they are `is_sieved`, what
    earlier levels hold is not sent if the owner's set is at hand: worth it if sending costs more
    than looking up. For `place` see `visited_before`.
    """
    try:
        with ExitStack() as stack:
            earlier = [
                stack.enter_context(at_hand(job, owner, place)) if is_sieved else None
                for owner in range(job.partitions)
            ]
            yield from _Expansion(job, earlier).run(work)
    except HighwaterError as error:
        yield Parcel(0, Kind.ERROR, str(error).encode())


class _Expansion:
    def __init__(self, job: LevelJob, earlier: list[VisitedSet | None]) -> None:
        self.job = job
        self.earlier = earlier
        self.shop = workshop(job)
        self.recent = Recent(self.shop.words if job.exact else 0)
        self.enabled = np.zeros(len(self.shop.model.instances), np.int64)
        self.found: dict[str, list[int]] = {}
        self.stuck: int | None = None
        self.open = [p for p in self.shop.properties if p.of_steps and p.name not in job.settled]
        self.waiting: list[list[Words]] = [[] for _ in range(job.partitions)]
        self.weights = np.zeros(job.partitions, np.int64)

    def run(self, work: Slice) -> Iterator[Parcel]:
        rows = self._rows(work)
        for start in range(0, rows.count, DEFAULT_CHUNK):
            chunk = rows[start : start + DEFAULT_CHUNK]
            words = np.ascontiguousarray(chunk.words)
            steps = self.shop.expand(words)
            self.enabled += np.bincount(steps.instances, minlength=len(self.enabled))
            self._look(words, steps, chunk.numbers)
            yield from self._send(steps, chunk.numbers)
        for owner in np.flatnonzero(self.weights):
            yield from self._parcel(int(owner))
        note = {
            "enabled": sparse(self.enabled),
            "violated": self.found,
            "deadlock": self.stuck,
        }
        yield Parcel(0, Kind.NOTE, json.dumps(note).encode())

    def _rows(self, work: Slice) -> StateRows:
        """The states of a slice, in the order of their numbers."""
        parts = [
            read_rows(
                self.job.storage,
                self.job.depth - 1,
                part.file,
                self.shop.words,
                range(part.first_group, part.first_group + part.groups),
            )
            for part in work
        ]
        return in_order(parts)

    def _send(self, steps: Successors, numbers: Numbers) -> Iterator[Parcel]:
        after = self.shop.canonical(steps.words)
        found = fingerprints(after)
        fresh = np.flatnonzero(self._first(after, found))
        to = owners(found.take(fresh), self.job.partitions)
        # Numbers of 16 bits are sorted by counting them.
        narrow = to.astype(np.min_scalar_type(self.job.partitions))
        fresh = fresh.take(np.argsort(narrow, kind="stable"))
        block = np.empty((1 + len(after), len(fresh)), np.uint64)
        parents = numbers.take(steps.rows.take(fresh)).astype(np.uint64)
        block[0] = (parents << np.uint64(self.job.shift)) | steps.instances.take(fresh)
        for word, row in zip(after, block[1:], strict=True):
            word.take(fresh, out=row, mode="clip")  # "raise" would make a copy
        start = 0
        for owner, count in enumerate(np.bincount(to, minlength=self.job.partitions).tolist()):
            if count:
                self.waiting[owner].append(block[:, start : start + count])
                self.weights[owner] += count * 8 * len(block)
                if self.weights[owner] >= PARCEL_BYTES:
                    yield from self._parcel(owner)
            start += count

    def _first(self, words: Words, found: Words) -> Flags:
        """Which states to send: the first of equals in the slice, and a few of the others."""
        return self.recent.pass_by(words if self.job.exact else words[:0], found)

    def _parcel(self, owner: int) -> Iterator[Parcel]:
        """What waits for an owner, without what is known to be of earlier levels."""
        block = np.concatenate(self.waiting[owner], axis=1)
        self.waiting[owner], self.weights[owner] = [], 0
        earlier = self.earlier[owner]
        if earlier is not None:
            block = block.take(np.flatnonzero(~earlier.contains(block[1:])), axis=1)
        if block.shape[1]:
            yield Parcel(owner, Kind.STATES, block.data.cast("B"))

    def _look(self, words: Words, steps: Successors, numbers: Numbers) -> None:
        """Check the steps of a chunk, and look for a state that enables nothing."""
        if self.job.deadlock and self.stuck is None:
            dead = first_dead_end(words.shape[1], steps.rows)
            self.stuck = None if dead is None else int(numbers[dead])
        still_open = [p for p in self.open if p.name not in self.found]
        if not still_open or not steps.count:
            return
        results = self.shop.claims(still_open)(words[:, steps.rows], steps.words)
        for prop, place in settling(still_open, results):
            parent = int(numbers[steps.rows[place]])
            self.found[prop.name] = [parent, int(steps.instances[place])]


# --- checking what is stored -----------------------------------------------------------------


def check_contents(storage: Storage, files: Iterable[tuple[int, LevelFile]]) -> Iterator[str]:
    """Compare files, given with their levels' depths, with their digests; a note if one differs."""
    try:
        for depth, file in files:
            check_content(storage, depth, file)
    except HighwaterError as error:
        yield json.dumps({"error": str(error)})


# --- keeping what is new ---------------------------------------------------------------------


def keep_new(job: LevelJob, parcels: Iterable[Parcel], place: Path | None = None) -> Iterator[str]:
    """Store the states of an owner that no earlier level has; notes in JSON, one about that.

    Of equal states the one with the least number stays: it has the least trace. For `place` see
    `visited_before`.
    """
    try:
        blocks: list[Words] = []
        owner = None
        shop = workshop(job)
        for parcel in parcels:
            if parcel.kind != Kind.STATES:
                text = bytes(parcel.content).decode()
                yield text if parcel.kind == Kind.NOTE else json.dumps({"error": text})
                continue
            owner = parcel.to
            blocks.append(np.frombuffer(parcel.content, np.uint64).reshape(1 + shop.words, -1))
        if owner is not None:
            visited = visited_before(job, owner, shop.words, place)
            rows = _first_of_equals(job, visited, blocks)
            if rows.count:
                yield json.dumps(_stored(job, shop, owner, rows))
            remember(job, owner, visited, place)
    except HighwaterError as error:
        yield json.dumps({"error": str(error)})


def _first_of_equals(job: LevelJob, visited: VisitedSet, blocks: list[Words]) -> StateRows:
    """The states in order of their numbers, without those that an earlier one equals.

    From then on they are visited, too.
    """
    # Each block is in order, so that there is little to sort; less if they come in order, too.
    blocks.sort(key=lambda block: int(block[0, 0]))
    block = np.concatenate(blocks, axis=1)
    blocks.clear()
    block = block.take(np.argsort(block[0], kind="stable"), axis=1)
    first = np.flatnonzero(visited.insert(np.ascontiguousarray(block[1:])))
    block = block.take(first, axis=1)
    numbers = block[0].view(np.int64)
    return StateRows(
        block[1:],
        numbers,
        numbers >> job.shift,
        (numbers & ((1 << job.shift) - 1)).astype(np.int32),
    )


def _stored(job: LevelJob, shop: Workshop, owner: int, rows: StateRows) -> dict[str, Any]:
    """Write an owner's new states, and say what they are."""
    file = write_rows(job.storage, job.depth, rows, (owner, job.partitions))
    new = np.bincount(rows.instances, minlength=len(shop.model.instances))
    found, premises = _findings(job, shop, rows)
    return {
        "file": file.__dict__,
        "new": sparse(new),
        "violated": found,
        "premises": premises,
        "sample": rows.numbers[:: max(rows.count // 64, 1)].tolist(),
    }


def _findings(
    job: LevelJob, shop: Workshop, rows: StateRows
) -> tuple[dict[str, list[int]], list[str]]:
    """For each property that a state settles, the step to the first such state; true premises."""
    found: dict[str, list[int]] = {}
    premises: list[str] = []
    for start in range(0, rows.count, DEFAULT_CHUNK):
        chunk = rows[start : start + DEFAULT_CHUNK]
        words = np.ascontiguousarray(chunk.words)
        still_open = [
            p
            for p in shop.properties
            if not p.of_steps and p.name not in job.settled and p.name not in found
        ]
        for prop, place in settling(still_open, shop.claims(still_open)(words)):
            found[prop.name] = [int(chunk.parents[place]), int(chunk.instances[place])]
        wanted = [
            p
            for p in shop.properties
            if p.premise and p.name not in job.premises and p.name not in premises
        ]
        for prop, holds in zip(wanted, shop.premises(wanted)(words), strict=True):
            if holds.any():
                premises.append(prop.name)
    return found, premises
