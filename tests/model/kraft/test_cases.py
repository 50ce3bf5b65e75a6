"""Each fix of KRaft that a case is about, off and on: the catalogue's violation, and none."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.core.verdict import Verdict
from checker.lab.experiments.cases import read_cases
from tests.support.fixes import searched_with_fix

ROOT = Path(__file__).parents[3] / "counterexamples" / "kraft"
LONG = {
    "99-a_committed_record_is_lost",  # a million states
    "103-a_snapshot_is_refused",
    "104-a_removed_leader_counts_itself",  # the rule has a test that ends where it is needed
    "106-a_follower_acknowledges_before_its_flush",  # the same
    "113-a_record_of_an_earlier_epoch_is_committed",  # the same
    "116-an_observer_is_added_before_its_flush",
}
CASES = [
    pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.name in LONG else [])
    for case in read_cases(ROOT)
]


@pytest.mark.parametrize("case", CASES)
def test_a_search_finds_the_very_trace_that_is_stored(case):
    assert case.find().steps == case.stored_trace().steps


@pytest.mark.parametrize("case", CASES)
def test_with_the_fix_the_same_search_ends_without_a_violation(case):
    assert searched_with_fix(case).verdict is Verdict.EXHAUSTED
