"""Findings that no rule of danger sees, each with what to watch: the catalogue says it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checker.kafka.affected.judge import Concern, Row, answered, every_row
from checker.kafka.affected.text import plain
from checker.kafka.live.dangers import RULES
from checker.kafka.live.facts import facts_of_cluster
from checker.kafka.live.snapshot import Snapshot


@dataclass(frozen=True)
class Unseen:
    """Findings by their numbers, and what shows whether one is near, or has come."""

    findings: tuple[str, ...]
    look: str


def unseen_of(cluster: Snapshot) -> tuple[Unseen, ...]:
    """Of the findings that may concern the cluster; the worst come first."""
    looks: dict[str, list[str]] = {}
    for row in _rows(cluster):
        looks.setdefault(plain(row.judged.watch), []).append(row.bug.finding)
    return tuple(Unseen(tuple(findings), look) for look, findings in looks.items())


def _rows(cluster: Snapshot) -> Iterator[Row]:
    """Of a release that is not known all of them."""
    seen = {number for rule in RULES for number in rule.bugs}
    rows = answered(facts_of_cluster(cluster)).rows if cluster.line else every_row()
    for row in rows:
        is_there = not cluster.line or row.concern is not Concern.UNAFFECTED
        if row.bug.finding and row.bug.finding not in seen and is_there:
            yield row
