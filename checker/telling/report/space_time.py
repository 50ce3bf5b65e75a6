"""Who tells whom what in each step of a run: the messages of a space-time diagram.

No protocol declares its messages, and drawing them by the words of actions would be guessing. So
they are read off what the steps do: where a value that a step changed is computed from a value of
somebody else, that somebody was heard of; where a step changes somebody else than the one who
acts, that one was told. What waits in a table's row, or in a field that the protocol calls a
mailbox (`Protocol.telling`), is under way from the step that put it there to the step that takes
it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from checker.core.engines.reference import ReferenceEngine, State
from checker.telling.report.lanes import lanes_of
from checker.telling.report.places import LogPlace, Place, places_of
from model.language import Model
from model.language.declare.entity import Entity
from model.language.errors import CaptureError
from model.language.graph import Node, Op
from model.language.ground import GroundAction, Grounder
from model.language.naming import member_name, member_names, members_named
from model.language.protocol import Cell, Instance


@dataclass(frozen=True)
class Message:
    """Something that `receiver` hears of `sender`.

    Steps are numbered from 1. `received` is the step that takes it, or that makes it void if
    `taken` is false, or none if it is under way at the end. `answer`: whoever acts hears it back.
    """

    sender: str
    receiver: str
    sent: int
    received: int | None
    answer: bool = False
    taken: bool = True


@dataclass(frozen=True)
class _Home:
    """Where a cell belongs: a lane, and if it is one of these a mailbox there, or a row."""

    lane: str = ""
    mailbox: str = ""
    row: str = ""


class SpaceTime:
    """The lanes of a model, and the messages of its runs."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._engine = ReferenceEngine(model)
        self._places = places_of(model)
        self.telling = model.protocol.telling
        self._root_leader = self._leader_of_root()
        spoken = {word for action in model.protocol.actions for word in _literals(action.words)}
        self.roles = self.telling.spoken_of(model.schema.root.fields, spoken)
        self.members = tuple(
            name
            for family, record in model.schema.families.items()
            if record.index_set.symmetric
            for name in member_names(model, family)
        )
        self._together: dict[int, list[int]] = {}
        self._homes = dict(self._all_homes())
        self._ground: dict[int, GroundAction | None] = {}

    @property
    def lanes(self) -> tuple[str, ...]:
        """Clients, the controller, then the members of all families."""
        return (*self.roles, *self.members)

    def actors(self, instance: Instance) -> tuple[str, ...]:
        """Who takes part in a step, by the order in which the action's words name them."""
        members = {n: member_name(self.model, *m) for n, m in
                   members_named(self.model, instance).items()}  # fmt: skip
        found: list[str] = []
        for literal, name, _, _ in string.Formatter().parse(instance.action.words):
            for word in _words(literal):
                if word in self.roles:
                    found.append(word)
                elif word == self.telling.leader and self._root_leader:
                    found.append(self._root_leader)
            if name and (member := members.get(re.split(r"[.\[]", name)[0])):
                found.append(member)
        return tuple(dict.fromkeys([*found, *members.values()]))

    def messages(self, states: Sequence[State], steps: Sequence[Instance]) -> tuple[Message, ...]:
        """All messages of a run, in the order of the steps that send them."""
        told = _Telling(self)
        for number, instance in enumerate(steps, 1):
            told.step(number, states[number - 1], instance, states[number])
        return tuple(sorted(told.finished(), key=lambda message: message.sent))

    # --- whose a cell is ---------------------------------------------------------------------

    def _leader_of_root(self) -> str:
        """The one leader that there is, where the state has a property of that name."""
        name = self.telling.leader
        leader = getattr(type(self._engine.view(self._engine.initial())), name, None)
        if not isinstance(leader, property | cached_property):
            return ""
        found = getattr(self._engine.view(self._engine.initial()), name)
        return str(found) if isinstance(found, Entity) else ""

    def _all_homes(self) -> Iterator[tuple[int, _Home]]:
        for place in self._places:
            home = self._home(place)
            cells = [cell.position for cell in cells_of(place)]
            self._together.update(dict.fromkeys(cells, cells))
            if home is not None:
                yield from ((position, home) for position in cells)

    def _home(self, place: Place) -> _Home | None:
        owner = place.owner
        if owner.row:
            return _Home(row=owner.name)
        path = place.end.path if isinstance(place, LogPlace) else place.cell.path
        names = [part for part in path if isinstance(part, str)]
        field = names[1] if owner.family or len(names) > 1 else names[0]
        if field in self.telling.notes:
            return None
        mailbox = field if field in self.telling.mailboxes else ""
        if owner.family:
            if field in self.telling.kept and self.telling.keeper in self.roles:
                return _Home(self.telling.keeper)
            return _Home(owner.name, mailbox)
        lane = self.telling.lane(names[0])
        if len(names) == 1:  # of the state itself: `controller_version`, `leader_isr`
            lane = names[0].partition("_")[0]
            lane = self._root_leader if lane == self.telling.leader else lane
        return _Home(lane, mailbox) if lane in self.lanes else None

    def home(self, position: int) -> _Home | None:
        """Where the cell belongs; none if to nobody."""
        return self._homes.get(position)

    # --- what a step reads -------------------------------------------------------------------

    @cached_property
    def _grounder(self) -> Grounder:
        return Grounder(self.model)

    def read_by(self, instance: Instance, position: int) -> set[_Home] | None:
        """Whose values decide what a step puts into a cell; none if the action is not captured.

        A log counts as a whole: what is appended may be what was there.
        """
        if instance.number not in self._ground:
            self._ground[instance.number] = self._grounded(instance)
        ground = self._ground[instance.number]
        if ground is None:
            return None
        together = (ground.assignments.get(cell) for cell in self._together[position])
        return self._homes_in(node for node in together if node is not None)

    def rows_read(self, instance: Instance) -> set[str]:
        """The rows of tables that the guard of a step reads."""
        return {home.row for home in self.guard(instance)} - {""}

    def lanes_read(self, instance: Instance) -> set[str]:
        """The lanes whose values the guard of a step reads."""
        return {home.lane for home in self.guard(instance)} - {""}

    def guard(self, instance: Instance) -> set[_Home]:
        """Whose values decide whether a step is enabled."""
        ground = self._ground.get(instance.number)
        return set() if ground is None else self._homes_in([ground.guard])

    def _homes_in(self, nodes: Iterable[Node]) -> set[_Home]:
        homes = (self.home(cell) for node in nodes for cell in _cells(node))
        return {home for home in homes if home is not None}

    def _grounded(self, instance: Instance) -> GroundAction | None:
        try:
            captured = {action.name: action for action in self.model.captured}
            return self._grounder.action(instance, captured[instance.action.name])
        except CaptureError:
            return None

    def leading(self, state: State) -> set[str]:
        """The members that believe that they lead."""
        lanes = lanes_of(self._engine, self._places, state)
        return {lane.name for lane in lanes if lane.role in ("leader", "presumed")}

    def is_blank(self, state: State, home: _Home) -> bool:
        """Nothing is in the mailbox."""
        cells = self.model.declared
        return all(
            state[position] == cells[position].blank
            for position, other in self._homes.items()
            if other == home
        )


