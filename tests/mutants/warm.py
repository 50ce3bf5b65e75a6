"""A process that has imported what no mutant changes, and forks for each run of pytest.

Importing takes longer than most tests that notice a mutant, and mutants of one folder leave the
rest as it is. Whatever reaches a mutated file, at once or through others, is imported by each run.

Requests are lines of JSON on standard input, each answered by a line. After `[files of tests, files
that mutants change]` a fork has imported of the project what the former need and the latter do not
change. It serves what follows, up to `[]`: `[arguments of pytest, seconds, file for the output]`.
The answer is the exit status as `subprocess` gives it, or `null` where the run was not done after
so many seconds.
"""

from __future__ import annotations

import ast
import ctypes
import gc
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import hypothesis.stateful
import llvmlite.binding
import numpy as np
import pytest
import z3

IMPORTED = (hypothesis.stateful, llvmlite.binding, np, pytest, z3)
# What is installed beside pytest takes half of what it takes to begin. Hypothesis wants to be asked
# by pytest, and ours may be what a mutant changes.
for plugin in entry_points(group="pytest11"):
    if plugin.name not in ("hypothesispytest", "highwater"):
        plugin.load()
OURS = ("model.", "properties.", "checker.", "tests.support.")
# Pytest rewrites the asserts of its plugins as they are imported, and warns that it is too late.
LATE = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")
_SET_CHILD_SUBREAPER = 36  # of Linux


def _late(_number: int, _frame: object) -> None:
    raise TimeoutError


def _ended(_number: int, _frame: object) -> None:
    raise SystemExit


def _run(arguments: list[str], seconds: float, output: str) -> int | None:
    """Pytest's exit status, or minus the signal that ended it; `None` after so many seconds.

    What a wrong checker has started and left behind ends with it.
    """
    child = os.fork()
    if child == 0:
        _become_pytest(arguments, output)
    late = False
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    except TimeoutError:
        late = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        _end_orphans()
    return None if late else os.waitstatus_to_exitcode(status)


def _end_orphans() -> None:
    """End all that descends from this process, in whatever session: it inherits who is orphaned."""
    while orphans := Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        for orphan in map(int, orphans):
            os.kill(orphan, signal.SIGKILL)
            os.waitpid(orphan, 0)


def _become_pytest(arguments: list[str], output: str) -> None:
    """Run pytest in a session of its own, with its output in a file, and end the process."""
    status = 70
    try:
        os.setsid()
        for number in (signal.SIGALRM, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for mine, theirs in ((nothing, 0), (file, 1), (file, 2)):
            os.dup2(mine, theirs)
        status = int(pytest.main([*LATE, *arguments]))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


class _Reached(BaseException):
    """A module imports a file that is to change; nothing takes this for an optional library."""


class _Barred:
    """Stops whoever imports one of these modules; the first of the finders on `sys.meta_path`."""

    def __init__(self, modules: set[str]) -> None:
        self.modules = modules

    def find_spec(self, name: str, *_: object) -> None:
        """Nothing that anybody may import is found here."""
        if name in self.modules:
            raise _Reached(name)


def _import_unchanged(tests: list[str], mutated: list[str]) -> None:
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
            if name in seen or not f"{name}.".startswith(OURS):
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


def _begin(tests: list[str], mutated: list[str]) -> None:
    """Fork a process that serves runs of these tests, and wait until it has ended."""
    child = os.fork()
    if child == 0:
        _import_unchanged(tests, mutated)
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1)
        gc.collect()
        gc.freeze()
        _answer(None)
        while asked := json.loads(sys.stdin.readline()):
            _answer(_run(*asked))
        _answer(None)
        sys.exit()
    try:
        _, status = os.waitpid(child, 0)
        child = 0
    finally:
        if child:
            os.kill(child, signal.SIGTERM)
            os.waitpid(child, 0)
    if status:
        sys.exit("what mutants do not change cannot be imported")


def _answer(answer: int | None) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, _late)
    signal.signal(signal.SIGTERM, _ended)
    while line := sys.stdin.readline():
        _begin(*json.loads(line))
