"""Searches beyond memory that hardly hold anything in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.core.beyond import late as late_module
from checker.core.beyond import level_files as level_files_module
from checker.core.beyond import runs as runs_module
from checker.core.beyond.explorer import BeyondMemory, Room
from checker.core.search.explore import Limits, Options
from checker.core.stores.manifest import manifest_for
from checker.core.stores.store import open_store
from model.language.protocol import Model
from properties import Property

TINY_ROOM = Room(60, 40, 7, 1)
NONE = Room(1, 3, 1, 1)


def tiny_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have blocks of a few states or numbers each, and ranges of a few new ones."""
    monkeypatch.setattr(level_files_module, "BLOCK", 23)
    monkeypatch.setattr(runs_module, "_BLOCK", 8)
    monkeypatch.setattr(late_module, "_RANGE", 16)


def beyond(
    place: Path,
    model: Model,
    properties: tuple[Property, ...],
    options: Options | None = None,
    limits: Limits | None = None,
    room: Room = TINY_ROOM,
    **others: Any,
) -> BeyondMemory:
    """A search that keeps its states at a place, and goes on with what is there."""
    options = options or Options()
    store = open_store(str(place), manifest_for(model, properties, options, spill=True), True)
    return BeyondMemory(store, model, properties, limits or Limits(), options, room=room, **others)
