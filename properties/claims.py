"""What a property is: a claim in the modelling language, with words for people.

Properties never change a model; they are functions of its state (or of a step's two states) that
return whether the claim holds, run by the same engines as actions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum
from inspect import signature
from pathlib import Path
from string import Formatter
from types import CodeType
from typing import Any

from model.language import Model, Protocol
from model.language.action import placeholders
from model.language.capture.constants import classes_of
from model.language.declare.settings import value_text
from model.language.errors import ProtocolError, unknown_name
from model.language.naming import NONE
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
    vacuous. `failure` is a template over the claim's quantified variables, and its states, that
    says, for a state that falsifies it, which values do so. `breach` is what a system does that
    breaks it, as a verb with its object: `loses an acknowledged record`. `broken_by` names what is
    known to break it: a protocol, or a protocol with a setting, as `protocol setting=value`.
    `promised` tells for a model whether it promises the property at all; what it does not promise
    is checked only by name.
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
    breach: str = ""

    @property
    def frames(self) -> int:
        """How many states the claim takes."""
        return 2 if self.of_steps else 1

    def explain(self, values: dict[str, Any]) -> str:
        """The failing values in the property's words; its plain words if they do not suffice."""
        try:
            return _IN_WORDS.vformat(self.failure, (), values) if self.failure else self.words
        except (LookupError, AttributeError, TypeError, ValueError):
            return self.words


class _InWords(Formatter):
    """Writes values as traces do: `none`, `true`, the name of an enumeration's member."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None or isinstance(value, bool):
            value = NONE if value is None else value_text(value)
        elif isinstance(value, Enum):
            value = value.name.lower().replace("_", " ")
        return str(super().format_field(value, format_spec))


_IN_WORDS = _InWords()


def _check_failure(name: str, failure: str, claim: Callable[..., bool]) -> None:
    """`ProtocolError` if the failure text names what is no variable of the claim's quantifiers."""
    known, whole = _variables(claim)
    for placeholder in placeholders(failure):
        if whole and placeholder not in known:
            raise ProtocolError(
                f"{_place(claim)}: property {name}: its failure text names {{{placeholder}}}, "
                "which is no state and no variable of a quantifier of the claim: valid are "
                f"{', '.join(sorted(known)) or 'none'}"
            )


def check_failure_attributes(prop: Property, protocol: Protocol) -> None:
    """`ProtocolError` if the failure text asks for what nothing in the protocol's state has."""
    asked = set(re.findall(r"{\w+\.(\w+)", prop.failure))
    if asked:
        asked -= {name for kind in classes_of(protocol.schema.root) for name in dir(kind)}
    for name in sorted(asked):
        valid = {part for each in protocol.schema.variables for part in each.split(".")}
        raise ProtocolError(
            f"{_place(prop.claim)}: property {prop.name}: its failure text: "
            f"{unknown_name('variable', name, valid)}"
        )


def _place(claim: Callable[..., bool]) -> str:
    return f"{Path(claim.__code__.co_filename).name}:{claim.__code__.co_firstlineno}"


def _variables(claim: Callable[..., bool]) -> tuple[set[str], bool]:
    """What a failure text may name: the claim's states, and the variables of its quantifiers.

    Also whether that is all: what other functions quantify over is not known here.
    """
    if not hasattr(claim, "__code__"):
        return set(), False
    known = set(signature(claim).parameters)
    waiting: list[CodeType] = [claim.__code__]
    seen: set[CodeType] = set()
    while waiting:
        code = waiting.pop()
        if code in seen:
            continue
        seen.add(code)
        if code is not claim.__code__:
            local = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
            known.update(n for n in local if n[0] != ".")
        waiting += [const for const in code.co_consts if isinstance(const, CodeType)]
    calls = {n for code in seen for n in code.co_names}
    whole = all(
        is_language(claim.__globals__.get(name)) or not callable(claim.__globals__.get(name))
        for name in calls
    )
    return known, whole and not claim.__code__.co_freevars


def is_language(value: object) -> bool:
    """Whether a function is one of the language's words, which quantify over nothing themselves."""
    return getattr(value, "__module__", "").startswith(Model.__module__.rpartition(".")[0])


def always(
    name: str, words: str, *, of_steps: bool = False, failure: str = "", broken_by: str = "",
    premise: Callable[..., bool] | None = None,
    promised: Callable[[Model], bool] = _always_promised, breach: str = "",
) -> Callable[[Callable[..., bool]], Property]:  # fmt: skip
    """Declare an invariant, or with `of_steps` a claim about every step."""

    def declare(claim: Callable[..., bool]) -> Property:
        _check_failure(name, failure, claim)
        return Property(
            name, words, claim, Sense.ALWAYS, of_steps, premise, failure, broken_by, promised,
            breach,
        )  # fmt: skip

    return declare


def sometimes(
    name: str, words: str, *, of_steps: bool = False
) -> Callable[[Callable[..., bool]], Property]:
    """Declare a witness: something that the model must be able to do."""

    def declare(claim: Callable[..., bool]) -> Property:
        return Property(name, words, claim, Sense.SOMETIMES, of_steps)

    return declare
