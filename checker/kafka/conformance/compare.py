"""Kafka's states held against the model's: where a run first disagrees, and what is known of it."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.kafka.conformance.process import Answer, Runs
from checker.kafka.conformance.projection import Projection, differing
from checker.kafka.conformance.rows import Numbers
from checker.kafka.conformance.walks import Walk
from checker.kafka.releases.jars import at_least
from model.language.protocol import Instance

START = "the initial state"


@dataclass(frozen=True)
class Kind:
    """What disagreements have in common: action, readings that differ, what could not be."""

    action: str
    readings: tuple[str, ...]
    failure: str = ""

    @property
    def words(self) -> str:
        """One line for people."""
        parts = [", ".join(self.readings)] if self.readings else []
        return f"{self.action}: {'; '.join([*parts, *([self.failure] if self.failure else [])])}"


@dataclass(frozen=True)
class Allowed:
    """A kind of disagreement that is known, on releases from one on, before another, or on all."""

    name: str
    action: str
    readings: tuple[str, ...]
    reason: str
    since: str = ""
    before: str = ""

    def covers(self, kind: Kind, version: str) -> bool:
        """Whether the row is about this kind on this release."""
        if self.since and not at_least(version, self.since):
            return False
        if self.before and at_least(version, self.before):
            return False
        named = self.action in ("*", kind.action)
        return named and not kind.failure and set(kind.readings) <= set(self.readings)


@cache
def allowed_rows() -> tuple[Allowed, ...]:
    """The rows of `allowed.toml`."""
    text = files("checker.kafka.conformance").joinpath("allowed.toml").read_text("utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["allowed"]
    return tuple(Allowed(**row | {"readings": tuple(row["readings"])}) for row in rows)


def allowed_row(kind: Kind, version: str) -> Allowed | None:
    """The row that allows a disagreement, if one does."""
    return next((row for row in allowed_rows() if row.covers(kind, version)), None)


@dataclass(frozen=True)
class Difference:
    """The first disagreement of a run: after `step` steps; each reading with both numbers."""

    step: int
    kind: Kind
    numbers: tuple[tuple[str, int, int], ...]
    failures: tuple[str, ...]

    @property
    def words(self) -> str:
        """What differs, for people."""
        parts = [f"{name} is {found}, in the model {want}" for name, want, found in self.numbers]
        return "; ".join([*parts, *self.failures])


@dataclass(frozen=True)
class Checked:
    """A run that was compared: how many states agree before the first difference."""

    agreed: int
    difference: Difference | None


def compare(
    projection: Projection,
    steps: Sequence[Instance],
    expected: Numbers,
    answer: Answer,
    between: npt.NDArray[np.bool_] | None = None,
) -> Checked:
    """Hold Kafka's states against those expected; states that Kafka passes over do not count."""
    agreed = 0
    for state, numbers in enumerate(expected):
        action = steps[state - 1].action.name if state else START
        if state >= len(answer.states):
            words = (answer.stopped or "no state",)
            return Checked(agreed, Difference(state, Kind(action, (), _shape(words)), (), words))
        if between is not None and between[state]:
            continue
        different = np.flatnonzero(differing(numbers, answer.states[state]))
        failures = tuple(answer.failures.get(state, ()))
        if len(different) or failures:
            found = tuple(
                (projection.label(int(c)), int(numbers[c]), int(answer.states[state][c]))
                for c in different
            )
            readings = tuple(sorted({projection.rows[c][0].name for c in different}))
            kind = Kind(action, readings, _shape(failures))
            return Checked(agreed, Difference(state, kind, found, failures))
        agreed += 1
    return Checked(agreed, None)


def _shape(words: Sequence[str]) -> str:
    """Words without what differs from run to run."""
    return re.sub(r"\d+", "#", "; ".join(words).partition(" < ")[0])


Run = tuple[Difference, tuple[Instance, ...]]
"""A difference, and the steps to it."""


@dataclass
class Tally:
    """What many runs gave: states compared and agreed, disagreements by kind, what was forced."""

    version: str
    runs: int = 0
    compared: int = 0
    agreed: int = 0
    actions: Counter[str] = field(default_factory=Counter)
    forced: Counter[str] = field(default_factory=Counter)
    kinds: dict[Kind, list[Run]] = field(default_factory=dict)
    shortened: dict[Kind, Run] = field(default_factory=dict)

    def add(self, steps: Sequence[Instance], answer: Answer, checked: Checked) -> None:
        """Count one run."""
        self.runs += 1
        self.agreed += checked.agreed
        self.compared += checked.agreed + (checked.difference is not None)
        last = checked.difference.step if checked.difference else len(steps)
        self.actions.update(step.action.name for step in steps[:last])
        for state, words in answer.notes.items():
            if state <= last:
                self.forced.update(_shape([word]) for word in words)
        if checked.difference is not None:
            found = self.kinds.setdefault(checked.difference.kind, [])
            found.append((checked.difference, tuple(steps[: checked.difference.step])))

    @property
    def unknown(self) -> list[Kind]:
        """The kinds that no row allows."""
        return [kind for kind in self.kinds if allowed_row(kind, self.version) is None]

    def shortest(self, kind: Kind) -> Run:
        """The shortest run that ended with this kind, or what was made of it."""
        made = self.shortened.get(kind)
        return made or min(self.kinds[kind], key=lambda found: found[0].step)


def compare_walks(
    harness: Runs, projection: Projection, walks: Iterator[Walk], into: Tally
) -> list[Checked]:
    """Take walks on Kafka, the next one while the last is compared, and count what comes out."""
    found = []
    waiting: Walk | None = None
    for walk in walks:
        harness.send(walk.model, projection, walk.steps)
        if waiting is not None:
            found.append(_count(harness, projection, waiting, into))
        waiting = walk
    if waiting is not None:
        found.append(_count(harness, projection, waiting, into))
    return found


def _count(harness: Runs, projection: Projection, walk: Walk, into: Tally) -> Checked:
    answer = harness.receive()
    checked = compare(projection, walk.steps, walk.expected, answer, walk.between)
    into.add(walk.steps, answer, checked)
    return checked
