"""What workers do in a level: expand states, send successors to their owners, keep the new.

A state is owned by one partition, chosen by its fingerprint. Nothing here knows of Spark: tasks are
functions from parcels to parcels, and read and write the store themselves. A parcel carries many
states in one block of bytes, because moving rows one at a time would cost more than making them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np

from checker.engines.compiled import Expander
from checker.engines.layout import Words
from checker.engines.vectorised import Claims, Successors, VectorisedEngine
from checker.search.explore import DEFAULT_CHUNK, DEFAULT_COMPILE_AFTER
from checker.search.fingerprints import VisitedSet, fingerprints
from checker.search.symmetry import Symmetry
from checker.spark.visited import visited_before
from checker.stores.level_files import Numbers, StateRows, read_rows, write_rows
from checker.stores.storage import Storage
from model.language.errors import HighwaterError
from model.language.protocol import Model
from model.protocols import protocol_named
from properties import Property, Sense, choose_properties

PARCEL_BYTES = 1 << 22


class Kind(IntEnum):
    """What a parcel carries."""

    STATES = 0  # numbers, then packed words, unsigned 64-bit
    NOTE = 1  # counts and findings, as JSON
    ERROR = 2  # what went wrong, in one line


@dataclass(frozen=True)
class Parcel:
    """Bytes on their way to a partition."""

    to: int
    kind: int
    content: bytes


@dataclass(frozen=True)
class Slice:
    """Some row groups of a file of the level before: what one task expands."""

    file: str
    first_group: int
    groups: int


@dataclass(frozen=True)
class LevelJob:
    """One level to build; plain data, so that workers can build everything else from it.

    `run` tells one run from another, `settled` names the properties and premises that need no more
    looking at. A new state's number is its parent's, `shift` bits to the left, plus the instance.
    """

    run: str
    location: str
    identity: dict[str, Any]
    properties: tuple[str, ...]
    depth: int
    partitions: int
    shift: int
    exact: bool = False
    deadlock: bool = False
    symmetry: bool = False
    settled: frozenset[str] = field(default_factory=frozenset)
    premises: frozenset[str] = field(default_factory=frozenset)

    @property
    def storage(self) -> Storage:
        """Where the store is."""
        return Storage(self.location)


def owners(found: Words, partitions: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Which partition owns the states with these fingerprints, by their upper halves."""
    high = found >> np.uint64(32)
    return ((high * np.uint64(partitions)) >> np.uint64(32)).astype(np.int64)


# --- the model in a worker -------------------------------------------------------------------


class Workshop:
    """A model with its programs, built once in a worker from the model's identity."""

    def __init__(self, identity: dict[str, Any], names: tuple[str, ...], symmetry: bool) -> None:
        protocol = protocol_named(identity["protocol"])
        self.model: Model = protocol.model(identity["bounds"], identity["settings"])
        self.engine = VectorisedEngine(self.model)
        self.expand = Expander(self.engine, None, DEFAULT_COMPILE_AFTER)
        self.properties = choose_properties(protocol, names) if names else ()
        self._symmetry = (
            Symmetry(self.model, self.properties, self.engine.layout) if symmetry else None
        )
        self._claims: dict[tuple[str, ...], Claims] = {}

    @property
    def words(self) -> int:
        """How many words a packed state has."""
        return self.engine.layout.words

    def canonical(self, words: Words) -> Words:
        """The states that stand for their classes under symmetry; without it, the same states."""
        return words if self._symmetry is None else self._symmetry.canonical(words)

    def claims(self, properties: list[Property]) -> Claims:
        """A program for the claims of some properties."""
        key = tuple(prop.name for prop in properties)
        if key not in self._claims:
            self._claims[key] = self.engine.claims(properties)
        return self._claims[key]

    def premises(self, properties: list[Property]) -> Claims:
        """A program for the premises of some properties."""
        key = ("premises", *(prop.name for prop in properties))
        if key not in self._claims:
            nodes = [
                self.engine.model.ground_claim(prop.premise)
                for prop in properties
                if prop.premise is not None
            ]
            self._claims[key] = Claims(nodes, self.engine.layout)
        return self._claims[key]


@lru_cache(maxsize=2)
def _workshop(identity: str, names: tuple[str, ...], symmetry: bool) -> Workshop:
    return Workshop(json.loads(identity), names, symmetry)


def workshop(job: LevelJob) -> Workshop:
    """The workshop for a job; the last ones are kept."""
    return _workshop(json.dumps(job.identity, sort_keys=True), job.properties, job.symmetry)


# --- expanding -------------------------------------------------------------------------------


def expand_slice(job: LevelJob, work: Slice) -> Iterator[Parcel]:
    """Expand the states of a slice; parcels of successors to their owners, then a note.

    Of equal successors only the first is sent, which has the least number, since the states of a
    slice come in the order of their numbers.
    """
    try:
        yield from _Expansion(job).run(work)
    except HighwaterError as error:
        yield Parcel(0, Kind.ERROR, str(error).encode())


