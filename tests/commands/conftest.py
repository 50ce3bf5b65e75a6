"""Runs commands as users do: in this process where that shows the same, else in a new one."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import fastjsonschema
import pytest

from tests.support.processes import ENTRY, highwater_command

ROOT = Path(__file__).parents[2]


check_output = fastjsonschema.compile(
    json.loads((ROOT / "checker" / "commands" / "output.schema.json").read_text())
)
"""Raises if what a command printed with `--json` is not as the schema says."""


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def highwater(capsys, few_compared):
    """Run `highwater` with the given arguments in this process."""

    def run(*arguments):
        from checker.commands.cli import highwater as command
        from checker.commands.cli import run

        capsys.readouterr()
        given = [str(argument) for argument in arguments]
        ended = Ended(int(run(command, given, name="highwater")), *capsys.readouterr())
        if "--json" in given and "--help" not in given:
            check_output(ended.json)
        return ended

    return run


@pytest.fixture
def start():
    """Start `highwater` in a process of its own."""
    started = []

    def begin(*arguments, entry=ENTRY, **options):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)} | options.pop("env", {})
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        process = subprocess.Popen(
            highwater_command(*map(str, arguments), entry=entry),
            text=True,
            env=environment,
            **streams,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def finish(start):
    """Run `highwater` in a process of its own to its end."""

    def run(*arguments, **options):
        process = start(*arguments, **options)
        out, err = process.communicate(timeout=120)
        return Ended(process.returncode, out or "", err or "")

    return run
