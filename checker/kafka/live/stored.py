"""A snapshot as JSON, for `--save`, for `ask FILE`, and for reading by eye.

The keys are the fields of `snapshot.py`. What is read back is checked against their types, so that
a file that was cut or edited is refused in one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from checker.core.files import read_bounded
from checker.kafka.live.snapshot import LATER, Snapshot
from model.language.errors import UsageError

MARK, VERSION = "highwater_snapshot", 1
MAX_BYTES = 400_000_000
"""A snapshot of 10,000 partitions has about 3,000,000."""

_BEGINS = re.compile(rb'\s*\{\s*"%s"' % MARK.encode())


def as_json(snapshot: Snapshot) -> str:
    """The text that `--save` writes."""
    return json.dumps({MARK: VERSION, **asdict(snapshot)}, indent=1) + "\n"


def is_snapshot(path: Path) -> bool:
    """Whether a file begins as one; false for what cannot be read."""
    try:
        return _BEGINS.match(read_bounded(path, 100)) is not None
    except OSError:
        return False


def read(path: Path) -> Snapshot:
    """The snapshot in a file; `UsageError` in one line if it is none."""
    try:
        content = read_bounded(path, MAX_BYTES)
        if len(content) > MAX_BYTES:
            raise UsageError(f"{path} has more than {MAX_BYTES:,} bytes: it is no snapshot")
        data = json.loads(content)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"{path} is no whole snapshot: {error}") from None
    except RecursionError:
        raise UsageError(f"{path} is no snapshot: it is nested too deeply") from None
    version = data.pop(MARK, None) if isinstance(data, dict) else None
    if version != VERSION:
        raise UsageError(f"{path}: {MARK} is {version!r}: valid is {VERSION}")
    try:
        found: Snapshot = _as(Snapshot, data, "")
    except ValueError as error:
        raise UsageError(f"{path} is no snapshot: {error}") from None
    return found


def _as(kind: Any, value: Any, at: str) -> Any:
    """A value as its declared type; `ValueError` says where it is not of it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        (some,) = (each for each in inner if each is not NoneType)
        return None if value is None else _as(some, value, at)
    if origin is tuple:
        found = _of(list, value, at)
        return tuple(_as(inner[0], each, f"{at}[{n}]") for n, each in enumerate(found))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {k: _as(inner[1], each, f"{at}.{k}") for k, each in _of(dict, value, at).items()}
    if is_dataclass(kind):
        return _as_dataclass(kind, _of(dict, value, at), at)
    return _of(kind, value, at)


def _as_dataclass(kind: Any, data: dict[str, Any], at: str) -> Any:
    known = {each.name for each in fields(kind)}
    later = {each.name for each in fields(kind) if LATER in each.metadata}
    if not known - later <= data.keys() <= known:
        missing, odd = sorted(known - later - data.keys()), sorted(data.keys() - known)
        what = f"{missing[0]} is missing" if missing else f"{odd[0]!r} is unknown"
        raise ValueError(f"{what} in {at or 'it'}")
    hints = get_type_hints(kind)
    return kind(**{k: _as(hints[k], each, f"{at}.{k}".strip(".")) for k, each in data.items()})


def _of(kind: type, value: Any, at: str) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{at} is {value!r:.40}, and no {kind.__name__}")
    return value
