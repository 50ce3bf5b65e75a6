"""Kafka's brokers of one release with remote storage, and one store for all: runs of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checker.kafka.conformance.harness import sources
from checker.kafka.conformance.process import JAVA_SOURCES, Answer, Runs
from checker.kafka.conformance.rows import Wanted
from checker.kafka.releases.jars import at_least, mocks
from model.language import Model
from model.language.errors import UsageError
from model.language.protocol import Instance

FIRST = "3.9.0"
"""The first release whose copies and deletions are tasks of their own."""


class TieredBrokers(Runs):
    """Brokers of one release, perhaps with a fix, as a context manager."""

    def __init__(self, version: str, fix: str = "") -> None:
        if not at_least(version, FIRST):
            raise UsageError(
                f"tiered storage of Kafka {version} copies and deletes in one task: "
                f"valid are {FIRST} and newer"
            )
        own = sorted((JAVA_SOURCES / "tiered").glob("*.java"))
        super().__init__(version, "highwater.TieredMain", [*sources(version), *own], fix, mocks())

    def beyond(
        self,
        model: Model,
        steps: Sequence[Instance],
        more: Sequence[Sequence[str | int]],
        cells: Sequence[Sequence[str | int]],
    ) -> Answer:
        """What a run of the model comes to that goes on with steps that no model has.

        Such a step has its name in `TieredActions.java`, and numbers; a cell is a row's name, and
        its indexes. The answer has a state for each step, and a number in it for each cell.
        """
        self._send(model, cells, [*map(_written, steps), *more])
        return self.receive()

    def send(self, model: Model, projection: Wanted, steps: Sequence[Instance]) -> None:
        """Have a run taken; `receive` gives what came out, in the order of what was sent."""
        self._send(model, projection.wanted, [*map(_written, steps)])

    def _send(
        self,
        model: Model,
        cells: Sequence[Sequence[str | int]],
        steps: Sequence[Sequence[Any]],
    ) -> None:
        sizes = {name: model.bounds[name] for name in ("brokers", "copies")}
        self.write({**sizes, "cells": cells, "steps": steps})


def _written(step: Instance) -> list[Any]:
    return [step.action.name, *step.arguments]
