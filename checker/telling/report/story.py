"""What a report tells of a trace, whatever its form: header, changes, lanes, and the ending."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from checker.core.amounts import counted
from checker.core.engines.reference import ReferenceEngine, State
from checker.core.traces.lasso import Rounds, round_words
from checker.core.traces.trace import Trace, TraceVerdict
from checker.telling.report.lanes import Lane, derives_mark, lanes_of, marked
from checker.telling.report.places import LogPlace, Owner, Place, ScalarPlace, places_of
from checker.telling.report.why import Why, why
from model.language import Model
from model.language.declare.settings import as_text
from model.language.naming import bounds_words, settings_words, system_words, usual_presets

LOGS = "logs: {entries}, | at the HW; presumed: leads in its own view only"
NOT_NEEDED = "(not needed)"
LEFT_OUT = "left out: what stays 0, none, false or empty, or cannot change"


@dataclass(frozen=True)
class Change:
    """A value that a step changed, from `before`, or from nothing, to `after`."""

    owner: str
    name: str
    before: str | None
    after: str

    def words(self, arrow: str = "->") -> str:
        """The change in words, without its owner: `HW 0 -> 1`."""
        middle = f"{self.before} {arrow} " if self.before is not None else ""
        return f"{self.name} {middle}{self.after}"


@dataclass(frozen=True)
class Fact:
    """All that one owner without a lane holds in a state."""

    owner: str
    words: str


@dataclass(frozen=True)
class Moment:
    """A state, and the step that led there. Number 0 is the first state, with no step.

    `again`: the step is taken again and again, on the circle of a run for ever. `needless`: the end
    is the same without the step.
    """

    number: int
    words: str
    changes: tuple[Change, ...]
    lanes: tuple[Lane, ...]
    facts: tuple[Fact, ...]
    again: bool = False
    needless: bool = False

    @property
    def changed_lanes(self) -> tuple[Lane, ...]:
        """The lanes that the step changed."""
        return tuple(lane for lane in self.lanes if lane.changed)

    @property
    def changes_by_owner(self) -> dict[str, list[Change]]:
        """The changes, grouped by whose they are, in order."""
        grouped: dict[str, list[Change]] = {}
        for change in self.changes:
            grouped.setdefault(change.owner, []).append(change)
        return grouped


@dataclass(frozen=True)
class Story:
    """Everything that a report tells of a trace.

    `header` are pairs of a label and words; `ending` says what the last state shows, then why.
    `brokers` are the names of the lanes, or of all members where no protocol part has a log.
    `legend` explains what is not said in words. `why` is what the captured graph says of it, if it
    is about a property and the protocol can be captured.
    """

    title: str
    header: tuple[tuple[str, str], ...]
    moments: tuple[Moment, ...]
    ending: tuple[str, ...]
    brokers: tuple[str, ...]
    legend: tuple[str, ...]
    why: Why | None = None

    @property
    def circle(self) -> tuple[Moment, ...]:
        """The steps that a run for ever takes again and again; none of any other run."""
        return tuple(moment for moment in self.moments if moment.again)

    def is_last(self, moment: Moment) -> bool:
        """The moment is the last one, and not also the first."""
        return 0 < moment.number == len(self.moments) - 1

    @property
    def lane_widths(self) -> tuple[int, ...]:
        """The width of each column of lanes over the whole trace; 0 if it is always empty."""
        rows = [lane.columns for moment in self.moments for lane in moment.lanes]
        return tuple(max(map(len, column)) for column in zip(*rows, strict=True))


def tell(trace: Trace) -> Story:
    """The story of a trace, which should have passed `check_trace`."""
    every_place = places_of(trace.model)
    places = tuple(place for place in every_place if not _is_silent(place, trace.states))
    engine = ReferenceEngine(trace.model)
    first = "initial state"
    if trace.verdict == TraceVerdict.NOT_INDUCTIVE:
        first = "a state that may be unreachable"
    lanes = lanes_of(engine, places, trace.states[0])
    moments = [Moment(0, first, (), lanes, _facts(engine, places, trace.states[0]))]
    reason = why(trace) if trace.claim is not None else None
    needless = frozenset((reason.needless if reason is not None else None) or ())
    for number, instance in enumerate(trace.steps, 1):
        before, after = trace.states[number - 1 : number + 1]
        lanes = marked(moments[-1].lanes, lanes_of(engine, places, after))
        moments.append(
            Moment(
                number,
                engine.words(before, instance),
                _changes(engine, places, before, after),
                lanes,
                _facts(engine, places, after),
                trace.rounds is not None and number > trace.rounds.start,
                number in needless,
            )
        )
    owners = {place.owner for place in places if place.owner.family and not place.owner.row}
    brokers = sorted((o for o in owners if o.has_log), key=_order) or sorted(owners, key=_order)
    names = tuple(owner.name for owner in brokers)
    legend = [LOGS.format(entries=trace.model.protocol.telling.entries)] if lanes else []
    legend += [LEFT_OUT] if len(places) < len(every_place) else []
    return Story(
        _title(trace), _header(trace), tuple(moments), (*_ending(trace), *_why(reason)), names,
        tuple(legend), reason,
    )  # fmt: skip


def _is_silent(place: Place, states: Sequence[State]) -> bool:
    """A fact that is 0, none, false or empty in all states, or cannot be anything else."""
    if not _is_fact(place):
        return False
    fixed = place.cell.low == place.cell.high
    return fixed or all(place.is_nothing(state) for state in states)


def _is_fact(place: Place) -> TypeGuard[ScalarPlace]:
    """A scalar of no lane and no table, which the first and the last state tell."""
    owner = place.owner
    return isinstance(place, ScalarPlace) and not (owner.row or owner.has_log or place.counter)


def _order(owner: Owner) -> tuple[str, int]:
    return owner.family, owner.number


def _title(trace: Trace) -> str:
    """What the system does, where the claim says so; else what became of the property."""
    breach = "" if trace.claim is None else trace.claim.breach
    if breach and trace.verdict == TraceVerdict.VIOLATED:
        return f"{system_words(trace.model)} {breach} in {counted(trace.depth, 'step')}"
    about = f"{trace.property} is {_outcome(trace)}" if trace.property else _outcome(trace)
    return f"{trace.model.protocol.name}: {about}"


def _outcome(trace: Trace) -> str:
    steps = counted(trace.depth, "step")
    return {
        TraceVerdict.VIOLATED: f"violated after {steps}",
        TraceVerdict.REACHED: f"reached after {steps}",
        TraceVerdict.NOT_INDUCTIVE: f"not inductive: {steps} from a state that may be unreachable",
        TraceVerdict.DEADLOCK: f"deadlock after {steps}",
        TraceVerdict.UNFULFILLED: f"violated for ever after {steps}",
        TraceVerdict.RUN: f"a run of {steps}",
    }[TraceVerdict(trace.verdict)]


def _header(trace: Trace) -> tuple[tuple[str, str], ...]:
    model = trace.model
    settings = ", ".join(settings_words(model)) or _defaults_words(model)
    about = trace.claim if trace.rounds is None else trace.rounds.promise
    pairs = [
        ("protocol", f"{model.protocol.name}: {model.protocol.words}"),
        ("settings", settings if as_text(model.settings) else ""),
        ("bounds", bounds_words(model.bounds)),
        ("property", f"{about.name}: {about.words}" if about else ""),
        ("verdict", _outcome(trace)),
    ]
    return tuple((label, words) for label, words in pairs if words)


def _defaults_words(model: Model) -> str:
    presets = usual_presets(model)
    return "all at their defaults" + (f", those of {', '.join(presets)}" if presets else "")


def _ending(trace: Trace) -> tuple[str, ...]:
    if trace.rounds is not None:
        return _ending_of_rounds(trace, trace.rounds)
    if trace.claim is None:
        return (trace.explanation,) if trace.explanation else ()
    head = f"{trace.claim.name} is {_outcome(trace)}: {trace.claim.words}."
    if trace.explanation == trace.claim.words:
        return (head,)
    return head, f"{trace.explanation}."


def _why(reason: Why | None) -> tuple[str, ...]:
    return () if reason is None else reason.lines


def _ending_of_rounds(trace: Trace, rounds: Rounds) -> tuple[str, ...]:
    of_whom = f" for {rounds.member}" if rounds.member else ""
    head = f"{rounds.promise.name} is violated{of_whom}: {rounds.promise.words}."
    engine = ReferenceEngine(trace.model)
    return head, *round_words(engine, trace.states, trace.steps, rounds)


def _changes(
    engine: ReferenceEngine, places: Iterable[Place], before: State, after: State
) -> tuple[Change, ...]:
    model = engine.model
    blank = _blank_rows(places, before)
    shown: list[Change] = []
    counters: list[Change] = []
    for place in places:
        if isinstance(place, LogPlace):
            shown += _log_changes(model, place, before, after)
        elif before[place.cell.position] != after[place.cell.position]:
            old = None if place.owner in blank else place.words(model, before)
            change = Change(place.owner.name, place.name, old, place.words(model, after))
            (counters if place.counter else shown).append(change)
    shown += _derived_changes(engine, before, after)
    return tuple(shown or counters)


def _blank_rows(places: Iterable[Place], state: State) -> set[Owner]:
    """The rows of tables in which nothing is stored yet."""
    used = {place.owner for place in places if not place.is_blank(state)}
    return {place.owner for place in places if place.owner.row} - used


def _log_changes(model: Model, place: LogPlace, before: State, after: State) -> list[Change]:
    """What a log lost and gained behind the longest start that both states share."""
    old = [entry.text for entry in place.entries(model, before)]
    new = [entry.text for entry in place.entries(model, after)]
    shared = 0
    while shared < min(len(old), len(new)) and old[shared] == new[shared]:
        shared += 1
    return [
        Change(place.owner.name, f"{place.name} {sign}", None, " ".join(texts))
        for sign, texts in (("-", old[shared:]), ("+", new[shared:]))
        if texts
    ]


def _derived_changes(engine: ReferenceEngine, before: State, after: State) -> list[Change]:
    root = engine.model.schema.root.view_class.__name__.lower()
    old, new = _derived(engine, before), _derived(engine, after)
    return [Change(root, name, old[name], new[name]) for name in old if old[name] != new[name]]


def _derived(engine: ReferenceEngine, state: State) -> dict[str, str]:
    """The mark, where the protocol derives it from the whole state."""
    telling = engine.model.protocol.telling
    if not derives_mark(engine.model):
        return {}
    return {telling.called(telling.mark): str(getattr(engine.view(state), telling.mark))}


def _facts(engine: ReferenceEngine, places: Iterable[Place], state: State) -> tuple[Fact, ...]:
    words: dict[str, list[str]] = {}
    for place in places:
        if _is_fact(place):
            words.setdefault(place.owner.name, []).append(
                f"{place.name} {place.words(engine.model, state)}"
            )
    root = engine.model.schema.root.view_class.__name__.lower()
    for name, value in _derived(engine, state).items():
        words.setdefault(root, []).append(f"{name} {value}")
    return tuple(Fact(owner, ", ".join(parts)) for owner, parts in words.items())
