"""A stored case with its fix on, searched as tests do."""

from __future__ import annotations

from checker.core.search.explore import Options
from checker.core.verdict import Exploration
from checker.lab.experiments.cases import Case
from checker.lab.experiments.choices import explored

UNCOMPARED = Options(workers=2, keep_going=True, cross_check=False)


def searched_with_fix(case: Case) -> Exploration:
    """What a search finds with the fix; the comparison with the reference engine is left out.

    The search that finds the case is compared, and the comparison has tests of its own.
    """
    assert case.fix is not None
    return explored(case.fix, [case.violates], options=UNCOMPARED)
