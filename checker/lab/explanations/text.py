"""The parts of an explanation as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from checker.core.amounts import counted
from checker.core.engines.reference import ReferenceEngine
from checker.core.search.limits import who_stopped
from checker.core.traces.trace import Trace
from checker.core.verdict import Verdict
from checker.lab.explanations.candidates import Kind
from checker.lab.explanations.effects import Effect, Impossible
from checker.lab.explanations.moments import Decision
from checker.lab.explanations.preventions import Prevention
from checker.lab.explanations.remedies import remedy_words
from checker.lab.explanations.searches import Searched
from checker.lab.explanations.whereabouts import Place, near
from checker.telling.report.why import Link, Told, Why, grouped, steps_words
from model.protocols import releases_with

_LONGEST = 120
"""Characters of an expression that is shown; of longer ones the values say enough."""

_RISKS = {
    "safe": "no run from there comes to a loss",
    "possible": "a loss can still be avoided",
    "certain": "every fair run from there comes to a loss",
    "lost": "lost",
    "unknown": "not known",
}


def headline(trace: Trace, instance_of: Prevention | None) -> Iterator[str]:
    """What the trace shows, and which entry of the catalogue it is an instance of."""
    about = f"{trace.property}, " if trace.property else ""
    steps = counted(trace.depth, "step")
    yield f"{trace.model.protocol.name}: {about}{trace.verdict} after {steps}"
    if trace.explanation:
        yield f"{trace.explanation}"
    if instance_of is not None:
        yield entry_words(instance_of)


def entry_words(prevention: Prevention) -> str:
    """Which entry of the catalogue a trace is an instance of, and what prevents it at what step."""
    at, remedy = _at(prevention.effect), remedy_words(prevention.candidate)
    return f"{title_words(prevention)}: prevented {at} {remedy}"


def title_words(prevention: Prevention) -> str:
    """Which entry of the catalogue a trace is an instance of."""
    entry = prevention.candidate.entries[0]
    return f'an instance of "{entry.title}" ({entry.source})'


def _at(effect: Effect) -> str:
    return f"at step {effect.step}" if effect.step is not None else "on the same run"


# --- what would have prevented it ----------------------------------------------------------------


def prevented(
    trace: Trace, preventions: Sequence[Prevention], without_effect: Sequence[str]
) -> Iterator[str]:
    """The changes that prevent the trace."""
    told = [p for p in preventions if _is_told(p)]
    rest = [p for p in preventions if not _is_told(p)]
    if not preventions:
        tried = f" ({len(without_effect)} tried)" if without_effect else ""
        yield f"no other setting and no other protocol prevents it{tried}"
        return
    yield "what would have prevented it"
    for prevention in told:
        yield from _one(trace, prevention)
    if rest:
        listed = ", ".join(f"{p.candidate.words} ({_at(p.effect)}{_short(p.search)})" for p in rest)
        yield f"  also {'' if told else 'only '}with another choice: {listed}"


def _is_told(prevention: Prevention) -> bool:
    return bool(prevention.candidate.entries) or prevention.candidate.kind is not Kind.CHOICE


def _one(trace: Trace, prevention: Prevention) -> Iterator[str]:
    candidate, source = prevention.candidate, prevention.source
    about = []
    if candidate.kind is Kind.PROTOCOL:
        about.append(candidate.model.protocol.words)
    if source is not None:
        ((name, value),) = candidate.settings.items()
        releases = releases_with(candidate.model.protocol, name, value)
        if releases is not None:
            about.append(f"in Kafka {releases}" if releases else "in no release of Kafka")
        about += [source.issues] if source.issues else []
    yield f"  {candidate.words}" + (f": {'; '.join(about)}" if about else "")
    yield f"    {_effect(trace, prevention.effect)}"
    if prevention.search is not None:
        yield f"    {_search(prevention.search, trace.depth)}"
    for entry in candidate.entries[:3]:
        yield f'    prevents {entry.case}: "{entry.title}"'
    if len(candidate.entries) > 3:
        yield f"    and {len(candidate.entries) - 3} more cases"


def _effect(trace: Trace, effect: Effect) -> str:
    engine = ReferenceEngine(trace.model)
    parts = []
    if effect.otherwise is not None:
        step = effect.otherwise.step
        words = engine.words(trace.states[step - 1], trace.steps[step - 1])
        left = grouped(effect.otherwise.values)
        instead = grouped(effect.otherwise.instead_of)
        differs = f": {left}; instead of {instead}" if left and instead else ""
        parts.append(f"step {step}, {words}, differs{differs}")
    if effect.impossible is not None:
        step = effect.impossible.step
        words = engine.words(trace.states[step - 1], trace.steps[step - 1])
        so = "so that " if parts else ""
        parts.append(f"{so}step {step}, {words}, is not possible{_reason(effect.impossible)}")
    elif effect.holds:
        parts.append(f"all steps are possible, and {trace.property or 'it'} is not violated")
    return "; ".join(parts)


def _reason(impossible: Impossible) -> str:
    if impossible.words:
        return f": {impossible.words}"
    place = f" ({near(impossible.place[0])}:{impossible.place[1]})" if impossible.place else ""
    if impossible.switched_off:
        return f": it is switched off{place}"
    return "".join([f": {_told(told)}" for told in impossible.false[:1]]) + place


def _told(told: Told) -> str:
    values = grouped(told.values)
    if len(told.expression) > _LONGEST:
        return values
    return f"it requires {told.expression}, and {values}"


def _search(search: Searched, depth: int) -> str:
    states = f"{search.states:,} states"
    match search.verdict:
        case Verdict.EXHAUSTED if search.vacuous:
            return f"searched: not tested, as no state makes its premise true ({states})"
        case Verdict.EXHAUSTED:
            return f"searched: safe in every reachable state within the bounds ({states})"
        case Verdict.VIOLATED:
            more = search.depth - depth
            later = f", {abs(more)} {'more' if more > 0 else 'fewer'}" if more else ""
            return f"searched: violated another way, after {counted(search.depth, 'step')}{later}"
        case _:
            return (
                f"searched: stopped by {who_stopped(search.stopped)}; safe for "
                f"{counted(search.depth, 'step')} ({states})"
            )


def _short(search: Searched | None) -> str:
    if search is None:
        return ""
    match search.verdict:
        case Verdict.EXHAUSTED:
            return ", vacuous" if search.vacuous else ", safe"
        case Verdict.VIOLATED:
            return f", broken after {search.depth}"
        case _:
            return f", safe for {search.depth}"


# --- because -------------------------------------------------------------------------------------


def because(trace: Trace, reason: Why | None) -> Iterator[str]:
    """Which earlier steps each step needed; `reason` is none where that is not known."""
    if reason is None:
        yield "what it needed is not known: the protocol cannot be captured"
        return
    engine = ReferenceEngine(trace.model)
    yield "because"
    for number, (state, step) in enumerate(zip(trace.states, trace.steps, strict=False), 1):
        mark = " (not needed)" if number in (reason.needless or ()) else ""
        yield f"{number:>4}  {engine.words(state, step)}{mark}"
        yield from _links(reason.links[number - 1])
    for told in reason.failed:
        yield f"      {told.words}"
    if reason.end:
        yield " end"
        yield from _links(reason.end)
    if reason.needless:
        yield f"  without {steps_words(reason.needless)} it ends the same way, as a replay confirms"


def _links(links: Iterable[Link]) -> Iterator[str]:
    for link in links:
        yield f"        by {link.step}: {grouped(link.left)}"


# --- the moment, and the places ------------------------------------------------------------------


def decided(decision: Decision | None) -> Iterator[str]:
    """From which step on a loss was possible, and certain."""
    if decision is None:
        return
    if decision.left_out:
        yield f"when it was decided is not known: {decision.left_out}"
        return
    yield f"when it was decided, of {decision.states:,} states"
    first = 0
    for risk, states in groupby(decision.risks):
        last = first + len(list(states)) - 1
        where = f"after {steps_words(range(max(first, 1), last + 1))}" if last else "at first"
        if last > first + 1:
            where = f"after steps {max(first, 1)} to {last}"
        left = decision.to_loss[last]
        near_by = f", the nearest in {counted(left, 'step')} after step {last}" if left else ""
        yield f"  {'at first and ' if last and not first else ''}{where}: {_RISKS[risk]}{near_by}"
        first = last + 1
    avoidable = decision.last_avoidable
    if avoidable is None:
        yield "  no step of it decides a loss"
    elif avoidable < 0:
        yield "  a loss was certain from the beginning"
    else:
        yield f"  step {avoidable + 1} decides it"


def where(
    trace: Trace,
    judged: Place | None,
    actions: Mapping[str, Place | None],
    preventions: Sequence[Prevention],
) -> Iterator[str]:
    """Where the property and the actions are, and where to read on."""
    yield "where"
    if judged is not None:
        yield f"  {trace.property or 'the property'}: {_of(judged)}"
    for name, place in actions.items():
        if place is not None:
            yield f"  {name}: {_of(place)}"
    entries = [e for p in preventions for e in p.candidate.entries[:1]]
    yield from (f"  {link}" for link in dict.fromkeys(li for e in entries for li in e.links))


def _of(place: Place) -> str:
    kafka = f", {place.source.place}" if place.source is not None else ""
    issues = f" ({place.source.issues})" if place.source is not None and place.source.issues else ""
    return f"{place.file}:{place.line}{kafka}{issues}"
