"""Reduced search finds what full search finds, of every protocol that the language can express."""

from __future__ import annotations

import os
import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest

from checker.core.engines.layout import Words
from checker.core.engines.vectorised import Successors, VectorisedEngine
from checker.core.native import object_code
from checker.core.search import independence, stubborn
from checker.core.search.explore import Explorer, Limits, Options
from checker.core.search.goals import goals_of
from checker.core.search.reduced import ReducedExplorer
from checker.core.search.relevance import Relevance
from checker.core.search.stubborn import Reduction
from model.protocols import PROTOCOLS
from properties import properties_of
from tests.laws.reduction_laws import (
    Memory,
    example_of,
    little_example,
    reduced_search_is_full_search,
)
from tests.laws.test_generated_protocols import hold

TELLING = (11, 40, 54)
"""Of the little protocols, those that most wrong reductions fail: they come first."""


@pytest.mark.slow
def test_reduced_search_is_full_search_of_little_protocols():
    for seed in sorted(range(60), key=lambda seed: seed not in TELLING):
        reduced_search_is_full_search(little_example(seed))


@pytest.mark.slow
def test_reduced_search_is_full_search_of_generated_protocols():
    assert hold(reduced_search_is_full_search, 40) > 20


@pytest.mark.nightly("ten thousand protocols take half an hour")
def test_reduced_search_is_full_search_of_ten_thousand_protocols():
    for seed in range(10_000):
        reduced_search_is_full_search(little_example(seed))


@pytest.mark.slow
def test_where_a_goal_cannot_be_any_more_the_search_is_over():
    # The two that would set c1 are locked for ever, so no step towards c2 is of use.
    locked = "all_of(s.c0 == 1)", "s.c1 = 1"
    steps = [
        ("all_of(s.c1 == 1, s.c2 == 1)", "s.c1 = 2"),
        ("all_of(s.c3 == 1)", "s.c2 = 1"),
        ("all_of(s.c3 == 0)", "s.c3 = 1"),
        ("all_of(s.c0 == 0)", "s.c0 = 2"),
        locked,
        locked,
    ]
    asked = {"never": ("s", "s.c1 == 2")}
    example = example_of(steps, asked, [0, 0, 0, 0])
    options = Options(cross_check=False)
    full = Explorer(example.model, example.properties, Limits(), options).run()
    reduced = ReducedExplorer(example.model, example.properties, Limits(), options).run()
    assert (full.depth, reduced.depth) == (3, 0)
    opened = example_of(steps, asked, [1, 0, 0, 0])
    found = ReducedExplorer(opened.model, opened.properties, Limits(), options).run()
    assert [violation.depth for violation in found.violations] == [4]


@pytest.mark.slow
def test_a_cell_of_more_values_than_are_followed_may_take_any():
    steps = [
        ("all_of(s.c0 < 70)", "s.c0 = s.c0 + 1"),
        ("all_of(s.c0 == 70, s.c1 == 0)", "s.c1 = 1"),
        ("all_of(s.c2 == 0)", "s.c2 = 1"),
    ]
    example = example_of(steps, {"never": ("s", "s.c1 == 1")}, [0, 0, 0], high=70)
    options = Options(cross_check=False)
    found = ReducedExplorer(example.model, example.properties, Limits(), options).run()
    assert [violation.depth for violation in found.violations] == [71]
    assert found.distinct_states == 72


@pytest.mark.slow
def test_states_that_differ_only_in_what_is_read_no_more_are_one():
    # Once c1 is 1, it matters no more whether c0 was set to 1 or to 2.
    steps = [
        ("all_of(s.c0 == 0)", "s.c0 = 1"),
        ("all_of(s.c0 == 0)", "s.c0 = 2"),
        ("all_of(s.c0 != 0, s.c1 == 0)", "s.c1 = 1"),
        ("all_of(s.c1 == 1)", "s.c1 = 2"),
    ]
    example = example_of(steps, {"never": ("s", "s.c1 == 2")}, [0, 0])
    options = Options(cross_check=False)
    full = Explorer(example.model, example.properties, Limits(), options).run()
    reduced = ReducedExplorer(example.model, example.properties, Limits(), options).run()
    assert (full.levels, reduced.levels) == ([1, 2, 2, 2], [1, 2, 1, 1])
    assert [violation.depth for violation in reduced.violations] == [3]


