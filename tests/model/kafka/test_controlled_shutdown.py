"""A broker that asks before it stops: what it adds to one that just stops."""

from __future__ import annotations

import pytest

from checker.core.verdict import Verdict
from model.language import all_of, some
from properties.claims import sometimes
from tests.support.kafka import FIX_36, SAFE, depths, explored, kafka_model, reachable
from tests.support.laws import explore
from tests.support.tiers import first_and_slow

LOST = "acknowledged_records_survive"
OWN = ("shutting_down", "spent.")
SIZES = [
    {"replicas": 2, "max_records": 2, "log_size": 2, "max_leader_epoch": 1},
    pytest.param({"replicas": 2, "crashes": 1}, marks=pytest.mark.slow),
    pytest.param({"replicas": 3, "max_leader_epoch": 1, "max_records": 1}, marks=pytest.mark.slow),
]


@sometimes("it_goes_on_fetching", "a fenced broker that wants to stop appends", of_steps=True)
def it_goes_on_fetching(before, after):
    return some(
        all_of(b.shutting_down, b.fenced, after.brokers[b].log.end > b.log.end)
        for b in before.brokers
    )


@sometimes("it_leads_on", "a broker that wants to stop, replaced as leader, appends", of_steps=True)
def it_leads_on(before, after):
    return some(
        all_of(
            b.shutting_down, b.leads, before.controller.leader_epoch > b.leader_epoch,
            after.brokers[b].log.end > b.log.end,
        )
        for b in before.brokers
    )  # fmt: skip


@pytest.mark.slow
def test_until_it_has_stopped_it_fetches_and_may_believe_that_it_leads():
    model = kafka_model("kafka-4.1", SAFE, controlled_shutdowns=1)
    result = explore(model, (it_goes_on_fetching, it_leads_on))
    assert result.unreached == []


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES)
def test_it_is_a_broker_that_is_taken_for_dead_and_then_stops(sizes):
    """So what is searched with these two budgets is searched for it as well."""
    settings = SAFE | FIX_36
    asked = kafka_model("kafka-4.1", settings, **({"controlled_shutdowns": 1} | sizes))
    parts = {"shutdowns": 1, "false_fencings": 1}
    apart = kafka_model("kafka-4.1", settings, **(parts | sizes))
    just_stops = kafka_model("kafka-4.1", settings, **({"shutdowns": 1} | sizes))
    found, _ = reachable(asked, *OWN)
    assert found < reachable(apart, *OWN)[0]
    assert found - reachable(just_stops, *OWN)[0]


@pytest.mark.slow
def test_zookeeper_does_it_otherwise():
    model = kafka_model("kafka-2.7", SAFE, controlled_shutdowns=1)
    assert "broker_ask_to_stop" not in model.possible_actions


@pytest.mark.slow
def test_a_rolling_restart_with_an_election_of_the_preferred_leader_loses_what_was_acknowledged():
    """Finding 0001 without any fault: two controlled shutdowns, and leaders that are balanced."""
    rolling = {"controlled_shutdowns": 2, "preferred_elections": 1, "max_leader_epoch": 3}
    model = kafka_model("kafka-4.3", SAFE, **rolling)
    assert depths(explored(model, LOST, symmetry=True)) == {LOST: 13}
    fixed = kafka_model("kafka-4.3", SAFE | FIX_36, **rolling)
    assert explored(fixed, LOST, symmetry=True).verdict is Verdict.EXHAUSTED


@pytest.mark.slow
@pytest.mark.parametrize("shutdowns", first_and_slow(2, 3))
def test_without_such_an_election_a_rolling_restart_loses_nothing(shutdowns):
    bounds = {"controlled_shutdowns": shutdowns, "max_leader_epoch": 3}
    result = explored(kafka_model("kafka-4.3", SAFE, **bounds), symmetry=True)
    assert result.verdict is Verdict.EXHAUSTED
