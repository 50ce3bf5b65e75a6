"""An explanation of a trace: what would have prevented it, because of what, and since when.

`explain` gathers it; `as_data` is the form that programs read, in `commands/output.schema.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from checker.core.engines.reference import ReferenceEngine
from checker.core.search.allowance import Allowance
from checker.core.traces.trace import Trace
from checker.lab.explanations.moments import Decision, decision
from checker.lab.explanations.preventions import Prevention, recognised, tried
from checker.lab.explanations.searches import SECONDS, STATES, searchable, searched
from checker.lab.explanations.text import (
    because,
    decided,
    entry_words,
    headline,
    prevented,
    title_words,
    where,
)
from checker.lab.explanations.whereabouts import Place, near, place_of
from checker.telling.report.paragraphs import paragraphs
from checker.telling.report.why import Link, Told, Value, Why, why
from model.language.errors import LimitError
from model.language.naming import instance_words
from model.protocols import action_sources


@dataclass(frozen=True)
class Explanation:
    """What is known of why a trace is possible.

    `preventions` come in the order of how much they explain, `without_effect` are changes with
    which the trace still shows what it shows. `why` is none where the protocol cannot be captured.
    `actions` are where the actions of the trace are, `judged` where its property is.
    """

    trace: Trace
    preventions: tuple[Prevention, ...]
    without_effect: tuple[str, ...]
    why: Why | None
    decision: Decision | None
    actions: dict[str, Place | None] = field(default_factory=dict)
    judged: Place | None = None

    @property
    def instance_of(self) -> Prevention | None:
        """The change that mends the entry of the catalogue that is most like this trace."""
        first = self.preventions[0] if self.preventions else None
        return first if first is not None and first.candidate.entries else None

    def text(self, width: int) -> str:
        """All of it in lines of the width."""
        blocks = (
            headline(self.trace, self.instance_of),
            prevented(self.trace, self.preventions, self.without_effect),
            because(self.trace, self.why),
            decided(self.decision),
            where(self.trace, self.judged, self.actions, self.preventions),
        )
        return paragraphs(blocks, width)

    def __str__(self) -> str:
        """The text that the command shows, in 80 columns."""
        return self.text(80)


def explain(
    trace: Trace,
    search: bool = True,
    budget: Allowance | None = None,
    on_search: Callable[[str], None] = lambda _: None,
    stops: Callable[[Callable[[], None]], None] = lambda _: None,
) -> Explanation:
    """The explanation of a trace that passed `check_trace`.

    Without `search` no search is made, nor a graph built: what is left takes a second at most.
    `on_search` is told what is searched next, `stops` is handed what ends that soon.
    """
    reason = why(trace)
    found, without = tried(trace, reason)
    prop, limit = searchable(trace), budget or Allowance(SECONDS, STATES)
    moment = None
    for place, prevention in enumerate(list(found) if search and prop is not None else ()):
        on_search(prevention.candidate.words)
        assert prop is not None
        with suppress(LimitError):  # nothing is left then
            said = searched(prevention.candidate, prop, limit, stops)
            found[place] = replace(prevention, search=said)
        if place == 0:
            on_search("when it was decided")
            moment = decision(trace, limit, stops)
    if search and moment is None:
        moment = decision(trace, limit, stops)
    sources = action_sources(trace.model.protocol)
    actions = {
        step.action.name: place_of(step.action.function, sources.get(step.action.name))
        for step in trace.steps
    }
    about = trace.claim if trace.rounds is None else trace.rounds.promise
    judged = place_of(about.claim) if about is not None else None
    return Explanation(trace, tuple(found), without, reason, moment, actions, judged)


def recognised_words(trace: Trace, *, with_change: bool = True) -> str:
    """Which entry of the catalogue a trace is an instance of, in a sentence; empty if of none.

    Without the change that prevents it where that is told elsewhere, and whether one can have it.
    """
    has_end = trace.claim is not None and trace.rounds is None
    found = recognised(trace) if has_end else None
    if found is None:
        return ""
    words = entry_words(found) if with_change else title_words(found)
    return f"This is {words}. `highwater explain TRACE` says more."


# --- for programs --------------------------------------------------------------------------------


def as_data(explanation: Explanation) -> dict[str, Any]:
    """The explanation as plain data, for JSON."""
    trace, reason = explanation.trace, explanation.why
    engine = ReferenceEngine(trace.model)
    instance = explanation.instance_of
    steps = []
    for number, (state, step) in enumerate(zip(trace.states, trace.steps, strict=False), 1):
        place = explanation.actions.get(step.action.name)
        needed = None if reason is None or reason.needless is None else True
        links: Sequence[Link] = () if reason is None else reason.links[number - 1]
        steps.append({
            "number": number,
            "step": instance_words(trace.model, step),
            "words": engine.words(state, step),
            **_of_place(place),
            "needed": needed and number not in (reason.needless or ()) if reason else None,
            "because": [_of_link(link) for link in links],
        })  # fmt: skip
    return {
        "depth": trace.depth,
        "explanation": trace.explanation,
        "instance_of": None if instance is None else {
            "change": instance.candidate.words,
            "step": instance.effect.step,
            **asdict(instance.candidate.entries[0]),
        },
        "prevented_by": [_of_prevention(prevention) for prevention in explanation.preventions],
        "without_effect": list(explanation.without_effect),
        "failed": None if reason is None else [_of_told(told) for told in reason.failed],
        "steps": steps,
        "end": [] if reason is None else [_of_link(link) for link in reason.end],
        "judged": _of_place(explanation.judged) if explanation.judged else None,
        "decision": asdict(explanation.decision) if explanation.decision else None,
    }  # fmt: skip


def _of_prevention(prevention: Prevention) -> dict[str, Any]:
    candidate, effect, source = prevention.candidate, prevention.effect, prevention.source
    impossible, otherwise = effect.impossible, effect.otherwise
    return {
        "change": candidate.words,
        "kind": str(candidate.kind),
        "settings": dict(candidate.settings),
        "protocol": candidate.model.protocol.name,
        "source": asdict(source) if source else None,
        "entries": [asdict(entry) for entry in candidate.entries],
        "step": effect.step,
        "otherwise": None if otherwise is None else {
            "step": otherwise.step,
            "values": [asdict(value) for value in otherwise.values],
            "instead_of": [asdict(value) for value in otherwise.instead_of],
        },
        "impossible": None if impossible is None else {
            "step": impossible.step,
            "words": impossible.words,
            "file": near(impossible.place[0]) if impossible.place else None,
            "line": impossible.place[1] if impossible.place else None,
            "false": [_of_told(told) for told in impossible.false],
            "switched_off": impossible.switched_off,
        },
        "holds": effect.holds,
        "search": None if prevention.search is None else {
            **asdict(prevention.search), "verdict": str(prevention.search.verdict),
        },
    }  # fmt: skip


def _of_place(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {"file": None, "line": None, "kafka": None}
    kafka = place.source.place if place.source else None
    return {"file": place.file, "line": place.line, "kafka": kafka}


def _of_link(link: Link) -> dict[str, Any]:
    return {"step": link.step, "left": [asdict(value) for value in link.left]}


def _of_told(told: Told) -> dict[str, Any]:
    values: Sequence[Value] = told.values
    return {
        "members": list(told.members),
        "values": [asdict(value) for value in values],
        "expression": told.expression,
    }
