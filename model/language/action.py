"""Actions: the steps of a protocol, as plain functions of the state and of concrete parameters."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from model.language.capture import Parameter
from model.language.declare.domains import Integers, Reference
from model.language.declare.schema import Schema
from model.language.errors import ProtocolError


@dataclass(frozen=True)
class Action:
    """A step that a protocol may take.

    `function(state, *parameters)` first requires, then assigns. `words` says in one line what
    happened, with the parameters in braces, for traces.
    """

    name: str
    function: Callable[..., None]
    words: str

    def __call__(self, *arguments: Any) -> None:
        self.function(*arguments)

    @property
    def documentation(self) -> str:
        """What the action does and why, from its docstring."""
        return inspect.getdoc(self.function) or ""

    def parameters(self, schema: Schema) -> tuple[Parameter, ...]:
        """The parameters after the state, with their domains under `schema`."""
        hints = _hints(self.function)
        found = []
        for name, parameter in list(inspect.signature(self.function).parameters.items())[1:]:
            if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                raise ProtocolError(f"action {self.name}, parameter {name}: write it without `*`")
            annotation = hints.get(name)
            domain = schema.domain_of(annotation) if annotation is not None else None
            optional = isinstance(domain, Reference) and domain.optional
            if optional or not isinstance(domain, Integers | Reference):
                raise ProtocolError(
                    f"action {self.name}, parameter {name}: annotate it with an entity class or "
                    f"Annotated[int, integers(...)], not {annotation!r}"
                )
            entity = annotation if isinstance(domain, Reference) else None
            found.append(Parameter(name, domain, entity))
        return tuple(found)


def _hints(function: Callable[..., None]) -> dict[str, Any]:
    module = sys.modules[function.__module__]
    local = getattr(function, "_defined_in", {})
    try:
        return get_type_hints(function, {**vars(module), **local}, include_extras=True)
    except NameError as error:
        raise ProtocolError(f"action {function.__name__}: {error}") from error


def action(words: str) -> Callable[[Callable[..., None]], Action]:
    """Declare an action: `@action("{follower} fetches from {leader}")`."""

    def declare(function: Callable[..., None]) -> Action:
        function._defined_in = dict(sys._getframe(1).f_locals)  # type: ignore[attr-defined]
        return Action(function.__name__, function, words)

    return declare
