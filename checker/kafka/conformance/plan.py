"""Which model a release is compared with: its preset, its fixes, and what walks vary."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from checker.kafka.releases.jars import at_least
from model.kafka.bounds import DIRECTORY_MOVES, FAULTS, LOST_DIRECTORIES
from model.kafka.choices import EpochFile
from model.kafka.protocol import KAFKA
from model.kafka.releases import rules_of
from model.language import Model
from model.language.declare.history import version_of

FIRST_WITH_ELR = "4.0.0"

SIZES = {"log_size": 3, "max_records": 3, "max_leader_epoch": 12}
BOUNDS: Mapping[str, int] = SIZES | {fault.name: fault.walked for fault in FAULTS if fault.walked}
"""Small enough to fit two words or three a state, large enough that walks meet every action.

But not the deletion of the topic, after which little happens: that has a graph of its own below.
"""

VARIED: Mapping[str, tuple[str, ...]] = {
    "min.insync.replicas": ("2", "1", "3"),
    "isr.answer.apart": ("true", "false"),
    "fetch.answers": ("in_flight", "at_once"),
}
"""What walks take in turn, unless it is chosen."""

COVERED: Mapping[str, int] = {
    "replicas": 2,
    "log_size": 1,
    "max_records": 1,
    "max_leader_epoch": 2,
}
"""Small enough for every step of the graph to be taken."""

GRAPHS: tuple[Mapping[str, int], ...] = tuple(
    {fault.name: 1, **dict(fault.covered)} for fault in FAULTS if fault.covered is not None
)
"""What is covered in a graph of its own, unless it is chosen."""

COMPARED: tuple[Mapping[str, str], ...] = (
    {"isr.answer.apart": "true", "fetch.answers": "in_flight"},
    {"isr.answer.apart": "false", "fetch.answers": "at_once"},
)
"""How fine the model is where graphs are covered: the harness can do each of these."""

ELR_EVENTS = tuple(fault.name for fault in FAULTS if fault.since == FIRST_WITH_ELR)
"""Faults that are compared from 4.0 on, where they change eligible leader replicas."""

STALLS = tuple(fault.name for fault in FAULTS if fault.name.startswith("stalled_"))
BESIDE_NO_MOVE = (*STALLS, LOST_DIRECTORIES.name)
"""What is not compared together with moves between directories, unless it is chosen.

Some threads stall with a lock that a move waits for, and brokers end where a directory is lost.
"""

LATER_MIN_ISR = {"1": "2", "2": "3", "3": "1"}
"""What an operator changes `min.insync.replicas` to, unless it is chosen."""


def has_elr(version: str) -> bool:
    """Whether the release has eligible leader replicas (KIP-966)."""
    return at_least(version, FIRST_WITH_ELR)


CHOSEN = (
    "replication.factor", "first.partition.replicas", "min.insync.replicas",
    "min.insync.replicas.later", "acks",
    "unclean.leader.election.enable",
    "broker.rack", "consumer.commits", "follower.reads", "preferred.leader",
    "log.flush.interval.messages", "isr.answer.apart", "fetch.answers", "epoch.cache",
    "log.file", "log.start.file",
    "eligible.leader.replicas", "last.known.leader.election",
)  # fmt: skip
"""What an operator chooses, or how the model looks at things: no release's own."""


def settings_of(version: str) -> dict[str, Any]:
    """The settings of a release, as it is compared.

    An unclean election is asked for by hand, as every release lets an operator do. What is written
    is synced at once. A rack failure takes all brokers: one alone is a power loss.
    """
    rules = rules_of(version_of(version))
    if rules["epoch.file"] == EpochFile.UNSYNCED:
        rules = {**rules, "epoch.file": EpochFile.AT_ONCE}
    return rules | {
        "broker.rack": "together",
        "unclean.leader.election.enable": "true",
        "unclean.election.by.setting": "true",
    }


def models(
    version: str, bounds: Mapping[str, int], chosen: Mapping[str, Any], preset: str | None = None
) -> list[Model]:
    """The models whose walks are compared with a release, each with other settings."""
    base = dict(KAFKA.preset(preset)) if preset else settings_of(version)
    free = {name: values for name, values in VARIED.items() if name not in chosen}
    if "min.insync.replicas" in free and "replicas" in bounds:
        free["min.insync.replicas"] = tuple(
            value for value in free["min.insync.replicas"] if int(value) <= bounds["replicas"]
        )
    if not has_elr(version):
        bounds = {**bounds, **dict.fromkeys(ELR_EVENTS, 0)}
    if bounds.get(DIRECTORY_MOVES.name):
        bounds = {**dict.fromkeys(BESIDE_NO_MOVE, 0), **bounds}
    found = []
    for values in itertools.product(*free.values()):
        settings = base | dict(zip(free, values, strict=True)) | dict(chosen)
        later = LATER_MIN_ISR.get(str(settings["min.insync.replicas"]), "1")
        settings.setdefault("min.insync.replicas.later", later)
        found.append(KAFKA.model(dict(BOUNDS) | dict(bounds), settings))
    return found


def covered_models(
    version: str, bounds: Mapping[str, int], chosen: Mapping[str, Any], preset: str | None = None
) -> list[Model]:
    """The models whose graphs are covered: one for each of `GRAPHS`, unless some are given."""
    budgets = {name for graph in GRAPHS for name in graph}
    since = {fault.name: fault.since for fault in FAULTS if fault.since}
    faults = [g for g in GRAPHS if all(at_least(version, since.get(name, version)) for name in g)]
    if budgets & bounds.keys():
        faults = [{}]
    none = dict.fromkeys(budgets, 0)
    fitting = [
        fine
        for fine in COMPARED
        if all(chosen.get(name, value) == value for name, value in fine.items())
    ]
    return [
        model
        for fault in faults
        for fine in fitting or [{}]
        for model in models(
            version,
            none | dict(COVERED) | dict(fault) | dict(bounds),
            dict(fine) | dict(chosen),
            preset,
        )
    ]


def without_elr(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The same choices in a cluster without eligible leader replicas."""
    off = {"eligible.leader.replicas": "false", "last.known.leader.election": "false"}
    return {**settings, **off}


def fitting(settings: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Settings as a release can have them."""
    return dict(settings) if has_elr(version) else without_elr(settings)
