"""Views: which fields of a state are looked at, by name, and their values as people write them.

A name is a view that the protocol declares, a field such as `replicas.log.end`, something that has
fields, such as `quorum`, or that of one member: `replicas[r1]`. Fields that cannot differ within
the bounds and settings tell no two states apart, and are left out of whole states.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from model.language.declare.domains import Booleans, Integers, Reference
from model.language.errors import ProtocolError, UsageError, unknown_name
from model.language.naming import cell_path, value_words
from model.language.protocol import Cell, Model

Value = bool | int | str | None


def whole_state(model: Model) -> tuple[Cell, ...]:
    """Every cell of the state that may have more than one value."""
    return tuple(cell for cell in model.cells if cell.low != cell.high)


def split_view(text: str) -> tuple[str, ...]:
    """The names in `roles,replicas[r1].log`, as they are written on a command line."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def chosen_cells(model: Model, names: Sequence[str]) -> tuple[Cell, ...]:
    """The cells that the names stand for, in the state's order; `UsageError` for an unknown one."""
    if not names:
        raise UsageError("a view needs a name: one of a view, or of a field of the state")
    found: set[int] = set()
    for name in names:
        declared = model.protocol.views.get(name)
        if declared is None:
            found |= _positions(model, name) or _refuse(model, name)
            continue
        for field in declared:
            cells = _positions(model, field)
            if not cells:
                raise ProtocolError(
                    f"{model.protocol.name}: the view {name} names {field}, which is no field"
                )
            found |= cells
    return tuple(cell for cell in model.cells if cell.position in found)


def _positions(model: Model, name: str) -> set[int]:
    """The positions of the cells that are called so, or are parts of what is."""
    begins = re.compile(re.escape(name) + r"(?=$|[.\[])")
    return {
        cell.position
        for cell in model.cells
        if begins.match(cell.variable.name) or begins.match(cell_path(model, cell))
    }


def _refuse(model: Model, name: str) -> set[int]:
    variables = model.schema.variables
    known = {*model.protocol.views, *(part.split(".")[0] for part in variables)}
    if "." in name:
        begun = re.split(r"[.\[]", name, maxsplit=1)[0]
        known = {each for each in variables if f"{each}.".startswith(f"{begun}.")} or known
    raise unknown_name(f"view or field of {model.protocol.name}", name, known)


def values_of(model: Model, cell: Cell) -> Callable[[int], Value]:
    """What a number in the cell stands for: a truth value, a number, words, or nothing."""
    match cell.variable.domain:
        case Booleans():
            return bool
        case Integers(names=None, none=none):
            return lambda number: None if number == none else number
        case Reference():
            return lambda number: None if number < 0 else value_words(model, cell, number)
    return lambda number: value_words(model, cell, number)


def differences(model: Model, before: Sequence[int], after: Sequence[int]) -> str:
    """Where a state differs from another one, in one line."""
    return ", ".join(
        f"{cell_path(model, cell)} {value_words(model, cell, number)}"
        for cell, old, number in zip(model.cells, before, after, strict=True)
        if old != number
    )
