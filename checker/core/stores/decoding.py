"""A model's packed states as SQL columns: one a cell, computed by the engine that runs the query.

Only shifts and masks are used, on 64-bit integers, which DuckDB and Spark understand alike. What
stands for "none" becomes NULL, a set stays a number with a bit a member.
"""

from __future__ import annotations

from dataclasses import dataclass

from checker.core.engines.layout import BitField, Layout
from model.language.declare.domains import Booleans, Integers, Reference
from model.language.protocol import Cell, Model


@dataclass(frozen=True)
class Column:
    """A column of the view of states: its name, and its value over `word_0` and further."""

    name: str
    expression: str


def state_columns(model: Model) -> tuple[Column, ...]:
    """A column for each cell, in the cells' order."""
    fields = Layout(model).fields
    return tuple(
        Column(column_name(cell), _value(cell, field))
        for cell, field in zip(model.cells, fields, strict=True)
    )


def column_name(cell: Cell) -> str:
    """The cell's place as one word: `replicas.log.id[2][0]` is `replica_2_log_0_id`.

    A part that has an index is in the singular, and its index follows it.
    """
    words: list[str] = []
    for part in cell.path:
        if isinstance(part, str):
            words.append(part)
        else:
            words[-1:] = [singular(words[-1]), str(part[1])]
    return "_".join(words)


def singular(word: str) -> str:
    """The singular of a plural in s; other words as they are."""
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _value(cell: Cell, field: BitField) -> str:
    raw = f"((word_{field.word} >> {field.shift}) & {field.mask})" if field.bits else "0"
    if isinstance(cell.variable.domain, Booleans):
        return f"({raw} + {field.low} = 1)"
    number = (
        f"CAST({raw} + {field.low} AS INTEGER)" if field.bits < 31 else f"({raw} + {field.low})"
    )
    match cell.variable.domain:
        case Reference():
            return f"NULLIF({number}, -1)"
        case Integers(names=names) if names is not None:
            cases = " ".join(
                f"WHEN {member.value} THEN '{member.name.lower()}'" for member in names
            )
            return f"CASE {number} {cases} END"
        case Integers(none=none) if none is not None:
            return f"NULLIF({number}, {none})"
    return number


def states_view(model: Model) -> str:
    """The SELECT that turns `packed` and `instances` into the table of states."""
    decoded = ",\n  ".join(f"{c.expression} AS {c.name}" for c in state_columns(model))
    return (
        "SELECT CAST(level AS INTEGER) AS level, action, arguments, number, parent, fingerprint,\n"
        f"  {decoded}\nFROM packed LEFT JOIN instances ON packed.instance = instances.instance"
    )
