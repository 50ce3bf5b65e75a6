"""A set of many members has more values than anybody can list, and a search meets few of them."""

from __future__ import annotations

from typing import Annotated

import pytest

from checker.core.graphs.built import build
from checker.core.graphs.losses import find_losses
from checker.core.graphs.tables import quotient
from checker.core.graphs.views import chosen_cells
from checker.core.search.explore import Explorer, Options
from checker.core.search.limits import Limits
from checker.core.verdict import Verdict
from model.language import (
    Bound,
    Entity,
    Members,
    Protocol,
    SetOf,
    State,
    action,
    everybody,
    integers,
    members,
    nobody,
    not_,
    require,
)
from model.language.errors import HighwaterError
from properties import Property

PEOPLE = Bound("people", default=31, minimum=1, words="people", maximum=80)


class Person(Entity):
    """A member."""

    met: bool = False


class Club(State):
    """Who has joined."""

    people: Members[Person] = members(PEOPLE)
    joined: SetOf[Person] = nobody()


@action("{person} joins")
def join(club: Club, person: Person) -> None:
    """Join, once."""
    require(not_(club.joined.contains(person)))

    club.joined = club.joined.with_member(person)


CLUB = Protocol("club", "for tests", Club, (join,), (PEOPLE,))
FEW = Property("few", "at most one has joined", lambda club: club.joined.size <= 1)


def searched(people, depth):
    model = CLUB.model({"people": people})
    return Explorer(model, [FEW], Limits(depth=depth), options=Options()).run()


@pytest.mark.parametrize("people", [31, 40, 63])
def test_a_search_of_a_set_of_many_ends(people):
    result = searched(people, 1)
    assert (result.verdict, result.distinct_states) == (Verdict.BOUNDED, people + 1)
    assert searched(people, 2).verdict is Verdict.VIOLATED


class Full(State):
    """A set of all members that nothing changes, one that somebody fills, and a number."""

    people: Members[Person] = members(PEOPLE)
    all_of_them: SetOf[Person] = everybody()
    turn: Annotated[int, integers(0, 7)] = 0
    joined: SetOf[Person] = nobody()


@action("the next turn")
def next_turn(club: Full) -> None:
    """Count to 7."""
    require(club.turn < 7)
    club.turn += 1


@action("all join")
def all_join(club: Full) -> None:
    """Fill the set."""
    club.joined = club.people.all()


def full(people, *actions):
    return Protocol("full", "for tests", Full, actions, (PEOPLE,)).model({"people": people})


@pytest.mark.parametrize("people", [62, 63])
def test_a_view_tells_apart_all_states_that_differ_in_it(people):
    """Its fields are wider than any number that arrays hold, taken together."""
    losses = find_losses(build(full(people, next_turn, all_join)), (), ())
    tables = quotient(losses, chosen_cells(losses.built.model, ["turn", "joined"]))
    assert len(tables.ids) == losses.built.states == 16


@pytest.mark.parametrize("people", [63, 64, 80])
def test_a_set_that_nothing_changes_may_be_of_any_size(people):
    result = Explorer(full(people, next_turn), ()).run()
    assert (result.verdict, result.distinct_states) == (Verdict.EXHAUSTED, 8)


@pytest.mark.parametrize(
    ("people", "said"), [(64, "do not fit 64 bits"), (65, "joined needs 65 bits: at most 64")]
)
def test_a_set_that_fits_no_word_is_refused_in_one_line(people, said):
    with pytest.raises(HighwaterError, match=said) as refused:
        searched(people, 1)
    assert "\n" not in str(refused.value)
