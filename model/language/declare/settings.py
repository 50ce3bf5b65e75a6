"""Settings: choices that a protocol offers, fixed before it runs, such as `min.insync.replicas`.

A protocol's settings are a frozen dataclass whose fields are made with `setting(...)`. Actions read
them as plain values, so an ordinary `if` on a setting is fine.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, get_type_hints

from model.language.declare.domains import Bound
from model.language.declare.history import History, Version, version_of
from model.language.declare.source import Source, source_of
from model.language.errors import UsageError, unknown_name

MOST = 2**31 - 1
"""The greatest whole number that a setting may be, as Java's."""


@dataclass(frozen=True)
class NoSettings:
    """The settings of a protocol that has none."""


class Role(StrEnum):
    """What sort of choice a setting is."""

    RULE = "rule"  # what a version of the system does, or would do with a fix
    OPERATOR = "operator"  # who runs the system sets it
    SURROUNDING = "surrounding"  # what operators, clients and disks do beside that
    GIVEN = "given"  # what a system has or has not, or what is taken for granted
    FINENESS = "fineness"  # how fine the model is: no rule, and nobody's choice


def setting(
    default: Any,
    words: str,
    name: str = "",
    low: int = 0,
    high: Bound | None = None,
    within: Callable[[Mapping[str, int]], Iterable[Any]] | None = None,
    *,
    at: str = "",
    about: str = "",
    since: str = "",
    history: str = "",
    evidence: str = "",
    variants: Mapping[str, str] | None = None,
    catalogue: str = "",
    fix: Any = None,
    owner: str = "",
    with_feature: bool = False,
    role: Role = Role.RULE,
    slow: bool = False,
    feature: str = "",
    written: Mapping[str, str] | None = None,
) -> Any:
    """A field of a settings dataclass; `name` is how users write it, by default the field's own.

    `low` is the least value of a whole number, the chosen value of `high` the largest. `within`
    gives those values of an enumeration that fit the chosen bounds.

    What else is known of it, all of it said here and nowhere else:

    - `at` is where it is in the modelled system, `about` its proposals, issues and findings:
      `KIP-966, finding 0003`.
    - `history` is what it was from which release on, `false 0.8.2, true 2.0.1 2.1.0`: presets
      have it. `evidence` is how that is known, `catalogue` where a catalogue of bugs has it.
    - `variants` are other histories, each by the name of a variant of the system that has it.
    - `fix` is what a system with all fixes has, where that is not the newest of the history.
    - `since` is the first release with it, where that is not the first with the fix or the newest.
    - `owner` is by whose release it goes while two run at once; with `with_feature` it stays in
      new code as it was, until a feature is switched on.
    - `slow`: with it every write waits for a disk.
    - `feature` is the setting without which it makes no difference: its bug needs that feature.
    - `written` is how operators write its values, where that is not `name=value`.
    """
    known = History(history, evidence) if history else None
    if known is not None and not since:
        since = known.since(value_text(known.newest if fix is None else fix))
    info = {
        "words": f"{words} ({about})" if about else words,
        "name": name,
        "low": low,
        "high": high,
        "within": within,
        "source": source_of(at, since, about),
        "history": known,
        "variants": {
            variant: History(text, evidence) for variant, text in (variants or {}).items()
        },
        "catalogue": catalogue,
        "fix": None if fix is None else value_text(fix),
        "owner": owner,
        "with_feature": with_feature,
        "role": role,
        "slow": slow,
        "feature": feature,
        "written": written or {},
    }
    return dataclasses.field(default=default, metadata=info)