class _Telling:
    """The messages of one run, step after step."""

    def __init__(self, space: SpaceTime) -> None:
        self._space = space
        self._done: list[Message] = []
        self._under_way: dict[_Home, list[tuple[str, int]]] = {}
        self._written: dict[str, tuple[str, int]] = {}

    def finished(self) -> Iterator[Message]:
        """All messages; those that nobody has taken are under way."""
        yield from self._done
        for home, senders in self._under_way.items():
            yield from (Message(sender, home.lane, sent, None) for sender, sent in senders)

    def step(self, number: int, before: State, instance: Instance, after: State) -> None:
        """Take one more step."""
        space = self._space
        actors = space.actors(instance)
        first = actors[0] if actors else ""
        changed = [k for k, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        reads = {position: space.read_by(instance, position) for position in changed}
        homes = {position: space.home(position) for position in changed}
        heard: dict[tuple[str, str], None] = {}  # sender, receiver; a dictionary keeps the order
        told = dict.fromkeys(
            home.lane for home in homes.values() if home and home.lane and not home.mailbox
        )
        for position, home in homes.items():
            for source in reads[position] or ():
                if home and home.lane and not home.mailbox and source.lane not in ("", home.lane):
                    heard[source.lane, home.lane] = None
                if home and home.lane and source.row in self._written:
                    self._hear_of_row(source.row, home.lane, number)
        for row in sorted(space.rows_read(instance) & self._written.keys()):
            self._hear_of_row(row, first, number)
        if first:
            heard |= {(first, lane): None for lane in told if lane != first}
        if self._fails(before, after, changed):
            heard = {}
        is_asked = first in space.leading(before) & space.leading(after)
        for sender, receiver in list(heard):
            if receiver == first and sender in actors and not is_asked:
                heard[first, sender] = None  # who asks is answered; a leader is asked
        if len(actors) > 1 and self._asks(first, actors[1], instance, told, heard, reads):
            heard[first, actors[1]] = None
            if first in told:
                heard[actors[1], first] = None
        self._acknowledge(number, before, after, changed, actors)
        for sender, receiver in heard:
            is_answer = receiver == first
            if is_asked and {sender, receiver} <= set(actors):
                is_answer = sender == first and (receiver, first) in heard
            self._done.append(Message(sender, receiver, number, number, is_answer))
        self._mail(number, after, homes, reads, first, instance)
        for home in homes.values():
            if home and home.row:
                self._written[home.row] = (first, number)

    def _asks(
        self,
        first: str,
        other: str,
        instance: Instance,
        told: Collection[str],
        heard: Collection[tuple[str, str]],
        reads: Mapping[int, set[_Home] | None],
    ) -> bool:
        """Whoever acts asks the other, though no value shows it: clients always do."""
        if first in self._space.telling.roles:
            return first in self._space.telling.clients
        if None in reads.values():
            return True
        return not heard and first in told and other in self._space.lanes_read(instance)

    def _fails(self, before: State, after: State, changed: Iterable[int]) -> bool:
        """Somebody goes down in this step: what else changes, nobody was told."""
        return any(
            before[k]
            and not after[k]
            and self._space.model.declared[k].path[-1] == self._space.telling.up
            for k in changed
        )

    def _hear_of_row(self, row: str, lane: str, number: int) -> None:
        sender, sent = self._written[row]
        message = Message(sender, lane, sent, number)
        if "" not in (sender, lane) and sender != lane and message not in self._done:
            self._done.append(message)

    def _acknowledge(
        self,
        number: int,
        before: State,
        after: State,
        changed: Iterable[int],
        actors: tuple[str, ...],
    ) -> None:
        """What becomes acknowledged: the leader among those who act tells the writer."""
        cells, telling = self._space.model.declared, self._space.telling
        if telling.writer in self._space.roles and any(
            cells[k].path[-1] == telling.acknowledged and after[k] for k in changed
        ):
            leading = self._space.leading(before) | self._space.leading(after)
            for actor in actors:
                if actor in leading:
                    self._done.append(Message(actor, telling.writer, number, number, True))
                    return

    def _mail(
        self,
        number: int,
        after: State,
        homes: dict[int, _Home | None],
        reads: dict[int, set[_Home] | None],
        first: str,
        instance: Instance,
    ) -> None:
        """What was under way is taken or void, and what is put into mailboxes is under way."""
        guard = self._space.guard(instance)
        boxes = dict.fromkeys(home for home in homes.values() if home and home.mailbox)
        for box in boxes:
            used = any(
                box in (reads[position] or ()) and home != box for position, home in homes.items()
            )
            more = any(home != box for home in homes.values())
            taken = used or (more and box in guard)
            for sender, sent in self._under_way.pop(box, []):
                self._done.append(Message(sender, box.lane, sent, number, taken=taken))
            if self._space.is_blank(after, box):
                continue
            senders = {
                source.lane
                for position, home in homes.items()
                if home == box
                for source in reads[position] or ()
                if source.lane not in ("", box.lane)
            }
            if first not in ("", box.lane) and first in self._space.lanes:
                senders = senders - {first} or {first}
                self._done += [
                    Message(first, s, number, number) for s in senders - {first} if first != s
                ]
            self._under_way[box] = [(sender, number) for sender in sorted(senders)]
            if not senders:
                del self._under_way[box]


def cells_of(place: Place) -> Iterator[Cell]:
    """All cells of a place."""
    if isinstance(place, LogPlace):
        yield place.end
        for record in place.records:
            yield from (cell for _, cell in record)
    else:
        yield place.cell


def _literals(words: str) -> Iterator[str]:
    for literal, _, _, _ in string.Formatter().parse(words):
        yield from _words(literal)


def _words(literal: str) -> list[str]:
    return [word.removesuffix("'s") for word in re.findall(r"[a-z']+", literal)]


def _cells(node: Node) -> set[int]:
    """The cells that an expression reads."""
    seen: set[Node] = set()
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if here not in seen:
            seen.add(here)
            waiting += here.args
    return {here.data[1] for here in seen if here.op is Op.CELL}
