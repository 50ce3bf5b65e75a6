"""Liveness: what must happen in the end, on every run that is fair.

Kept apart from the claims of `claims.py`: those are settled by a state or a step, these by runs
without end, so no search of states can take one for the other. `P` and `Q` are functions of a state
in the same language; with `of`, of a state and a member of that family, and each member is promised
it by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from model.language import Model
from model.language.declare.containers import member_of
from model.language.errors import ProtocolError
from model.language.naming import member_name
from model.language.protocol import Claim
from properties.claims import Property, _always_promised

Function = Callable[..., bool]


class Kind(StrEnum):
    """What is promised of every fair run."""

    EVENTUALLY = "eventually"  # P holds at some time
    ALWAYS_EVENTUALLY = "always eventually"  # P holds again and again
    EVENTUALLY_ALWAYS = "eventually always"  # from some time on P holds for good
    LEADS_TO = "leads to"  # whenever the premise holds, P holds then or later


@dataclass(frozen=True)
class Case:
    """A liveness property of one member, or of the state: its functions take the state alone."""

    member: str
    claim: Function
    premise: Function | None


@dataclass(frozen=True)
class Liveness(Claim):
    """A promise about every fair run.

    `claim` is what must come to hold; `premise`, of `leads_to` alone, what makes it owed. `of`
    names the family whose members both take after the state. `promised` tells for a model whether
    it promises this at all; what it does not promise is checked only by name.
    """

    name: str
    words: str
    kind: Kind
    claim: Function
    premise: Function | None = None
    of: str = ""
    broken_by: str = ""
    promised: Callable[[Model], bool] = _always_promised

    def cases(self, model: Model) -> tuple[Case, ...]:
        """The property for each member; one case, of no member, if it is of the state."""
        if not self.of:
            return (Case("", self.claim, self.premise),)
        if self.of not in model.extents:
            raise ProtocolError(
                f"property {self.name}: of={self.of!r} is no family of {model.protocol.name}: "
                f"valid are {', '.join(model.extents) or 'none'}"
            )
        return tuple(
            Case(
                member_name(model, self.of, number),
                _of_member(self.claim, self.of, number),
                None if self.premise is None else _of_member(self.premise, self.of, number),
            )
            for number in range(model.extents[self.of])
        )

    def judged(self, model: Model) -> tuple[Property, ...]:
        """Its claims and premises as engines evaluate them, for the net that compares engines."""
        return tuple(
            Property(f"{self.name} {c.member}".strip(), self.words, c.claim, premise=c.premise)
            for c in self.cases(model)
        )


@cache
def _of_member(function: Function, family: str, number: int) -> Function:
    """The function of a state that says it of one member; the same object at each call."""

    def of_member(state: Any) -> bool:
        return function(state, member_of(state, family, number))

    return of_member


def _declare(
    kind: Kind, name: str, words: str, premise: Function | None, of: str, broken_by: str,
    promised: Callable[[Model], bool],
) -> Callable[[Function], Liveness]:  # fmt: skip
    return lambda claim: Liveness(name, words, kind, claim, premise, of, broken_by, promised)


def eventually(
    name: str, words: str, *, of: str = "", broken_by: str = "",
    promised: Callable[[Model], bool] = _always_promised,
) -> Callable[[Function], Liveness]:  # fmt: skip
    """Declare that every fair run comes to a state where the claim holds."""
    return _declare(Kind.EVENTUALLY, name, words, None, of, broken_by, promised)


def always_eventually(
    name: str, words: str, *, of: str = "", broken_by: str = "",
    promised: Callable[[Model], bool] = _always_promised,
) -> Callable[[Function], Liveness]:  # fmt: skip
    """Declare that on every fair run the claim holds again and again."""
    return _declare(Kind.ALWAYS_EVENTUALLY, name, words, None, of, broken_by, promised)


def eventually_always(
    name: str, words: str, *, of: str = "", broken_by: str = "",
    promised: Callable[[Model], bool] = _always_promised,
) -> Callable[[Function], Liveness]:  # fmt: skip
    """Declare that on every fair run the claim holds for good from some time on."""
    return _declare(Kind.EVENTUALLY_ALWAYS, name, words, None, of, broken_by, promised)


def leads_to(
    name: str, words: str, premise: Function, *, of: str = "", broken_by: str = "",
    promised: Callable[[Model], bool] = _always_promised,
) -> Callable[[Function], Liveness]:  # fmt: skip
    """Declare that on every fair run, whenever the premise holds, the claim does then or later."""
    return _declare(Kind.LEADS_TO, name, words, premise, of, broken_by, promised)
