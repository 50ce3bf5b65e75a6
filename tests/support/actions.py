"""Runs a composite action's shell steps as GitHub's runner does, and reads what a job tells it.

What another action would do (`uses:`) is noted and left out. Expressions are those of `action.yml`:
inputs, outputs of steps, and the runner's own values.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")  # what `shell: bash` means
_COMMAND = re.compile(r"::(error|warning|notice)(?: (.*?))?::(.*)")


def action() -> Any:
    """`action.yml` as data."""
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Annotation:
    """One that a job's log makes, as GitHub shows it."""

    level: str
    message: str
    values: dict[str, str]

    @property
    def place(self) -> Any:
        """File and line, or nothing."""
        return (self.values["file"], int(self.values["line"])) if "file" in self.values else None


def told_in(log: str) -> list[Annotation]:
    """Those of a log, as the runner reads its lines: `%25` stands for `%`, and is the last."""
    found = []
    for line in log.split("\n"):
        if told := _COMMAND.fullmatch(line.strip()):
            pairs = [pair.partition("=") for pair in (told[2] or "").split(",")]
            values = {name.strip(): _plain(value, of_value=True) for name, _, value in pairs}
            found.append(Annotation(told[1], _plain(told[3], of_value=False), values))
    return found


def _plain(text: str, of_value: bool) -> str:
    escapes = [("%0D", "\r"), ("%0A", "\n")]
    escapes += [("%3A", ":"), ("%2C", ",")] if of_value else []
    for escape, character in [*escapes, ("%25", "%")]:
        text = text.replace(escape, character)
    return text


@dataclass
class Job:
    """A job in `folder`, whose checkout is `workspace`; the runner's own files are beside it."""

    folder: Path
    inputs: dict[str, str]
    status: int = 0
    log: str = ""
    errors: str = ""
    used: list[str] = field(default_factory=list)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def temp(self) -> Path:
        return self.folder / "temp"

    @property
    def summary(self) -> str:
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.SUMMARY")))

    @property
    def results(self) -> dict[str, str]:
        """The outputs of the action."""
        return {name: self._filled(one["value"]) for name, one in action()["outputs"].items()}

    def run(self, **environment: str) -> Job:
        """Run the steps until one fails, as all do without a condition."""
        told = action()
        defaults = {name: one.get("default", "") for name, one in told["inputs"].items()}
        self.inputs = {**defaults, **self.inputs}
        self.workspace.mkdir(exist_ok=True)
        self.temp.mkdir(exist_ok=True)
        for number, step in enumerate(told["runs"]["steps"]):
            if self.status or not self._wanted(step.get("if", "")):
                continue
            if "uses" in step:
                self.used.append(step["uses"])
            else:
                self._step(number, step, environment)
        return self

    def _wanted(self, condition: str) -> bool:
        name, _, other = condition.partition(" != ")
        return not condition or self._value(name) != other.strip("'")

    def _step(self, number: int, step: Any, environment: dict[str, str]) -> None:
        assert step["shell"] == "bash"  # a composite action has to say it
        script = self.folder / f"{number}.sh"
        script.write_text(self._filled(step["run"]))
        names = {name: self.folder / f"{number}.{name}" for name in ("OUTPUT", "SUMMARY")}
        for path in names.values():
            path.touch()
        own = {name: self._filled(value) for name, value in step.get("env", {}).items()}
        runner = {
            "GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(self.temp),
            "GITHUB_OUTPUT": str(names["OUTPUT"]), "GITHUB_STEP_SUMMARY": str(names["SUMMARY"]),
        }  # fmt: skip
        ended = subprocess.run(
            [*SHELL, script],
            cwd=self.workspace, env={**os.environ, **environment, **runner, **own},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.status, self.log = ended.returncode, self.log + ended.stdout
        self.errors += ended.stderr
        lines = names["OUTPUT"].read_text().splitlines()
        self.outputs[step.get("id", "")] = dict(line.split("=", 1) for line in lines)

    def _filled(self, text: str) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda told: self._value(told[1]), str(text))

    def _value(self, expression: str) -> str:
        match expression.split("."):
            case ["inputs", name]:
                return self.inputs[name]
            case ["steps", step, "outputs", name]:
                return self.outputs.get(step, {}).get(name, "")
            case ["runner", "temp"]:
                return str(self.temp)
        raise AssertionError(f"no runner knows {expression}")


def installed(job: Job) -> dict[str, str]:
    """Put this Python where the action makes one, which then installs nothing; what it needs."""
    there = job.temp / "highwater" / "bin"
    there.mkdir(parents=True)
    script = f'#!/bin/sh\ncase "$2" in venv | pip) ;; *) exec "{sys.executable}" "$@" ;; esac\n'
    for python in (there / "python", there / "python3"):
        python.write_text(script)
        python.chmod(0o755)
    own = (str(ROOT), str(ROOT / "checker" / "public"))
    return {
        "PATH": os.pathsep.join([str(there), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(own),
    }
