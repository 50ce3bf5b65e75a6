"""What the laws are worth: each notices when the step that it watches over is broken.

Every test breaks one step on purpose and sees a law fail that holds otherwise.
"""

from __future__ import annotations

import dataclasses
import functools
from itertools import pairwise

import numpy as np
import pytest

from checker.core.engines import vectorised
from checker.core.engines.compiled import CompiledExpansion
from checker.core.engines.layout import BitField, Layout
from checker.core.search import watch as watch_module
from checker.core.search.explore import Limits
from checker.core.search.fingerprints import fingerprints
from checker.core.search.question import Question
from checker.core.search.visited_set import VisitedSet
from model.language import Model, graph
from model.language.errors import DisagreementError
from properties import Property, properties_of
from tests.support.laws import (
    check_claims_agree,
    check_compiled_agrees,
    check_counts,
    check_engines_agree,
    check_layout,
    check_round_trip,
    check_violations,
    check_witnesses,
    denials,
    explore,
    limits_of,
)
from tests.support.textbook import search
from tests.support.tiers import first_and_slow
from tests.support.variants import random_states, small, tiny, walked_states
from tests.support.wide import WIDE

SMALL = small("kip320")
TINY = tiny("kip320")
MODELS = {
    "tiny": TINY,
    "small": SMALL,
    "two words": SMALL.protocol.model({"log_size": 3, "max_records": 3}),
}
QUESTIONS = [*properties_of(SMALL.protocol), *denials(properties_of(SMALL.protocol))]


@functools.cache
def states():
    """Some that are reached, and others."""
    return walked_states(SMALL, 120, seed=1) + random_states(SMALL, 120, seed=2)


@functools.cache
def graph_of(size: str):
    return search(MODELS[size], at_most=400)


def check_search(size="tiny", **options):
    """All laws of search at once."""
    model, known = MODELS[size], graph_of(size)
    limits = limits_of(known)
    check_counts(explore(model, [], limits, **options), known)
    found = explore(model, QUESTIONS, limits, keep_going=True, **options)
    check_violations(found, known)
    check_witnesses(found, known)


def test_unbroken_nothing_is_noticed():
    check_search("tiny")
    check_search("small")
    check_engines_agree(SMALL, states())
    check_compiled_agrees(SMALL, states())
    check_layout(Layout(SMALL))
    check_round_trip(Layout(SMALL), states())


# --- packing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [5])
def test_a_shift_that_is_off_by_one_is_noticed(number, monkeypatch):
    build = Layout.__init__

    def broken(self, model):
        build(self, model)
        field = self.fields[number]
        self.fields[number] = BitField(field.word, field.shift - 1, field.bits, field.low)

    monkeypatch.setattr(Layout, "__init__", broken)
    with pytest.raises(AssertionError, match="overlaps"):
        check_layout(Layout(SMALL))
    with pytest.raises(AssertionError):
        check_round_trip(Layout(SMALL), states())
    with pytest.raises(AssertionError):
        check_engines_agree(SMALL, states())


def test_a_field_read_with_the_wrong_least_value_is_noticed(monkeypatch):
    column, unpack = Layout.column, Layout.unpack
    with monkeypatch.context() as broken:
        broken.setattr(Layout, "column", lambda self, packed, p: column(self, packed, p) + (p == 3))
        with pytest.raises(AssertionError, match="column"):
            check_round_trip(Layout(SMALL), states())
    monkeypatch.setattr(
        Layout, "unpack",
        lambda self, packed: [(*s[:3], s[3] + 1, *s[4:]) for s in unpack(self, packed)],
    )  # fmt: skip
    with pytest.raises(AssertionError, match="undo"):
        check_round_trip(Layout(SMALL), states())


# --- the visited set ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("word", [0, 1])
def test_a_fingerprint_that_ignores_a_word_is_noticed(word, monkeypatch):
    whole = fingerprints

    def broken(words):
        words = words.copy()
        words[word] = 0
        return whole(words)

    monkeypatch.setattr("checker.core.search.visited_set.fingerprints", broken)
    with pytest.raises(AssertionError):
        check_search("two words")
    check_search("two words", exact=True)  # exact sets compare whole states


def _inserting(monkeypatch, change):
    add = VisitedSet.add

    def changed(self, batch, _=None):
        batch.new[:] = change(functools.partial(add, self), batch)
        return batch.new

    monkeypatch.setattr(VisitedSet, "add", changed)


def test_duplicates_that_are_kept_are_noticed(monkeypatch):
    def keep_all(add, batch):
        return np.ones_like(add(batch))

    _inserting(monkeypatch, keep_all)
    with pytest.raises(AssertionError):
        check_search("small")  # to a depth: the search would never end


def test_a_fresh_state_that_is_dropped_is_noticed(monkeypatch):
    def drop_one(add, batch):
        new = add(batch)
        if new.sum() > 9:
            new[np.flatnonzero(new)[-1]] = False
        return new

    _inserting(monkeypatch, drop_one)
    with pytest.raises(AssertionError):
        check_search()


def test_taking_the_last_parent_instead_of_the_first_is_noticed(monkeypatch):
    def backwards(add, batch):
        new = np.empty_like(batch.new)
        new[batch.rows] = add(VisitedSet._sorted_out(batch.fingerprints[::-1].copy()))[::-1]
        return new

    _inserting(monkeypatch, backwards)
    with pytest.raises(AssertionError, match="not least"):
        check_search()


# --- one step -----------------------------------------------------------------------------------


