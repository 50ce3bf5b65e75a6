"""A certificate is accepted only if nothing is missing and nothing is false, whatever it is of."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest

from checker.core.certificate import Certificate
from checker.core.engines.reference import ReferenceEngine
from checker.core.search.explore import Explorer
from checker.core.search.question import Options
from checker.core.stores.certify import certificate_of
from checker.core.stores.query import model_of
from checker.core.stores.store import Store
from checker.core.verdict import Verdict
from model.language.errors import UsageError
from model.protocols import PROTOCOLS
from properties import Property, promised_properties
from tests.support import textbook
from tests.support.counter import COUNTER, below
from tests.support.stores import TINY, copied, model_named, stored

PAIR = TINY | {"replicas": 2}
WHOLE = {
    "kip320": PAIR,
    "kip101": PAIR,
    "async_isr": {"replicas": 2, "max_offset": 1, "max_version": 2},
}
"""Protocols, and bounds at which they have few states."""


@cache
def reached(name):
    """A model, and every state of it as a textbook's search finds them."""
    model = PROTOCOLS[name].model(WHOLE[name])
    return model, textbook.search(model)


def checked(name, states=None, **how):
    model, graph = reached(name)
    claims = promised_properties(model)
    return Certificate(model, claims, graph.states if states is None else states, **how).check()


@pytest.mark.parametrize("name", WHOLE)
def test_all_reachable_states_are_a_certificate_if_nothing_is_violated(name):
    model, graph = reached(name)
    found = checked(name)
    assert (found.states, found.steps, found.wrong) == (len(graph.states), graph.transitions, "")
    assert Explorer(model, promised_properties(model)).run().verdict is Verdict.EXHAUSTED


def test_whichever_state_is_missing_it_is_noticed():
    _, graph = reached("kip101")
    for place in range(0, len(graph.states), 7):
        found = checked("kip101", graph.states[:place] + graph.states[place + 1 :])
        assert "missing" in found.wrong, place


def test_whichever_number_of_a_state_is_changed_it_is_noticed():
    model, graph = reached("kip320")
    draw = random.Random(1)
    for _ in range(40):
        states = list(graph.states)
        place, cell = draw.randrange(len(states)), draw.choice(model.declared)
        changed = list(states[place])
        changed[cell.position] += 1 if changed[cell.position] < cell.high else -1
        states[place] = tuple(changed)
        if len(set(states)) == len(graph.states) and cell.low < cell.high:
            assert checked("kip320", states).wrong, (place, cell.name)


def test_a_search_that_leaves_an_action_out_gives_no_certificate():
    """Whichever it is: all states that are reached without it are too few."""
    model, graph = reached("kip320")
    taken = {instance.action.name for _, instance, _ in graph.all_steps}
    for left_out in taken:
        engine, found = ReferenceEngine(model), [graph.states[0]]
        for state in found:
            found += [
                after
                for instance, after in engine.successors(state)
                if instance.action.name != left_out and after not in found
            ]
        if len(set(found)) < len(graph.states):
            assert checked("kip320", found).wrong, left_out


def test_a_claim_that_is_false_of_a_state_or_a_step_is_noticed():
    model = COUNTER.model()
    states = [(count,) for count in range(6)]
    rises = Property("rises", "it rises by one", lambda s, t: t.count == s.count + 1, of_steps=True)
    assert not Certificate(model, [below(6)], states).check().wrong
    assert Certificate(model, [below(5)], states).check().wrong == "below_5 is false in a state"
    told = Certificate(model, [rises], states).check().wrong
    assert told == "rises is false of a step: two more"


def test_a_state_without_a_step_is_noticed_where_that_is_asked():
    model, states = COUNTER.model(), [(count,) for count in range(6)]
    assert Certificate(model, [], states, no_deadlock=True).check().wrong == "a state has no step"


def test_a_step_that_does_not_fit_is_told():
    def wild(counter):
        counter.count = counter.count + 1

    wrong = replace(COUNTER.actions[1], function=wild)
    model = replace(COUNTER, name="wild", actions=(wrong,)).model()
    found = Certificate(model, [], [(count,) for count in range(6)]).check()
    assert found.wrong.startswith("a step does not fit the bounds: ")


def test_one_state_of_each_class_is_a_certificate_with_its_renamings():
    """Whichever of a class it is; and none of a class can be spared."""
    model, graph = reached("kip101")
    left, chosen = set(graph.states), []
    for state in graph.states:
        if state in left:
            chosen.append(state)
            left -= Certificate(model, [], [state], "replicas").states()
    assert len(chosen) < len(graph.states)
    found = checked("kip101", chosen, renamed="replicas")
    assert (found.states, found.wrong) == (len(graph.states), "")
    for place in range(0, len(chosen), 7):
        assert checked("kip101", chosen[:place] + chosen[place + 1 :], renamed="replicas").wrong


# --- of stores -------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [Options(), Options(symmetry=True)], ids=["plain", "symmetry"])
def test_a_store_of_a_search_that_ended_is_a_certificate(tmp_path, options):
    model = model_named("kip320", PAIR)
    stored(tmp_path, model, options)
    store = Store.open(str(tmp_path))
    found = certificate_of(store, model_of(store)).check(workers=2)
    assert (found.states, found.wrong) == (len(textbook.search(model).states), "")
    assert found.states > store.states or not options.symmetry


def test_a_store_of_a_search_that_was_cut_is_none(tmp_path):
    copied(tmp_path, model_named("kip279", TINY | {"max_leader_epoch": 2, "log_size": 2}))
    store = Store.open(str(tmp_path))
    with pytest.raises(UsageError, match=r"of a search that visited \d+ levels and did not end"):
        certificate_of(store, model_of(store))
