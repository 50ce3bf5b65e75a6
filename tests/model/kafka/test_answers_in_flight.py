"""With fix 18, answers that arrive at once or never show the same states as answers that travel."""

from __future__ import annotations

import pytest

from tests.support.kafka import FIX_36, SAFE, kafka_model, reachable

BOUNDS = [
    {"crashes": 1, "preferred_elections": 1, "max_leader_epoch": 1},
    {"power_losses": 1, "preferred_elections": 0, "max_leader_epoch": 1},
    {"preferred_elections": 2, "max_leader_epoch": 2, "replicas": 2, "max_records": 2},
]


@pytest.mark.parametrize(
    "bounds",
    [pytest.param(BOUNDS[0], marks=pytest.mark.slow), *BOUNDS[1:]],
    ids=["crash", "power loss", "two replicas"],
)
def test_the_states_are_the_same_but_for_the_answers(bounds):
    settings = SAFE | FIX_36
    at_once, _ = reachable(kafka_model("kafka-4.1", settings, **bounds), ".answer.")
    travelling = settings | {"fetch.answers": "in_flight"}
    in_flight, states = reachable(kafka_model("kafka-4.1", travelling, **bounds), ".answer.")
    assert in_flight == at_once
    assert states > len(at_once)


def test_without_fix_18_there_are_more():
    bounds = {"preferred_elections": 3, "max_leader_epoch": 3, "replicas": 2}
    settings = SAFE | FIX_36 | {"answer.matches.request.epoch": "false"}
    at_once, _ = reachable(kafka_model("kafka-4.1", settings, **bounds), ".answer.")
    travelling = settings | {"fetch.answers": "in_flight"}
    in_flight, _ = reachable(kafka_model("kafka-4.1", travelling, **bounds), ".answer.")
    assert in_flight > at_once
