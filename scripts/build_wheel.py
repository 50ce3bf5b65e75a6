"""What the wheel holds: everything below one name, `highwater`, so that it clashes with nobody's.

In the repository `model`, `properties` and `checker` are packages of their own. A user may have a
`model/` too, so in the wheel they are `highwater.model` and so on: this hook of hatchling copies
them and changes the imports. An import hook would leave one `sys.modules["model"]` for two owners.
"""

from __future__ import annotations

import ast
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = Path("checker/public/highwater")
PACKAGES = ("model", "properties", "checker")
NAME = "highwater"
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "public")
_OURS = re.compile(rf"({'|'.join(PACKAGES)})(\.[a-z_0-9]+)*\.?")


def write_package(target: Path, root: Path = ROOT) -> None:
    """Write the package `highwater` as the wheel has it into a folder that does not exist."""
    shutil.copytree(root / PUBLIC, target, ignore=_LEFT_OUT)
    for package in PACKAGES:
        shutil.copytree(root / package, target / package, ignore=_LEFT_OUT)
    shutil.copytree(root / "counterexamples", target / "counterexamples", ignore=_LEFT_OUT)
    for path in target.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        path.write_text(renamed(source, root), encoding="utf-8")


def renamed(source: str, root: Path = ROOT) -> str:
    """A module's source with the imports, and the texts that name modules, below `highwater`."""
    lines = source.splitlines(keepends=True)
    changes = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and _is_ours(node.module or ""):
            changes.append((node.lineno, node.col_offset + len("from "), ""))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name):
                    if ("." in alias.name and alias.asname is None) or len(node.names) > 1:
                        raise ValueError(f"line {node.lineno}: write from ... import, or one name")
                    changes.append((node.lineno, node.col_offset, alias.name))
        elif isinstance(node, ast.Constant) and _names_module(node.value, root):
            changes.append((node.lineno, node.col_offset + 1, ""))
    for line, column, plain in sorted(changes, reverse=True):
        text = lines[line - 1].encode()
        before, after = text[:column].decode(), text[column:].decode()
        if plain:
            package, _, rest = plain.rpartition(".")
            start = f"from {NAME}{'.' if package else ''}{package} import {rest}"
            lines[line - 1] = before + start + after.removeprefix("import ").removeprefix(plain)
        else:
            lines[line - 1] = f"{before}{NAME}.{after}"
    return "".join(lines)


def _is_ours(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] in PACKAGES


def _names_module(value: object, root: Path) -> bool:
    """Whether a text is the dotted name of a package or module of this project."""
    if not isinstance(value, str) or "." not in value or not _OURS.fullmatch(value):
        return False
    path = root.joinpath(*value.rstrip(".").split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # only what builds the wheel has it
    pass
else:

    class WheelHook(BuildHookInterface):  # type: ignore[misc, type-arg, unused-ignore]  # it may be missing
        """Puts the package into the wheel. An editable install has the repository itself."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if version == "editable":
                return
            self._folder = tempfile.mkdtemp(prefix="highwater-wheel-")
            target = Path(self._folder) / NAME
            write_package(target, Path(self.root))
            build_data["force_include"][str(target)] = NAME

        def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
            if version != "editable":
                shutil.rmtree(self._folder, ignore_errors=True)
