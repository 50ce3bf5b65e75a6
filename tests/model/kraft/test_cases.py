"""Each fix of KRaft that a case is about, off and on: the catalogue's violation, and none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.core.search.explore import Explorer, Options
from checker.core.verdict import Verdict
from checker.lab.experiments.cases import read_cases
from model.protocols import PROTOCOLS
from properties import choose_properties
from tests.support.fixes import searched_with_fix

ROOT = Path(__file__).parents[3] / "counterexamples" / "kraft"
FOUND = {"107", "109", "114", "115", "124", "125"}
MENDED = {"109", "110", "111", "112", "117"}
"""Which are searched at each run: each takes a second or two, and some have a million states."""


def _marks(number: str, quick: set[str]) -> list[Any]:
    if number in quick:
        return []
    return [pytest.mark.nightly("a search each; stored traces are replayed on every change")]


def _cases(quick: set[str]) -> list[Any]:
    return [
        pytest.param(case, id=case.name, marks=_marks(case.name.partition("-")[0], quick))
        for case in read_cases(ROOT)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("case", _cases(FOUND))
def test_a_search_finds_the_very_trace_that_is_stored(case):
    assert case.find().steps == case.stored_trace().steps


@pytest.mark.slow
@pytest.mark.parametrize("case", _cases(MENDED))
def test_with_the_fix_the_same_search_ends_without_a_violation(case):
    assert searched_with_fix(case).verdict is Verdict.EXHAUSTED


LARGE = {"log_size": 5, "voter_changes": 2, "crashes": 1, "power_losses": 1}


@pytest.mark.nightly("a larger search for what case 99 finds each time")
def test_the_wrong_voter_set_is_found_where_each_append_is_flushed_too():
    settings = {"truncation.rereads.control.records": False}
    model = PROTOCOLS["kraft"].model(LARGE, settings, "kafka-fixed")
    properties = choose_properties(model.protocol, ["the_voter_set_is_that_of_the_log"])
    (violation,) = Explorer(model, properties, None, Options(symmetry=True)).run().violations
    assert violation.depth == 18
