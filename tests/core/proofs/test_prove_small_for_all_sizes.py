"""Protocols of a few lines on which a proof for all sizes could go wrong."""

from __future__ import annotations

import itertools
from enum import IntEnum

import pytest
import z3

from checker.core.proofs.proof import ProofOutcome
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from checker.core.search.explore import Explorer
from checker.core.verdict import Verdict
from model.language import (
    Annotated,
    State,
    action,
    all_of,
    any_of,
    choose,
    every,
    integers,
    largest,
    some,
)
from model.language.lifted import Lifted
from properties import Property
from tests.support.proofs import contradict, diagram
from tests.support.school import TOP, low_is_below, meet, more, protocol, rise


def unbounded(model, *lemmas):
    return UnboundedInduction(model, (), lemmas, 1.0).run().outcome


@pytest.mark.usefixtures("little_effort")
def test_values_have_to_fit_for_all_sizes():
    nothing = Property("nothing", "", lambda s: s.low >= 0)

    assert unbounded(protocol(more).model(), nothing) is ProofOutcome.UNKNOWN
    assert unbounded(protocol(rise).model(), nothing) is ProofOutcome.PROVED


@pytest.mark.usefixtures("little_effort")
def test_lemmas_have_to_hold_at_first_for_all_sizes():
    risen = Property("risen", "", lambda s: s.high > 1)

    assert unbounded(protocol(rise).model(), risen) is ProofOutcome.UNKNOWN
    assert unbounded(protocol(rise).model(), low_is_below) is ProofOutcome.PROVED


def choice_over_a_variable(kind):
    """Two members, one of which has met: by the choice or the extreme, they seem to agree."""
    if kind == "choice":
        return lambda s, a: choose(some(all_of(m == a, m.met) for m in s.pupils), 1, 0)
    return lambda s, a: largest(choose(all_of(m == a, m.met), 1, 0) for m in s.pupils)


@pytest.mark.parametrize("kind", ["choice", "extreme"])
def test_a_choice_for_each_is_not_one_for_all(kind):
    """A number that depends on a variable is not the same for all of its values."""
    model = protocol(meet).model({"many": 2})
    number = choice_over_a_variable(kind)
    equal = Property(
        "equal", "", lambda s: every(number(s, a) == choose(a.met, 1, 0) for a in s.pupils)
    )
    node = model.claim(equal.claim)
    for state in itertools.product([0, 1], [0, 1], [0, 1], [0, 1], [3], [4]):
        known = [*diagram(model, state), Lifted.of(model).now(node)]
        assert contradict(Lifted.of(model), model.bounds, known) == z3.sat


class Shelf(State):
    """A number."""

    x: Annotated[int, integers(0, 9)] = 0


@action("put {top}")
def put(s: Shelf, top: Annotated[int, integers(0, 3)]) -> None:
    """The parameter has the name of a bound, and is not that bound."""
    s.x = top


@pytest.mark.usefixtures("little_effort")
def test_a_parameter_is_not_the_bound_of_the_same_name():
    model = protocol(put, state=Shelf, bounds=(TOP,)).model()
    below = Property("below", "", lambda s: s.x <= s.bound("top"))
    few = Property("few", "", lambda s: s.x <= 3)
    assert Explorer(model, [below]).run().verdict is Verdict.VIOLATED

    outcomes = [unbounded(model, below), unbounded(model, few)]

    assert outcomes == [ProofOutcome.UNKNOWN, ProofOutcome.PROVED]


class Grade(IntEnum):
    """Two grades."""

    LOW = 0
    HIGH = 1


class Height(IntEnum):
    """Their names in other letters, with other numbers."""

    Low = 7
    High = 8


@action("weigh {p}")
def weigh(s: Shelf, p: Height) -> None:
    """Set a large number."""
    s.x = p


@action("mark {p}")
def mark(s: Shelf, p: Grade) -> None:
    """Set a small one."""
    s.x = p


@pytest.mark.usefixtures("little_effort")
@pytest.mark.parametrize("actions", [(weigh, mark), (mark, weigh)])
def test_enumerations_with_the_same_names_are_two_ranges(actions):
    model = protocol(*actions, state=Shelf, bounds=()).model()

    for limit, outcome in ((1, ProofOutcome.UNKNOWN), (8, ProofOutcome.PROVED)):
        small = Property("small", "", lambda s, limit=limit: s.x <= limit)
        assert unbounded(model, small) == outcome
    large = Property("large", "", lambda s: any_of(s.x <= 1, s.x >= 7))
    found = unbounded(model, large)
    assert found == ProofOutcome.PROVED
