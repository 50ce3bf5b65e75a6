"""Each fix of KRaft that a case is about, off and on: the catalogue's violation, and none."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.core.search.explore import Explorer, Options
from checker.core.verdict import Verdict
from checker.lab.experiments.cases import read_cases
from model.protocols import PROTOCOLS
from properties import choose_properties
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


LARGE = {"log_size": 5, "voter_changes": 2, "crashes": 1, "power_losses": 1}


@pytest.mark.slow
def test_the_wrong_voter_set_is_found_where_each_append_is_flushed_too():
    settings = {"truncation.rereads.control.records": False}
    model = PROTOCOLS["kraft"].model(LARGE, settings, "kafka-fixed")
    properties = choose_properties(model.protocol, ["the_voter_set_is_that_of_the_log"])
    (violation,) = Explorer(model, properties, None, Options(symmetry=True)).run().violations
    assert violation.depth == 18
