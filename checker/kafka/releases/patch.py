"""A finding's fix, laid on Kafka's published source and compiled: classes to put before the jars.

An edit holds our own lines only. Where they go is a short regular expression that has to match
exactly once in one method, and the method's text has to be one that the edit was written for: it
is known by its digest. Whatever is not as expected is refused; nothing is patched by guess.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from checker.kafka.releases.compile import compile_any
from checker.kafka.releases.jars import (
    Release,
    artifacts,
    at_least,
    kafka_artifact,
    newest,
    versions,
)
from model.language.errors import UsageError, unknown_name


@dataclass(frozen=True)
class Edit:
    """What the group `here` of the pattern `at` matches is replaced by `lines`."""

    at: str
    lines: str


@dataclass(frozen=True)
class MethodPatch:
    """Edits of one method. `looked_at` are the digests of the texts that they were written for.

    `names` are patterns with one group; `{name}` in an edit's lines stands for what it matches.
    `since` and `before` bound the releases that have the method in that file; empty: all have.
    """

    module: str
    file: str
    method: str
    looked_at: tuple[str, ...]
    names: Mapping[str, str]
    edits: tuple[Edit, ...]
    since: str = ""
    before: str = ""

    def is_of(self, version: str) -> bool:
        """Whether the release is one of those that it is for."""
        return at_least(version, self.since or version) and not (
            self.before and at_least(version, self.before)
        )

    def applied(self, source: str, version: str) -> str:
        """The source with the edits in it.

        Raises `UsageError` if the method is not one that was looked at, or a place is not unique.
        """
        place = f"{self.method} in {self.file} of Kafka {version}"
        start, end = method_span(source, self.file.rpartition(".")[2], self.method, place)
        text = source[start:end]
        if (found := text_digest(text)) not in self.looked_at:
            raise UsageError(f"{place} is none that the fix was written for: its digest is {found}")
        names = {name: _only(at, text, place)[1] for name, at in self.names.items()}
        spans = [(*_only(edit.at, text, place).span("here"), edit.lines) for edit in self.edits]
        next_begin = len(text)
        for begin, stop, lines in sorted(spans, reverse=True):
            if stop > next_begin:
                raise UsageError(f"{place}: two edits overlap")
            text = text[:begin] + _filled(lines, names) + text[stop:]
            next_begin = begin
        return source[:start] + text + source[end:]


# The first line of a method, up to its name.
FIRST_LINE = {
    "scala": r"^(?P<indent> +)(?:[\w\[\]]+ )*def NAME\b",
    "java": r"^(?P<indent> +)(?:[\w<>\[\],.?]+ )+NAME\((?=[^;{}]*\{\n)",
}


def method_span(source: str, language: str, method: str, place: str) -> tuple[int, int]:
    """Where the only method of that name is: from its first line to the brace that closes it.

    The brace is the first one with the indentation of the first line, as in Kafka's style.
    """
    first = _only(FIRST_LINE[language].replace("NAME", re.escape(method)), source, place)
    closing = re.compile(rf"^{first['indent']}\}}", re.MULTILINE).search(source, first.end())
    if closing is None:
        raise UsageError(f"{place} has no end")
    return first.start(), closing.end()


def text_digest(text: str) -> str:
    """What a method's text is known by, whatever its white space."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def _only(pattern: str, text: str, place: str) -> re.Match[str]:
    matches = list(re.finditer(pattern, text, re.MULTILINE))
    if len(matches) != 1:
        raise UsageError(f"{place}: {len(matches)} places match {pattern!r}, and it has to be one")
    return matches[0]


def _filled(lines: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: names.get(match[1], match[0]), lines)


@dataclass(frozen=True)
class Unit:
    """The unit tests of a fix: a class in `docs/findings/unit`, and which of its tests are of it.

    As published `fails` fail; `passes` are beside them, and pass with the fix and without.
    """

    name: str
    fails: tuple[str, ...]
    passes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fix:
    """Edits of methods, and the setting and its value by which the broker model has the same fix.

    An empty setting: what it mends is one step of the model. `title` and `ticket` are what a ticket
    says; a finding's second fix has none, as the ticket of the first is of both. `instead_of` is
    the fix that is offered, where this one is another way.
    """

    setting: str
    methods: tuple[MethodPatch, ...]
    value: str = "true"
    title: str = ""
    ticket: str = ""
    unit: Unit | None = None
    instead_of: str = ""


