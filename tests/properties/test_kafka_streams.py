"""A task that consumes, processes and produces: exactly once, by KIP-447 or by its id."""

from __future__ import annotations

import pytest

from checker.core.search.explore import Explorer
from checker.core.search.question import Options
from checker.core.verdict import Verdict
from model.kafka_streams.presets import PRESETS
from model.kafka_streams.protocol import KAFKA_STREAMS
from properties import Sense, promised_properties, properties_of
from tests.support.judged import judge
from tests.support.laws import check_is_broken
from tests.support.tiers import slow_but

ALWAYS = [p for p in properties_of(KAFKA_STREAMS) if p.sense is Sense.ALWAYS]
DEPTHS = {
    "nothing_is_processed_twice": 13,
    "nothing_is_lost": 9,
    "offsets_do_not_go_back": 18,
}
FAULTS = {"rebalances": 2, "transaction_timeouts": 1, "aborts": 1}
LATE = {"late_completions": 1}


@pytest.mark.parametrize("prop", ALWAYS, ids=lambda prop: prop.name)
def test_what_is_said_to_break_a_promise_breaks_it_and_the_report_says_where(prop):
    _, *changes = prop.broken_by.split()
    model = KAFKA_STREAMS.model({"aborts": 1}, dict(c.split("=") for c in changes))
    assert check_is_broken(model, prop) == DEPTHS[prop.name]


@pytest.mark.parametrize("name", slow_but(["kafka-2.5"], PRESETS))
def test_each_input_is_processed_once_whoever_owns_it(name):
    model = KAFKA_STREAMS.model(FAULTS, PRESETS[name])
    promised = promised_properties(model)
    found = Explorer(model, promised, options=Options(cross_check=False)).run()
    assert found.verdict is Verdict.EXHAUSTED
    assert not any(found.is_vacuous(prop) for prop in promised)


def test_an_offset_that_is_taken_over_late_is_lost_unless_it_is_awaited():
    """KAFKA-17507."""
    for name, verdict in (("kafka-2.0", Verdict.VIOLATED), ("kafka-4.0", Verdict.EXHAUSTED)):
        model = KAFKA_STREAMS.model(LATE, PRESETS[name])
        found = Explorer(model, ALWAYS, options=Options(cross_check=False)).run()
        assert found.verdict is verdict, name


@pytest.mark.parametrize("rule", ["group.checks.generation", "require.stable"])
def test_one_half_of_kip_447_is_not_enough(rule):
    model = KAFKA_STREAMS.model({"inputs": 1}, {rule: "false"})
    found = Explorer(model, ALWAYS, options=Options(cross_check=False)).run()
    assert found.verdict is Verdict.VIOLATED


def judged(bounds, settings, *changes):
    """The verdict on what must come of each input."""
    model = KAFKA_STREAMS.model(bounds, settings)
    return judge(model, "inputs_are_processed", *changes).verdict


ENDS = {"deaths": 1, "aborts": 1, "transaction_timeouts": 1}


@pytest.mark.parametrize("name", slow_but(["kafka-4.0"], PRESETS))
def test_every_input_is_processed_once_faults_are_over(name):
    assert judged(ENDS, PRESETS[name]) is Verdict.EXHAUSTED


@pytest.mark.parametrize(
    ("bounds", "settings"),
    [({"aborts": 1}, {"position.is.reset": "false"}),
     ({"aborts": 1, **LATE}, {"completion.is.awaited": "false"})],
)  # fmt: skip
def test_an_input_is_left_out_for_ever_where_a_rule_is_off(bounds, settings):
    assert judged(bounds, {}) is Verdict.EXHAUSTED
    assert judged(bounds, settings) is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("bounds", "step"),
    [({"deaths": 1}, "coordinator_abort_of_the_dead"), ({}, "offsets_get_marker"),
     ({"transaction_timeouts": 1}, "owner_join_again")],
)  # fmt: skip
def test_an_input_waits_for_ever_where_nobody_does_his_part(bounds, step):
    assert judged(bounds, {}) is Verdict.EXHAUSTED
    assert judged(bounds, {}, f"{step}=none") is Verdict.VIOLATED
