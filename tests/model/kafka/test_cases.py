"""Each fix of the protocol, off and on: the catalogue's violation, and none."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.core.verdict import Verdict
from checker.lab.experiments.cases import read_cases
from tests.support.fixes import found_steps, searched_with_fix, stored_steps

ROOT = Path(__file__).parents[3] / "counterexamples" / "kafka"
LONG = {
    "10-a_fetch_from_the_past",
    "80-records_that_were_not_committed_are_deleted",
}
NIGHTLY = {
    "02-one_lookup_is_not_enough",
    "07-a_leader_without_its_own_epoch",
    "16-an_empty_answer_clears_the_last_fetched_epoch",
    "17-a_record_that_was_written_over_while_it_was_sent",
    "18-an_answer_from_an_earlier_epoch",
    "33-an_epoch_file_that_was_not_synced",
    "36-positions_from_a_missed_epoch",
    "38-a_follower_joins_by_a_forgotten_replica",
    "40-a_cancelled_reassignment_is_tried_again",
    "40-a_removed_replica_blocks_the_election",
    "41-a_fetch_noted_in_a_later_epoch",
    "43-a_replica_is_moved_away_and_back",
    "44-a_directory_that_failed_under_a_running_broker",
    "45-min_isr_changed_while_offline",
    "46-a_stale_index_keeps_a_broker_out",
    "48-a_truncation_of_an_earlier_epoch",
    "82-a_deleted_record_comes_back_as_another",
    "84-an_unregistered_broker_is_taken_for_unclean",
    "86-a_truncation_is_undone_though_each_record_is_flushed",
    "86-a_truncation_that_a_power_loss_undoes",
    "94-a_record_of_an_earlier_epoch_is_sent",
    "97-an_epoch_that_was_cut_off_is_back",
}


def _marks(place, name):
    """Of those that are quick, a few run each time: a search takes a second or two.

    That each stored trace is one, and that its fix prevents it, is tried without a search on every
    change.
    """
    if name in NIGHTLY or place % 4:
        return [pytest.mark.nightly("a search each; stored traces are replayed on every change")]
    return [pytest.mark.slow] if name in LONG or place % 24 else []


CASES = [
    pytest.param(case, id=case.name, marks=_marks(place, case.name))
    for place, case in enumerate(read_cases(ROOT))
]


@pytest.mark.parametrize("case", CASES)
def test_a_search_finds_the_very_trace_that_is_stored(case):
    assert found_steps(case) == stored_steps(case)


@pytest.mark.parametrize("case", CASES)
def test_with_the_fix_the_same_search_ends_without_a_violation(case):
    assert searched_with_fix(case).verdict is Verdict.EXHAUSTED
