"""Budgets: how often each fault, and each step of an operator, may happen.

A budget is declared once, with all that is said of it; what counts it in the state, what an action
requires and spends, and what commands and hunts make of it all follow from that. As what is spent
is state, a search says of everything within what budgets it was.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any, cast

from model.language.capture.words import choose, implies, require
from model.language.declare.domains import Bound, integers
from model.language.declare.entity import Record, State
from model.language.declare.schema import RecordSchema
from model.language.errors import ProtocolError

Pairs = tuple[tuple[str, Any], ...]
"""What is a dictionary by meaning."""


class Stops(IntEnum):
    """Whether a member stops where something happens."""

    NOBODY = 0
    CLEANLY = 1
    UNCLEANLY = 2
    AS_IF_UNCLEANLY = 3  # others take it for stopped uncleanly
    SEVERAL_UNCLEANLY = 4  # all members that are together


class Loses(IntEnum):
    """What of a member's storage may be gone where something happens."""

    NOTHING = 0
    UNSYNCED = 1  # what was not synced to the disk
    ALL = 2


@dataclass(frozen=True, eq=False)
class Budget(Bound):
    """A bound on how often something may happen, from 0 on, and what is known of what happens.

    `counted`: the state's record of `Budgets` counts it; else something else in the state does.
    `drawn`: how often it may be in a hunt, one of these by lot, none for never; `None` for what
    hunts take by themselves. `needs`: bounds and settings, with the values of each without one of
    which it does nothing.
    """

    counted: bool = True
    stops: Stops = Stops.NOBODY
    loses: Loses = Loses.NOTHING
    drawn: tuple[int, ...] | None = None
    needs: Pairs = ()

    @property
    def harms(self) -> bool:
        """A member stops uncleanly by it, or may lose what it has stored."""
        stops = self.stops in (Stops.UNCLEANLY, Stops.SEVERAL_UNCLEANLY)
        return stops or self.loses is not Loses.NOTHING


def budget(name: str, words: str, default: int = 0, maximum: int = 16, **about: Any) -> Budget:
    """Declare a budget: `CRASHES = budget("crashes", "servers that die", default=1)`.

    `about` is what `Budget` has besides; what is said in pairs there may be a dictionary here.
    """
    return Budget(name, default, 0, words, maximum, **in_pairs(about))


def in_pairs(about: Mapping[str, Any]) -> dict[str, Any]:
    """The same with pairs for dictionaries: what an action mentions may not change."""
    return {
        name: tuple(value.items()) if isinstance(value, dict) else value
        for name, value in about.items()
    }


class Budgets(Record):
    """How much of each budget is used up: `class Spent(Budgets, of=(CRASHES, RESTARTS))`.

    It has a variable for each of the bounds that is a budget and `counted`, in their order.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> int: ...

    def __init_subclass__(cls, of: Iterable[Bound] = ()) -> None:
        kept = [bound for bound in of if isinstance(bound, Budget) and bound.counted]
        cls.__annotations__ = {
            **inspect.get_annotations(cls),
            **{bound.name: Annotated[int, integers(0, bound)] for bound in kept},
        }
        for bound in kept:
            setattr(cls, bound.name, 0)
        super().__init_subclass__()


def bounds_in(names: Mapping[str, Any]) -> tuple[Bound, ...]:
    """The bounds that a module declares, in their order: `BOUNDS = bounds_in(globals())`."""
    return tuple(dict.fromkeys(value for value in names.values() if isinstance(value, Bound)))


def spent(state: State, what: Budget) -> int:
    """How much of a budget is used up."""
    return cast(int, getattr(_budgets(state, what), what.name))


def is_left(state: State, what: Budget) -> bool:
    """Something of a budget is left."""
    return spent(state, what) < state.bound(what)


def spend(state: State, what: Budget, where: bool = True) -> None:
    """Require that something of a budget is left, and use up one; or only `where` a condition is.

    It stands after all that the action requires, and before or among what it assigns.
    """
    require(implies(where, is_left(state, what)))
    use_up(state, what, where)


def use_up(state: State, what: Budget, where: bool = True) -> None:
    """Use up one of a budget where a condition holds; `is_left` was required before."""
    used = spent(state, what)
    setattr(_budgets(state, what), what.name, choose(where, used + 1, used))


def _budgets(state: State, what: Budget) -> Budgets:
    """The record of the state that counts a budget."""
    for name, part in state._schema.fields.items():
        if (
            isinstance(part, RecordSchema)
            and issubclass(part.view_class, Budgets)
            and what.name in part.view_class._declared
        ):
            return cast(Budgets, getattr(state, name))
    raise ProtocolError(
        f"nothing in {type(state).__name__} counts {what.name}: declare "
        "`class Spent(Budgets, of=BOUNDS)`, and `spent: Spent = Spent.part()` in the state"
    )