class _Expansion:
    def __init__(self, job: LevelJob) -> None:
        self.job = job
        self.shop = workshop(job)
        self.seen = VisitedSet(self.shop.words, job.exact)
        self.enabled = np.zeros(len(self.shop.model.instances), np.int64)
        self.found: dict[str, list[int]] = {}
        self.stuck: int | None = None
        self.open = [p for p in self.shop.properties if p.of_steps and p.name not in job.settled]
        self.waiting: list[list[Words]] = [[] for _ in range(job.partitions)]
        self.weights = np.zeros(job.partitions, np.int64)

    def run(self, work: Slice) -> Iterator[Parcel]:
        groups = range(work.first_group, work.first_group + work.groups)
        rows = read_rows(self.job.storage, work.file, self.shop.words, groups)
        for start in range(0, rows.count, DEFAULT_CHUNK):
            chunk = rows[start : start + DEFAULT_CHUNK]
            words = np.ascontiguousarray(chunk.words)
            steps = self.shop.expand(words)
            self.enabled += np.bincount(steps.instances, minlength=len(self.enabled))
            self._look(words, steps, chunk.numbers)
            yield from self._send(steps, chunk.numbers)
        for owner in np.flatnonzero(self.weights):
            yield self._parcel(int(owner))
        note = {
            "enabled": _sparse(self.enabled),
            "violated": self.found,
            "deadlock": self.stuck,
        }
        yield Parcel(0, Kind.NOTE, json.dumps(note).encode())

    def _send(self, steps: Successors, numbers: Numbers) -> Iterator[Parcel]:
        after = self.shop.canonical(steps.words)
        fresh = np.flatnonzero(self.seen.insert(after))
        words = after[:, fresh]
        shift = np.uint64(self.job.shift)
        parents = numbers[steps.rows[fresh]].astype(np.uint64)
        block = np.empty((1 + len(words), len(fresh)), np.uint64)
        block[0] = (parents << shift) | steps.instances[fresh].astype(np.uint64)
        block[1:] = words
        to = owners(fingerprints(words), self.job.partitions)
        order = np.argsort(to, kind="stable")
        block, ends = block[:, order], np.bincount(to, minlength=self.job.partitions).cumsum()
        start = 0
        for owner, end in enumerate(ends.tolist()):
            if end > start:
                self.waiting[owner].append(block[:, start:end])
                self.weights[owner] += (end - start) * 8 * len(block)
                if self.weights[owner] >= PARCEL_BYTES:
                    yield self._parcel(owner)
            start = end

    def _parcel(self, owner: int) -> Parcel:
        content = np.concatenate(self.waiting[owner], axis=1).tobytes()
        self.waiting[owner], self.weights[owner] = [], 0
        return Parcel(owner, Kind.STATES, content)

    def _look(self, words: Words, steps: Successors, numbers: Numbers) -> None:
        """Check the steps of a chunk, and look for a state that enables nothing."""
        if self.job.deadlock and self.stuck is None:
            dead = np.flatnonzero(np.bincount(steps.rows, minlength=words.shape[1]) == 0)
            if len(dead):
                self.stuck = int(numbers[dead[0]])
        still_open = [p for p in self.open if p.name not in self.found]
        if not still_open or not steps.count:
            return
        results = self.shop.claims(still_open)(words[:, steps.rows], steps.words)
        for prop, holds in zip(still_open, results, strict=True):
            settles = holds if prop.sense is Sense.SOMETIMES else ~holds
            place = int(settles.argmax())
            if settles[place]:
                parent = int(numbers[steps.rows[place]])
                self.found[prop.name] = [parent, int(steps.instances[place])]


# --- keeping what is new ---------------------------------------------------------------------


def keep_new(job: LevelJob, parcels: Iterable[Parcel]) -> Iterator[str]:
    """Store the states of an owner that no earlier level has; notes in JSON, one about that.

    Of equal states the one with the least number stays: it has the least trace.
    """
    try:
        blocks: list[Words] = []
        owner = None
        visited = None
        shop = workshop(job)
        for parcel in parcels:
            if parcel.kind != Kind.STATES:
                text = bytes(parcel.content).decode()
                yield text if parcel.kind == Kind.NOTE else json.dumps({"error": text})
                continue
            if visited is None:
                owner = parcel.to
                visited = visited_before(job, owner, shop.words)
            block = np.frombuffer(parcel.content, np.uint64).reshape(1 + shop.words, -1)
            blocks.append(block[:, ~visited.contains(np.ascontiguousarray(block[1:]))])
        if owner is not None:
            rows = _first_of_equals(job, shop.words, blocks)
            if rows.count:
                yield json.dumps(_stored(job, shop, owner, rows))
    except HighwaterError as error:
        yield json.dumps({"error": str(error)})


def _first_of_equals(job: LevelJob, words: int, blocks: list[Words]) -> StateRows:
    """The states in order of their numbers, without those that an earlier one equals."""
    block = np.concatenate(blocks, axis=1)
    blocks.clear()
    block = block[:, np.argsort(block[0])]
    packed = np.ascontiguousarray(block[1:])
    first = VisitedSet(words, job.exact).insert(packed)
    numbers = block[0, first].view(np.int64)
    return StateRows(
        packed[:, first],
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
        "new": _sparse(new),
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
        for prop, holds in zip(still_open, shop.claims(still_open)(words), strict=True):
            settles = holds if prop.sense is Sense.SOMETIMES else ~holds
            place = int(settles.argmax())
            if settles[place]:
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


def _sparse(counts: np.ndarray[Any, Any]) -> dict[str, int]:
    return {str(i): int(counts[i]) for i in np.flatnonzero(counts)}
