"""Where a function of a protocol is: file and line by short names, and what it is in Kafka."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.language.declare.source import Source

_ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Place:
    """A function: its file, its first line, and what it is in Kafka, if that is known."""

    file: str
    line: int
    source: Source | None = None


def place_of(function: Callable[..., Any], source: Source | None = None) -> Place | None:
    """The place of a function; `None` of what is no plain function."""
    code = getattr(function, "__code__", None)
    return None if code is None else Place(near(code.co_filename), code.co_firstlineno, source)


def near(file: str) -> str:
    """A file by a short name: from this project's root, else from the working directory."""
    path = Path(file).resolve()
    if path.is_relative_to(_ROOT):
        return path.relative_to(_ROOT).as_posix()
    name = os.path.relpath(path)
    return path.name if name.startswith("..") else name
