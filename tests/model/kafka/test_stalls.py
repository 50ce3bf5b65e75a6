"""Threads that stall between two locks: what may happen meanwhile, and what each fix prevents."""

from __future__ import annotations

import pytest

from checker.verdict import Verdict
from tests.support.kafka import SAFE, depths, explored, kafka_model

LOST = "acknowledged_records_survive"
TRUNCATIONS = {"stalled_truncations": 1, "preferred_elections": 4, "max_leader_epoch": 4}
PRODUCES = {"stalled_produces": 1, "preferred_elections": 2, "max_leader_epoch": 3}


def fixed(bounds, **settings):
    """The model with every fix, but for some."""
    changed = {name.replace("_", "."): value for name, value in settings.items()}
    return kafka_model("kafka-fixed", SAFE | changed, **bounds)


def test_a_truncation_that_was_decided_in_an_earlier_epoch_loses_what_was_acknowledged():
    model = fixed(TRUNCATIONS, truncation_matches_request_epoch="false")
    assert depths(explored(model, LOST, symmetry=True)) == {LOST: 18}


def test_it_takes_the_thread_back_to_the_leader_that_answered():
    model = fixed(
        TRUNCATIONS | {"preferred_elections": 3, "max_leader_epoch": 3},
        truncation_matches_request_epoch="false",
    )
    assert explored(model, LOST, symmetry=True).verdict is Verdict.EXHAUSTED


def test_a_produce_that_is_judged_by_the_offset_hears_of_a_record_that_is_gone():
    model = fixed(PRODUCES | {"max_records": 2}, produce_matches_leader_epoch="false")
    assert depths(explored(model, LOST, symmetry=True)) == {LOST: 14}


def test_with_one_record_there_is_none_in_its_place():
    model = fixed(PRODUCES, produce_matches_leader_epoch="false")
    assert explored(model, LOST, symmetry=True).verdict is Verdict.EXHAUSTED


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [TRUNCATIONS, PRODUCES | {"max_records": 2}])
def test_with_the_fixes_all_that_is_promised_holds(bounds):
    assert explored(fixed(bounds), symmetry=True).verdict is Verdict.EXHAUSTED
