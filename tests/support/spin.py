"""Runs Spin on exported Promela: what it counts, and what it finds violated at which depth."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

VERIFIER = ("gcc", "-O2", "-w", "-DSAFETY", "-DNOREDUCE")


@dataclass(frozen=True)
class SpinAnswer:
    """States and transitions, the initial one among them; what is violated, with its depth."""

    states: int
    transitions: int
    violated: str | None
    depth: int | None


def verifier(text: str, folder: Path, *options: str) -> Path:
    """The verifier that Spin makes of a model, compiled in `folder`."""
    (folder / "model.pml").write_text(text, encoding="utf-8")
    made = subprocess.run(
        ["spin", "-a", "model.pml"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert made.stdout + made.stderr == "", made.stdout + made.stderr
    subprocess.run([*VERIFIER, *options, "-o", "pan", "pan.c"], cwd=folder, check=True)
    return folder / "pan"


def run_spin(text: str, folder: Path) -> SpinAnswer:
    """Breadth first, so that what is violated is so after as few steps as can be."""
    pan = verifier(text, folder, "-DBFS")
    out = subprocess.run([str(pan)], cwd=folder, capture_output=True, text=True, check=True).stdout
    violated = re.search(r"^(.*) is violated$", out, re.MULTILINE)
    failed = re.search(r"assertion violated .*\(at depth (\d+)\)", out)
    assert (violated is None) == (failed is None), out
    assert "error: max search depth" not in out, out
    return SpinAnswer(
        counted(out, "states, stored"),
        counted(out, "transitions"),
        violated[1] if violated else None,
        int(failed[1]) if failed else None,
    )


def counted(out: str, what: str) -> int:
    """The number before those words in what a verifier prints."""
    found = re.search(rf"(\d+) {what}", out)
    assert found is not None, out
    return int(found[1])
