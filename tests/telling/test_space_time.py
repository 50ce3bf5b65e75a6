"""Messages of a run: who heard of whom, when it was sent, and what became of it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from checker.core.traces.trace import build_trace
from checker.lab.experiments.cases import accepted_trace
from checker.telling.report.space_time import Message, SpaceTime
from model.protocols import PROTOCOLS
from tests.support.traces import (
    OFFICE,
    golden_kip279,
    instance_of,
    short_walks,
    unsafe_isr,
)

ROOT = Path(__file__).parents[2]
WALKS = short_walks()


def messages(trace) -> list[Message]:
    return list(SpaceTime(trace.model).messages(trace.states, trace.steps))


@cache
def case(name: str):
    return accepted_trace(ROOT / "counterexamples" / "kafka" / name)


@pytest.mark.parametrize("trace", [golden_kip279(), unsafe_isr(), *WALKS])
def test_messages_go_between_lanes_and_forward_in_time(trace):
    space = SpaceTime(trace.model)
    for message in space.messages(trace.states, trace.steps):
        assert {message.sender, message.receiver} <= set(space.lanes)
        assert message.sender != message.receiver
        assert 1 <= message.sent <= trace.depth
        assert message.received is None or message.sent <= message.received <= trace.depth


def test_a_fetch_is_a_request_and_its_answer():
    trace = accepted_trace(Path("kip101-weak_isr"))
    words = [step.action.name for step in trace.steps]
    fetch = words.index("follower_replicate") + 1
    assert [m for m in messages(trace) if m.sent == fetch] == [
        Message("r0", "r2", fetch, fetch, answer=True),
        Message("r2", "r0", fetch, fetch),
    ]


def test_a_request_of_the_controller_is_under_way_until_it_is_read():
    found = [m for m in messages(accepted_trace(Path("kip101-weak_isr"))) if m.sent < 4]
    assert found == [
        Message("controller", "r2", 1, 7),
        Message("controller", "r2", 2, 10),
        Message("controller", "r0", 3, 4),
    ]


def test_an_answer_in_flight_arrives_where_it_is_received():
    found = messages(case("01-truncate_to_high_watermark"))
    assert Message("b0", "b1", 2, 3) in found


def test_a_request_that_nobody_has_read_is_under_way():
    model = PROTOCOLS["kafka"].model({"controller_failovers": 1})
    asked = instance_of(model, "leader_propose_shrink", leader=0, follower=1)
    assert messages(build_trace(model, [asked])) == [Message("b0", "controller", 1, None)]


def test_a_request_that_is_lost_is_not_taken():
    model = PROTOCOLS["kafka"].model({"controller_failovers": 1})
    asked = instance_of(model, "leader_propose_shrink", leader=0, follower=1)
    lost = next(i for i in model.instances if i.action.name == "controller_fail_over")
    found = messages(build_trace(model, [asked, lost]))
    assert found == [Message("b0", "controller", 1, 2, taken=False)]


def test_a_follower_that_a_leader_takes_into_the_isr_has_asked():
    found = messages(case("37-a_pending_isr_member_is_forgotten"))
    assert {m for m in found if m.sent == 6} == {
        Message("b2", "b0", 6, 6),
        Message("b0", "b2", 6, 6, answer=True),
        Message("b0", "controller", 6, 9),
    }


def test_producers_send_and_hear_when_a_record_is_acknowledged():
    trace = case("36-positions_from_a_missed_epoch")
    found = messages(trace)
    assert found[0] == Message("producer", "b0", 1, 1)
    (told,) = [m for m in found if m.receiver == "producer"]
    row = trace.model.positions["records.acknowledged", (0,)]
    assert trace.states[told.sent][row] and not trace.states[told.sent - 1][row]


def test_consumers_ask_and_are_answered():
    found = [
        m for m in messages(case("consumer_skips_a_record")) if "consumer" in (m.sender, m.receiver)
    ]
    assert found == [
        Message("consumer", "b0", 6, 6),
        Message("b0", "consumer", 6, 6, answer=True),
    ]


def test_who_crashes_tells_nobody():
    trace = case("36-positions_from_a_missed_epoch")
    crash = [step.action.name for step in trace.steps].index("broker_crash") + 1
    assert not [m for m in messages(trace) if m.sent == crash]


def test_leaders_are_asked_and_ask_nobody():
    trace = case("36-positions_from_a_missed_epoch")
    assert [m for m in messages(trace) if m.sent == 3] == [Message("b1", "b0", 3, 3)]


def test_lanes_of_a_protocol_of_ones_own_are_its_members():
    assert SpaceTime(OFFICE.model()).lanes == ("workers 0", "workers 1")


def test_a_step_that_touches_nobody_else_has_no_message():
    trace = accepted_trace(Path("kip101-weak_isr"))
    alone = [n for n, step in enumerate(trace.steps, 1) if step.action.name == "leader_write"]
    assert alone
    assert not [m for m in messages(trace) if m.sent in alone]


def test_where_an_action_cannot_be_captured_whoever_acts_asks(monkeypatch):
    trace = case("36-positions_from_a_missed_epoch")
    monkeypatch.setattr(SpaceTime, "_grounded", lambda *_: None)
    assert {m for m in messages(trace) if m.sent == 2} == {
        Message("b1", "b0", 2, 2),
        Message("b0", "b1", 2, 2, answer=True),
    }
