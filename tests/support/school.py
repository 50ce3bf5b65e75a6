"""A protocol of a few lines on which a prover could go wrong: pupils meet, lead and rise."""

from __future__ import annotations

from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    Protocol,
    State,
    action,
    all_of,
    count,
    every,
    integers,
    members,
    not_,
    require,
    some,
)
from properties import Property

MANY = Bound("many", default=3, minimum=1, words="members")
TOP = Bound("top", default=2, minimum=1, words="the greatest number")


class Pupil(Entity):
    """A member."""

    led: bool = False
    met: bool = False


class School(State):
    """Members, and numbers that actions may set."""

    pupils: Members[Pupil] = members(MANY)
    low: Annotated[int, integers(0, 9)] = 0
    high: Annotated[int, integers(0, 9)] = 1


@action("{a} meets {b}")
def meet(s: School, a: Pupil, b: Pupil) -> None:
    """Two members are named; a third of the instances can never be taken."""
    require(a != b)

    a.met = True
    b.met = True


@action("{m} leads")
def lead(s: School, m: Pupil) -> None:
    """Its instances come after those of `meet`."""
    m.led = True


@action("both rise by {number}")
def rise(s: School, number: Annotated[int, integers(0, 4)]) -> None:
    """Most instances can never be taken."""
    require(number > 1, number < 3, s.low < 6, s.high < 6)

    s.low = s.low + number
    s.high = s.high + number


@action("never")
def never(s: School, a: Pupil, b: Pupil) -> None:
    """No instance can be taken."""
    require(a == b, a != b)

    s.low = 0


def protocol(*actions, state=School, bounds=(MANY, TOP), **more) -> Protocol:
    return Protocol("small", "for tests", state, actions, bounds, **more)


def claim(function) -> Property:
    return Property(function.__name__, "", function)


@claim
def nobody_leads(s):
    return every(not_(m.led) for m in s.pupils)


@claim
def not_all_lead(s):
    return some(not_(m.led) for m in s.pupils)


@claim
def two_have_met(s):
    return count(m.met for m in s.pupils) < 2


@claim
def three_have_met(s):
    return count(m.met for m in s.pupils) < 3


@claim
def nobody_who_met_leads(s):
    return every(not_(all_of(m.led, m.met)) for m in s.pupils)


@claim
def low_is_below(s):
    return s.low < s.high


@claim
def high_is_low(s):
    return s.high < 5


@action("more")
def more(s: School) -> None:
    """Too much, after a while."""
    s.high = s.high + 3
