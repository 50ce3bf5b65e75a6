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
from checker.core.search.fresh import counted
from checker.core.search.lineage import StateRows
from checker.core.search.question import DEFAULT_CHUNK
from checker.core.search.recent import Recent
from checker.core.search.visited_set import Flags, VisitedSet
from checker.core.search.watch import first_dead_end, settling
from checker.core.spark.blocks import in_order, merged, put_in_room
from checker.core.spark.parcels import Kind, LevelJob, Parcel, Slice, owners
from checker.core.spark.visited import at_hand, remember, visited_before
from checker.core.spark.workshop import Workshop, workshop
from checker.core.stores.level_files import check_content, read_columns, write_rows
from checker.core.stores.storage import Storage
from checker.core.stores.store import LevelFile
from model.language.errors import HighwaterError

PARCEL_BYTES = 1 << 20
_ROOM = 1 << 28  # bytes for parcels that are not full yet, whatever the number of owners


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
        height = 1 + self.shop.words
        size = min(PARCEL_BYTES, _ROOM // job.partitions) // (8 * height) + 1
        self.room = np.empty((job.partitions * height, size), np.uint64)
        self.counts = np.zeros(job.partitions, np.int64)

    def run(self, work: Slice) -> Iterator[Parcel]:
        numbers, words = self._states(work)
        for start in range(0, len(numbers), DEFAULT_CHUNK):
            chunk = slice(start, start + DEFAULT_CHUNK)
            before = np.ascontiguousarray(words[:, chunk])
            steps = self.shop.expand(before)
            self.enabled += counted(steps.instances, len(self.enabled))
            self._look(before, steps, numbers[chunk])
            yield from self._send(steps, numbers[chunk])
        for owner in np.flatnonzero(self.counts):
            yield from self._parcel(int(owner))
        note = {
            "enabled": sparse(self.enabled),
            "violated": self.found,
            "deadlock": self.stuck,
        }
        yield Parcel(0, Kind.NOTE, json.dumps(note).encode())

    def _states(self, work: Slice) -> tuple[Numbers, Words]:
        """The states of a slice, in the order of their numbers."""
        names = ["number", *(f"word_{w}" for w in range(self.shop.words))]
        blocks = []
        for part in work:
            groups = range(part.first_group, part.first_group + part.groups)
            columns = read_columns(self.job.storage, self.job.depth - 1, part.file, names, groups)
            blocks.append(np.stack([column.view(np.uint64) for column in columns]))
        block = merged(blocks)
        return block[0].view(np.int64), block[1:]

    def _send(self, steps: Successors, numbers: Numbers) -> Iterator[Parcel]:
        after = self.shop.canonical(steps.words)
        found = fingerprints(after)
        to = owners(found, self.job.partitions)
        fresh, links = self._first(after, found), numbers.view(np.uint64)
        done = 0
        while True:
            done = put_in_room(
                done, to, fresh, steps.rows, steps.instances, links, self.job.shift, after,
                self.room, self.counts,
            )  # fmt: skip
            if done == len(found):
                return
            yield from self._parcel(int(to[done]))

    def _first(self, words: Words, found: Words) -> Flags:
        """Which states to send: the first of equals in the slice, and a few of the others."""
        return self.recent.pass_by(words if self.job.exact else words[:0], found)

    def _parcel(self, owner: int) -> Iterator[Parcel]:
        """What waits for an owner, without what is known to be of earlier levels."""
        height = 1 + self.shop.words
        block = self.room[owner * height : (owner + 1) * height, : self.counts[owner]].copy()
        self.counts[owner] = 0
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
    kept = []
    for block in in_order(blocks):
        first = np.flatnonzero(visited.insert(block[1:]))
        kept.append(block.take(first, axis=1))
    blocks.clear()
    block = np.concatenate(kept, axis=1)
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
