"""Why a trace ends as it does, in words: what is false by which values, and which steps it needs.

The cheap part of an explanation, which every trace is shown with; `checker.lab.explanations` has
what takes longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from checker.core.engines.reference import State
from checker.core.traces.trace import Trace
from checker.telling.causes.failures import Failure, failures_of
from checker.telling.causes.reasons import Reads
from checker.telling.causes.slices import Cause, Slice, slice_of
from checker.telling.report.places import Place, ScalarPlace, places_of
from model.language import Model
from model.language.declare.domains import Integers
from model.language.errors import CaptureError
from model.language.graph import Infix, Node, Op
from model.language.naming import domain_words, member_name


@dataclass(frozen=True)
class Value:
    """What somebody held: `b0`, `HW`, `1`."""

    owner: str
    name: str
    value: str

    @property
    def words(self) -> str:
        """The value without its owner."""
        return f"{self.name} {self.value}".strip()


@dataclass(frozen=True)
class Link:
    """An earlier step, by its number from 1, and what it left behind that was needed."""

    step: int
    left: tuple[Value, ...]


@dataclass(frozen=True)
class Told:
    """A conjunct that is false: for which members, by which values, and as an expression."""

    members: tuple[str, ...]
    values: tuple[Value, ...]
    expression: str

    @property
    def words(self) -> str:
        """The members, places in logs and values in a sentence."""
        places = [name for name in self.members if name.endswith("]")]
        members = [name for name in self.members if name not in places]
        of = f" for {listed(members)}" if members else ""
        at = f" at {listed(places)}" if places else ""
        values = f" ({grouped(self.values)})" if self.values else ""
        return f"It fails{of}{at}{values}."


@dataclass(frozen=True)
class Why:
    """What the captured graph says of a trace.

    `links` has for each step the earlier ones that it needed, `end` those that the end needed.
    `needless` are the steps that the end does not need, none if it needs all; `None` of a run that
    is not about anything. `failed` are the conjuncts that are false. `slice` is all of it by cells.
    """

    links: tuple[tuple[Link, ...], ...]
    end: tuple[Link, ...]
    needless: tuple[int, ...] | None
    failed: tuple[Told, ...]
    slice: Slice

    @property
    def lines(self) -> tuple[str, ...]:
        """A paragraph for the end of a report; none of a run that is not about anything."""
        if self.needless is None:
            return ()
        made = [link.step for link in self.end]
        found = [told.words for told in self.failed[:1]]
        if made:
            found.append(f"{steps_words(made).capitalize()} caused this.")
        if self.needless:
            found.append(f"It ends the same way without {steps_words(self.needless)}.")
        return (" ".join(found),) if found else ()


def why(trace: Trace) -> Why | None:
    """What the captured graph says of a trace; `None` of a protocol that cannot be captured."""
    try:
        found, failures = slice_of(trace), failures_of(trace)
    except CaptureError:
        return None
    words = CellWords(trace.model)

    def links(causes: Iterable[Cause]) -> tuple[Link, ...]:
        """What each cause left behind, in the state after it."""
        return tuple(Link(c.step, words.values(c.cells, trace.states[c.step])) for c in causes)

    return Why(
        tuple(map(links, found.causes)),
        links(found.end),
        None if found.needed is None else found.needless,
        tuple(words.told(failure, trace.evidence) for failure in failures),
        found,
    )


def grouped(values: Iterable[Value]) -> str:
    """Values by their owners: `b0: HW 1, LEO 2; b1: HW 0`."""
    by_owner: dict[str, list[str]] = {}
    for value in values:
        by_owner.setdefault(value.owner, []).append(value.words)
    return "; ".join(f"{owner}: {', '.join(words)}" for owner, words in by_owner.items())


def steps_words(numbers: Iterable[int]) -> str:
    """`step 3`, or `steps 3, 5 and 8`."""
    found = list(map(str, numbers))
    return f"step{'s' if len(found) > 1 else ''} {listed(found)}"


def listed(names: Sequence[str]) -> str:
    """Names in a clause: `3, 5 and 8`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


