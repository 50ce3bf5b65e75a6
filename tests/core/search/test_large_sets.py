"""A set of many members has more values than anybody can list, and a search meets few of them."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize(
    ("people", "said"), [(64, "do not fit 64 bits"), (65, "joined needs 65 bits: at most 64")]
)
def test_a_set_that_fits_no_word_is_refused_in_one_line(people, said):
    with pytest.raises(HighwaterError, match=said) as refused:
        searched(people, 1)
    assert "\n" not in str(refused.value)
