"""Faults that others amount to: laws on states of random walks."""

from __future__ import annotations

import itertools

import pytest

from checker.core.engines.reference import ReferenceEngine, State
from checker.core.search.symmetry import symmetry_of
from model.kafka.protocol import KAFKA
from model.language.errors import UsageError
from tests.support.kafka import SAFE, depths, explored, kafka_model
from tests.support.tiers import first_and_slow, nightly, slow_but
from tests.support.variants import walked_states

ON_DISK = ("log.end", "log.id", "log.epoch", "high_watermark")
ACKNOWLEDGED = ("acknowledged_records_survive", "acknowledged_record_on_some_disk")
STOPS = {"crashes": 2, "shutdowns": 1}
POWER = {"power_losses": 4, "cache_losses": 4, "rack_failures": 1}


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


RACKS = [
    ("kafka-fixed", 3, "aba", 2),
    ("kafka-4.3", 4, "abba", 1),
    nightly("other racks", ("kafka-2.1", 3, "together", 2)),
    nightly("other racks", ("kafka-fixed", 3, "spread", 2)),
    nightly("other racks", ("kafka-4.3", 4, "together", 1)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "count", "racks", "size"), RACKS)
def test_a_rack_that_loses_power_is_each_machine_in_it_with_any_end_of_its_log(
    preset, count, racks, size
):
    chosen = SAFE | {"broker.rack": racks}
    sizes = {"replicas": count, "log_size": size, "max_records": size, **STOPS}
    model, calm = (
        kafka_model(preset, chosen, **sizes, **POWER),
        kafka_model(preset, chosen, **sizes),
    )
    letters = {"together": "aaaa", "spread": "abcd"}.get(racks, racks)
    engine, cells = ReferenceEngine(model), by_name(model)
    alone = steps_of(model, "broker_lose_power")
    crashed = steps_of(model, "broker_lose_page_cache")
    at_once = [
        *steps_of(model, "rack_lose_power").items(),
        *steps_of(model, "rack_lose_uneven_ends").items(),
    ]

    def value(state, name, broker):
        return state[cells[f"brokers.{name}[{broker}]"]]

    def one_by_one(state: State, ends) -> State | None:
        for broker, end in ends.items():
            after: State | None = state
            if value(state, "up", broker):
                checkpoint = min(end, value(state, "high_watermark", broker))
                after = engine.step(state, alone[broker, end, checkpoint])
            elif end < value(state, "log.end", broker):
                after = engine.step(state, crashed[broker, end])
            assert after is not None
            state = after
        return state

    mixed = 0
    for state in walked_states(calm, 80, seed=1):
        for rack in sorted(set(letters[:count])):
            lost = [
                b for b in range(count)
                if letters[b] == rack and not value(state, "stopped_cleanly", b)
            ]  # fmt: skip
            ends = [range(value(state, "log.end", b) + 1) for b in lost]
            expected = {
                without(one_by_one(state, dict(zip(lost, chosen, strict=True))), cells, "spent")
                for chosen in itertools.product(*ends)
            }
            if not any(value(state, "up", b) for b in lost):
                expected.discard(without(state, cells, "spent"))
            found = {
                without(after, cells, "spent")
                for arguments, step in at_once
                if letters[arguments[0]] == rack and (after := engine.step(state, step)) is not None
            }
            assert found == expected
            mixed += len(expected) > 1
    assert mixed > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "kept"), first_and_slow(("kafka-2.1", "log"), ("kafka-fixed", "kept"))
)
def test_a_crash_and_then_the_loss_of_the_page_cache_is_a_power_loss(preset, kept):
    chosen, sizes = SAFE | {"epoch.cache": kept}, {"log_size": 2, "max_records": 2}
    model = kafka_model(preset, chosen, crashes=1, **sizes, **POWER)
    calm = kafka_model(preset, chosen, **sizes)
    engine, cells = ReferenceEngine(model), by_name(model)
    crashes, powers = steps_of(model, "broker_crash"), steps_of(model, "broker_lose_power")
    compared = 0
    for state in walked_states(calm, 80, seed=3):
        for (broker, end), lose in steps_of(model, "broker_lose_page_cache").items():
            for checkpoint in range(3):
                dead = engine.step(state, crashes[broker, checkpoint])
                after = dead and engine.step(dead, lose)
                if after is not None:
                    at_once = engine.step(state, powers[broker, end, min(end, checkpoint)])
                    assert without(after, cells, "spent") == without(at_once, cells, "spent")
                    compared += 1
    assert compared > 10


@pytest.mark.slow
def test_what_was_flushed_or_stopped_cleanly_is_not_lost():
    flushed = SAFE | {"log.flush.interval.messages": "1", "broker.rack": "together"}
    faults = {"rack_failures": 1, "crashes": 1, "cache_losses": 1}
    result = explored(kafka_model("kafka-fixed", flushed, **faults))
    assert not depths(result)
    stopped = kafka_model("kafka-fixed", SAFE, shutdowns=3, cache_losses=1, max_leader_epoch=3)
    assert not depths(explored(stopped))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("racks", "least", "lost"),
    [
        ("aab", "2", {"acknowledged_records_survive": 14, "acknowledged_record_on_some_disk": 7}),
        ("aab", "3", {}),
        pytest.param("abb", "3", {}, marks=pytest.mark.slow),
        pytest.param(
            "together",
            "3",
            {"acknowledged_records_survive": 15, "acknowledged_record_on_some_disk": 6},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_rack_loses_what_is_acknowledged_unless_fewer_replicas_are_in_it_than_must_be_in_sync(
    racks, least, lost
):
    chosen = SAFE | {"min.insync.replicas": least, "broker.rack": racks}
    model = kafka_model("kafka-fixed", chosen, rack_failures=1)
    assert depths(explored(model, *ACKNOWLEDGED)) == lost


@pytest.mark.slow
@pytest.mark.parametrize(("losses", "gone"), first_and_slow((1, True), (0, False)))
def test_crashes_leave_every_copy_unless_a_machine_loses_power_too(losses, gone):
    model = kafka_model("kafka-fixed", SAFE, crashes=2, cache_losses=losses)
    assert ("acknowledged_record_on_some_disk" in depths(explored(model, *ACKNOWLEDGED))) == gone


def test_racks_name_as_many_brokers_as_there_are():
    for count, racks in [(3, "aabb"), (2, "aab"), (5, "abcc")]:
        with pytest.raises(
            UsageError, match=f"broker.rack cannot be {racks} here: valid are spread"
        ):
            KAFKA.model({"replicas": count}, {"broker.rack": racks})
    parted = kafka_model("kafka-4.3", {"broker.rack": "aab"})
    for racks, renamed in [("together", True), ("spread", True), ("aab", False)]:
        model = kafka_model("kafka-4.3", {"broker.rack": racks})
        assert (symmetry_of(model, []) is not None) == renamed
    assert parted.settings.broker_rack.letters == "aab"


@pytest.mark.slow
@pytest.mark.parametrize("preset", slow_but(["kafka-2.1"], ["kafka-2.1", "kafka-fixed"]))
def test_nobody_reads_the_log_of_a_broker_that_is_down(preset):
    """So what goes with the power after a process died may as well go as it dies."""
    model = kafka_model(
        preset, SAFE, crashes=2, false_fencings=1, preferred_elections=1, log_size=2, max_records=2
    )
    engine, cells = ReferenceEngine(model), by_name(model)
    others = [i for i in model.instances if i.action.name != "broker_restart"]
    compared = 0
    for state in walked_states(model, 400, seed=2):
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
