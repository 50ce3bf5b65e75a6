"""Causes: what is given as a reason suffices, what is called needless can be left out."""

from __future__ import annotations

import itertools
import random
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.search.explore import Explorer
from checker.core.search.question import Options
from checker.core.traces.trace import build_trace
from checker.lab.experiments.cases import stored_case
from checker.telling.causes.failures import failures_of, false_guards
from checker.telling.causes.reasons import Reasons, merged
from checker.telling.causes.slices import leave_out, slice_of
from checker.telling.report.why import CellWords, Told, Value, grouped, why
from model.language import Annotated, Protocol, State, all_of, integers, require
from model.language.action import Action, Instance
from model.language.cells import StateSpace
from model.language.errors import DisagreementError
from model.language.ground import Grounder
from model.protocols import PROTOCOLS
from properties import Sense, properties_of
from properties.claims import always
from tests.support.kafka import kafka_model
from tests.support.proofs import random_states, states_on_walks
from tests.support.tiers import slow_but

LADDER = PROTOCOLS["kip320"].model()
KAFKA = kafka_model("kafka-4.3", {"min.insync.replicas": "2", "min.insync.replicas.later": "1"})
ASYNC = PROTOCOLS["async_isr"].model()


def trace_of(case: str) -> Any:
    found = stored_case(Path(case))
    assert found is not None
    return found.stored_trace()


def told_of(trace: Any) -> Any:
    """Why it ends so, of a protocol that can be captured."""
    found = why(trace)
    assert found is not None
    return found


# Reasons suffice.


def expressions(model, rng):
    """Guards, values and claims of a model over cells: some of each."""
    instances = rng.sample(list(model.instances), min(40, len(model.instances)))
    states = [p for p in properties_of(model.protocol) if not p.of_steps]
    grounded, claims = model.grounded(instances, [(p.claim, 1) for p in states])
    found = list(claims)
    for action in grounded:
        values = list(action.assignments.values())
        found += [action.guard, action.misfit, *rng.sample(values, min(3, len(values)))]
    return found


def costs(costly: set[int]) -> Any:
    """Some cells cost more than others: so each way to a reason is taken somewhere."""
    return lambda place, bits: int(place[1] in costly)


def shaken(model, state, reads, rng):
    """Another state that has the places and bits that were read, and anything elsewhere."""
    other = random_states(model, 1, rng.randrange(10**6))[0]
    return tuple(
        (old & bits) | (new & ~bits)
        for place, (old, new) in enumerate(zip(state, other, strict=True))
        for bits in [reads.get((0, place), 0)]
    )


