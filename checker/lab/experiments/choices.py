"""A choice of protocol, preset, settings and bounds, as cases, matrices and scenarios name it in
their files; and the steps that they name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from checker.core.files import table
from checker.core.search.explore import Explorer
from checker.core.search.limits import Limits
from checker.core.search.question import Options
from checker.core.search.symmetry import symmetry_of
from checker.core.verdict import Exploration
from model.language.errors import unknown_name
from model.language.naming import instance_words
from model.language.protocol import Instance, Model
from model.protocols import protocol_named
from properties import choose_properties


@dataclass(frozen=True)
class Choice:
    """A protocol with a preset, settings and bounds."""

    protocol: str
    preset: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, int] = field(default_factory=dict)

    @staticmethod
    def of(data: Mapping[str, Any]) -> Choice:
        """The choice that a table of a TOML file makes; `KeyError` if it names no protocol."""
        settings = texts(table(data, "settings", {}))
        return Choice(data["protocol"], data.get("preset", ""), settings, table(data, "bounds", {}))

    def with_settings(self, settings: Mapping[str, str]) -> Choice:
        """The choice with these settings instead of its own."""
        return replace(self, settings={**self.settings, **settings})

    @cached_property
    def model(self) -> Model:
        """The model that is chosen."""
        protocol = protocol_named(self.protocol)
        return protocol.model(self.bounds, self.settings, self.preset or None)

    @property
    def arguments(self) -> str:
        """The choice as arguments of `explore`."""
        parts = [self.protocol]
        if self.preset:
            parts.append(f"--preset {self.preset}")
        parts += [f"--set {name}={value}" for name, value in self.settings.items()]
        parts += [f"--{name.replace('_', '-')} {value}" for name, value in self.bounds.items()]
        return " ".join(parts)

    @property
    def words(self) -> str:
        """What is chosen besides the protocol, for a table."""
        chosen = [f"`--preset {self.preset}`"] if self.preset else []
        chosen += [f"`{name}={value}`" for name, value in self.settings.items()]
        chosen += [f"{name.replace('_', ' ')} {value}" for name, value in self.bounds.items()]
        return ", ".join(chosen)

    def __getstate__(self) -> dict[str, Any]:
        """The choice without its model, which cannot go to another process and is built there."""
        return {name: value for name, value in vars(self).items() if name != "model"}


def texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Settings as texts, however they are written."""
    return {name: str(value) for name, value in values.items()}


def explored(
    choice: Choice,
    properties: Iterable[str] = (),
    limits: Limits | None = None,
    options: Options | None = None,
) -> Exploration:
    """A search of a choice for all violations of the given properties, or of all properties."""
    chosen = choose_properties(choice.model.protocol, properties)
    usual = Options(workers=2, keep_going=True)
    return Explorer(choice.model, chosen, limits, options or usual).run()


def is_symmetric(choice: Choice, properties: Iterable[str]) -> bool:
    """The choice's members are interchangeable, for these properties too."""
    chosen = choose_properties(choice.model.protocol, properties)
    return symmetry_of(choice.model, chosen) is not None


def steps_named(model: Model, lines: Iterable[str]) -> tuple[Instance, ...]:
    """The steps that the lines name as `instance_words` does; `UsageError` if one is not known."""
    wanted = tuple(lines)
    actions = {line.partition("(")[0] for line in wanted}
    known = {instance_words(model, i): i for i in model.instances if i.action.name in actions}
    for line in wanted:
        if line not in known:
            every = (instance_words(model, instance) for instance in model.instances)
            raise unknown_name(f"step of {model.protocol.name}", line, every)
    return tuple(known[line] for line in wanted)
