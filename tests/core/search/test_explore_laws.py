"""What the search promises: the textbook's states, steps and traces, whatever its options.

Traces are compared with the least of all shortest paths, computed from the whole graph.
"""

from __future__ import annotations

import functools
import itertools
import weakref

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.search import explore as explore_module
from checker.core.search import shelf as shelf_module
from checker.core.search import visited_set as visited_set_module
from checker.core.search.explore import Explorer, Options
from checker.core.search.textbook import TextbookExplorer
from checker.core.search.visited_set import PARTS
from checker.core.verdict import Verdict
from model.protocols import PROTOCOLS
from properties import Property, Sense, properties_of
from tests.support.counter import COUNTER, below
from tests.support.halting import HALTING, QUESTIONS
from tests.support.laws import (
    check_counts,
    check_violations,
    check_witnesses,
    denials,
    explore,
    limits_of,
    numbers,
)
from tests.support.textbook import search
from tests.support.tiers import nightly, slow_but
from tests.support.variants import MOST, small, tiny

AT_MOST = 400
SOME = ["truncate_to_high_watermark"]
all_but_the_producers = pytest.mark.parametrize(
    "name",
    slow_but(
        [name for name in MOST if name != "kafka_producer"],
        PROTOCOLS,
    ),
)
some_protocols = pytest.mark.parametrize("name", slow_but(SOME, MOST))


@functools.cache
def _tiny(name):
    """A protocol at its least useful size, and what the textbook finds of it."""
    model = tiny(name)
    return model, search(model, at_most=AT_MOST)


def _questions(model):
    """All properties, and for each witness that it never happens: so that much is violated."""
    properties = properties_of(model.protocol)
    return [*properties, *denials(properties)]


def _summary(found):
    return {
        "verdict": found.verdict,
        "levels": found.levels,
        "transitions": found.transitions,
        "frontier": found.frontier,
        "actions": found.actions,
        "violations": [(v.property.name, v.depth, numbers(v.steps)) for v in found.violations],
        "reached": found.reached,
        "premises": found.premises,
        "deadlock": found.deadlock and numbers(found.deadlock),
    }


def _last_level(graph, properties, keep_going, deadlock):
    """The level after which nothing that was asked for is open, worked out from all states."""
    engine = ReferenceEngine(HALTING.model())
    settled: dict[str, int] = {}
    violations: list[int] = []
    for depth, level in enumerate(graph.levels):
        entering = [
            (before, after)
            for state in (graph.levels[depth - 1] if depth else [])
            for before, after in ((state, after) for _, after in graph.steps[state])
        ]
        for prop in properties:
            places = entering if prop.of_steps else [(state,) for state in level]
            wanted = prop.sense is Sense.SOMETIMES
            if any(engine.holds(prop.claim, *place) is wanted for place in places):
                settled.setdefault(prop.name, depth)
                violations += [] if wanted else [settled[prop.name]]
    dead = [depth + 1 for depth, level in enumerate(graph.levels)
            if any(not graph.steps[state] for state in level)]  # fmt: skip
    ends = [min(dead)] if deadlock else []
    if not keep_going:
        return min([*violations, *ends, len(graph.levels)])
    if len(settled) < len(properties) or not violations:
        return len(graph.levels)
    return max([*settled.values(), *ends])


@pytest.mark.parametrize("engine", [Explorer, TextbookExplorer])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_search_ends_with_the_level_that_answers_its_question(engine, name):
    model = HALTING.model()
    graph = search(model)
    for keep_going, deadlock in itertools.product((False, True), repeat=2):
        options = Options(keep_going=keep_going, deadlock=deadlock)
        last = _last_level(graph, QUESTIONS[name], keep_going, deadlock)
        found = engine(model, QUESTIONS[name], None, options).run()
        assert found.levels == graph.sizes[: last + 1]
        assert (found.coverage is Verdict.EXHAUSTED) == (last == len(graph.levels))
        assert deadlock or found.deadlock is None
        if keep_going and deadlock:
            assert found.deadlock is not None
        same = TextbookExplorer(model, QUESTIONS[name], None, options).run()
        assert _summary(found) == _summary(same)


