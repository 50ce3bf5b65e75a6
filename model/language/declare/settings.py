"""Settings: choices that a protocol offers, fixed before it runs, such as `min.insync.replicas`.

A protocol's settings are a frozen dataclass whose fields are made with `setting(...)`. Actions read
them as plain values, so an ordinary `if` on a setting is fine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, get_type_hints

from model.language.declare.domains import Bound
from model.language.errors import UsageError, unknown_name

MOST = 2**31 - 1
"""The greatest whole number that a setting may be, as Java's."""


@dataclass(frozen=True)
class NoSettings:
    """The settings of a protocol that has none."""


def setting(
    default: Any,
    words: str,
    name: str = "",
    low: int = 0,
    high: Bound | None = None,
    within: Callable[[Mapping[str, int]], Iterable[Any]] | None = None,
) -> Any:
    """A field of a settings dataclass; `name` is how users write it, by default the field's own.

    `low` is the least value of a whole number, the chosen value of `high` the largest. `within`
    gives those values of an enumeration that fit the chosen bounds.
    """
    metadata = {"words": words, "name": name, "low": low, "high": high, "within": within}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class SettingInfo:
    """One setting, for listing and parsing."""

    name: str
    field: str
    type: type
    default: Any
    words: str
    low: int = 0
    high: Bound | None = None
    within: Callable[[Mapping[str, int]], Iterable[Any]] | None = None

    @property
    def choices(self) -> str:
        """The valid values, in words."""
        if self.type is bool:
            return "true, false"
        if issubclass(self.type, StrEnum):
            return ", ".join(self.type)
        return f"whole numbers from {self.low} to {self.high.name if self.high else MOST}"

    def parse(self, text: str) -> Any:
        """The value that `text` stands for; `UsageError` if it is not valid."""
        lowered = text.strip().lower()
        if self.type is bool and lowered in ("true", "false"):
            return lowered == "true"
        if self.type is int and lowered.isascii() and lowered.isdecimal() and len(lowered) < 20:
            number = int(lowered)
            if self.low <= number <= MOST:
                return number
        if issubclass(self.type, StrEnum):
            with suppress(ValueError):
                return self.type(lowered)
        raise UsageError(f"setting {self.name} cannot be {text!r}: valid are {self.choices}")


_described: dict[type, Mapping[str, SettingInfo]] = {}


def describe(settings_class: type) -> Mapping[str, SettingInfo]:
    """The settings of a class by the names that users write."""
    if settings_class not in _described:
        _described[settings_class] = MappingProxyType(_described_anew(settings_class))
    return _described[settings_class]


def _described_anew(settings_class: type) -> dict[str, SettingInfo]:
    hints = get_type_hints(settings_class)
    infos = {}
    for field in dataclasses.fields(settings_class):
        name = field.metadata.get("name") or field.name
        infos[name] = SettingInfo(
            name,
            field.name,
            hints[field.name],
            field.default,
            field.metadata.get("words", ""),
            field.metadata.get("low", 0),
            field.metadata.get("high"),
            field.metadata.get("within"),
        )
    return infos


def check_bounds(settings: Any, bounds: Mapping[str, int]) -> None:
    """Raises `UsageError` if a setting does not fit the bounds that limit it."""
    for name, info in describe(type(settings)).items():
        value = getattr(settings, info.field)
        if info.high is not None and value > bounds[info.high.name]:
            raise UsageError(
                f"setting {name} cannot be {value}: valid are whole numbers from {info.low} to "
                f"{bounds[info.high.name]} ({info.high.name})"
            )
        if info.within is not None and value not in (valid := tuple(info.within(bounds))):
            raise UsageError(
                f"setting {name} cannot be {value} here: valid are {', '.join(map(str, valid))}"
            )


def choose_settings(settings_class: type, texts: Mapping[str, Any]) -> Any:
    """An instance of `settings_class` with some settings changed, given as text or as values."""
    infos = describe(settings_class)
    values = {}
    for name, value in texts.items():
        if name not in infos:
            if not infos:
                raise UsageError(f"no setting is called {name!r}: this protocol has no settings")
            reason = getattr(settings_class, "not_modelled", {}).get(name)
            if reason is not None:
                raise UsageError(f"{name} is not modelled: {reason}")
            raise unknown_name("setting", name, infos)
        info = infos[name]
        values[info.field] = info.parse(value) if isinstance(value, str) else value
    return settings_class(**values)


def as_text(settings: Any) -> dict[str, str]:
    """Settings by name, each value as the text that `--set` takes."""
    return {
        name: value_text(getattr(settings, info.field))
        for name, info in describe(type(settings)).items()
    }


def value_text(value: Any) -> str:
    """A value as the text that `--set` takes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class Noted:
    """Settings that note what is read of them, by name; the name is empty for all together."""

    __slots__ = ("read", "settings")

    def __init__(self, settings: Any, read: dict[str, Any]) -> None:
        self.settings = settings
        self.read = read

    def __getattr__(self, name: str) -> Any:
        found = self.read[name] = getattr(self.settings, name)
        return found

    def _all(self) -> Any:
        found = self.read[""] = self.settings
        return found

    def __eq__(self, other: object) -> bool:
        return bool(self._all() == (other._all() if isinstance(other, Noted) else other))

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())
