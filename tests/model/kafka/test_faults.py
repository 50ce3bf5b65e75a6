"""Faults that the model leaves out, since others amount to them: laws on states of random walks."""

from __future__ import annotations

import pytest

from checker.engines.reference import ReferenceEngine, State
from tests.support.kafka import SAFE, kafka_model
from tests.support.variants import walked_states

ON_DISK = ("log.end", "log.id", "log.epoch", "high_watermark")
POWER = {"power_losses": 3, "rack_failures": 1, "log_size": 2, "max_records": 2}


def by_name(model):
    """Where each cell of a state is, by its name."""
    return {cell.name: cell.position for cell in model.cells}


def steps_of(model, action):
    """The instances of an action, by their arguments."""
    return {i.arguments: i for i in model.instances if i.action.name == action}


def without(state, cells, *names):
    """A state but for some cells, given by the beginnings of their names."""
    left = {p for name, p in cells.items() if name.startswith(names)}
    return tuple(value for position, value in enumerate(state) if position not in left)


@pytest.mark.parametrize("preset", ["kafka-2.1", "kafka-fixed"])
def test_a_rack_that_loses_power_is_its_brokers_that_lose_power(preset):
    model = kafka_model(preset, SAFE | {"broker.rack": "together"}, crashes=1, **POWER)
    engine, cells = ReferenceEngine(model), by_name(model)
    alone = steps_of(model, "broker_lose_power")
    compared = 0
    for state in walked_states(model, 100, seed=1):
        for (first, kept), rack in steps_of(model, "rack_lose_power").items():
            after = engine.step(state, rack)
            if after is None:
                continue
            up = [b for b in range(3) if state[cells[f"brokers.up[{b}]"]]]
            assert first in up
            one_by_one: State | None = state
            for broker in up:
                end = min(kept, state[cells[f"brokers.log.end[{broker}]"]])
                checkpoint = min(end, state[cells[f"brokers.high_watermark[{broker}]"]])
                assert one_by_one is not None
                one_by_one = engine.step(one_by_one, alone[broker, end, checkpoint])
                if one_by_one is None:  # the budget is spent
                    break
            else:
                assert without(after, cells, "spent") == without(one_by_one, cells, "spent")
                compared += 1
    assert compared > 10


@pytest.mark.parametrize("preset", ["kafka-2.1", "kafka-fixed"])
def test_nobody_reads_the_log_of_a_broker_that_is_down(preset):
    """So what goes with the power after a process died may as well go as it dies."""
    model = kafka_model(
        preset, SAFE, crashes=2, false_fencings=1, preferred_elections=1, log_size=2, max_records=2
    )
    engine, cells = ReferenceEngine(model), by_name(model)
    others = [i for i in model.instances if i.action.name != "broker_restart"]
    compared = 0
    for state in walked_states(model, 500, seed=2):
        for broker in range(3):
            log = f"brokers.log.end[{broker}]"
            if state[cells[f"brokers.up[{broker}]"]] or not state[cells[log]]:
                continue
            own = tuple(f"brokers.{name}[{broker}]" for name in ON_DISK)
            cut = [
                start if cell.name.startswith(own) else value
                for cell, value, start in zip(model.cells, state, model.initial_state, strict=True)
            ]
            for instance in others:
                expected, found = (engine.step(s, instance) for s in (state, tuple(cut)))
                assert (expected is None) == (found is None), instance
                if expected is not None and found is not None:
                    assert without(expected, cells, *own) == without(found, cells, *own)
                    compared += 1
    assert compared > 10
