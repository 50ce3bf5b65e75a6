"""What a property is: a claim in the modelling language, with words for people.

Properties never change a model; they are functions of its state (or of a step's two states) that
return whether the claim holds, run by the same engines as actions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from model.language import Model
from model.language.protocol import Claim


class Sense(StrEnum):
    """When a property is content."""

    ALWAYS = "always"  # the claim holds in every state, or in every step
    SOMETIMES = "sometimes"  # at least one state or step makes the claim true: a witness


def _always_promised(_: Model) -> bool:
    return True


@dataclass(frozen=True)
class Property(Claim):
    """A claim about all states or steps, or a witness that some state or step should provide.

    `claim` takes one state, or with `of_steps` the states before and after a step. `premise`, if
    given, says which states make the claim interesting: one that is never true makes the property
    vacuous. `failure` is a template over the claim's quantified variables that says, for a state
    that falsifies it, which values do so. `broken_by` names what is known to break it: a protocol,
    or a protocol with a setting, as `protocol setting=value`. `promised` tells for a model whether
    it promises the property at all; what it does not promise is checked only by name.
    """

    name: str
    words: str
    claim: Callable[..., bool]
    sense: Sense = Sense.ALWAYS
    of_steps: bool = False
    premise: Callable[..., bool] | None = None
    failure: str = ""
    broken_by: str = ""
    promised: Callable[[Model], bool] = _always_promised

    @property
    def frames(self) -> int:
        """How many states the claim takes."""
        return 2 if self.of_steps else 1

    def explain(self, values: dict[str, Any]) -> str:
        """The failing values in the property's words; its plain words if they do not suffice."""
        try:
            return self.failure.format(**values) if self.failure else self.words
        except (LookupError, AttributeError, TypeError, ValueError):
            return self.words


def always(
    name: str, words: str, *, of_steps: bool = False, failure: str = "", broken_by: str = "",
    premise: Callable[..., bool] | None = None,
    promised: Callable[[Model], bool] = _always_promised,
) -> Callable[[Callable[..., bool]], Property]:  # fmt: skip
    """Declare an invariant, or with `of_steps` a claim about every step."""

    def declare(claim: Callable[..., bool]) -> Property:
        return Property(
            name, words, claim, Sense.ALWAYS, of_steps, premise, failure, broken_by, promised
        )

    return declare


def sometimes(
    name: str, words: str, *, of_steps: bool = False
) -> Callable[[Callable[..., bool]], Property]:
    """Declare a witness: something that the model must be able to do."""

    def declare(claim: Callable[..., bool]) -> Property:
        return Property(name, words, claim, Sense.SOMETIMES, of_steps)

    return declare
