"""What a search says of a change at the trace's own bounds: safe, or violated another way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from checker.core.search.allowance import Allowance
from checker.core.search.explore import Explorer
from checker.core.search.question import Options
from checker.core.search.symmetry import symmetry_of
from checker.core.traces.trace import Trace, TraceVerdict
from checker.core.verdict import Verdict
from checker.lab.explanations.candidates import Candidate
from properties import Property, Sense

SECONDS = 60.0
"""Seconds that the searches of one explanation take together, unless more are allowed."""

STATES = 2_000_000
"""States that each of them visits, unless more are allowed."""


@dataclass(frozen=True)
class Searched:
    """What a search of the model with a change found about the trace's property.

    `depth` is that of the violation, or how deep all states were visited. `stopped` says which
    limit ended it. `vacuous`: no state makes the premise true, so that it is no comfort.
    """

    verdict: Verdict
    depth: int
    states: int
    stopped: str
    vacuous: bool

    @property
    def is_safe(self) -> bool:
        """Every reachable state was visited, and the property holds for a reason."""
        return self.verdict is Verdict.EXHAUSTED and not self.vacuous


def searchable(trace: Trace) -> Property | None:
    """The property that searches can be asked about; none of a run that falsifies none."""
    claim = trace.claim
    if trace.verdict != TraceVerdict.VIOLATED or claim is None:
        return None
    return claim if claim.sense is Sense.ALWAYS else None


def searched(
    candidate: Candidate, prop: Property, budget: Allowance,
    stops: Callable[[Callable[[], None]], None] = lambda _: None,
) -> Searched | None:  # fmt: skip
    """What a search of a candidate says of a property; `None` if there is no time for it.

    `stops` is handed what ends the search soon.
    """
    if not budget.left:
        return None
    model = candidate.model
    options = Options(symmetry=symmetry_of(model, [prop]) is not None)
    search = Explorer(model, [prop], budget.limits, options)
    stops(search.request_stop)
    found = search.run()
    depth = found.violations[0].depth if found.violations else found.depth
    return Searched(
        found.verdict, depth, found.distinct_states, found.stopped, found.is_vacuous(prop)
    )