def test_steps_left_unsorted_are_noticed(monkeypatch):
    monkeypatch.setattr(vectorised, "_by_row", lambda rows, count: np.arange(len(rows)))
    with pytest.raises(AssertionError, match="order of steps"):
        check_engines_agree(SMALL, states())
    with pytest.raises(AssertionError):
        check_search(compile_after=None)


def _ground_actions(model):
    return list(model.ground_actions_with({}))


def _change_action(monkeypatch, number, **changes):

    def broken(model):
        actions = _ground_actions(model)
        values = {name: change(actions[number]) for name, change in changes.items()}
        actions[number] = dataclasses.replace(actions[number], **values)
        return actions

    monkeypatch.setattr(Model, "ground_actions", property(broken))


def _first_parts(node):
    """The guard without its last condition."""
    return graph.conjunction(*node.args[:-1]) if node.op is graph.Op.AND else graph.TRUE


@pytest.mark.parametrize("number", range(0, 50, 24))
def test_a_guard_that_is_dropped_is_noticed(number, monkeypatch):
    _change_action(monkeypatch, number, guard=lambda action: graph.TRUE)
    with pytest.raises(AssertionError, match="guards differ"):
        check_engines_agree(SMALL, states())


@pytest.mark.parametrize("number", first_and_slow(30, 3))
def test_one_condition_dropped_from_a_guard_is_noticed(number, monkeypatch):
    _change_action(monkeypatch, number, guard=lambda action: _first_parts(action.guard))
    with pytest.raises(AssertionError, match="guards differ"):
        check_engines_agree(SMALL, random_states(SMALL, 1000, seed=3))


@pytest.mark.parametrize("number", first_and_slow(30, 3))
def test_an_effect_that_is_dropped_is_noticed(number, monkeypatch):
    _change_action(
        monkeypatch, number, assignments=lambda action: dict(list(action.assignments.items())[1:])
    )
    with pytest.raises(AssertionError, match="effects differ"):
        check_engines_agree(SMALL, random_states(SMALL, 1000, seed=3))


def test_an_action_that_is_left_out_is_noticed(monkeypatch):
    fewer = property(lambda model: _ground_actions(model)[1:])
    monkeypatch.setattr(Model, "ground_actions", fewer)
    with pytest.raises(AssertionError, match="guards differ"):
        check_engines_agree(SMALL, states())
    with pytest.raises(AssertionError):
        check_search()


def test_a_misfit_check_that_is_skipped_is_noticed(monkeypatch):
    model = WIDE.model({"width": 1})
    states = random_states(model, 100, seed=1)
    check_engines_agree(model, states)
    _change_action(monkeypatch, 0, misfit=lambda action: graph.FALSE)
    with pytest.raises(AssertionError, match="not refused"):
        check_engines_agree(model, states)


def test_machine_code_that_differs_is_noticed(monkeypatch):
    expand = CompiledExpansion.expand
    monkeypatch.setattr(
        CompiledExpansion,
        "expand",
        lambda self, words: (s := expand(self, words)).first(s.count - 1),
    )
    with pytest.raises(AssertionError, match="rows differ"):
        check_compiled_agrees(SMALL, states())
    with pytest.raises(DisagreementError, match="by machine code, it is not enabled"):
        check_search(compile_after=0)


# --- properties ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prop",
    QUESTIONS[::4],
    ids=lambda prop: prop.name.replace(" ", "_"),
)
def test_a_property_that_is_always_true_is_noticed(prop, monkeypatch):
    ground = Model.ground_claim

    def claim(model, function, frames=1):
        return graph.TRUE if function is prop.claim else ground(model, function, frames)

    monkeypatch.setattr(Model, "ground_claim", claim)
    states = random_states(SMALL, 1000, seed=4)
    with pytest.raises(AssertionError, match=f"{prop.name} differs"):
        check_claims_agree(SMALL, [prop], states, list(pairwise(states)))


def test_a_premise_that_is_never_noted_is_noticed(monkeypatch):
    def never(engine, properties):
        count = len(list(properties))
        return lambda words: [np.zeros(words.shape[1], np.bool_)] * count

    monkeypatch.setattr(watch_module, "premise_claims", never)
    with pytest.raises(AssertionError, match="vacuous or not"):
        check_search()


def test_a_violation_that_is_overlooked_is_noticed(monkeypatch):
    first = watch_module._first
    monkeypatch.setattr(
        watch_module,
        "_first",
        lambda holds, prop: None if prop is QUESTIONS[-1] else first(holds, prop),
    )
    with pytest.raises(AssertionError, match="verdicts differ"):
        check_search()


def test_a_violation_found_later_than_the_first_is_noticed(monkeypatch):
    def last(holds, prop):
        settles = np.flatnonzero(holds if prop.sense == "sometimes" else ~holds)
        return int(settles[-1]) if len(settles) else None

    monkeypatch.setattr(watch_module, "_first", last)
    with pytest.raises(AssertionError, match="not least"):
        check_search()


def test_a_premise_that_no_state_makes_true_is_not_noted():
    never = Property("p", "", lambda _: True, premise=lambda cluster: cluster.next_record_id > 9)
    assert explore(TINY, [never]).is_vacuous(never)


def test_a_depth_limit_that_is_off_by_one_is_noticed(monkeypatch):
    answered = Question.is_answered

    def broken(self, known):
        shallow = Limits(depth=self.limits.depth - 1)
        return answered(dataclasses.replace(self, limits=shallow), known)

    monkeypatch.setattr(Question, "is_answered", broken)
    with pytest.raises(AssertionError, match="levels differ"):
        check_search("small")
