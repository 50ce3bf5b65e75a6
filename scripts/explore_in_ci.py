"""What the action of `action.yml` runs in a job, by the Python that Highwater is installed for.

It explores every protocol that the job names, whatever comes of the one before, and ends with the
first exit status that is not 0. `digest` as argument names the cache of machine code instead.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parents[1]
EXPLORE = str(Path(sys.executable).with_name("explore"))
SOURCES = ("model", "properties", "checker")


class Answer(NamedTuple):
    """How one search ended: `verdict` is that of `--json`, or `error`; `broken` a property."""

    status: int
    verdict: str
    broken: str
    page: str


def main() -> int:
    """Do what the arguments say; the exit status of the step."""
    asked = [shlex.split(line) for line in os.environ["PROTOCOLS"].splitlines() if line.strip()]
    if sys.argv[1:] == ["digest"]:
        _append("GITHUB_OUTPUT", f"digest={digest(asked)}\n")
        return 0
    if not asked:
        print("::error title=Highwater::protocols names none: write one a line")
        return 2
    answers = []
    for words in asked:
        answers.append(explored(words))
        _append("GITHUB_STEP_SUMMARY", answers[-1].page)
    told = next((one for one in answers if one.status), answers[0])
    _append("GITHUB_OUTPUT", f"verdict={told.verdict}\nproperty={told.broken}\n")
    return told.status


def explored(words: list[str]) -> Answer:
    """Explore a protocol; its annotations go to the log, as all that the command prints."""
    options = [*words[1:], *shlex.split(os.environ.get("ARGUMENTS", ""))]
    if limit := os.environ.get("LIMIT", "").strip():
        options += ["--max-seconds", limit]
    with tempfile.TemporaryDirectory() as folder:
        page, data = Path(folder, "page.md"), Path(folder, "found.json")
        forms = ["--format", "github", "--also", f"markdown={page}", "--also", f"json={data}"]
        command = [EXPLORE, words[0], *options, *forms]
        ended = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        print(ended.stderr, end="", file=sys.stderr, flush=True)
        if not data.exists() or not page.exists():
            return _unanswered(words[0], ended)
        found = json.loads(data.read_text(encoding="utf-8"))
        return Answer(
            ended.returncode, found["verdict"], broken(found), page.read_text(encoding="utf-8")
        )


def _unanswered(name: str, ended: subprocess.CompletedProcess[str]) -> Answer:
    """A command that had nothing to tell but why: a wrong name, or a limit before any answer."""
    said = ended.stderr.strip().replace("```", "'''") or "no answer"
    page = f"# {name}: no answer, exit status {ended.returncode}\n\n```text\n{said}\n```\n"
    return Answer(ended.returncode, "unknown" if ended.returncode == 20 else "error", "", page)


def broken(found: dict[str, object]) -> str:
    """The first property that is violated, `deadlock`, or nothing."""

    def names(told: object) -> Iterator[str]:
        if isinstance(told, dict):
            yield from (name for name, one in told.items() if one["verdict"] == "violated")

    states = names(found["properties"])
    stuck = ["deadlock"] if found["deadlock"] else []
    return next(iter([*states, *stuck, *names(found["liveness"])]), "")


def digest(asked: list[list[str]]) -> str:
    """Of what machine code is made from: Highwater, the files that are named, Python, processor.

    Of a file's folder all modules count, as it may import them.
    """
    from llvmlite.binding import get_host_cpu_name

    files = [path for name in SOURCES for path in (HERE / name).rglob("*.py")]
    for words in asked:
        named = Path(words[0].partition(":")[0])
        files += named.parent.glob("*.py") if named.suffix == ".py" else ()
    told = hashlib.sha256(f"{platform.python_version()} {get_host_cpu_name()}\n".encode())
    for path in (HERE / "constraints.txt", *sorted(set(files))):
        told.update(hashlib.sha256(path.read_bytes()).digest())
    return told.hexdigest()[:32]


def _append(variable: str, text: str) -> None:
    """Add to the file that the runner reads after the step; outside of one, to nothing."""
    if name := os.environ.get(variable):
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main())
