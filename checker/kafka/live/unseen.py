"""Findings that no rule of danger sees, each with what to watch: the catalogue says it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checker.kafka.affected.judge import Row, every_row
from checker.kafka.affected.text import plain
from checker.kafka.guarantees.releases import Mode
from checker.kafka.live.dangers import RULES
from checker.kafka.live.snapshot import Snapshot
from model.language.declare.history import version_of


@dataclass(frozen=True)
class Unseen:
    """Findings by their numbers, and what shows whether one is near, or has come."""

    findings: tuple[str, ...]
    look: str


def unseen_of(cluster: Snapshot) -> tuple[Unseen, ...]:
    """Of the findings that the cluster's release may have; the worst come first."""
    looks: dict[str, list[str]] = {}
    for row in _rows(cluster.line):
        looks.setdefault(plain(row.judged.watch), []).append(row.bug.finding)
    return tuple(Unseen(tuple(findings), look) for look, findings in looks.items())


def _rows(line: str) -> Iterator[Row]:
    seen = {number for rule in RULES for number in rule.bugs}
    for row in every_row():
        is_there = not line or row.span.holds(version_of(line), Mode.KRAFT) is not False
        if row.bug.finding and row.bug.finding not in seen and is_there:
            yield row