@all_but_the_producers
def test_the_search_finds_what_the_textbook_finds(name):
    _check_against_the_textbook(*_tiny(name))


LARGER = ("kafka", "kafka_producer", "kraft")
BESIDE = "the textbook takes ten seconds for what the tiny model shows of it"


@pytest.mark.parametrize(
    "name",
    slow_but(SOME, [name for name in MOST if name not in LARGER])
    + [nightly(BESIDE, name) for name in LARGER],
)
def test_it_does_so_of_larger_models(name):
    model = small(name)
    _check_against_the_textbook(model, search(model, at_most=AT_MOST))


def _check_against_the_textbook(model, graph):
    limits = limits_of(graph)
    found = explore(model, _questions(model), limits, keep_going=True)
    check_counts(explore(model, [], limits), graph)
    check_violations(found, graph)
    check_witnesses(found, graph)
    assert found.coverage is (Verdict.BOUNDED if limits.depth else Verdict.EXHAUSTED)
    assert len(found.violations) + len(found.reached) > 0


@some_protocols
def test_neither_chunks_nor_workers_nor_exactness_change_anything(name, monkeypatch):
    monkeypatch.setattr(explore_module, "MIN_THREADED", 1)
    model, graph = _tiny(name)
    limits = limits_of(graph)
    expected = None
    never = None
    for chunk, workers, exact, compile_after in [
        (1, 1, False, never), (1, 3, True, never), (7, 1, True, 0.01), (7, 2, False, 0),
        (7, 3, False, never), (1000, 1, False, 0), (1000, 2, True, never),
        (32_768, 1, True, never), (32_768, 3, False, 0),
    ]:  # fmt: skip
        options = {
            "chunk": chunk,
            "workers": workers,
            "exact": exact,
            "compile_after": compile_after,
            "keep_going": True,
        }
        found = _summary(explore(model, _questions(model), limits, deadlock=True, **options))
        expected = expected or found
        assert found == expected, options
    assert expected is not None and expected["violations"]
    monkeypatch.setattr(visited_set_module, "_MOST_ROWS", 1)  # as with very many states
    monkeypatch.setattr(shelf_module, "_IN_MEMORY", 0)
    found = explore(model, _questions(model), limits, deadlock=True, keep_going=True)
    assert _summary(found) == expected


@pytest.mark.parametrize("name", ["kip279", "async_isr"])
@pytest.mark.parametrize("chunk, workers", [(1000, 3)])
def test_a_search_large_enough_for_threads_is_the_same_with_them(name, chunk, workers):
    model = PROTOCOLS[name].model(
        {"max_version": 3}
        if name == "async_isr"
        else {"log_size": 2, "max_records": 2, "max_leader_epoch": 1}
    )
    questions = _questions(model)
    expected = _summary(explore(model, questions, keep_going=True))
    found = _summary(
        explore(model, questions, keep_going=True, chunk=chunk, workers=workers, exact=True)
    )
    assert found == expected
    assert max(expected["levels"]) > (0 if name == "async_isr" else explore_module.MIN_THREADED)


def test_nothing_of_a_batch_is_held_while_the_next_one_is_waited_for(monkeypatch):
    batches: list[weakref.ref[object]] = []
    one = explore_module.Explorer._next

    def next_one(explorer, first):
        assert not batches or batches[-1]() is None
        expansion = one(explorer, first)
        batches.append(weakref.ref(expansion.batch.fingerprints))
        return expansion

    monkeypatch.setattr(explore_module.Explorer, "_next", next_one)
    model = PROTOCOLS["kip279"].model({"log_size": 2, "max_records": 2, "max_leader_epoch": 0})
    explore(model, (), chunk=50)
    assert len(batches) > 10


def test_every_part_of_the_visited_set_is_one_lanes_alone():
    for workers in range(1, 65):
        lanes = explore_module._shared_out(workers)
        assert [part for parts in lanes for part in parts] == list(range(PARTS))
        assert all(lanes)