class CellWords:
    """The words for what a model's cells hold: whose it is, its name, its value."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._places: dict[int, tuple[int, Place]] = {}
        for order, place in enumerate(places_of(model)):
            for position in _positions(place):
                self._places[position] = order, place

    def values(self, cells: Iterable[int], state: State) -> tuple[Value, ...]:
        """What the cells hold in a state, in the order of the state; a log's records at once.

        Cells that no action changes are left out, as in states: they tell nothing of this run.
        """
        found: dict[int, tuple[Place, list[int]]] = {}
        for position in cells:
            if self._model.cells[position].variable.name in self._model.unchanging:
                continue
            order, place = self._places[position]
            found.setdefault(order, (place, []))[1].append(position)
        return tuple(self._value(*found[order], state) for order in sorted(found))

    def _value(self, place: Place, positions: list[int], state: State) -> Value:
        if isinstance(place, ScalarPlace):
            return Value(place.owner.name, place.name, place.words(self._model, state))
        if positions == [place.end.position]:
            return Value(
                place.owner.name, self._model.protocol.telling.end, str(state[place.end.position])
            )
        entries = " ".join(entry.text for entry in place.entries(self._model, state))
        return Value(place.owner.name, place.name, f"[{entries}]")

    def told(self, failure: Failure, evidence: Sequence[State]) -> Told:
        """A conjunct that is false in a state, or in the two of a step, in words."""
        names = {node: self._member(node, number) for node, number in failure.members.items()}
        members = tuple(dict.fromkeys(names.values()))
        values = self._read(failure.reads, evidence)
        names |= self._compared(failure.conjunct, names)
        return Told(members, values, Infix(names).words(failure.conjunct))

    def _compared(self, node: Node, names: Mapping[Node, str]) -> dict[Node, str]:
        """Words for comparisons of variables with numbers that have names there: `vote = none`."""
        found: dict[Node, str] = {}
        negated = node.op is Op.NOT
        equal = node.args[0] if negated else node
        if equal.op is Op.EQ:
            read, constant = Infix().in_order(equal.args)
            variable = str(read.data[0]) if read.op is Op.READ else ""
            domain = self._model.schema.variables[variable].domain if variable else None
            if constant.op is Op.CONST and isinstance(domain, Integers):
                value = domain_words(self._model, domain, int(constant.data))
                sign = "!=" if negated else "="
                found[node] = f"{Infix(names).words(read)} {sign} {value}"
        for part in node.args:
            found |= self._compared(part, names)
        return found

    def _read(self, reads: Reads, evidence: Sequence[State]) -> tuple[Value, ...]:
        """What was read: of a step, with an arrow where its two states are read and differ."""
        frames = [
            self.values([p for f, p in reads if f == frame], state)
            for frame, state in enumerate(evidence)
        ]
        if len(frames) == 1:
            return frames[0]
        before, after = ({(v.owner, v.name): v.value for v in values} for values in frames)
        return tuple(
            Value(*key, _from_to(key, before, after)) for key in dict.fromkeys((*before, *after))
        )

    def _member(self, variable: Node, number: int) -> str:
        family = variable.data[1]
        if family in self._model.schema.families:
            return member_name(self._model, family, number)
        if "(" in family:  # a number that is a parameter
            return str(number)
        return f"{family.split('.')[-2] if '.' in family else family}[{number}]"


def _from_to(
    key: tuple[str, str], before: Mapping[tuple[str, str], str],
    after: Mapping[tuple[str, str], str],
) -> str:  # fmt: skip
    values = dict.fromkeys(frame[key] for frame in (before, after) if key in frame)
    return " -> ".join(values)


def _positions(place: Place) -> Iterable[int]:
    if isinstance(place, ScalarPlace):
        return [place.cell.position]
    cells = [cell.position for record in place.records for _, cell in record]
    return [place.end.position, *cells]
