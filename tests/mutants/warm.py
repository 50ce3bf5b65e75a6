"""A process that has imported what no mutant changes, and forks for each run of pytest.

Requests are lines of JSON on standard input, each answered by a line. After `[files of tests, files
that mutants change]` a fork has imported of the project what the former need and the latter do not
change. It serves what follows, up to `[]`: `[arguments of pytest, seconds, file for the output]`.
The answer is the exit status as `subprocess` gives it, or `null` where the run was not done after
so many seconds.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys

import hypothesis.stateful
import llvmlite.binding
import numpy as np
import pytest
import z3
from unchanged import import_unchanged

IMPORTED = (hypothesis.stateful, llvmlite.binding, np, pytest, z3)
# Pytest rewrites the asserts of its plugins as they are imported, and warns that it is too late.
LATE = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")


def _late(_number: int, _frame: object) -> None:
    raise TimeoutError


def _ended(_number: int, _frame: object) -> None:
    raise SystemExit


def _run(arguments: list[str], seconds: float, output: str) -> int | None:
    """Pytest's exit status, or minus the signal that ended it; `None` after so many seconds."""
    child = os.fork()
    if child == 0:
        _become_pytest(arguments, output)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        _, status = os.waitpid(child, 0)
    except BaseException as ended:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if not isinstance(ended, TimeoutError):
            raise
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return os.waitstatus_to_exitcode(status)


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


def _begin(tests: list[str], mutated: list[str]) -> None:
    """Fork a process that serves runs of these tests, and wait until it has ended."""
    child = os.fork()
    if child == 0:
        import_unchanged(tests, mutated)
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
