"""Where a state's values are, for people: who owns each value, and what they call it.

Computed once from a model's schema, for any protocol, which says what people call its fields
(`Protocol.telling`). Root numbers called `next_...` count what is shown where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checker.core.engines.reference import State
from model.language import Model, graph
from model.language.cells import Index
from model.language.declare.domains import Booleans, Integers, Reference, Subset
from model.language.declare.schema import (
    IndexedSchema,
    RecordSchema,
    ScalarSchema,
    SequenceSchema,
)
from model.language.declare.store import Part
from model.language.naming import member_names, value_words
from model.language.protocol import Cell


@dataclass(frozen=True)
class Owner:
    """Whom values belong to: a member or row by name, a part of the root record, or the root.

    `family` is the member's family; `row` tells table rows from members; `has_log` whether there
    is a sequence among the values.
    """

    name: str
    family: str = ""
    number: int = 0
    row: bool = False
    has_log: bool = False


@dataclass(frozen=True)
class ScalarPlace:
    """One scalar of the state. A `counter` numbers what is shown elsewhere."""

    owner: Owner
    name: str
    cell: Cell
    counter: bool = False

    def words(self, model: Model, state: State) -> str:
        """The value in a state, as people write it."""
        return value_words(model, self.cell, state[self.cell.position])

    def is_blank(self, state: State) -> bool:
        """Nothing has been stored here."""
        return state[self.cell.position] == self.cell.blank

    def is_nothing(self, state: State) -> bool:
        """The value is 0, none, false or empty."""
        return state[self.cell.position] == nothing_in(self.cell)


def nothing_in(cell: Cell) -> int | None:
    """The number that is 0, none, false or empty in a cell; `None` if no number there is."""
    found = 0
    match cell.variable.domain:
        case Reference():
            found = graph.NONE
        case Integers(none=none) if none is not None:
            found = none
    return found if cell.low <= found <= cell.high else None


@dataclass(frozen=True)
class Entry:
    """One record of a log: its words, and its leader epoch if it has one."""

    text: str
    epoch: int | None


@dataclass(frozen=True)
class LogPlace:
    """A sequence of the state: its end, and for each position the cells of its record."""

    owner: Owner
    name: str
    end: Cell
    records: tuple[tuple[tuple[str, Cell], ...], ...]

    def entries(self, model: Model, state: State) -> tuple[Entry, ...]:
        """The records below the end, such as `0:e2`: what is stored, then the leader epoch."""
        return tuple(
            _entry(model, state, cells) for cells in self.records[: state[self.end.position]]
        )

    def is_blank(self, state: State) -> bool:
        """The sequence is empty."""
        return state[self.end.position] == 0


Place = ScalarPlace | LogPlace


def _entry(model: Model, state: State, cells: tuple[tuple[str, Cell], ...]) -> Entry:
    epoch = next((state[cell.position] for name, cell in cells if name == "epoch"), None)
    shown = [_stored(model, state, name, cell) for name, cell in cells if name != "epoch"]
    rest = ",".join(filter(None, shown))
    words = [rest] if rest else []
    return Entry(":".join(words + ([f"e{epoch}"] if epoch is not None else [])), epoch)


def _stored(model: Model, state: State, name: str, cell: Cell) -> str:
    """A value of a record: of what is true its name, and nothing of what is false or empty."""
    match cell.variable.domain:
        case Booleans():
            return name if state[cell.position] else ""
        case Subset() if not state[cell.position]:
            return ""
    return value_words(model, cell, state[cell.position])


def places_of(model: Model) -> tuple[Place, ...]:
    """Every place of the model's state, in order of declaration, member by member."""
    root = model.schema.root
    own = Owner(root.view_class.__name__.lower())
    return tuple(
        place
        for name, part in root.fields.items()
        for place in _of_root(model, own, name, part)
    )  # fmt: skip


def _of_root(model: Model, own: Owner, name: str, part: Part) -> Iterator[Place]:
    if name in model.schema.families:
        family = model.schema.families[name]
        members = family.index_set.symmetric
        has_log = members and _has_sequence(family.item)
        for number, member in enumerate(member_names(model, name)):
            owner = Owner(member, name, number, not members, has_log)
            yield from _of_record(model, owner, family.item, (number,))
    elif isinstance(part, RecordSchema):
        yield from _of_record(model, Owner(model.protocol.telling.called(name)), part, ())
    else:
        yield from _of_part(model, own, name, part, (), name.startswith("next_"))


def _has_sequence(record: RecordSchema) -> bool:
    return any(
        isinstance(part, SequenceSchema) or (isinstance(part, RecordSchema) and _has_sequence(part))
        for part in record.fields.values()
    )


def _of_record(
    model: Model, owner: Owner, record: RecordSchema, index: Index, prefix: str = ""
) -> Iterator[Place]:
    for name, part in record.fields.items():
        yield from _of_part(model, owner, name, part, index, prefix=prefix)


def _of_part(
    model: Model,
    owner: Owner,
    name: str,
    part: Part,
    index: Index,
    counter: bool = False,
    prefix: str = "",
) -> Iterator[Place]:
    called = prefix + model.protocol.telling.called(name)
    match part:
        case ScalarSchema(variable):
            yield ScalarPlace(owner, called, model.cell(variable, index), counter)
        case RecordSchema():
            yield from _of_record(model, owner, part, index, f"{called} ")
        case SequenceSchema():
            records = tuple(
                _record_cells(model, part, (*index, position))
                for position in range(model.extents[part.index_set.name])
            )
            yield LogPlace(owner, called, model.cell(part.end, index), records)
        case IndexedSchema(index_set, ScalarSchema(variable)):
            for number, member in enumerate(member_names(model, index_set.name)):
                cell = model.cell(variable, (*index, number))
                yield ScalarPlace(owner, f"{called}[{member}]", cell)


def _record_cells(model: Model, part: SequenceSchema, index: Index) -> tuple[tuple[str, Cell], ...]:
    return tuple(
        (variable.name.rsplit(".", 1)[-1], cell)
        for variable in part.variables
        for cell in model.cells_below(variable, index)
    )
