"""What a page shows, as plain data: runs, their states and messages, and where properties fall.

The pages' JavaScript knows nothing of protocols; this module knows nothing of how things look. Of
states after the first only what changed is written: a page of 500 steps stays small.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checker.core.engines.reference import ReferenceEngine, State
from checker.core.traces.lasso import Rounds, case_of
from checker.core.traces.trace import Trace
from checker.telling.report.lanes import (
    Lane,
    derives_mark,
    find_attribute,
    lanes_of,
    name_of_truth,
)
from checker.telling.report.places import (
    LogPlace,
    Place,
    ScalarPlace,
    nothing_in,
    places_of,
)
from checker.telling.report.space_time import Message, SpaceTime
from checker.telling.report.why import Why, grouped
from model.language import Model
from model.language.naming import value_words
from model.language.protocol import Instance
from properties import Property, Sense, promised_properties

GOLDEN_ANGLE = 137.508
"""Degrees between the hues of neighbouring actions: however many there are, they differ."""


class PageData:
    """The plain data of one model's states and runs."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.engine = ReferenceEngine(model)
        self.space = SpaceTime(model)
        self._telling = model.protocol.telling
        self._places = places_of(model)
        self._listed = tuple(place for place in self._places if self._is_listed(place))
        self._truth = name_of_truth(self._telling, model.schema.root)
        self._marks = _Marks(model)
        self._root_name = model.schema.root.view_class.__name__.lower()
        self._derives_mark = derives_mark(model)

    # --- what stays the same -----------------------------------------------------------------

    def outline(self) -> dict[str, Any]:
        """Lanes, actions with their hues, and the owner and name of each listed value."""
        owners = list(dict.fromkeys(place.owner.name for place in self._listed))
        if self._derives_mark:
            owners = list(dict.fromkeys([*owners, self._root_name]))
        return {
            "members": list(self.space.members),
            "hues": self.hues(),
            "owners": owners,
            "places": [
                [owners.index(place.owner.name), place.name, self._nothing(place)]
                for place in self._listed
            ]
            + (
                [[owners.index(self._root_name), self._telling.called(self._telling.mark), "0"]]
                if self._derives_mark
                else []
            ),
        }

    def _nothing(self, place: Place) -> str:
        """The words for 0, none, false or empty there; no words if nothing there is that."""
        if isinstance(place, LogPlace):
            return "[]"
        nothing = nothing_in(place.cell)
        return "" if nothing is None else value_words(self.model, place.cell, nothing)

    def hues(self) -> dict[str, int]:
        """A hue for each action, in degrees: the same on every page of the protocol."""
        names = [action.name for action in self.model.protocol.actions]
        return {name: round(k * GOLDEN_ANGLE) % 360 for k, name in enumerate(names)}

    def _is_listed(self, place: Place) -> bool:
        if isinstance(place, ScalarPlace):
            laid_out = place.owner.has_log and place.name in self._telling.laid_out
            return place.cell.low < place.cell.high and not laid_out
        return not self._is_drawn(place)

    def _is_drawn(self, place: Place) -> bool:
        """The place is the log that its owner's card draws: the first one."""
        first = next(p for p in self._places if isinstance(p, LogPlace) and p.owner == place.owner)
        return place.owner.has_log and place is first

    # --- a state -----------------------------------------------------------------------------

    def state(self, state: State) -> dict[str, Any]:
        """All of a state: listed values in words, a card for each broker, and who leads."""
        lanes = lanes_of(self.engine, self._places, state)
        marks = self._marks.of(state)
        drawn = {p.owner.name: p for p in self._places if isinstance(p, LogPlace)
                 and self._is_drawn(p)}  # fmt: skip
        return {
            "v": [self._words(place, state) for place in self._listed]
            + (
                [str(getattr(self.engine.view(state), self._telling.mark))]
                if self._derives_mark
                else []
            ),
            "c": {lane.name: self._card(lane, drawn[lane.name], state, marks) for lane in lanes},
            "l": self._leaders(state),
        }

    def _words(self, place: Place, state: State) -> str:
        if isinstance(place, ScalarPlace):
            return place.words(self.model, state)
        return f"[{' '.join(entry.text for entry in place.entries(self.model, state))}]"

    def _card(self, lane: Lane, place: LogPlace, state: State, marks: _Seen) -> dict[str, Any]:
        log = []
        for offset, entry in enumerate(lane.entries):
            record = next(
                (state[cell.position] for name, cell in place.records[offset] if name == "id"), None
            )
            log.append([entry.text, entry.epoch, *marks.of(offset, record)])
        return {
            "role": lane.role,
            "epoch": lane.epoch,
            "hw": lane.high_watermark,
            "leo": lane.end,
            "isr": lane.isr,
            "voters": lane.voters,
            "log": log,
        }

    def _leaders(self, state: State) -> list[list[str]]:
        """Who leads, and in which epoch, according to the keeper and to each member."""
        root = self.engine.view(state)
        views = [] if self._truth is None else [
            (self._truth_words(self._truth), getattr(root, self._truth))
        ]  # fmt: skip
        for family, record in self.model.schema.families.items():
            if record.index_set.symmetric and self._telling.leader in record.item.fields:
                views += [(str(member), member) for member in getattr(root, family)]
        found = []
        for name, view in views:
            leader = getattr(view, self._telling.leader)
            epoch = find_attribute(view, self._telling.epoch)
            down = find_attribute(view, self._telling.up) is False
            told = "" if epoch is None or epoch < 0 else str(epoch)
            said = "down" if down else "nobody" if leader is None else str(leader)
            found.append([name, said, told])
        return found

    def _truth_words(self, name: str) -> str:
        lane = self._telling.lane(name)
        return self._telling.called(name) if lane == name else lane

    # --- a run -------------------------------------------------------------------------------

    def run(
        self,
        states: Sequence[State],
        steps: Sequence[Instance],
        properties: Iterable[Property] = (),
        rounds: Rounds | None = None,
    ) -> dict[str, Any]:
        """A run: its outline, its steps, its states as changes, and its properties.

        Clients that take part in no step have no lane.
        """
        told = [self.state(state) for state in states]
        messages = self.space.messages(states, steps)
        taken = [self._step(states[number], instance) for number, instance in enumerate(steps)]
        there = {
            *self.space.members,
            self._telling.keeper,
            *(name for step in taken for name in step["who"]),
        }
        return {
            **self.outline(),
            "lanes": [name for name in self.space.lanes if name in there],
            "steps": taken,
            "messages": [_message(message) for message in messages],
            "states": [told[0], *map(difference, told, told[1:])],
            "properties": [
                *(self._fall(claim, states) for claim in properties),
                *([self._promise(states, rounds)] if rounds is not None else []),
            ],
            "loop": None if rounds is None else rounds.start,
        }

    def _step(self, before: State, instance: Instance) -> dict[str, Any]:
        return {
            "words": self.engine.words(before, instance),
            "action": instance.action.name,
            "who": [name for name in self.space.actors(instance) if name in self.space.lanes],
        }

    def _fall(self, claim: Property, states: Sequence[State]) -> dict[str, Any]:
        """A property, and the states in which it is false; for one of steps, those they lead to."""
        false = [
            number
            for number in range(claim.frames - 1, len(states))
            if not self.engine.holds(claim.claim, *states[number - claim.frames + 1 : number + 1])
        ]
        return {"name": claim.name, "words": claim.words, "false": false}

    def _promise(self, states: Sequence[State], rounds: Rounds) -> dict[str, Any]:
        case = case_of(self.model, rounds)
        assert case is not None
        owing = range(rounds.start, len(states))
        false = [number for number in owing if not self.engine.holds(case.claim, states[number])]
        name = f"{rounds.promise.name}{f' for {rounds.member}' if rounds.member else ''}"
        return {"name": name, "words": rounds.promise.words, "false": false, "ever": True}


