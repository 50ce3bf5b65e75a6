"""What an output is declared with, and the JSON schema that follows from the declarations.

An output is a `TypedDict`: a command makes a dictionary of it, which mypy compares with what is
declared, and costs nothing as it runs. `definitions_of` knows the types that JSON has, `Literal`,
enumerations, unions, lists, dictionaries with text as keys, and `Annotated` with one of below.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

JSON = dict[str, Any]

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


@dataclass(frozen=True)
class Keyword:
    """A keyword of JSON schema besides the type, such as `minimum`."""

    name: str
    value: object


Count = Annotated[int, Keyword("minimum", 0)]
"""A whole number from 0 on."""

Positive = Annotated[int, Keyword("minimum", 1)]
"""A whole number from 1 on."""

Share = Annotated[float, Keyword("minimum", 0)]
"""A number from 0 on."""


def definitions_of(outputs: Iterable[Any], open_ended: Iterable[Any]) -> JSON:
    """The definition of each output, and of each that these are made of, by its name.

    What is `open_ended` may have more keys than it declares; all else has those alone.
    """
    found: JSON = {}
    for output in outputs:
        _schema(output, found, frozenset(each.__name__ for each in open_ended))
    return dict(sorted(found.items()))


def _schema(kind: Any, found: JSON, more: frozenset[str]) -> JSON:
    if kind is object:
        return {}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if is_typeddict(kind):
        return _of_output(kind, found, more)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [str(each) for each in kind]}
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _schema(parts[0], found, more) | {each.name: each.value for each in parts[1:]}
    if origin is Literal:
        return {"const": parts[0]} if len(parts) == 1 else {"enum": list(parts)}
    if origin in (Union, types.UnionType):
        return _any_of([_schema(part, found, more) for part in parts])
    if origin is list:
        items = _schema(parts[0], found, more)
        return {"type": "array"} | ({"items": items} if items else {})
    if origin is dict and parts[0] is str:
        values = _schema(parts[1], found, more)
        return {"type": "object"} | ({"additionalProperties": values} if values else {})
    raise TypeError(f"{kind} is no type of an output")


def _of_output(output: Any, found: JSON, more: frozenset[str]) -> JSON:
    name = output.__name__
    if name not in found:
        found[name] = {}  # it may be among its own parts
        hints = get_type_hints(output, include_extras=True)
        found[name] = {
            "description": " ".join((output.__doc__ or "").split()),
            "type": "object",
            "required": [key for key, hint in hints.items() if get_origin(hint) is not NotRequired],
            "properties": {key: _schema(_bare(hint), found, more) for key, hint in hints.items()},
            "additionalProperties": name in more,
        }
    return {"$ref": f"#/definitions/{name}"}


def _bare(hint: Any) -> Any:
    """A field's type without the word that it may be left out."""
    return get_args(hint)[0] if get_origin(hint) is NotRequired else hint


def _any_of(schemas: list[JSON]) -> JSON:
    """One schema with several types where none says the same keyword, else `anyOf`."""
    keywords = [key for schema in schemas for key in schema if key != "type"]
    if all("type" in schema for schema in schemas) and len({*keywords}) == len(keywords):
        merged: JSON = {"type": [schema["type"] for schema in schemas]}
        for schema in schemas:
            merged |= {key: value for key, value in schema.items() if key != "type"}
        return merged
    return {"anyOf": schemas}
