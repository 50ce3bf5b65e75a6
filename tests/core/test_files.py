"""Which files of this machine are found, and what is left open on the way."""

from __future__ import annotations

import os
from pathlib import Path

import model
from checker.core.files import modules_below


def test_modules_are_found_without_an_iterator_that_a_limit_could_leave_open(monkeypatch):
    (folder,) = map(Path, model.__path__)
    expected = sorted(folder.rglob("*.py"))
    assert folder / "language" / "graph" / "nodes.py" in expected
    monkeypatch.setattr(os, "scandir", None)
    assert modules_below(folder) == expected
