"""What the architecture promises: imports go one way, and modules are small.

An import counts wherever it stands: at the top, in a function, or for types alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

from model.replicated_log import TELLING
from tests.support.may_import import MAY_IMPORT

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


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(_text(path))


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in EVERY_MODULE else node.module or ""


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


EVERY_MODULE = {_module(_name(path)): path for path in _modules(*PACKAGES)}


def _is_in(module: str, folder: str) -> bool:
    return f"{module}.".startswith(f"{folder}.")


def folder_of(path: str) -> str:
    """What stands for a file in the table: itself, or the innermost folder that is there."""
    folder = _module(path)
    while folder not in MAY_IMPORT:
        folder = folder.rpartition(".")[0]
    return folder


def wrong_imports(path: str, tree: ast.AST) -> list[str]:
    """What a file imports of this project that its folder may not."""
    allowed = (*MAY_IMPORT[folder_of(path)], folder_of(path))
    return [
        name
        for name in imports(tree)
        if name.split(".")[0] in (*PACKAGES, "tests")
        and not any(_is_in(name, folder) for folder in allowed)
    ]


def wrong(rule: Callable[[Path], object], *folders: str) -> dict[str, object]:
    """What a rule finds wrong, by file."""
    found = {_name(path): rule(path) for path in _modules(*(folders or PACKAGES))}
    assert len(found) > 200
    return {path: problem for path, problem in found.items() if problem}


def test_a_file_imports_what_its_folder_may():
    assert wrong(lambda path: wrong_imports(_name(path), _tree(path))) == {}


@pytest.mark.parametrize(
    "path, line",
    [
        ("properties/x.py", "from checker.core.verdict import Verdict"),
        ("model/ladder/x.py", "import properties"),
        ("model/ladder/x.py", "from model.kafka.state import Broker"),
        ("model/kafka/x.py", "from checker.core.search import explore"),
        ("model/language/x.py", "from model.ladder.cluster import Cluster"),
        ("model/language/x.py", "from model import replicated_log"),
        ("model/language/graph/x.py", "from model.language.declare import schema"),
        ("checker/core/engines/x.py", "from checker.core.search.explore import Explorer"),
        ("checker/core/search/x.py", "def f():\n    from checker.commands import common"),
        ("checker/core/search/x.py", "if TYPE_CHECKING:\n    from checker.commands import common"),
        ("checker/api/asking.py", "from checker.commands import common"),
        ("checker/core/stores/x.py", "from checker.core.spark import session"),
        ("checker/commands/x.py", "import tests.support.laws"),
    ],
)
def test_an_import_against_the_direction_is_noticed(path, line):
    assert wrong_imports(path, ast.parse(line)) != []


def circles(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """What imports each other, straight or through others."""
    known = nx.DiGraph((a, b) for a, b in edges if a != b)
    return sorted(sorted(c) for c in nx.strongly_connected_components(known) if len(c) > 1)


def _every_import() -> Iterator[tuple[str, str]]:
    for module, path in EVERY_MODULE.items():
        for name in imports(_tree(path)):
            if name in EVERY_MODULE:
                yield module, name


def test_files_do_not_import_each_other_in_a_circle():
    assert circles(_every_import()) == []


def test_folders_do_not_import_each_other_in_a_circle():
    folders = {module: folder_of(_name(path)) for module, path in EVERY_MODULE.items()}
    apart = [(folders[a], folders[b]) for a, b in _every_import()]
    assert len(set(apart)) > 100
    assert circles(apart) == []


def test_a_circle_is_noticed():
    assert circles([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]) == [["a", "b", "c"]]


def test_every_folder_has_a_line_here_and_in_the_architectures_tree():
    folders = {_module(_name(path.parent)) for path in _modules(*PACKAGES)}
    tree = re.search(
        r"```\n(model/.*?)```", (ROOT / "docs" / "architecture.md").read_text(), re.DOTALL
    )
    assert tree is not None
    told = set(re.findall(r"[a-z0-9_]+(?=/)", tree.group(1)))
    assert {folder.rpartition(".")[2] for folder in folders} <= told
    assert set(MAY_IMPORT) <= folders | set(EVERY_MODULE)


def test_every_module_opens_with_a_docstring():
    assert wrong(lambda path: len(ast.get_docstring(_tree(path)) or "") <= 20) == {}


def test_no_module_is_longer_than_people_like_to_read():
    assert wrong(lambda path: max(len(_text(path).splitlines()) - MAX_LINES, 0)) == {}


def test_no_module_names_a_place_on_somebodys_machine():
    place = re.compile(r"""["'\s](/home/|/root/|/Users/|/work/|[A-Z]:\\\\)""")
    everywhere = (*PACKAGES, "tests", "docs", "scripts")
    assert wrong(lambda path: place.findall(_text(path)), *everywhere) == {}


# Fields and actors of the protocols of this project, as they tell reports of them. An `answer` is
# a kind of message on pages, too.
OF_PROTOCOLS = (
    *(TELLING.leads, TELLING.epoch, TELLING.mark, TELLING.writer, TELLING.keeper),
    *(*TELLING.clients, *TELLING.kept_in, *TELLING.kept, *TELLING.notes),
    *(name for name in TELLING.mailboxes if name != "answer"),
)


@pytest.mark.parametrize("wing", ["checker/core", "checker/telling"])
def test_what_checks_or_tells_of_any_protocol_never_names_kafka(wing):
    assert [_name(p) for p in _modules(wing) if "kafka" in _text(p).lower()] == []


def test_reports_know_no_field_and_no_actor_by_its_name():
    found = [
        (_name(path), node.value)
        for path in _modules("checker/telling/report")
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Constant) and node.value in OF_PROTOCOLS
    ]
    assert found == []