@some_protocols
def test_without_keep_going_the_search_ends_with_the_level_of_the_first_violation(name):
    model, graph = _tiny(name)
    for prop in denials(properties_of(model.protocol)):
        found = explore(model, [prop])
        if found.violations:
            (violation,) = found.violations
            assert found.levels == graph.sizes[: violation.depth + 1], "a level is left unfinished"
            assert found.depth == violation.depth


@some_protocols
def test_the_textbook_engine_of_the_command_line_gives_the_same_answers(name):
    model, graph = _tiny(name)
    limits = limits_of(graph)
    for keep_going in (False, True):
        questions = _questions(model)
        fast = _summary(explore(model, questions, limits, keep_going=keep_going))
        options = explore_module.Options(keep_going=keep_going)
        slow = _summary(TextbookExplorer(model, questions, limits, options).run())
        assert fast == slow


# --- a model that can be counted by hand --------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 2, 100])
def test_counts_of_a_counter_are_those_worked_out_by_hand(chunk):
    found = explore(COUNTER.model({"limit": 5}), chunk=chunk)
    assert found.levels == [1, 2, 2, 1]  # 0; 2, 1; 4, 3; 5
    assert found.transitions == 2 + 2 + 2 + 2 + 1  # 4 and 5 cannot add two, 5 cannot add one
    assert {name: count.enabled for name, count in found.actions.items()} == {
        "add_two": 4,
        "add": 5,
    }
    assert found.verdict is Verdict.EXHAUSTED
    assert found.never_enabled == []


def test_a_trace_is_the_shortest_and_then_the_least_by_action():
    found = explore(COUNTER.model({"limit": 9}), [below(5)])
    (violation,) = found.violations
    # 5 is 2+2+1 in any order, and 6 is 2+2+2: three steps each, and add_two comes before add.
    assert [step.action.name for step in violation.steps] == ["add_two", "add_two", "add_two"]


def test_violations_are_told_in_the_order_of_the_properties():
    properties = [below(7), below(3), below(5)]
    found = explore(COUNTER.model({"limit": 9}), properties, keep_going=True)
    assert [violation.property for violation in found.violations] == properties
    assert [violation.depth for violation in found.violations] == [4, 2, 3]


def test_a_property_false_at_the_start_has_a_trace_of_no_steps():
    never = Property("never", "", lambda counter: counter.count > 0)
    found = explore(COUNTER.model(), [never])
    assert found.levels == [1]
    assert found.violations[0].steps == ()
    assert found.verdict is Verdict.VIOLATED


def test_a_property_of_steps_may_be_false_of_a_step_between_known_states():
    """The step 3 -> 5 leads to a state that 4 -> 5 also reaches; only the former is wrong."""
    small_steps = Property(
        "small_steps",
        "",
        lambda before, after: (before.count != 3) | (after.count != 5),
        of_steps=True,
    )
    found = explore(COUNTER.model({"limit": 5}), [small_steps])
    (violation,) = found.violations
    assert [step.action.name for step in violation.steps] == ["add_two", "add", "add_two"]


def test_an_action_that_nothing_enables_is_reported():
    model = PROTOCOLS["kip320_first_try"].model(
        {"log_size": 1, "max_records": 1, "max_leader_epoch": 0}
    )
    assert explore(model).never_enabled == ["follower_truncate"]


def test_an_action_that_bounds_rule_out_is_told_apart():
    found = explore(COUNTER.model({"limit": 1}))
    assert (found.switched_off, found.never_enabled) == (["add_two"], [])


def test_a_premise_that_nothing_makes_true_is_reported_as_vacuous():
    far = Property("far", "", lambda c: c.count >= 0, premise=lambda c: c.count > 4)
    assert explore(COUNTER.model({"limit": 4}), [far]).is_vacuous(far)
    assert not explore(COUNTER.model({"limit": 5}), [far]).is_vacuous(far)
    assert not explore(COUNTER.model({"limit": 5}), [below(9)]).is_vacuous(below(9))
