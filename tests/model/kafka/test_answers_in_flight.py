"""With fix 18, answers that arrive at once or never show the same states as answers that travel."""

from __future__ import annotations

import numpy as np
import pytest

from checker.engines.vectorised import VectorisedEngine
from tests.support.kafka import FIX_36, SAFE, kafka_model

BOUNDS = [
    {"crashes": 1, "preferred_elections": 1, "max_leader_epoch": 1},
    {"power_losses": 1, "preferred_elections": 0, "max_leader_epoch": 1},
    {"preferred_elections": 2, "max_leader_epoch": 2, "replicas": 2, "max_records": 2},
]


def reachable(model, blank=""):
    """Every reachable state as a tuple, with the variables that contain `blank` taken out."""
    engine = VectorisedEngine(model)
    frontier = engine.layout.pack([model.initial_state])
    seen = {column.tobytes() for column in frontier.T}
    shown = set()
    kept = [c.position for c in model.cells if not blank or blank not in c.variable.name]
    while frontier.shape[1]:
        states = engine.layout.unpack(frontier)
        shown |= {tuple(state[p] for p in kept) for state in states}
        fresh = []
        for column in engine.expand(frontier).words.T:
            key = column.tobytes()
            if key not in seen:
                seen.add(key)
                fresh.append(column)
        frontier = np.array(fresh, np.uint64).T if fresh else frontier[:, :0]
    return shown, len(seen)


@pytest.mark.parametrize("bounds", BOUNDS, ids=["crash", "power loss", "two replicas"])
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