@dataclass(frozen=True)
class SettingInfo:
    """One setting, for listing and parsing, and all that is said of it: see `setting`."""

    name: str
    field: str
    type: type
    default: Any
    words: str
    low: int = 0
    high: Bound | None = None
    within: Callable[[Mapping[str, int]], Iterable[Any]] | None = None
    source: Source | None = None
    history: History | None = None
    variants: Mapping[str, History] = dataclasses.field(default_factory=dict, hash=False)
    catalogue: str = ""
    fix: str | None = None
    owner: str = ""
    with_feature: bool = False
    role: Role = Role.RULE
    slow: bool = False
    feature: str = ""
    written: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)

    @property
    def rule(self) -> str:
        """Its words without the proposals, issues and findings that it is about."""
        about = "" if self.source is None else f" ({self.source.issues})"
        return self.words.removesuffix(about)

    def written_as(self, value: str) -> str:
        """The setting with a value, as who runs the system writes it."""
        return self.written.get(value, f"{self.name}={value}")

    @property
    def is_in_no_release(self) -> bool:
        """Its fix is known by an issue or a finding, and no release has it."""
        return self.source is not None and bool(self.source.issues) and not self.source.since

    @property
    def mended(self) -> str | None:
        """The value with which its bug is gone; `None` where it is the same in every release."""
        if self.fix is None and self.history is not None:
            return self.history.newest
        return self.fix

    @property
    def choices(self) -> str:
        """The valid values, in words."""
        if self.type is bool:
            return "true, false"
        if issubclass(self.type, StrEnum):
            return ", ".join(self.type)
        return f"whole numbers from {self.low} to {self.high.name if self.high else MOST}"

    def others(self, now: Any) -> list[Any]:
        """Other values: all of an enumeration, the neighbours and ends of a number."""
        if self.type is bool:
            return [not now]
        if issubclass(self.type, StrEnum):
            return [value for value in self.type if value != now]
        near = {self.low, now - 1, now + 1, self.default} - {now}
        return sorted(number for number in near if self.low <= number <= MOST)

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
        known = {"words": "", **field.metadata}
        name = known.pop("name", "") or field.name
        infos[name] = SettingInfo(name, field.name, hints[field.name], field.default, **known)
    return infos


def named(settings_class: type, *, role: Role) -> frozenset[str]:
    """The names of the settings of one role."""
    return frozenset(name for name, info in describe(settings_class).items() if info.role is role)


def of_release(settings_class: type, version: Version, variant: str = "") -> dict[str, str]:
    """The settings of a release as it comes, with members of its own version throughout.

    Those of a variant of the system are its own where it has its own, else the system's.
    """
    return {
        name: info.variants.get(variant, info.history).value(version)
        for name, info in describe(settings_class).items()
        if info.history is not None
    }


def presets(settings_class: type, system: str, versions: Iterable[str]) -> dict[str, Any]:
    """The settings of these releases by name, `kafka-3.7`; and `kafka-fixed`: all fixes.

    A release of a variant is written with it: `3.7-zookeeper`.
    """
    found = {}
    for each in versions:
        version, _, variant = each.partition("-")
        found[f"{system}-{each}"] = of_release(settings_class, version_of(version), variant)
    infos = describe(settings_class).items()
    newest = {name: info.history.newest for name, info in infos if info.history is not None}
    fixes = {name: info.fix for name, info in infos if info.fix is not None}
    return {**found, f"{system}-fixed": newest | fixes}


_VERSION = re.compile(r"(?:.*-)?([0-9]{1,9}(?:[.][0-9]{1,9}){0,3})")
"""A version, with the system's name before it or without."""


def release_of(preset: str) -> Version | None:
    """The release in a preset's name; `None` for one without, `kafka-fixed`."""
    found = _VERSION.match(preset)
    return version_of(found[1]) if found else None


def preset_named(presets: Mapping[str, Any], name: str, protocol: str) -> str:
    """The preset of a protocol that a name means: its own, or its own without the system's.

    `UsageError` if there is none, with the newest preset up to a version that is none.
    """
    if name in presets:
        return name
    ends = [preset for preset in presets if preset.endswith(f"-{name}")]
    if len(ends) == 1:
        return ends[0]
    if not presets:
        raise UsageError(f"no preset is called {name!r}: {protocol} has no presets")
    versions = {each: version_of(found[1]) for each in (*presets, name)
                if (found := _VERSION.fullmatch(each))}  # fmt: skip
    asked = versions.pop(name, None)
    upto = [each for each, version in versions.items() if asked and version <= asked]
    newest = max(upto, key=versions.__getitem__, default="")
    hint = f"the newest up to that release is {newest}; "
    raise unknown_name(
        f"preset of {protocol}", name, presets, f"highwater list {protocol} --only presets",
        hint=hint if newest else "",
    )  # fmt: skip


def sources(settings_class: type) -> dict[str, Source]:
    """Where settings come from, by name, as far as is known."""
    infos = describe(settings_class)
    return {name: info.source for name, info in infos.items() if info.source is not None}


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


def choose_settings(
    settings_class: type, texts: Mapping[str, Any], all_by: str = "highwater list"
) -> Any:
    """An instance of `settings_class` with some settings changed, given as text or as values.

    `all_by`: the command that an error names for all settings.
    """
    infos = describe(settings_class)
    values = {}
    for name, value in texts.items():
        if name not in infos:
            if not infos:
                raise UsageError(f"no setting is called {name!r}: this protocol has no settings")
            reason = getattr(settings_class, "not_modelled", {}).get(name)
            if reason is not None:
                raise UsageError(f"{name} is not modelled: {reason}")
            raise unknown_name("setting", name, infos, all_by)
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