@pytest.mark.slow
def test_states_that_differ_in_what_is_still_assigned_are_two():
    # No guard reads c0, but c1 will be what it is; if that is 1, it can still become 2, later.
    steps = [
        ("all_of(s.c2 == 0)", "s.c2 = 1", "s.c0 = 1"),
        ("all_of(s.c2 == 0)", "s.c2 = 1", "s.c0 = 2"),
        ("all_of(s.c2 == 1)", "s.c2 = 2", "s.c1 = s.c0"),
        ("all_of(s.c3 == 0)", "s.c3 = 1"),
        ("all_of(s.c3 == 1)", "s.c0 = 2"),
    ]
    example = example_of(steps, {"never": ("s", "s.c1 == 2")}, [0, 0, 0, 0])
    options = Options(cross_check=False)
    found = ReducedExplorer(example.model, example.properties, Limits(), options).run()
    assert [violation.depth for violation in found.violations] == [2]


@pytest.mark.slow
def test_what_matters_in_a_state_is_the_same_among_whichever_states():
    model = PROTOCOLS["kip320"].model()
    engine = VectorisedEngine(model)
    asked = [prop for prop in properties_of(model.protocol) if prop.name == "weak_isr"]
    relevance = Relevance(engine, goals_of(model, asked))
    words = engine.layout.pack([model.initial_state])
    while words.shape[1] < 5_000:
        words = np.unique(np.concatenate([words, engine.expand(words).words], axis=1), axis=1)
    pieces = [relevance(words[:, k : k + 50]) for k in range(0, words.shape[1], 50)]
    together = relevance(words)
    for number in range(2):
        parts = np.concatenate([piece[number] for piece in pieces], axis=1)
        assert np.array_equal(together[number], parts)


def test_what_is_kept_of_no_conditions_replaces_nothing():
    model = little_example(0).model
    with patch.object(independence, "kept_code", Memory):
        independence.Relations(model).enables([])
        with patch.object(independence.Relations, "_may_be", side_effect=AssertionError("asked")):
            independence.Relations(model)


@pytest.mark.slow
def test_code_that_was_kept_is_that_of_the_same_question():
    """Of whatever was asked before: it is found by a digest, and not written anew."""
    model = PROTOCOLS["kip320"].model()
    engine = VectorisedEngine(model)
    words = engine.layout.pack([model.initial_state])
    while words.shape[1] < 500:
        words = np.unique(np.concatenate([words, engine.expand(words).words], axis=1), axis=1)
    claims = {p.name: p for p in properties_of(model.protocol)}

    def answers(name: str, patience: float | None) -> tuple[Words, Successors]:
        with patch.object(object_code, "kept_code", Memory):
            reduction = Reduction(engine, [claims[name]], patience=patience)
            relevant, steps = reduction.relevance(words).relevant, engine.expand(words)
            return relevant, steps.only(reduction.kept(words, relevant, steps))

    for name in ("weak_isr", "strong_isr", "leader_in_isr", "weak_isr"):
        found = answers(name, 0.0)
        with patch.object(stubborn, "_decided_by", return_value=""):
            written = answers(name, None)
        assert np.array_equal(written[0], found[0])
        assert np.array_equal(written[1].instances, found[1].instances)
    with patch.object(object_code, "_compiled", side_effect=AssertionError("compiled")):
        answers("weak_isr", 0.0)


_NAMES_OF_ANSWERS = """if True:
    import random, types
    from model.language.graph import nodes

    class AtRandom:
        numbers = random.Random({seed})

        def __next__(self):
            return self.numbers.getrandbits(60)

    nodes._numbers = AtRandom()
    from checker.core.engines.vectorised import VectorisedEngine
    from checker.core.search import independence
    from checker.core.search.stubborn import Reduction
    from model.protocols import PROTOCOLS
    from properties import properties_of

    model, names = PROTOCOLS["kip320"].model(), []
    independence.Relations._may_be = lambda self, *conditions: True
    independence.kept_code = types.SimpleNamespace(load=names.append, store=lambda *kept: None)
    claims = [p for p in properties_of(model.protocol) if p.name in ("weak_isr", "strong_isr")]
    Reduction(VectorisedEngine(model), claims[::{step}])
    print(names)
"""


@pytest.mark.slow
def test_answers_are_found_again_in_whatever_order_expressions_were_made():
    """Nor does the order of properties matter."""
    found = {
        subprocess.run(
            [sys.executable, "-c", _NAMES_OF_ANSWERS.format(seed=seed, step=step)],
            capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": "."},
        ).stdout
        for seed, step in ((1, 1), (2, -1))
    }  # fmt: skip
    assert len(found) == 1
    assert found.pop().count("independence-") == 3
