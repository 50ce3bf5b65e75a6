"""Whether what a file holds is of the kinds that a dataclass declares: files may be damaged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

MOST = 2**63 - 1
"""The largest number that any engine counts to."""


def check_kinds(value: Any, kind: Any) -> None:
    """`TypeError` unless `value` is of this kind, and so is all that it holds."""
    if not _is_of(value, kind):
        raise TypeError(f"{value!r:.60} is not of the kind {kind}")


def _is_of(value: Any, kind: Any) -> bool:
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin is UnionType:
        return any(_is_of(value, part) for part in parts)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        parts = parts[:1] * len(value) if parts[1:] == (...,) else parts
        return len(parts) == len(value) and all(map(_is_of, value, parts))
    if origin is Mapping:
        held, holds = parts
        return isinstance(value, Mapping) and all(
            _is_of(key, held) and _is_of(each, holds) for key, each in value.items()
        )
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return isinstance(value, kind) and all(
            _is_of(getattr(value, field.name), hints[field.name]) for field in fields(kind)
        )
    if kind is int:
        return type(value) is int and abs(value) <= MOST
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value)
    return type(value) is (NoneType if kind is None else kind)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