@pytest.mark.parametrize("model", [LADDER, KAFKA, ASYNC], ids=lambda m: m.protocol.name)
def test_whatever_else_a_state_holds_the_reasons_for_a_value_suffice(model):
    rng = random.Random(7)
    nodes = expressions(model, rng)
    tried = shorter = 0
    for state in (*states_on_walks(model, 6), *random_states(model, 3)):
        costly = set(rng.sample(range(len(state)), len(state) // 2))
        reasons = Reasons([state], costs(costly))
        for node in nodes:
            reads = reasons.why(node)
            for _ in range(2):
                other = shaken(model, state, reads, rng)
                assert Reasons([other], lambda *_: 0).value(node) == reasons.value(node), node
                tried += other != state
            shorter += len(reads) < len(mentioned(node))
    assert tried > 500 and shorter > 100


def mentioned(node):
    """Every place that an expression reads in some state."""
    if node.op.value == "cell":
        return {node.data[:2]}
    return set().union(*(mentioned(arg) for arg in node.args))


def test_the_reasons_for_some_bits_of_a_set_suffice_for_those():
    rng, tried = random.Random(3), 0
    sets = [
        node
        for action in KAFKA.grounded(rng.sample(list(KAFKA.instances), 50))[0]
        for position, node in action.assignments.items()
        if KAFKA.declared[position].variable.sort.kind == "set"
    ]
    for state in random_states(KAFKA, 10):
        reasons = Reasons([state], lambda *_: 1)
        for node, bits in itertools.product(sets, (1, 2, 4, 5)):
            other = shaken(KAFKA, state, reasons.why(node, bits), rng)
            assert (Reasons([other], lambda *_: 1).value(node) ^ reasons.value(node)) & bits == 0
            tried += other != state
    assert tried > 100


def test_values_are_those_of_the_functions():
    engine = ReferenceEngine(LADDER)
    grounded, _ = LADDER.grounded(LADDER.instances)
    for state in states_on_walks(LADDER, 12):
        reasons = Reasons([state], lambda *_: 1)
        for action in grounded:
            after = engine.step(state, action.instance)
            assert bool(reasons.value(action.guard)) is (after is not None)
            if after is not None:
                for position, node in action.assignments.items():
                    assert reasons.value(node) == after[position]


# Slices.


def with_detours(trace, rng, most):
    """The trace with other steps between its own, as many as it stands: it ends the same way."""
    engine, claim = ReferenceEngine(trace.model), trace.claim

    def ends(steps):
        states = [engine.initial()]
        for step in steps:
            after = engine.step(states[-1], step)
            if after is None:
                return None
            states.append(after)
        pairs = list(itertools.pairwise(states))
        judged = [(state,) for state in states] if claim.frames == 1 else pairs
        fallen = [k for k, each in enumerate(judged) if not engine.holds(claim.claim, *each)]
        return states if fallen == [len(judged) - 1] else None

    steps, states = list(trace.steps), list(trace.states)
    for _ in range(most):
        place = rng.randrange(len(steps))
        choices: dict[str, list[Instance]] = {}
        for step, _ in engine.successors(states[place]):
            choices.setdefault(step.action.name, []).append(step)
        instance = rng.choice(choices[rng.choice(sorted(choices))])
        longer = [*steps[:place], instance, *steps[place:]]
        found = ends(longer)
        if found is not None:
            steps, states = longer, found
    return build_trace(trace.model, steps, trace.property)


DETOURS = [
    "kip101-strong_isr", "without_fence_fetch-weak_isr", "async_isr-without_maximal_isr",
    "01-truncate_to_high_watermark", "45-min_isr_raised_and_a_power_loss", "rack_all_in_one",
    "burst_of_records",
]  # fmt: skip


@pytest.mark.parametrize("case", slow_but(["kip101-strong_isr"], DETOURS))
def test_steps_that_are_not_needed_can_be_left_out_and_those_of_detours_are(case):
    trace, rng, found = trace_of(case), random.Random(5), 0
    for _ in range(2):
        longer = with_detours(trace, rng, 25)
        needless = slice_of(longer).needless
        kept = [s for n, s in enumerate(longer.steps, 1) if n not in needless]
        again = build_trace(longer.model, kept, longer.property)  # raises if it does not fall
        assert again.depth >= trace.depth  # no shorter way exists
        found += len(needless)
    assert found > 0


@pytest.mark.parametrize("case", ["kip279-strong_isr", "26-high_watermark_below_min_isr"])
def test_a_shortest_trace_has_no_needless_step_and_none_can_be_left_out(case):
    trace = trace_of(case)
    assert slice_of(trace).needless == ()
    for number in range(1, trace.depth + 1):
        assert not leave_out(trace, [number])


def test_a_cause_changed_what_was_needed_and_nothing_between_changed_it_again():
    trace = trace_of("36-positions_from_a_missed_epoch")
    sliced = slice_of(trace)
    for number, causes in enumerate((*sliced.causes, sliced.end), 1):
        assert [c.step for c in causes] == sorted({c.step for c in causes})
        for cause in causes:
            assert cause.step < number
            before, after = trace.states[cause.step - 1 : cause.step + 1]
            for place, bits in cause.cells.items():
                assert bits and (before[place] ^ after[place]) & bits == bits
                later = trace.states[cause.step : number]
                assert len({state[place] & bits for state in later}) == 1
    assert {cause.step for causes in sliced.causes for cause in causes} >= {1, 3, 6, 10}


def test_the_causes_of_a_known_loss_are_those_of_its_story():
    """KIP-101's bug: the record is exposed by step 5, the follower cuts its log at step 8."""
    trace = trace_of("01-truncate_to_high_watermark")
    reason = told_of(trace)
    told = {link.step: grouped(link.left) for link in reason.end}
    assert told[5] == "offset 0: exposed 0"
    assert "b1: LEO 0" in told[8]
    assert told[9] == "controller: leader b1, epoch 1"
    assert "b0: up false" in {grouped(link.left) for link in reason.links[8]}
    (failed,) = reason.failed
    assert failed.members == ("b1", "offset 0")
    assert "b1: LEO 0, leader b1, epoch 1" in failed.words


def test_what_is_false_whatever_the_cells_hold_is_told_without_values():
    assert Told(("m0",), (), "1 <= members.y[m0]").words == "It fails for m0."
    at = Told(("m0", "m1", "log[0]"), (Value("m0", "HW", "1"),), "1 <= members.y[m0]")
    assert at.words == "It fails for m0 and m1 at log[0] (m0: HW 1)."


def test_a_run_about_nothing_has_causes_and_no_needless_steps():
    trace = trace_of("kip101-weak_isr")
    run = build_trace(trace.model, trace.steps)
    sliced = slice_of(run)
    assert sliced.needed is None and sliced.needless == () and sliced.end == ()
    assert any(sliced.causes)
    assert told_of(run).lines == ()


def test_a_witness_and_a_deadlock_have_a_slice():
    model = PROTOCOLS["kip320"].model({"replicas": 2, "log_size": 1, "max_records": 1})
    witness = next(p for p in properties_of(model.protocol) if p.sense is Sense.SOMETIMES)
    found = Explorer(model, [witness], None, Options(deadlock=True)).run()
    assert found.deadlock is not None
    stuck = build_trace(model, found.deadlock, verdict="deadlock")
    sliced = slice_of(stuck)
    assert sliced.needed is not None and leave_out(stuck, sliced.needless)
    engine, states = ReferenceEngine(model), [stuck.states[0]]
    while not engine.holds(witness.claim, states[-1]):
        states.append(next(s for _, s in engine.successors(states[-1]) if s not in states))
    pairs = itertools.pairwise(states)
    steps = [next(step for step, s in engine.successors(a) if s == b) for a, b in pairs]
    reached = build_trace(model, steps, witness.name)
    assert leave_out(reached, slice_of(reached).needless)


def test_a_graph_that_does_something_else_is_noticed(monkeypatch):
    trace = trace_of("kip101-strong_isr")
    wrong = trace.model.grounded(trace.steps, [(trace.claim.claim, 1)])
    wrong[0][-1].assignments.clear()
    monkeypatch.setattr(type(trace.model), "grounded", lambda *_: wrong)
    with pytest.raises(DisagreementError, match="step 10, become_follower"):
        slice_of(trace)


# Failures.


def test_of_a_false_guard_the_conjuncts_that_are_false_are_told():
    model = trace_of("kip101-strong_isr").model
    engine, grounder = ReferenceEngine(model), Grounder(StateSpace(model.schema, model.bounds))
    state, told = engine.initial(), 0
    for instance in model.instances:
        failures = false_guards(model, instance, state)
        assert bool(failures) is (engine.step(state, instance) is None)
        for failure in failures:
            ground = grounder.expression(failure.conjunct, failure.members)
            assert not Reasons([state], lambda *_: 0).value(ground)
            told += 1
    assert told > 10


def test_what_falsifies_a_property_is_told_for_every_member_that_does():
    trace = trace_of("08-a_missed_epoch_of_the_same_leader")
    failures = failures_of(trace)
    members = [sorted(failure.members.values()) for failure in failures]
    assert len(members) == 2  # b0 against b1, and b1 against b0
    assert merged(*(failure.reads for failure in failures))
    assert failures_of(build_trace(trace.model, trace.steps)) == ()


class Vote(IntEnum):
    NONE, YES = range(2)


class Box(State):
    vote: Vote = Vote.NONE
    after: Annotated[int, integers(-1, 1, none=-1)] = -1


@always("not_yet", "nobody votes")
def not_yet(box: Box) -> bool:
    return all_of(box.vote == Vote.NONE, box.after != 0)


def test_what_is_false_says_the_names_of_values_and_not_their_numbers():
    def set_vote(box: Box) -> None:
        require(box.vote == Vote.NONE)
        box.vote = Vote.YES
        box.after = 0

    step = Action("set_vote", set_vote, "it votes")
    model = Protocol("box", "a box", Box, (step,), (), properties=(not_yet,)).model()
    trace = build_trace(model, model.instances, not_yet)
    reason = why(trace)
    assert reason is not None
    told = [each.expression for each in reason.failed]
    assert told == ["vote = none", "after != 0"]
    (guard,) = false_guards(model, model.instances[0], trace.states[1])
    assert CellWords(model).told(guard, (trace.states[1],)).expression == "vote = none"
