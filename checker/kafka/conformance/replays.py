"""Stored traces on Kafka's classes: where each departs, and where the release's own model does.

A bug's trace is a run that its fix makes impossible. A release departs from it where its fix takes
hold, or not at all. The step is predicted by the model with the settings of that release.
"""

from __future__ import annotations

from dataclasses import dataclass

from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import Trace
from checker.kafka.conformance.compare import Checked, allowed_row, compare
from checker.kafka.conformance.compared import compared_with
from checker.kafka.conformance.plan import has_elr
from checker.kafka.conformance.process import Runs
from checker.kafka.conformance.projection import Projection, differing
from checker.kafka.conformance.walks import PassedOver
from checker.kafka.releases.patch import fix_named
from model.language import Model
from model.language.errors import DomainError, UsageError


def settings_named(model: Model) -> dict[str, str]:
    """A model's settings by their names."""
    named: dict[str, str] = model.identity["settings"]
    return named


def release_model(model: Model, version: str, fix: str = "") -> Model:
    """The model of a release, or of it with a fix, with bounds and choices of another model.

    `UsageError` for a fix that no setting of the model says: nothing is known to compare with.
    """
    given, of = settings_named(model), compared_with(model)
    settings = {**of.settings_of(version), **{name: given[name] for name in of.chosen}}
    if fix:
        found = fix_named(fix)
        if not found.setting:
            raise UsageError(
                f"no setting of the model says what {fix} changes: try it on a cluster, by "
                "highwater reproduce FINDING --patched"
            )
        settings[found.setting] = found.value
    return of.protocol.model(model.bounds, of.fitting(settings, version))


def needs_elr(trace: Trace, version: str) -> bool:
    """The trace's cluster has eligible leader replicas, and the release has none."""
    has = settings_named(trace.model)["eligible.leader.replicas"] == "true"
    return has and not has_elr(version)


def departure(trace: Trace, model: Model, version: str) -> int | None:
    """The first step of the trace that `model` takes otherwise, or not at all; `None`: no step."""
    engine, projection = ReferenceEngine(model), Projection(trace.model, version)
    own = Projection(model, version)
    if own.wanted != projection.wanted:
        own = projection
    state = engine.initial()
    for number, step in enumerate(trace.steps, 1):
        try:
            after = engine.step(state, model.instances[step.number])
        except DomainError:
            return number
        if after is None:
            return number
        state = after
        expected = projection.of_states([trace.states[number]])
        if differing(expected, own.of_states([state])).any():
            return number
    return None


def replay(harness: Runs, trace: Trace) -> Checked:
    """Take a trace's steps on Kafka and compare its states."""
    projection = Projection(trace.model, harness.version)
    answer = harness.run(trace.model, projection, trace.steps)
    expected = projection.of_states(trace.states)
    between = PassedOver(trace.model).of_states(trace.states)
    between[-1] = False
    return compare(projection, trace.steps, expected, answer, between)


AT_ONCE = -1
"""The step of a difference in the initial state, as where Kafka's objects could not be made."""


@dataclass(frozen=True)
class Cell:
    """A trace on a release: the step of the first difference, and the one the model predicts.

    0 stands for "to the end", `AT_ONCE` for a difference before any step. `other`: the release has
    no ELR, and the trace is the one without it.
    `allowed` is the row of `allowed.toml` that the difference falls under, if it does.
    """

    step: int
    predicted: int
    words: str
    other: bool = False
    allowed: str = ""

    @property
    def is_right(self) -> bool:
        """Kafka departs where the release's model does, or as a row allows."""
        return self.step == self.predicted or bool(self.allowed)

    @property
    def departs_at(self) -> int | None:
        """The step of the first difference, 0 for one before any; `None` if there is none."""
        return max(self.step, 0) if self.step else None

    @property
    def text(self) -> str:
        """The cell of a table."""
        shown = {0: "end", AT_ONCE: "start"}.get(self.step, str(self.step))
        shown += " (allowed)" if self.allowed and self.step != self.predicted else ""
        return shown if self.is_right else f"{shown} (predicted {self.predicted or 'end'})"


def cell(harness: Runs, trace: Trace, other: bool = False) -> Cell:
    """Replay a trace, and predict where it departs."""
    found = replay(harness, trace).difference
    model = release_model(trace.model, harness.version, harness.fix)
    predicted = departure(trace, model, harness.version)
    if found is None:
        return Cell(0, predicted or 0, "", other)
    row = allowed_row(found.kind, harness.version)
    return Cell(found.step or AT_ONCE, predicted or 0, found.words, other, row.name if row else "")