def trace_data(trace: Trace, reason: Why | None = None) -> dict[str, Any]:
    """The data of a trace's page. `reason` is why it ends as it does, if that is known.

    `causes` are for each step the earlier ones that it needed, each with what they left behind,
    `spare` the steps that the end does not need.
    """
    known = enumerate(reason.links if reason is not None else (), 1)
    return {
        **PageData(trace.model).run(trace.states, trace.steps, judged(trace), trace.rounds),
        "causes": {
            str(step): [[link.step, grouped(link.left)] for link in links]
            for step, links in known
            if links
        },
        "spare": list((reason.needless if reason is not None else None) or ()),
    }


def judged(trace: Trace) -> tuple[Property, ...]:
    """What a trace's page follows: all that should always hold, and what the trace is about."""
    claims = [c for c in promised_properties(trace.model) if c.sense is Sense.ALWAYS]
    about = trace.claim
    if about is not None and about.sense is Sense.ALWAYS and about not in claims:
        claims.insert(0, about)
    return tuple(claims)


def _message(message: Message) -> dict[str, Any]:
    return {
        "from": message.sender,
        "to": message.receiver,
        "sent": message.sent,
        "received": message.received,
        "answer": message.answer,
        "taken": message.taken,
    }


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What of a state is not as it was: values by place, cards by name."""
    changed: dict[str, Any] = {
        "v": [
            [k, new]
            for k, (old, new) in enumerate(zip(before["v"], after["v"], strict=True))
            if old != new
        ],
        "c": {name: card for name, card in after["c"].items() if card != before["c"][name]},
    }
    return changed | ({"l": after["l"]} if after["l"] != before["l"] else {})


@dataclass(frozen=True)
class _Seen:
    """Of one state: which records are acknowledged, and which is exposed at each offset."""

    acknowledged: frozenset[int]
    exposed: Mapping[int, int]

    def of(self, offset: int, record: int | None) -> tuple[int, int]:
        """Whether an entry is of an acknowledged record, and the one exposed there: as 0 or 1."""
        return int(record in self.acknowledged), int(self.exposed.get(offset, -1) == record)


class _Marks:
    """What clients have seen, in protocols whose tables note it.

    These are rows of what is stored that say whether it is acknowledged, and rows of positions that
    say what was read there.
    """

    def __init__(self, model: Model) -> None:
        self._acknowledged = _rows(model, model.protocol.telling.acknowledged)
        self._exposed = _rows(model, model.protocol.telling.exposed)

    def of(self, state: State) -> _Seen:
        return _Seen(
            frozenset(row for row, position in self._acknowledged.items() if state[position]),
            {row: state[position] for row, position in self._exposed.items()},
        )


def _rows(model: Model, name: str) -> dict[int, int]:
    """The position of a field of that name in each row of a table; nothing without a name."""
    return {
        cell.index[0]: cell.position
        for cell in model.declared
        if name
        and cell.variable.name.count(".") == 1
        and cell.variable.name.endswith(f".{name}")
        and len(cell.index) == 1
    }
