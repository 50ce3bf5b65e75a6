"""What could have been otherwise: settings, protocols on the same state, entries of the catalogue.

A *candidate* is a model to try a trace on. Its *entries* are stored counterexamples that the same
change mends, so that a trace can be said to be an instance of one.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from checker.core.files import COUNTEREXAMPLES
from checker.core.traces.trace import Trace
from checker.lab.experiments.cases import Case, stored_cases
from model.kafka.proposals import PROPOSAL_PAGES
from model.language.declare.settings import as_text, describe
from model.language.errors import UsageError
from model.language.protocol import Model, Protocol
from model.protocols import PROTOCOLS

_JIRA = "https://issues.apache.org/jira/browse/"


class Kind(StrEnum):
    """What sort of change a candidate is."""

    FIX = "fix"  # to the value of the newest preset, else to the default
    CHOICE = "choice"  # to another value
    PROTOCOL = "protocol"  # another protocol with the same state


@dataclass(frozen=True)
class Entry:
    """A stored counterexample that a change mends: its folder's name, what it is, and about what.

    `likeness` is how like the trace it is: 1 and more for the same property, and up to 1 for the
    same actions.
    """

    case: str
    title: str
    source: str
    links: tuple[str, ...]
    likeness: float


@dataclass(frozen=True)
class Candidate:
    """A change: the settings that differ, or the other protocol, and the model that has it."""

    settings: Mapping[str, str]
    model: Model
    kind: Kind
    entries: tuple[Entry, ...] = ()

    @property
    def words(self) -> str:
        """The change as people write it: `truncation=leader_epoch`, `kip320`."""
        if self.kind is Kind.PROTOCOL:
            return self.model.protocol.name
        return " ".join(f"{name}={value}" for name, value in self.settings.items())

    @property
    def likeness(self) -> float:
        """That of the entry that is most like the trace; 0 without entries."""
        return max((entry.likeness for entry in self.entries), default=0.0)


def candidates(trace: Trace, read: Container[str]) -> tuple[Candidate, ...]:
    """Everything that could be otherwise, one thing at a time; entries of the catalogue whole.

    Settings whose fields are not among those that were `read` on the way are left out.
    """
    changes = _Changes(trace, read)
    found = {c.words: c for c in (*changes.of_settings(), *changes.of_protocols())}
    for candidate in changes.of_entries():
        found.setdefault(candidate.words, candidate)
    return tuple(found.values())


class _Changes:
    """The candidates for one trace."""

    def __init__(self, trace: Trace, read: Container[str]) -> None:
        self._trace, self._model, self._read = trace, trace.model, read
        self._protocol: Protocol = trace.model.protocol
        self._now = as_text(trace.model.settings)

    def of_settings(self) -> Iterator[Candidate]:
        """Each setting with each other value that it may have."""
        for name, info in describe(type(self._model.settings)).items():
            if info.field not in self._read:
                continue
            now = getattr(self._model.settings, info.field)
            for value in info.others(now):
                model = self._with({name: value})
                if model is not None:
                    text = as_text(model.settings)[name]
                    kind = Kind.FIX if self._best.get(name) == text else Kind.CHOICE
                    yield Candidate({name: text}, model, kind, self._entries({name: text}))

    def of_protocols(self) -> Iterator[Candidate]:
        """Other protocols with the same state and the same bounds, with their own settings."""
        for protocol in _siblings(self._protocol):
            if {b.name for b in protocol.bounds} != set(self._model.bounds):
                continue
            entries = [
                self._entry(case)
                for case in self._cases
                if case.fix is not None and case.fix.protocol == protocol.name
            ]
            model = protocol.model(self._model.bounds)
            yield Candidate({}, model, Kind.PROTOCOL, _most_alike(entries))

    def of_entries(self) -> Iterator[Candidate]:
        """What mends an entry, where that is more than one setting."""
        for _, mended in self._mended:
            model = self._with(mended) if len(mended) > 1 else None
            if model is not None:
                yield Candidate(mended, model, Kind.FIX, self._entries(mended))

    def _with(self, settings: Mapping[str, Any]) -> Model | None:
        """The model with some settings changed; none if that is no model.

        Nor if it would be another upgrade, one of more rules: what the trace waits for may then
        not come.
        """
        try:
            model = self._protocol.model(self._model.bounds, {**self._now, **settings})
        except UsageError:
            return None
        return model if _upgraded(model) <= _upgraded(self._model) else None

    @cached_property
    def _best(self) -> dict[str, str]:
        """The settings of the newest preset, else the defaults."""
        newest = list(self._protocol.presets.values())[-1:]
        chosen = newest[0] if newest else {}
        with_default = self._protocol.settings()
        known = as_text(with_default)
        return known | {name: str(value) for name, value in chosen.items()}

    @cached_property
    def _cases(self) -> tuple[Case, ...]:
        """The stored cases of this protocol that have a fix."""
        return tuple(
            case
            for case in stored_cases()
            if case.fix is not None
            and case.broken.protocol == self._protocol.name
            and PROTOCOLS.get(self._protocol.name) is self._protocol
        )

    @cached_property
    def _mended(self) -> list[tuple[Case, dict[str, str]]]:
        """Each case with the settings that mend it here."""
        return [(case, self._mends(case)) for case in self._cases]

    def _mends(self, case: Case) -> dict[str, str]:
        """The settings that the case's fix changes, if they are as the case has them broken.

        Of several, those that are no step back: a newer preset may differ in more than the fix.
        """
        assert case.fix is not None
        if case.fix.protocol != self._protocol.name:
            return {}
        broken, fixed = as_text(case.broken.model.settings), as_text(case.fix.model.settings)
        changed = {name: value for name, value in fixed.items() if broken[name] != value}
        forward = {name: value for name, value in changed.items() if self._best[name] == value}
        applies = all(self._now[name] == broken[name] for name in changed)
        return (forward or changed) if applies else {}

    def _entries(self, settings: Mapping[str, str]) -> tuple[Entry, ...]:
        """The cases that these settings mend, or are a part of what mends them; most like first."""
        wanted = settings.items()
        found = [self._entry(c) for c, mended in self._mended if wanted <= mended.items()]
        return _most_alike(found)

    def _entry(self, case: Case) -> Entry:
        ours = Counter(step.action.name for step in self._trace.steps)
        theirs = Counter(line.partition("(")[0] for line in case.steps)
        alike = (ours & theirs).total() / max((ours | theirs).total(), 1)
        same = case.violates == self._trace.property
        return Entry(case.name, case.title, case.source, links_of(case.source), same + alike)


def _upgraded(model: Model) -> set[str]:
    """The names of the settings that are not one value at a time: those that an upgrade changes."""
    values = [as_text(settings) for settings in model.at_once]
    return {name for name in values[0] if len({each[name] for each in values}) > 1}


def _most_alike(entries: list[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda entry: (-entry.likeness, entry.case)))


def _siblings(protocol: Protocol) -> list[Protocol]:
    """Other protocols with the same state: the project's, or those beside it in its module."""
    if PROTOCOLS.get(protocol.name) is protocol:
        near = list(PROTOCOLS.values())
    else:
        beside = vars(sys.modules.get(protocol.module, object)).values()
        near = [each for each in beside if isinstance(each, Protocol)]
    alike = (p for p in near if p.state is protocol.state and p is not protocol)
    return list(dict.fromkeys(alike))


def links_of(source: str) -> tuple[str, ...]:
    """Addresses of the proposals and issues that a source names, and pages of the findings."""
    findings = COUNTEREXAMPLES.parent / "docs" / "findings"
    pages = [
        f"docs/findings/{page.name}"
        for number in re.findall(r"\b0\d{3}\b", source)
        for page in sorted(findings.glob(f"{number}-*.md"))
    ]
    proposals = re.findall(r"\bKIP-\d+\b", source)
    issues = re.findall(r"\bKAFKA-\d+\b", source)
    known = (PROPOSAL_PAGES[name] for name in proposals if name in PROPOSAL_PAGES)
    return tuple(dict.fromkeys((*known, *(_JIRA + issue for issue in issues), *pages)))
