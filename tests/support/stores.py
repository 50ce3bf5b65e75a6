"""Searches with a store, in this process and as Spark would run them, and what must be equal."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest

from checker.core.search.explore import Explorer, Limits, Options
from checker.core.spark import jobs
from checker.core.spark import worker as worker_module
from checker.core.spark.distributed import NUMBERS, Cluster, SparkExplorer
from checker.core.spark.renumber import rank_numbers, rewrite_file, split_numbers
from checker.core.stores.journal import StoredExplorer
from checker.core.stores.manifest import manifest_for
from checker.core.stores.store import MARKER, Store, open_store
from checker.core.verdict import Exploration
from model.language.protocol import Model
from model.protocols import PROTOCOLS
from properties import Property, choose_properties

TINY = {"replicas": 3, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
SMALL = {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}
VIOLATED = {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}
DEAD_ENDS = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}


def model_named(name: str, bounds: dict[str, int] | None = None) -> Model:
    """A model at some bounds, the same one for all who ask: it is grounded and sampled once."""
    return _model(name, tuple((bounds or {}).items()))


@cache
def _model(name: str, bounds: tuple[tuple[str, int], ...]) -> Model:
    return PROTOCOLS[name].model(dict(bounds))


def everything(model: Model) -> tuple[Property, ...]:
    return choose_properties(model.protocol)


def opened(location: Path | str, model: Model, options: Options | None = None) -> Store:
    """The store that is there, for the search of the model that made it."""
    wanted = manifest_for(model, everything(model), options or Options())
    return open_store(str(location), wanted, resume=True)


def data_file(place: Path, depth: int = 12) -> Path:
    """The one file with the states of a level."""
    [found] = (place / "levels" / f"level={depth}").glob("*.parquet")
    return found


def essence(found: Exploration) -> dict[str, Any]:
    """All that must not depend on the engine, or on how a search was cut into runs."""
    return {
        "levels": found.levels,
        "transitions": found.transitions,
        "frontier": found.frontier,
        "verdict": found.verdict,
        "actions": {name: (c.enabled, c.new) for name, c in found.actions.items()},
        "violations": [
            (v.property.name, v.depth, [step.number for step in v.steps]) for v in found.violations
        ],
        "reached": found.reached,
        "premises": found.premises,
        "deadlock": found.deadlock and [step.number for step in found.deadlock],
        "fingerprint_bits": found.fingerprint_bits,
        "collision_probability": found.collision_probability,
        "stopped": found.stopped,
    }


def files(directory: Path, timed: bool = True) -> dict[str, bytes]:
    """What lies in a store; without the time that levels took, if that is unwanted."""
    found = {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }
    if timed:
        return found
    timed_lines = rb'"(seconds|digest)": [^,\n]+(?=,?\n)'
    return {
        name: re.sub(timed_lines, b"", text) if name.endswith(".json") else text
        for name, text in found.items()
    }


def plain(
    model: Model,
    options: Options | None = None,
    limits: Limits | None = None,
    properties: tuple[Property, ...] | None = None,
) -> dict[str, Any]:
    """What the local search finds without a store; it searches once for all who ask the same."""
    return _plain(model, options, limits, everything(model) if properties is None else properties)


@cache
def _plain(
    model: Model, options: Options | None, limits: Limits | None, chosen: tuple[Property, ...]
) -> dict[str, Any]:
    return essence(Explorer(model, chosen, limits, options).run())


def stored(
    location: Any, model: Model, options: Options | None = None, limits: Limits | None = None
) -> dict[str, Any]:
    """What the local search finds with a store, going on with what is there."""
    options = options or Options()
    store = open_store(str(location), manifest_for(model, everything(model), options), resume=True)
    return essence(StoredExplorer(store, model, everything(model), limits, options).run())


def copied(location: Path, model: Model, limits: Limits | None = None) -> None:
    """A store as `stored` leaves it: searched for once, and copied for each who asks."""
    shutil.copytree(_searched(model, limits).name, location, dirs_exist_ok=True)


@cache
def _searched(model: Model, limits: Limits | None) -> TemporaryDirectory[str]:
    place = TemporaryDirectory()
    stored(place.name, model, limits=limits)
    return place


def distributed(
    location: Any,
    model: Model,
    session: Any,
    partitions: int,
    options: Options | None = None,
    limits: Limits | None = None,
    hand_over: int = 0,
    numbers: int = NUMBERS,
    properties: tuple[Property, ...] | None = None,
    is_kept: bool = True,
) -> dict[str, Any]:
    """What the search on Spark finds, going on with what is there."""
    options = options or Options()
    chosen = everything(model) if properties is None else properties
    manifest = manifest_for(model, chosen, options)
    store = open_store(str(location), manifest, resume=True, is_kept=is_kept)
    cluster = Cluster(lambda _: session.sparkContext, partitions, hand_over, numbers)
    return essence(SparkExplorer(store, model, chosen, cluster, limits, options).run())


NO_SESSION = SimpleNamespace(
    sparkContext=SimpleNamespace(cancelAllJobs=lambda: None, defaultParallelism=2)
)


@pytest.fixture
def without_spark(monkeypatch):
    """Runs the workers' tasks in this process, one after the other; stands in for a session."""

    def build_level(_, job, work):
        parcels = [parcel for part in work for parcel in worker_module.expand_slice(job, part)]
        return list(_keep(job, parcels))

    def _keep(job, parcels) -> Iterator[dict[str, Any]]:
        for received in _delivered(parcels).values():
            yield from jobs.checked(worker_module.keep_new(job, received))

    def renumber_level(_, job, ranges):
        places = range(len(ranges.files))
        split = [parcel for place in places for parcel in split_numbers(job, ranges, place)]
        ranked = [
            parcel
            for received in _delivered(split).values()
            for parcel in rank_numbers(ranges.shift, received)
        ]
        return [
            note
            for received in _delivered(ranked).values()
            for note in jobs.checked(rewrite_file(job, ranges, received))
        ]

    monkeypatch.setattr(jobs, "build_level", build_level)
    monkeypatch.setattr(jobs, "renumber_level", renumber_level)
    return NO_SESSION


def _delivered(parcels):
    """Parcels by where they go; the last sent come first, since no order is promised."""
    found = defaultdict(list)
    for parcel in reversed(parcels):
        found[parcel.to].append(parcel)
    return found


def kill_at_levels(command: list[str], place: Path, depths: tuple[int, ...]) -> None:
    """Run a search that stores its levels at `place` again and again, killed at each of `depths`.

    It is killed as that level gets whole, unless it has ended; once it has to be killed at least.
    """
    killed = 0
    for depth in depths:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not (place / f"levels/level={depth}/{MARKER}").exists():
            time.sleep(0.002)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
    assert killed, "no run was killed"
