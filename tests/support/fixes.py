"""A stored case and its fix, searched as tests do: without the comparison, which has its own."""

from __future__ import annotations

from collections.abc import Sequence

from checker.core.search.explore import Options
from checker.core.verdict import Exploration
from checker.lab.experiments.cases import Case
from checker.lab.experiments.choices import explored, steps_named
from model.language.protocol import Instance


def stored_steps(case: Case) -> Sequence[Instance]:
    """The steps that are stored; `tests/test_counterexamples.py` replays them."""
    return steps_named(case.broken.model, case.steps)


def found_steps(case: Case) -> Sequence[Instance]:
    """The steps by which a search first violates the case's property."""
    options = Options(workers=2, cross_check=False)
    (violation,) = explored(case.broken, [case.violates], options=options).violations
    return violation.steps


def searched_with_fix(case: Case) -> Exploration:
    """What a search finds with the fix."""
    assert case.fix is not None
    options = Options(workers=2, keep_going=True, cross_check=False)
    return explored(case.fix, [case.violates], options=options)