@cache
def fixes() -> dict[str, Fix]:
    """The fixes that there are, by name: the number of the finding, then what is mended."""
    texts = files("checker.kafka.releases").joinpath("patches").iterdir()
    return {
        text.name.removesuffix(".toml"): read_fix(text.read_text("utf-8"))
        for text in sorted(texts, key=lambda text: text.name)
        if text.name.endswith(".toml")
    }


def fix_named(name: str) -> Fix:
    """The fix of that name, with or without its finding's number, or a finding's only one.

    `UsageError` if there is none, or if the finding has several.
    """
    found = [known for known in fixes() if name in (known, *known.split("-", maxsplit=1))]
    if len(found) > 1:
        raise UsageError(f"finding {name} has {len(found)} fixes: valid are {', '.join(found)}")
    if not found:
        raise unknown_name("fix", name, {known[:4] for known in fixes()})
    return fixes()[found[0]]


def read_fix(text: str) -> Fix:
    """A fix by its text, in TOML.

    A method with `earlier` is for two places: releases before its `since` have it in that module
    and file, and the edits fit there, too.
    """
    data = tomllib.loads(text)
    methods = tuple(
        MethodPatch(
            module=method["module"],
            file=method["file"],
            method=method["method"],
            looked_at=tuple(method["looked_at"]),
            names=method.get("names", {}),
            edits=tuple(Edit(edit["at"], edit["lines"].rstrip("\n")) for edit in method["edits"]),
            since=method.get("since", ""),
            before=method.get("before", ""),
        )
        for declared in data["methods"]
        for method in _places(declared)
    )
    told = data.get("unit")
    unit = told and Unit(told["name"], tuple(told["fails"]), tuple(told.get("passes", ())))
    return Fix(
        data.get("setting", ""), methods, data.get("value", "true"), data.get("title", ""),
        data.get("ticket", ""), unit, data.get("instead_of", ""),
    )  # fmt: skip


def _places(method: dict[str, Any]) -> list[dict[str, Any]]:
    if "earlier" not in method:
        return [method]
    return [method, {**method, "since": "", "before": method["since"], **method["earlier"]}]


@dataclass(frozen=True)
class Changed:
    """A published source and what edits make of it. `module` is the artifact that has it."""

    module: str
    file: str
    before: str
    after: str


def changed_sources(version: str, wanted: Iterable[Fix]) -> list[Changed]:
    """Each source file that these fixes change, in their order.

    Raises `UsageError` if one of them was not written for that release.
    """
    changed: dict[str, Changed] = {}
    for patch in (each for fix in wanted for each in fix.methods if each.is_of(version)):
        found = changed.get(patch.file)
        before = found.before if found else _published(version, patch)
        after = patch.applied(found.after if found else before, version)
        changed[patch.file] = Changed(patch.module, patch.file, before, after)
    return list(changed.values())


def patched_sources(version: str, finding: str) -> dict[str, str]:
    """The text of each source file that the finding's fix changes, with the fix, by its path.

    Raises `UsageError` if there is no such fix, or it was not written for that release.
    """
    return {each.file: each.after for each in changed_sources(version, [fix_named(finding)])}


def _published(version: str, patch: MethodPatch) -> str:
    if version in versions()["kafka"]["without_sources"]:
        newer = newest(with_sources=True)
        raise UsageError(f"no sources of Kafka {version} are published: the newest are of {newer}")
    wanted = kafka_artifact(version, "sources", module=patch.module)
    directory = artifacts(f"{patch.module}-{version}-sources", [wanted], alone=True)
    (jar,) = directory.glob("*.jar")
    with zipfile.ZipFile(jar) as sources:
        if patch.file not in sources.namelist():
            raise UsageError(f"Kafka {version} has no {patch.file}, which the fix changes")
        return sources.read(patch.file).decode()


def patched_classes(release: Release, finding: str) -> Path:
    """The directory of classes with the finding's fix, to be put before the release's jars.

    Raises `UsageError` if the fix does not fit the release, or its sources are not published.
    """
    with tempfile.TemporaryDirectory() as scratch:
        paths = list(_written(Path(scratch), patched_sources(release.version, finding)))
        return compile_any(release, paths)


def _written(directory: Path, sources: Mapping[str, str]) -> Iterable[Path]:
    for name, text in sources.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        yield path
