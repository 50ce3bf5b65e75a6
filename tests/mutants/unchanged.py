"""Imports what no mutant of a few files can change: modules that import none of these files.

Importing takes longer than most tests that notice a mutant, and mutants of one folder leave the
rest as it is. Whatever reaches a mutated file, at once or through others, is not imported here.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import Path

OURS = ("model", "properties", "checker", "tests.support")


class _Reached(BaseException):
    """A module imports a file that is to change; nothing takes this for an optional library."""


class _Barred:
    """Stops whoever imports one of these modules; the first of the finders on `sys.meta_path`."""

    def __init__(self, modules: Collection[str]) -> None:
        self.modules = modules

    def find_spec(self, name: str, *_: object) -> None:
        """Nothing that anybody may import is found here."""
        if name in self.modules:
            raise _Reached(name)


def import_unchanged(tests: Collection[str], mutated: Collection[str]) -> None:
    """Import what the files of tests import, and that imports, but for what reaches `mutated`.

    Paths begin at the working directory, which holds the tree.
    """
    barred = _Barred({_module(file) for file in mutated})
    sys.meta_path.insert(0, barred)
    try:
        asked = [name for file in tests for name in _imports(Path(file))]
        seen = set()
        while asked:
            name = asked.pop()
            if name in seen or not f"{name}.".startswith(tuple(f"{each}." for each in OURS)):
                continue
            seen.add(name)
            try:
                import_module(name)
            except (_Reached, ImportError):  # half of a circle may not do without the other
                asked += _imports(_file(name))
    finally:
        sys.meta_path.remove(barred)
    assert barred.modules.isdisjoint(sys.modules)


def _module(file: str) -> str:
    name = ".".join(Path(file).with_suffix("").parts)
    return name.removeprefix("checker.public.").removesuffix(".__init__")


def _file(module: str) -> Path:
    """Of a module or package; one that is neither is a name in the module around it."""
    path = Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imports(file: Path) -> Iterator[str]:
    """The modules that a file imports outside of functions."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name for name in names if _file(name).exists())
