"""Traces whose pages are looked at, and what does not fit a page."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import Trace, build_trace
from checker.lab.experiments.cases import accepted_trace
from checker.telling.report.why import why
from model.language.errors import RejectedError

STORED = [
    "kip101-weak_isr",
    "36-positions_from_a_missed_epoch",
    "01-truncate_to_high_watermark",
    "18-an_answer_from_an_earlier_epoch",
    "burst_of_records",
]


def stored(name: str) -> Trace:
    """The trace of a stored counterexample."""
    return accepted_trace(Path(name))


def needless(trace: Trace) -> tuple[int, ...]:
    """The steps that the end of a trace does not need."""
    reason = why(trace)
    assert reason is not None and reason.needless is not None
    return reason.needless


def with_a_detour() -> Trace:
    """A shortest trace, with a step in it that changes nothing that its end is about."""
    trace = stored("kip101-weak_isr")
    engine = ReferenceEngine(trace.model)
    for place in range(1, trace.depth):
        for instance, _ in engine.successors(trace.states[place]):
            steps = [*trace.steps[:place], instance, *trace.steps[place:]]
            with contextlib.suppress(RejectedError):
                longer = build_trace(trace.model, steps, trace.property)
                if needless(longer):
                    return longer
    raise AssertionError("there is no such step")


def wider_than_the_page(page: Any) -> Any:
    """What lies beyond the right edge; nothing is hidden there by scrolling sideways."""
    return page.evaluate(
        """() => [...document.querySelectorAll("body *")].filter((element) => {
            const box = element.getBoundingClientRect();
            return box.width && (box.right > innerWidth + 1 || box.left < -1)
              && !element.closest(".hidden");
        }).map((element) => element.outerHTML.slice(0, 120))"""
    )
