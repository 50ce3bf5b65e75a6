"""A trace is believed only if the reference engine replays it and its end shows what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

import checker.core.traces.trace
from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import Trace, TraceVerdict, build_trace, check_trace
from model.ladder.kip279 import KIP279
from model.language.errors import RejectedError, UsageError
from tests.support.traces import (
    EVERY_PROTOCOL,
    OFFICE,
    golden_kip279,
    instance_of,
    losing_truncation,
    property_named,
    random_walk,
    unsafe_isr,
    witness,
)

GOLDEN = golden_kip279()


def altered_states(trace: Trace):
    """Every trace that differs from `trace` by one value that its cell may hold."""
    for number, state in enumerate(trace.states):
        for cell in trace.model.cells:
            for value in range(cell.low, cell.high + 1):
                if value != state[cell.position]:
                    changed = (*state[: cell.position], value, *state[cell.position + 1 :])
                    states = (*trace.states[:number], changed, *trace.states[number + 1 :])
                    yield replace(trace, states=states)


@pytest.mark.parametrize("trace", [GOLDEN, losing_truncation(), unsafe_isr(), witness()])
def test_the_end_of_a_trace_shows_its_verdict(trace):
    check_trace(trace)
    engine = ReferenceEngine(trace.model)
    prop = property_named(trace.model, trace.property)
    holds = engine.holds(prop.claim, *trace.states[-prop.frames :])
    assert holds is (trace.verdict == TraceVerdict.REACHED)


@pytest.mark.parametrize("name", EVERY_PROTOCOL)
def test_every_walk_is_a_run(name):
    trace = random_walk(EVERY_PROTOCOL[name].model(), 15, seed=1)
    check_trace(trace)
    assert trace.depth == len(trace.states) - 1 > 0
    assert trace.verdict == TraceVerdict.RUN
    assert trace.explanation == ""


@pytest.mark.parametrize("trace", [losing_truncation(), random_walk(OFFICE.model(), 8, seed=3)])
def test_a_value_altered_at_any_one_place_is_rejected(trace):
    for wrong in altered_states(trace):
        with pytest.raises(RejectedError, match=r"expected .*, found |is not enabled"):
            check_trace(wrong)


def test_a_rejection_names_step_variable_and_both_values():
    position = GOLDEN.model.positions["replicas.high_watermark", (0,)]
    last = list(GOLDEN.states[9])
    last[position] = 0
    wrong = replace(GOLDEN, states=(*GOLDEN.states[:9], tuple(last), GOLDEN.states[10]))
    with pytest.raises(RejectedError) as caught:
        check_trace(wrong)
    assert str(caught.value) == (
        "step 9, leader_advance_high_watermark(leader=r0): replicas[r0].high_watermark: "
        "expected 1, found 0"
    )


def test_entries_and_members_are_named_as_people_name_them():
    position = GOLDEN.model.positions["replicas.log.epoch", (2, 0)]
    state = list(GOLDEN.states[8])
    state[position] = 1
    states = (*GOLDEN.states[:8], tuple(state), *GOLDEN.states[9:])
    with pytest.raises(
        RejectedError, match=r"replicas\[r2\]\.log\[0\]\.epoch: expected 2, found 1"
    ):
        check_trace(replace(GOLDEN, states=states))


def test_a_step_that_is_not_enabled_is_named():
    steps = [instance_of(KIP279.model(), "leader_write", leader=1)]
    with pytest.raises(RejectedError, match=r"step 1: leader_write\(leader=r1\) is not enabled"):
        build_trace(KIP279.model(), steps)


def test_a_trace_that_ends_too_early_is_rejected():
    shorter = replace(GOLDEN, states=GOLDEN.states[:-1], steps=GOLDEN.steps[:-1])
    with pytest.raises(RejectedError, match="strong_isr is true in the last state"):
        check_trace(shorter)


def test_states_and_steps_must_match_in_number():
    with pytest.raises(RejectedError, match="a trace of 9 steps must have 10 states, not 11"):
        check_trace(replace(GOLDEN, steps=GOLDEN.steps[:-1]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"property": "well_formed"}, "well_formed is true in the last state"),
        ({"property": "a_record_commits"}, "a_record_commits is a property that should sometimes"),
        ({"property": None}, "no property is named"),
        ({"verdict": "reached"}, "strong_isr is a property that should always hold"),
        ({"verdict": "run"}, "it names the property strong_isr"),
        ({"verdict": "deadlock"}, "a deadlock is not about a property"),
        ({"verdict": "deadlock", "property": None}, "is enabled in the last state"),
        ({"verdict": "fine"}, "valid are violated, "),
    ],
)
def test_a_verdict_that_the_end_does_not_show_is_rejected(changes, words):
    with pytest.raises(RejectedError, match=words):
        check_trace(replace(GOLDEN, **changes))


def test_a_property_that_the_protocol_lacks_is_a_usage_error():
    with pytest.raises(UsageError, match="strong_isr"):
        check_trace(replace(GOLDEN, property="strong_irs"))


def test_a_property_of_steps_needs_a_step():
    with pytest.raises(RejectedError, match="is about steps, and there is none"):
        build_trace(KIP279.model(), [], "the_leader_changes")


def test_a_deadlock_is_where_nothing_is_enabled():
    model = KIP279.model({"replicas": 1, "log_size": 1, "max_records": 1, "max_leader_epoch": 0})
    walk = random_walk(model, 100, seed=0)
    trace = build_trace(model, walk.steps, verdict="deadlock")
    assert trace.explanation == "nothing is enabled"
    assert not list(ReferenceEngine(model).successors(trace.states[-1]))


def test_only_a_counterexample_to_induction_may_start_elsewhere():
    model, start = GOLDEN.model, GOLDEN.states[-2]
    trace = build_trace(model, GOLDEN.steps[-1:], "strong_isr", start=start)
    assert trace.verdict == TraceVerdict.NOT_INDUCTIVE
    with pytest.raises(RejectedError, match="the initial state: "):
        check_trace(replace(trace, verdict="violated"))
    late = replace(trace, states=(*trace.states, trace.states[-1]), steps=trace.steps * 2)
    with pytest.raises(RejectedError):
        check_trace(late)


def test_a_counterexample_to_induction_starts_where_the_property_holds():
    with pytest.raises(RejectedError, match="strong_isr is already false in state 0"):
        step = next(ReferenceEngine(GOLDEN.model).successors(GOLDEN.states[-1]))[0]
        build_trace(GOLDEN.model, [step], "strong_isr", start=GOLDEN.states[-1])


def test_a_start_outside_its_domains_is_rejected():
    start = (*GOLDEN.states[-2][:-1], 99)
    trace = build_trace(GOLDEN.model, GOLDEN.steps[-1:], "strong_isr", start=GOLDEN.states[-2])
    with pytest.raises(RejectedError, match="next_leader_epoch is out of its domain"):
        check_trace(replace(trace, states=(start, trace.states[-1])))


def test_the_explanation_has_the_values_that_falsify_the_property():
    assert GOLDEN.explanation == (
        "r0 believes it is leader and serves offset 0 (HW 1); r2 is in the ISR at the controller, "
        "so it can be elected, but does not hold the same entry there"
    )
    assert witness().explanation == property_named(GOLDEN.model, "the_leader_changes").words


@pytest.mark.parametrize("broken", ["_check_verdict", "_compare", "_check_start"])
def test_each_part_of_the_check_is_needed(monkeypatch, broken):
    """Mutants: without any one part, some false trace would pass."""
    position = GOLDEN.model.positions["next_record_id", ()]
    first = list(GOLDEN.states[0])
    first[position] = 1
    false_traces = {
        "_check_verdict": replace(GOLDEN, property="well_formed"),
        "_compare": replace(GOLDEN, states=(*GOLDEN.states[:-1], _spoiled(GOLDEN))),
        "_check_start": replace(
            build_trace(GOLDEN.model, GOLDEN.steps[-1:], "strong_isr", start=GOLDEN.states[-2]),
            verdict="violated",
        ),
    }
    with pytest.raises(RejectedError):
        check_trace(false_traces[broken])
    monkeypatch.setattr(checker.core.traces.trace, broken, lambda *_: None)
    check_trace(false_traces[broken])


def _spoiled(trace: Trace) -> tuple[int, ...]:
    """The last state with one value changed that the property does not read."""
    position = trace.model.positions["next_record_id", ()]
    last = list(trace.states[-1])
    last[position] = 0
    return tuple(last)
