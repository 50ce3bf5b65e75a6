"""Actions: the steps of a protocol, as plain functions of the state and of concrete parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import Any

from model.language.capture import Parameter
from model.language.declare.domains import Integers, Reference
from model.language.declare.entity import Entity
from model.language.declare.names import annotations_of, local_names
from model.language.declare.schema import Schema
from model.language.declare.source import Source, source_of
from model.language.errors import ProtocolError


@dataclass(frozen=True)
class Action:
    """A step that a protocol may take.

    `function(state, *parameters)` first requires, then assigns. `words` says in one line what
    happened, with the parameters in braces, for traces. `local_names` are those of the function
    that `function` was written in, which its annotations may use.
    """

    name: str
    function: Callable[..., None]
    words: str
    local_names: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    source: Source | None = field(default=None, repr=False, compare=False)

    def __call__(self, *arguments: Any) -> None:
        self.function(*arguments)

    def parameters(self, schema: Schema) -> tuple[Parameter, ...]:
        """The parameters after the state, with their domains under `schema`."""
        annotations = annotations_of(self.function, self.local_names, f"action {self.name}")
        (first, _), *others = inspect.signature(self.function).parameters.items()
        if isinstance(state := annotations.get(first), type) and issubclass(state, Entity):
            raise _without_state(self.function)
        found = []
        for name, parameter in others:
            if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                raise ProtocolError(f"action {self.name}, parameter {name}: write it without `*`")
            annotation = annotations.get(name)
            domain = schema.domain_of(annotation) if annotation is not None else None
            optional = isinstance(domain, Reference) and domain.optional
            if optional or not isinstance(domain, Integers | Reference):
                raise ProtocolError(
                    f"action {self.name}, parameter {name}: annotate it with an entity class or "
                    f"Annotated[int, integers(...)], not {annotation!r}"
                )
            found.append(Parameter(name, domain))
        return tuple(found)


def action(
    words: str, *, at: str = "", since: str = "", about: str = "", settings: str = ""
) -> Callable[[Callable[..., None]], Action]:
    """Declare an action: `@action("{follower} fetches from {leader}")`.

    `at` is where it is in the modelled system, `since` the first release with it, `about` its
    proposals, issues and findings, `settings` those that switch it or choose between its variants.
    """
    local = local_names()
    source = source_of(at, since, about, settings)

    def declare(function: Callable[..., None]) -> Action:
        first, *names = [*inspect.signature(function).parameters] or [""]
        if not first or first in placeholders(words):
            raise _without_state(function)
        unknown = [name for name in placeholders(words) if name not in names]
        if unknown:
            raise ProtocolError(
                f"{_place(function)}: its words name {{{unknown[0]}}}, which is none of its "
                f"parameters: valid are {', '.join(names) or 'none'}"
            )
        return Action(function.__name__, function, words, local, source)

    return declare


def _place(function: Callable[..., None]) -> str:
    code = function.__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}: action {function.__name__}"


def _without_state(function: Callable[..., None]) -> ProtocolError:
    """What is wrong with an action that does not take the state first."""
    parameters = ", ".join(["state", *inspect.signature(function).parameters])
    return ProtocolError(
        f"{_place(function)}: its first parameter is the state: write "
        f"def {function.__name__}({parameters})"
    )


def placeholders(words: str) -> list[str]:
    """The names in braces, without attributes and indices; `ProtocolError` for unbalanced ones."""
    try:
        fields = [field for _, field, _, _ in Formatter().parse(words) if field is not None]
    except ValueError as error:
        raise ProtocolError(f"{words!r}: {error}") from None
    return [re.split(r"[.\[]", field)[0] for field in fields]


@dataclass(frozen=True)
class Instance:
    """An action with its parameters chosen: members and rows by number, numbers as they are."""

    number: int
    action: Action
    parameters: tuple[Parameter, ...]
    arguments: tuple[int, ...]

    @property
    def named_arguments(self) -> dict[str, int]:
        """The arguments by the names of the parameters."""
        return {p.name: a for p, a in zip(self.parameters, self.arguments, strict=True)}

    def __str__(self) -> str:
        inner = ", ".join(f"{name}={value}" for name, value in self.named_arguments.items())
        return f"{self.action.name}({inner})"
