"""What is asked about, from a script: a model and its properties, declared once for all questions.

`@asks` gives a function of a `Question` the parameters that every question takes, beside its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from model.language.protocol import Model
from model.language.protocol import Protocol as ModelProtocol
from model.protocols import protocol_named
from properties import Property, promised_properties

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

Chosen = Iterable[str | Property]


@dataclass(frozen=True)
class Question:
    """A model, and what is asked of it.

    `protocol` is one, or its name, as commands take it; `settings` and `preset` choose its
    settings, `bounds` its sizes and faults. Without `properties`, all that the model promises are
    asked about. `UsageError` for what does not exist.
    """

    protocol: ModelProtocol | str
    settings: Mapping[str, Any] | None = None
    preset: str | None = None
    properties: Chosen = ()
    bounds: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def model(self) -> Model:
        """The model that is asked about."""
        found = protocol_named(self.protocol) if isinstance(self.protocol, str) else self.protocol
        return found.model(self.bounds, self.settings, self.preset)

    @cached_property
    def named(self) -> tuple[Property, ...]:
        """The properties that were named, none if none was."""
        return tuple(
            prop if isinstance(prop, Property) else promised_properties(self.model, [prop])[0]
            for prop in self.properties
        )

    @property
    def asked(self) -> tuple[Property, ...]:
        """The properties that were named, or all that the model promises."""
        return self.named or promised_properties(self.model)


class Asking(Protocol[R_co]):
    """A function of what makes a `Question`, and by name of its own options and of bounds."""

    def __call__(
        self,
        protocol: ModelProtocol | str,
        settings: Mapping[str, Any] | None = None,
        *,
        preset: str | None = None,
        properties: Chosen = (),
        **options: Any,
    ) -> R_co: ...


def asks(function: Callable[Concatenate[Question, P], R]) -> Asking[R]:
    """The function with a question's parameters in place of its first; other names are bounds."""
    shared = list(inspect.signature(Asking.__call__).parameters.values())[1:-1]
    own = list(inspect.signature(function).parameters.values())[1:]
    bounds = inspect.Parameter("bounds", inspect.Parameter.VAR_KEYWORD, annotation="int")

    @wraps(function)
    def asking(
        protocol: ModelProtocol | str, settings: Mapping[str, Any] | None = None, *,
        preset: str | None = None, properties: Chosen = (), **options: Any,
    ) -> R:  # fmt: skip
        chosen = {each.name: options.pop(each.name) for each in own if each.name in options}
        question = Question(protocol, settings, preset, tuple(properties), options)
        answer: Callable[..., R] = function
        return answer(question, **chosen)

    cast(Any, asking).__signature__ = inspect.Signature([*shared, *own, bounds])
    return asking
