"""The store: an explored state space kept as data, to query, to resume and to take traces from.

A store is a directory with `manifest.json`, which says what was explored, and a directory a level
with Parquet files and `_level.json`. That last file is written when the level is whole, and names
the files that belong to it, with digests of what they hold: whatever else lies about was left by a
run that was killed, and is ignored. No file is ever changed, so a store is always as good as its
last whole level. Each level has the seal of the one before, and the first the manifest's: a level
of another run, or one that was changed, fits nowhere.

One row a state: `fingerprint`, `word_0` and further (the packed state), `number`, `parent`,
`instance`. Numbers order the states of a level by their least traces, as every engine does; they
need not be consecutive. `parent` is the number, in the level before, of the state that comes before
this one on its least trace, and `instance` the action instance between them; -1 at the start.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from checker.core.search.findings import Findings, Link, Place, sparse
from checker.core.stores.checked import data_digest
from checker.core.stores.kinds import check_kinds
from checker.core.stores.manifest import MANIFEST, Manifest
from checker.core.stores.storage import Storage, explained
from model.language.errors import UsageError

MARKER, VERDICT, LOCK = "_level.json", "verdict.json", ".lock"
LEVELS = "levels"


@dataclass(frozen=True)
class LevelFile:
    """A Parquet file of a level.

    `owner` is (partition, partitions) if it holds just the states that this partition owns, else
    none. `first` and `last` are its least and greatest numbers, `digests` those of its blocks, of
    which a store that is not kept has none.
    """

    name: str
    rows: int
    bytes: int
    first: int
    last: int
    owner: tuple[int, int] | None = None
    digests: tuple[str, ...] = ()

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> LevelFile:
        """The file whose fields JSON had; whatever `__dict__` holds comes back."""
        owner = tuple(data["owner"]) if data["owner"] else None
        return cls(**{**data, "owner": owner, "digests": tuple(data["digests"])})


@dataclass(frozen=True)
class Level:
    """A whole level, and everything that was known when it was.

    Counts are totals up to this level: `enabled` and `new` by action instance. `violated` gives for
    each property the step that first falsified it, `deadlock` a state that enables nothing. An
    empty level says that the level before it was the last. `after` is the seal of what comes
    before.
    """

    depth: int
    files: tuple[LevelFile, ...]
    transitions: int = 0
    enabled: Mapping[int, int] = field(default_factory=dict)
    new: Mapping[int, int] = field(default_factory=dict)
    violated: Mapping[str, Link] = field(default_factory=dict)
    reached: Mapping[str, int] = field(default_factory=dict)
    premises: tuple[str, ...] = ()
    deadlock: Place | None = None
    seconds: float = 0.0
    after: str = ""

    @classmethod
    def of(cls, findings: Findings, files: Iterable[LevelFile]) -> Level:
        """The level that was just built, with its files and all that is known by now."""
        return cls(
            findings.last_level,
            tuple(files),
            findings.transitions,
            sparse(findings.enabled),
            sparse(findings.new),
            dict(findings.violated),
            dict(findings.reached),
            tuple(sorted(findings.premises)),
            findings.deadlock,
            round(findings.seconds, 3),
        )

    @property
    def frontier(self) -> int:
        """How many states are left to expand: those of the level."""
        return self.size

    @property
    def size(self) -> int:
        """How many states the level has."""
        return sum(file.rows for file in self.files)

    @property
    def numbers(self) -> int:
        """Every number of the level is below this one."""
        return max((file.last for file in self.files), default=-1) + 1

    @cached_property
    def seal(self) -> str:
        """A digest of the level but for its seconds, by which alone two runs differ."""
        return data_digest(asdict(replace(self, seconds=0.0)))

    def to_json(self) -> bytes:
        """The level as `_level.json` holds it: with a digest, since a letter of a name matters."""
        data = asdict(self)
        return json.dumps(data | {"digest": data_digest(data)}, indent=1).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Level:
        """The level that `to_json` wrote. Raises `ValueError` or `TypeError` for anything else."""
        data: dict[str, Any] = json.loads(text)
        if data.pop("digest") != data_digest(data):
            raise ValueError("the digest is another one")
        files = tuple(map(LevelFile.from_data, data.pop("files")))
        for name in ("enabled", "new"):
            data[name] = {int(number): count for number, count in data[name].items()}
        data["violated"] = {name: tuple(link) for name, link in data["violated"].items()}
        data["premises"] = tuple(data["premises"])
        data["deadlock"] = tuple(data["deadlock"]) if data["deadlock"] else None
        level = cls(files=files, **data)
        check_kinds(level, cls)
        return level


def open_store(location: str, wanted: Manifest, resume: bool, is_kept: bool = True) -> Store:
    """A new store; or with `resume` the one that is there, or a new one if there is none.

    One that is not kept cannot be opened again.
    """
    if resume and MANIFEST in Storage(location).sizes():
        return Store.open(location, wanted)
    return Store.create(location, wanted, is_kept)


class Store:
    """A store that is open: its manifest and its whole levels."""

    def __init__(self, storage: Storage, manifest: Manifest, levels: list[Level]) -> None:
        self.storage = storage
        self.manifest = manifest
        self.levels = levels
        self._lock_depth = 0

    @property
    def location(self) -> str:
        """The directory or URI, as it was given."""
        return self.storage.location

    # --- opening -----------------------------------------------------------------------------

    @classmethod
    def create(cls, location: str, manifest: Manifest, is_kept: bool = True) -> Store:
        """A new store in a directory that does not exist, or is empty."""
        storage = Storage(location, is_kept)
        found = storage.sizes()
        if MANIFEST in found:
            raise UsageError(
                f"{location} already holds a store: go on with it with --resume, or name another "
                "directory"
            )
        if found:
            raise UsageError(f"{location} is neither empty nor a store: name another directory")
        storage.make_directory()
        storage.write(MANIFEST, manifest.to_json())
        return cls(storage, manifest, [])

    @classmethod
    def open(cls, location: str, wanted: Manifest | None = None) -> Store:
        """The store in a directory; `UsageError` if there is none, or not the `wanted` one."""
        storage = Storage(location)
        if MANIFEST not in storage.sizes():
            raise UsageError(f"{location} holds no store: there is no {MANIFEST} in it")
        manifest = Manifest.from_json(storage.read(MANIFEST), location)
        if wanted is not None:
            manifest.check_same(wanted, location)
        elif manifest.options.get("spill"):
            raise UsageError(
                f"{location} holds a search beyond memory (--spill): go on with it with --resume; "
                "only a directory of --store can be read"
            )
        return cls(storage, manifest, _whole_levels(storage, manifest))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out while this one writes; they are told in one line.

        Where there are no locks, as on object storage, nobody is kept out.
        """
        if self._lock_depth or not self.storage.is_local:
            yield
            return
        with explained(f"cannot write to {self.location}"):
            lock = open(self.storage.path(LOCK), "wb")  # noqa: SIM115  # held for the whole run
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"another run is writing to {self.location}") from None
            self._lock_depth += 1
            # Another run may have been at work.
            self.levels = _whole_levels(self.storage, self.manifest)
            try:
                yield
            finally:
                self._lock_depth -= 1

    def clean(self) -> None:
        """Remove what an interrupted run has left: files of levels that never became whole."""
        directories = self.storage.sizes(LEVELS)
        for directory in directories:
            depth = _depth_of(directory)
            if depth is None or depth >= len(self.levels):
                self.storage.delete(f"{LEVELS}/{directory}")
                continue
            known = {file.name for file in self.levels[depth].files} | {MARKER}
            for name in self.storage.sizes(f"{LEVELS}/{directory}").keys() - known:
                self.storage.delete(f"{LEVELS}/{directory}/{name}")

    # --- levels ------------------------------------------------------------------------------

    @staticmethod
    def directory(depth: int) -> str:
        """Where the files of a level are."""
        return f"{LEVELS}/level={depth}"

    @staticmethod
    def place(depth: int, file: LevelFile) -> str:
        """Where a file of a level is."""
        return f"{Store.directory(depth)}/{file.name}"

    def commit(self, level: Level) -> None:
        """Make a level whole: from now on it is part of the store.

        Raises `ValueError` unless it comes right after those that are there.
        """
        directory = self.directory(level.depth)
        is_over = bool(self.levels) and not self.levels[-1].size
        if level.depth != len(self.levels) or is_over:
            raise ValueError(f"level {level.depth} after {len(self.levels)} levels")
        if MARKER in self.storage.sizes(directory):
            raise ValueError(f"level {level.depth} is there already")
        self.storage.make_directory(directory)
        level = replace(level, after=self.seals[-1])
        self.storage.write(f"{directory}/{MARKER}", level.to_json())
        self.levels.append(level)

    def conclude(self, verdict: Mapping[str, Any]) -> None:
        """Note what the run said; for people, since levels hold all that it follows from."""
        self.storage.write(VERDICT, json.dumps(verdict, indent=1).encode())

    @property
    def seals(self) -> tuple[str, ...]:
        """The manifest's seal, and each level's: the chain that the next level is added to."""
        return self.manifest.seal, *(level.seal for level in self.levels)

    @property
    def unfinished(self) -> str:
        """In words, which level is there without being whole, and so is left out; or nothing."""
        depth = len(self.levels)
        if depth not in _depths(self.storage):
            return ""
        return (
            f"level {depth} of {self.location} is not whole and left out: a run is writing it, "
            f"was stopped in it, or its {MARKER} is lost"
        )

    @property
    def states(self) -> int:
        """How many states the store holds."""
        return sum(level.size for level in self.levels)

    @property
    def bytes(self) -> int:
        """How many bytes its Parquet files take."""
        return sum(file.bytes for _, file in self.files())

    def files(self) -> Iterator[tuple[int, LevelFile]]:
        """The Parquet files, with the depths of their levels."""
        for level in self.levels:
            for file in level.files:
                yield level.depth, file


