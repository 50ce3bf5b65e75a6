"""Walkers that a bell may halt: dead ends in the midst of the states, and properties of all kinds.

With two walkers the first dead end is at depth 3, where every property that can be violated is; the
states go on to depth 8.
"""

from __future__ import annotations

from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    Protocol,
    State,
    action,
    every,
    integers,
    members,
    not_,
    require,
    some,
)
from properties import Property, Sense

WALKERS = Bound("walkers", default=2, minimum=1, words="how many walk")
LENGTH = Bound("length", default=4, minimum=1, words="how far they may walk")


class Walker(Entity):
    """Someone who walks."""

    _label = "w"

    position: Annotated[int, integers(0, LENGTH)] = 0


class Field(State):
    """Where they walk."""

    walkers: Members[Walker] = members(WALKERS)
    halted: bool = False


@action("a walker goes on")
def walk(field: Field, walker: Walker) -> None:
    """One step."""
    require(not_(field.halted), walker.position < field.bound("length"))

    walker.position = walker.position + 1


@action("the bell rings")
def halt(field: Field) -> None:
    """Once all have started, a bell may halt them for good."""
    require(not_(field.halted), every(walker.position == 1 for walker in field.walkers))

    field.halted = True


HALTING = Protocol("halting", "walkers that may be halted", Field, (walk, halt), (WALKERS, LENGTH))

NOBODY_STARTS = Property(
    "nobody_starts", "nobody walks", lambda f: every(w.position == 0 for w in f.walkers)
)
NOBODY_GOES_ON = Property(
    "nobody_goes_on",
    "nobody takes a second step",
    lambda f, after: not_(
        some(w.position == 2 for w in after.walkers) & every(w.position < 2 for w in f.walkers)
    ),
    of_steps=True,
)
NO_BELL = Property("no_bell", "the bell does not ring", lambda f: not_(f.halted))
SOMEBODY_IS_AHEAD = Property(
    "somebody_is_ahead",
    "somebody is past the middle",
    lambda f: some(w.position == 2 for w in f.walkers),
    Sense.SOMETIMES,
)
THEY_STAY = Property(
    "they_stay",
    "who has started does not go back",
    lambda f: every(w.position >= 0 for w in f.walkers),
    premise=lambda f: some(w.position == 3 for w in f.walkers),
)

VIOLATED = (NOBODY_STARTS, NOBODY_GOES_ON, NO_BELL, SOMEBODY_IS_AHEAD)
"""All of these are settled within three steps."""

QUESTIONS = {
    "all settled": VIOLATED,
    "one holds": (*VIOLATED, THEY_STAY),
    "witness": (SOMEBODY_IS_AHEAD,),
    "nothing": (),
}
