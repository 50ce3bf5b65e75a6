"""Which model a release is compared with: its preset, its fixes, and what walks vary."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from checker.kafka.releases.jars import at_least
from model.kafka.choices import EpochFile
from model.kafka.protocol import KAFKA
from model.kafka.releases import rules_of
from model.language import Model
from model.language.declare.history import version_of

BOUNDS: Mapping[str, int] = {
    "log_size": 3,
    "max_records": 3,
    "max_leader_epoch": 12,
    "crashes": 2,
    "power_losses": 1,
    "cache_losses": 1,
    "disk_losses": 1,
    "shutdowns": 1,
    "controlled_shutdowns": 1,
    "rack_failures": 1,
    "lost_directories": 1,
    "directory_assignments": 1,
    "min_isr_changes": 1,
    "replica_moves": 1,
    "partition_moves": 1,
    "replica_additions": 1,
    "replica_removals": 1,
    "reassignment_replacements": 2,
    "unregistrations": 1,
    "stalled_fetches": 1,
    "stalled_truncations": 1,
    "stalled_produces": 1,
    "stalled_checks": 1,
    "stalled_reads": 1,
    "false_fencings": 2,
    "preferred_elections": 3,
    "unclean_elections": 1,
    "controller_failovers": 1,
    "consumers": 1,
    "consumer_restarts": 1,
}
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

FAULTS: tuple[Mapping[str, int], ...] = (
    {"crashes": 1},
    {"crashes": 1, "unclean_elections": 1, "controller_failovers": 1},
    {"power_losses": 1},
    {"crashes": 1, "cache_losses": 1},
    {"disk_losses": 1},
    {"shutdowns": 1, "preferred_elections": 1},
    {"shutdowns": 1, "unregistrations": 1},
    {"controlled_shutdowns": 1, "controller_failovers": 1},
    {"crashes": 1, "rack_failures": 1},
    {"shutdowns": 1, "lost_directories": 1},
    {"power_losses": 1, "directory_assignments": 1},
    {"shutdowns": 1, "min_isr_changes": 1},
    {"crashes": 1, "min_isr_changes": 1, "topic_deletions": 1},
    {"stalled_fetches": 1, "preferred_elections": 1},
    {"stalled_truncations": 1, "preferred_elections": 1},
    {"stalled_produces": 1, "preferred_elections": 1},
    {"stalled_checks": 1, "preferred_elections": 1},
    {"stalled_reads": 1},
    {"false_fencings": 1, "controller_failovers": 1},
    {"preferred_elections": 1},
    {"consumers": 1, "consumer_restarts": 1},
)
"""What is covered in a graph of its own, unless it is chosen."""

FINENESS: tuple[Mapping[str, str], ...] = (
    {"isr.answer.apart": "true", "fetch.answers": "in_flight"},
    {"isr.answer.apart": "false", "fetch.answers": "at_once"},
)
"""Each is covered, unless something else is chosen."""

ELR_EVENTS = (
    "directory_assignments",
    "lost_directories",
    "min_isr_changes",
    "topic_deletions",
    "replica_moves",
    "partition_moves",
    "replica_additions",
    "replica_removals",
    "reassignment_replacements",
    "unregistrations",
)
"""Faults that are compared from 4.0 on, where they change eligible leader replicas."""

LATER_MIN_ISR = {"1": "2", "2": "3", "3": "1"}
"""What an operator changes `min.insync.replicas` to, unless it is chosen."""


def has_elr(version: str) -> bool:
    """Whether the release has eligible leader replicas (KIP-966)."""
    return at_least(version, "4.0.0")


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
    """The models whose graphs are covered: one for each of `FAULTS`, unless some are given."""
    budgets = {name for fault in FAULTS for name in fault}
    faults = [f for f in FAULTS if has_elr(version) or not f.keys() & set(ELR_EVENTS)]
    if budgets & bounds.keys():
        faults = [{}]
    none = dict.fromkeys(budgets, 0)
    fitting = [
        fine
        for fine in FINENESS
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