def _depth_of(directory: str) -> int | None:
    name, equals, digits = directory.partition("=")
    return int(digits) if name == "level" and equals and digits.isdecimal() else None


def _depths(storage: Storage) -> set[int | None]:
    return {_depth_of(name) for name in storage.sizes(LEVELS)}


def _whole_levels(storage: Storage, manifest: Manifest) -> list[Level]:
    """The levels that have their marker, checked to be a chain and to have all their files."""
    levels: list[Level] = []
    present, after = _depths(storage), manifest.seal
    while len(levels) in present:
        level = _read_level(storage, len(levels))
        if level is None:
            break
        if level.after != after:
            before = f"level {len(levels) - 1}" if levels else f"this {MANIFEST}"
            raise damaged(storage, len(levels), f"was not written after {before}")
        after = level.seal
        levels.append(level)
    later = [d for d in present if d is not None and d > len(levels)]
    if any(MARKER in storage.sizes(Store.directory(depth)) for depth in later):
        raise damaged(storage, len(levels), "is missing, while later ones are there")
    return levels


def _read_level(storage: Storage, depth: int) -> Level | None:
    sizes = storage.sizes(Store.directory(depth))
    if MARKER not in sizes:
        return None
    level = read_marker(storage, depth)
    for file in level.files:
        if file.name not in sizes:
            raise damaged(storage, depth, f"has lost its file {file.name}")
        if sizes[file.name] != file.bytes:
            held = f"{sizes[file.name]:,} bytes instead of {file.bytes:,}"
            raise damaged(storage, depth, f"has a file {file.name} of {held}")
    return level


def read_marker(storage: Storage, depth: int, seal: str = "") -> Level:
    """What the marker of a level says, which has this `seal` if one is given."""
    try:
        level = Level.from_json(storage.read(f"{Store.directory(depth)}/{MARKER}"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise damaged(storage, depth, f"has a {MARKER} that cannot be read") from None
    if seal and level.seal != seal:
        raise damaged(storage, depth, "was changed while a run was at work")
    return level


def damaged(storage: Storage, depth: int, how: str) -> UsageError:
    """What is said of a level that is not as it was written, in one line."""
    return UsageError(
        f"the store {storage.location} is damaged: level {depth} {how}; put it back, or remove "
        f"{Store.directory(depth)} and all later levels to resume from there"
    )
