"""What the architecture promises: imports go one way, and modules are small."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("model", "properties", "checker")
MAX_LINES = 400


def _modules(*folders: str) -> list[Path]:
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if "__pycache__" not in path.parts
    )


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def wrong_imports(path: str, tree: ast.AST) -> list[str]:
    """Imports against the direction checker -> properties -> model -> model.language."""
    forbidden = ["tests"]
    if path.startswith(("properties/", "model/")):
        forbidden.append("checker")
    if path.startswith("model/"):
        forbidden.append("properties")
    found = [
        name
        for name in imports(tree)
        if any(name == package or name.startswith(f"{package}.") for package in forbidden)
    ]
    if path.startswith("model/language/"):
        found += [
            name
            for name in imports(tree)
            if name.split(".")[0] == "model" and not f"{name}.".startswith("model.language.")
        ]
    return found


every_module = pytest.mark.parametrize("path", _modules(*PACKAGES), ids=_name)


@every_module
def test_imports_go_one_way(path):
    assert wrong_imports(_name(path), _tree(path)) == []


@pytest.mark.parametrize(
    "path, line",
    [
        ("properties/x.py", "from checker.verdict import Verdict"),
        ("model/ladder/x.py", "import properties"),
        ("model/kafka/x.py", "from checker.search import explore"),
        ("model/language/x.py", "from model.ladder.cluster import Cluster"),
        ("model/language/x.py", "from model import replicated_log"),
        ("checker/x.py", "import tests.support.laws"),
    ],
)
def test_an_import_against_the_direction_is_noticed(path, line):
    assert wrong_imports(path, ast.parse(line))


@every_module
def test_every_module_opens_with_a_docstring(path):
    words = ast.get_docstring(_tree(path))
    assert words is not None and len(words) > 20


@every_module
def test_no_module_is_longer_than_people_like_to_read(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES


@pytest.mark.parametrize("path", _modules(*PACKAGES, "tests", "docs", "scripts"), ids=_name)
def test_no_module_names_a_place_on_somebodys_machine(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"""["'\s](/home/|/root/|/Users/|/work/|[A-Z]:\\\\)""", text)
