"""What an answer is about: the cluster, or the stages of its upgrade, each as it was judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from checker.core.traces.trace import Trace
from checker.kafka.guarantees.releases import Release
from checker.kafka.guarantees.upgrade import Stage
from checker.kafka.guarantees.verdicts import Judged, trace_of


@dataclass(frozen=True)
class Part:
    """What is judged: the cluster, or a stage of its upgrade; traces by the property they break."""

    name: str
    release: Release
    judged: Judged
    traces: Mapping[str, Trace]
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def is_lossy(self) -> bool:
        """Something is lost."""
        return bool(self.judged.lost)

    @property
    def first_loss(self) -> Trace:
        """The trace of the first thing that is lost."""
        return self.traces[self.judged.lost[0].found["property"]]


def part_of(stage: Stage, judged: Judged) -> Part:
    """A stage with what was judged of it, and the traces of that."""
    violated = [cell for cell in (*judged.losses, *judged.stops) if cell.is_violated]
    traces = {cell.found["property"]: trace_of(cell) for cell in violated}
    return Part(stage.name, stage.cluster.release, judged, traces)
