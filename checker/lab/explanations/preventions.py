"""Which changes would have prevented a trace, those that explain most first."""

from __future__ import annotations

from dataclasses import dataclass

from checker.core.traces.trace import Trace
from checker.lab.explanations.candidates import Candidate, Kind, candidates
from checker.lab.explanations.effects import Effect, Effects, settings_read
from checker.lab.explanations.searches import Searched
from checker.telling.report.why import Why, why
from model.language.declare.source import Source
from model.protocols import setting_sources


@dataclass(frozen=True)
class Prevention:
    """A change that makes the trace none: its effect, and what a search said, if one was made.

    `source` is where the setting comes from, where that is one setting and is known.
    """

    candidate: Candidate
    effect: Effect
    source: Source | None = None
    search: Searched | None = None


def tried(
    trace: Trace, reason: Why | None, of_entries: bool = False
) -> tuple[list[Prevention], tuple[str, ...]]:
    """What prevents the trace, what explains most first; and the other changes, by name.

    With `of_entries` only what mends an entry of the catalogue is tried.
    """
    sources = setting_sources(trace.model.protocol)
    effects = Effects(trace, None if reason is None else reason.slice)
    found, without = [], []
    for candidate in candidates(trace, settings_read(trace)):
        if of_entries and not candidate.entries:
            continue
        telling = bool(candidate.entries) or candidate.kind is not Kind.CHOICE
        effect = effects.of(candidate.model, telling)
        if not effect.prevents:
            without.append(candidate.words)
            continue
        names = list(candidate.settings)
        source = sources.get(names[0]) if len(names) == 1 else None
        found.append(Prevention(candidate, effect, source))
    return sorted(found, key=_order), tuple(without)


def recognised(trace: Trace) -> Prevention | None:
    """The fix of an entry of the catalogue that prevents a trace, of the entry most like it.

    What no entry is mended by is not tried.
    """
    found, _ = tried(trace, why(trace), of_entries=True)
    return found[0] if found else None


def _order(prevention: Prevention) -> tuple[float, int, int, int]:
    """Entries that are like the trace first, then fixes; those that act late say most."""
    kinds = [Kind.FIX, Kind.PROTOCOL, Kind.CHOICE]
    candidate, effect = prevention.candidate, prevention.effect
    step = effect.step or 0
    return -candidate.likeness, kinds.index(candidate.kind), -step, len(candidate.settings)
