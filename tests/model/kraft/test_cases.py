"""Each fix of KRaft that a case is about, off and on: the catalogue's violation, and none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.core.verdict import Verdict
from checker.lab.experiments.cases import read_cases
from tests.support.fixes import searched_with_fix

_SLOW = [pytest.mark.slow]
ROOT = Path(__file__).parents[3] / "counterexamples" / "kraft"
FOUND = {"102", "107", "114", "115"}
MENDED = {"110", "111", "112", "117"}
"""Which are searched at each run: each takes a second or two, and some have a million states."""


def _cases(quick: set[str]) -> list[Any]:
    return [
        pytest.param(
            case, id=case.name, marks=[] if case.name.partition("-")[0] in quick else _SLOW
        )
        for case in read_cases(ROOT)
    ]


@pytest.mark.parametrize("case", _cases(FOUND))
def test_a_search_finds_the_very_trace_that_is_stored(case):
    assert case.find().steps == case.stored_trace().steps


@pytest.mark.parametrize("case", _cases(MENDED))
def test_with_the_fix_the_same_search_ends_without_a_violation(case):
    assert searched_with_fix(case).verdict is Verdict.EXHAUSTED
