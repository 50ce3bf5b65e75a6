"""Searches, proofs and simulations compare the captured graph with the functions themselves first.

Where both say the same, nothing is refused; where they differ, there is an error and no answer.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from typing import Any

import pytest

from checker.core.engines import agreement
from checker.core.engines.agreement import require_agreement
from checker.core.engines.reference import ReferenceEngine
from checker.core.engines.sample import MISFIT, NOT_ENABLED, REACHED, Sample
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.proofs.bounded.bounded_check import BoundedChecker
from checker.core.proofs.bounded.induction import Induction
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from checker.core.search import explore
from checker.core.search.explore import Explorer, Options
from checker.core.search.simulate import Budget, Simulator
from checker.core.verdict import Verdict
from model.language import graph
from model.language.errors import DisagreementError, DomainError
from model.protocols import PROTOCOLS
from properties import lemmas_of, properties_of
from tests.support.counter import COUNTER, below
from tests.support.tiers import slow_but
from tests.support.variants import MOST, small

RARE = {"controller_unfence_and_elect", "producer_receive_out_of_order"}  # one walk in hundreds
RARE |= {"leader_add_voter", "leader_resign_as_removed", "node_time_out_at_once"}
RARE |= {"coordinator_answer_from_cache", "leader_delete_unreferenced"}
RARE |= {"coordinator_publish_abandoned_load"}


def claims_of(protocol):
    return [*properties_of(protocol), *lemmas_of(protocol)]


# --- what is compared ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", slow_but(MOST, PROTOCOLS))
def test_the_engines_agree_on_every_protocol(name):
    model = small(name)
    found = require_agreement(model, claims_of(model.protocol))
    assert found.states > REACHED
    assert found.tried > 2_000
    assert found.taken > 200
    premises = sum(1 for prop in claims_of(model.protocol) if prop.premise)
    assert found.claims == len(claims_of(model.protocol)) + premises

    sample = agreement._known[model].sample
    assert len(set(sample.states)) == len(sample.states)
    tried: Counter[str] = Counter()
    enabled: Counter[str] = Counter()
    for (_, number), outcome in sample.outcomes.items():
        tried[model.instances[number].action.name] += 1
        enabled[model.instances[number].action.name] += outcome is not NOT_ENABLED
    for name in model.possible_actions:
        assert tried[name] - enabled[name] >= 10
        assert enabled[name] > 0 or name in RARE


def test_a_model_has_one_sample():
    one, again = (Sample(small("kip320")) for _ in range(2))
    assert (one.states, one.outcomes) == (again.states, again.outcomes)


def test_the_sample_is_what_the_functions_do():
    model = small("kip320")
    engine, sample = ReferenceEngine(model), Sample(model)
    for (row, number), outcome in sample.outcomes.items():
        try:
            after = engine.step(sample.states[row], model.instances[number])
        except DomainError:
            assert outcome == MISFIT
        else:
            assert outcome == (NOT_ENABLED if after is None else after)
    steps = {after for taken in sample.taken[:REACHED] for after in taken.values()}
    assert set(sample.states[1:REACHED]) <= steps


def test_a_small_model_is_compared_on_all_of_its_states():
    model = COUNTER.model({"limit": 5})
    sample = Sample(model)
    assert set(sample.states) == {(count,) for count in range(6)}
    assert len(sample.outcomes) == 6 * 2


def test_nothing_is_compared_twice(monkeypatch):
    model = small("async_isr")
    first = require_agreement(model, properties_of(model.protocol))
    monkeypatch.setattr(ReferenceEngine, "step", None)
    monkeypatch.setattr(ReferenceEngine, "holds", None)
    engine = VectorisedEngine(model)
    assert require_agreement(model, properties_of(model.protocol), engine) == first


def test_an_engine_that_is_meant_to_differ_is_not_compared():
    model = COUNTER.model()
    actions = [dataclasses.replace(a, guard=graph.FALSE) for a in model.ground_actions]
    engine = VectorisedEngine(model, actions)
    assert Explorer(model, [], engine=engine).run().agreement is None
    assert Simulator(model, [], 0, Budget(1), engine=engine).run().agreement is None


def test_a_step_that_the_sample_misses_is_compared_when_the_search_takes_it(monkeypatch):
    """Nothing of the sample is left, and one cell of one instance is wrong in machine code."""
    monkeypatch.setattr(explore, "require_agreement", lambda *_: None)
    model = dataclasses.replace(small("kafka"))
    rare = next(a for a in model.ground_actions if a.instance.action.name == "broker_restart")
    position, node = next(iter(rare.assignments.items()))
    wrong = graph.negation(node) if node.sort is graph.BOOL else graph.constant(0)
    changed = dataclasses.replace(rare, assignments={**rare.assignments, position: wrong})
    actions = tuple(changed if a is rare else a for a in model.ground_actions)
    assert Explorer(model, []).run().verdict is Verdict.EXHAUSTED
    vars(model)["ground_actions"] = actions
    with pytest.raises(DisagreementError, match="action broker_restart"):
        Explorer(model, []).run()
    unchecked = Explorer(model, [], options=Options(cross_check=False)).run()
    assert unchecked.agreement is None


# --- any part of the graph ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["weak_isr", "strong_isr"])
def test_a_claim_that_is_captured_too_weak_is_refused(name):
    """It is true in every state of a run, as the claim itself is."""
    model = PROTOCOLS["kip320"].model()
    properties = properties_of(model.protocol)
    (prop,) = (prop for prop in properties if prop.name == name)
    claim = model.claim(prop.claim)
    assert claim.op is graph.Op.FORALL
    model._claims[prop.claim, 1] = graph.quantified(graph.Op.EXISTS, *claim.args)
    with pytest.raises(DisagreementError, match=f"property {name}"):
        require_agreement(model, properties)


def changed(model, name, **changes):
    """A model like this one with a captured action changed before any engine has seen it."""
    wrong = [
        dataclasses.replace(c, **{k: f(getattr(c, k)) for k, f in changes.items()})
        if c.name == name
        else c
        for c in model.captured
    ]
    model = dataclasses.replace(model)
    vars(model)["captured"] = tuple(wrong)
    return model


def _without(number):
    return lambda parts: parts[:number] + parts[number + 1 :]


def _negated(guards):
    return (graph.negation(guards[0]), *guards[1:])


def parts_of(name):
    """Changes of captured actions, each of which some sampled step is to show."""
    model = small(name)
    for captured in model.captured:
        if captured.name in model.possible_actions - RARE:
            yield captured.name, "guards", lambda _: (graph.FALSE,)
            yield captured.name, "guards", _negated
            if name != "kafka":  # where many a write changes nothing, at the default bounds
                for number in range(len(captured.writes)):
                    yield captured.name, "writes", _without(number)


@pytest.mark.parametrize("name", slow_but(["kip320"], ["kip320", "async_isr", "kafka"]))
def test_a_change_of_any_part_of_an_action_is_refused(name, monkeypatch):
    parts, known = list(parts_of(name)), small(name)
    sample = Sample(known)
    monkeypatch.setattr(
        agreement, "Sample", lambda m: sample if m.unchanging == known.unchanging else Sample(m)
    )
    for captured, part, change in random.Random(0).sample(parts, 4):
        model = changed(small(name), captured, **{part: change})
        if _forms(model) != _forms(known):
            with pytest.raises(DisagreementError, match=rf"^action {captured} \("):
                require_agreement(model)


def test_a_function_that_changes_what_the_graph_holds_constant_is_refused():
    model = changed(small("kip320"), "leader_write", guards=lambda _: (graph.FALSE,))
    assert "next_record_id" in model.unchanging
    with pytest.raises(DisagreementError, match=r"^action leader_write \(.*is not enabled"):
        require_agreement(model)


def _forms(model):
    return [(a.guard, a.assignments, a.misfit) for a in model.ground_actions]


# --- how it is told -----------------------------------------------------------------------------


def test_the_results_say_how_much_was_compared():
    model = COUNTER.model({"limit": 5})
    chosen = [below(9)]
    results: list[Any] = [
        Explorer(model, chosen).run(),
        Simulator(model, chosen, 0, Budget(10)).run(),
        Induction(model, chosen).run(),
        BoundedChecker(model, chosen).run(1),
        UnboundedInduction(model, chosen, []).run(),
    ]
    for result in results:
        assert dataclasses.astuple(result.agreement) == (6, 12, 9, 1)
