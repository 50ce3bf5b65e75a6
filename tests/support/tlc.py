"""Runs TLC on exported TLA+, where there is one: `TLC` in the environment says how it is started.

As in TLC="java -cp tla2tools.jar tlc2.TLC".
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker.core.export.tla import Specification

START = shlex.split(os.environ.get("TLC", ""))


@dataclass(frozen=True)
class TlcAnswer:
    """States, and steps taken with the initial state as one; what is violated."""

    states: int
    transitions: int
    violated: str | None


def run_tlc(written: Specification, folder: Path) -> TlcAnswer:
    """Breadth first with one worker, until something is violated."""
    (folder / f"{written.name}.tla").write_text(written.module, encoding="utf-8")
    (folder / f"{written.name}.cfg").write_text(written.configuration, encoding="utf-8")
    command = [*START, "-workers", "1", written.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    counted = re.findall(
        r"^(\d+) states generated, (\d+) distinct states found", done.stdout, re.MULTILINE
    )
    assert counted, done.stdout + done.stderr
    violated = re.search(r"Error: (?:Invariant|Action property) (\w+) ", done.stdout)
    assert done.returncode == 0 or violated is not None, done.stdout
    transitions, states = map(int, counted[-1])
    return TlcAnswer(states, transitions, violated[1] if violated else None)


def shown_cores(
    specification: Path, module: str, configuration: str, folder: Path
) -> tuple[int, set[str]]:
    """States of a specification of others, and what the module `Core`, which extends it, prints.

    Its invariant prints a line for each state: `core`, and a value.
    """
    for path in specification.glob("*.tla"):
        shutil.copy(path, folder)
    (folder / "Core.tla").write_text(module, encoding="utf-8")
    (folder / "Core.cfg").write_text(configuration, encoding="utf-8")
    command = [*START, "-workers", "1", "Core"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    counted = re.findall(r"(\d+) distinct states found, 0 states left", done.stdout)
    assert counted, done.stdout[-2000:] + done.stderr
    return int(counted[0]), set(re.findall(r'^"core (.*)"$', done.stdout, re.MULTILINE))


def values_of(text: str) -> Any:
    """A printed tuple of tuples as lists: `<<<<\\"F\\", 1, <<2>>>>>>`."""
    return json.loads(text.replace("\\", "").replace("<<", "[").replace(">>", "]"))
