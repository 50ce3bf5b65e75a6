"""Cases: stored counterexamples, each with its story, what fixes it, and steps to replay.

A case is a folder with `case.toml`, written by people but for the steps, and a `README.md` made
from it. The steps determine the trace. `highwater cases --write` searches for them anew; `--pages`
makes the pages again, and the overviews of all cases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from checker.core.amounts import counted
from checker.core.files import COUNTEREXAMPLES, parsed, table
from checker.core.search.question import Options
from checker.core.traces.itf import read_trace
from checker.core.traces.trace import Trace, build_trace
from checker.core.verdict import Exploration, Verdict
from checker.lab.experiments.choices import Choice, explored, steps_named
from checker.lab.experiments.grid import Grid
from checker.telling.report.markdown import render_markdown
from checker.telling.report.paragraphs import markdown_lines
from model.ladder import LADDER
from model.language.errors import RejectedError, UsageError, unknown_name
from model.language.naming import instance_words
from model.protocols import PROTOCOLS, protocol_named
from properties import Property, choose_properties

CASE_FILE, PAGE_FILE = "case.toml", "README.md"
COMMAND_WIDTH = 98


@dataclass(frozen=True)
class Case:
    """A violation worth keeping. `violates` names the property that fails after `steps`;
    `fix` is what no longer makes it fail."""

    folder: Path
    title: str
    source: str
    story: str
    violates: str
    broken: Choice
    fix: Choice | None
    steps: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def claim(self) -> Property:
        """The property that fails."""
        return choose_properties(self.broken.model.protocol, [self.violates])[0]

    def stored_trace(self) -> Trace:
        """The trace of the stored steps, replayed; `HighwaterError` if it does not hold."""
        steps = steps_named(self.broken.model, self.steps)
        return build_trace(self.broken.model, steps, self.violates)

    def find(self) -> Trace:
        """Search for the shortest trace anew."""
        result = explored(self.broken, [self.violates], options=Options(workers=2))
        if not result.violations:
            raise UsageError(f"{self.name}: {self.violates} is not violated: {result.verdict}")
        return build_trace(self.broken.model, result.violations[0].steps, self.violates)

    def page(self, trace: Trace) -> str:
        """The case's page: its story, how to see it, its trace."""
        command = f"explore {self.broken.arguments} --property {self.violates}"
        lines = [
            f"# {self.title}",
            "",
            f"*{self.source}*",
            "",
            *_story_lines(self.story),
            "",
            f"`{self.violates}` fails after {counted(trace.depth, 'step')}; no shorter way exists:",
            "",
            *_command_lines(command),
            "",
        ]
        if self.fix is not None:
            fix = f"explore {self.fix.arguments} --property {self.violates}"
            lines += ["The fix, explored at the same sizes, holds:", ""]
            lines += [*_command_lines(fix), ""]
        shown = render_markdown(trace).split("\n", 1)[1].strip()
        return "\n".join(lines) + "\n## The trace\n\n" + shown.replace("\n## ", "\n### ") + "\n"

    def write(self, trace: Trace) -> None:
        """Write the trace's steps into `case.toml`, and the page."""
        path = self.folder / CASE_FILE
        path.write_text(with_steps(path.read_text(encoding="utf-8"), trace), encoding="utf-8")
        (self.folder / PAGE_FILE).write_text(self.page(trace), encoding="utf-8")


def _story_lines(story: str) -> list[str]:
    """The story's paragraphs, wrapped as a page's are."""
    parts = [markdown_lines(" ".join(part.split())) for part in story.strip().split("\n\n")]
    return "\n\n".join("\n".join(part) for part in parts).split("\n")


def _command_lines(command: str) -> list[str]:
    """The command as an indented block; a line that goes on ends with a backslash."""
    words = command.replace(" --", "\0--").split("\0")
    lines = [f"    {words[0]}"]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 1 > COMMAND_WIDTH:
            lines[-1] += " \\"
            lines.append(f"        {word}")
        else:
            lines[-1] += f" {word}"
    return lines


def with_steps(text: str, trace: Trace) -> str:
    """The text of a `case.toml` with these steps, a line each, before its first table."""
    words = (instance_words(trace.model, step) for step in trace.steps)
    steps = "".join(["steps = [\n", *(f"    {json.dumps(line)},\n" for line in words), "]\n"])
    rest = re.sub(r"^steps = \[(?:\n.*?^)?\]\n+", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^\[", lambda _: f"{steps}\n[", rest, count=1, flags=re.MULTILINE)


def read_case(folder: Path) -> Case:
    """The case in a folder; `UsageError` in one line if its `case.toml` is not well formed."""
    with parsed(folder / CASE_FILE) as data:
        fix = Choice.of(table(data, "fix")) if "fix" in data else None
        return Case(
            folder, data["title"], data["source"], data["story"], data["violates"],
            Choice.of(table(data, "broken")), fix, tuple(data.get("steps", ())),
        )  # fmt: skip


def read_cases(root: Path) -> list[Case]:
    """Every case below a folder, by path; `UsageError` if there is none."""
    folders = sorted(path.parent for path in root.rglob(CASE_FILE))
    if not folders:
        raise UsageError(f"{root}: no folder below it holds a {CASE_FILE}")
    return [read_case(folder) for folder in folders]


@lru_cache
def stored_cases() -> tuple[Case, ...]:
    """The cases that come with the project; none where they were not installed."""
    return tuple(read_cases(COUNTEREXAMPLES)) if COUNTEREXAMPLES.is_dir() else ()


def stored_case(name: Path) -> Case | None:
    """The case in that folder, or of that name; `None` if there is none."""
    if (name / CASE_FILE).is_file():
        return read_case(name)
    found = sorted(COUNTEREXAMPLES.glob(f"*/{name}/{CASE_FILE}")) if len(name.parts) == 1 else []
    return read_case(found[0].parent) if found else None


def accepted_trace(file: Path, protocol: str | None = None) -> Trace:
    """The trace of a file or of a stored case, by folder or name, replayed.

    `RejectedError` if it does not replay or is of another protocol; `UsageError` if it is none.
    """
    wanted = protocol_named(protocol) if protocol else None
    case = None if file.is_file() else stored_case(file)
    if case is None and not file.exists() and file.name == str(file) and not file.suffix:
        stored = [path.parent.name for path in COUNTEREXAMPLES.glob(f"*/*/{CASE_FILE}")]
        begun = sorted(each for each in stored if each.startswith(f"{file.name}-"))
        hint = f"did you mean {' or '.join(map(repr, begun))}? " if begun else ""
        kind = "file or stored counterexample"
        raise unknown_name(kind, file.name, stored, "highwater cases", hint)
    known = PROTOCOLS if wanted is None else {**PROTOCOLS, wanted.name: wanted}
    trace = case.stored_trace() if case is not None else read_trace(file, known)
    found = trace.model.protocol
    if wanted is not None and found is not wanted:
        raise RejectedError(
            f"the trace {file} is rejected: it is of {found.name}, not of {wanted.name}"
        )
    return trace


# --- overviews -----------------------------------------------------------------------------------

_FENCES = ("wait_for_epoch", "fence_truncation", "fence_high_watermark", "fence_fetch")
_LADDER_CHOICES = (
    *(Choice(protocol.name) for protocol in LADDER),
    *(Choice("kip320", settings={fence: "false"}) for fence in _FENCES),
)
_ASYNC_BOUNDS = {"max_version": 3}
_ASYNC_CHOICES = (
    Choice("async_isr", bounds=_ASYNC_BOUNDS),
    Choice("async_isr", settings={"maximal_isr": "false"}, bounds=_ASYNC_BOUNDS),
)


def ladder_overview(folder: Path) -> str:
    """The page of the ladder's counterexamples: every choice explored, for every property."""
    cases = read_cases(folder)
    links = {(case.broken.arguments, case.violates): case.name for case in cases}
    tables = ["\n".join(_explored(c, links)) for c in (_LADDER_CHOICES, _ASYNC_CHOICES)]
    listed = "\n".join(f"- [{case.title}]({case.name}/): {case.source}" for case in cases)
    return f"""# Counterexamples of the ladder

Made by `highwater cases --pages`. Each cell was explored to the end: *lost in N* links to the
shortest trace and its story, *holds* means that no reachable state violates the property.
Bounds are the defaults unless they are given: 3 replicas, log size 2, 2 records, epochs 0 to 2.

{tables[0]}

Asynchronous ISR updates (KIP-497) have their own state:

{tables[1]}

## Stories

{listed}
"""


def _explored(choices: tuple[Choice, ...], links: Mapping[tuple[str, str], str]) -> list[str]:
    """A table choice x property, of the properties that some choice violates."""
    results = {choice.arguments: explored(choice) for choice in choices}
    violated = {v.property.name for result in results.values() for v in result.violations}
    declared = dict.fromkeys(p.name for result in results.values() for p in result.properties)
    names = [name for name in declared if name in violated]
    rows = [
        [f"`{arguments}`", f"{result.distinct_states:,}"]
        + [_cell(result, name, links.get((arguments, name))) for name in names]
        for arguments, result in results.items()
    ]
    columns = ["explored", "states", *(f"`{name}`" for name in names)]
    return Grid(columns, rows, numbers=frozenset({"states"})).markdown()


def _cell(result: Exploration, name: str, link: str | None) -> str:
    for violation in result.violations:
        if violation.property.name == name:
            words = f"lost in {violation.depth}"
            return f"[{words}]({link}/)" if link is not None else words
    known = any(prop.name == name for prop in result.properties)
    return ("holds" if result.coverage is Verdict.EXHAUSTED else result.coverage) if known else ""


def kafka_overview(folder: Path, of: str = "the broker model") -> str:
    """The page of a model's counterexamples, read off the stored steps."""
    rows = []
    for case in read_cases(folder):
        fix: Mapping[str, Any] = case.fix.settings if case.fix is not None else {}
        changed = [f"`{k}={v}`" for k, v in fix.items() if case.broken.settings.get(k) != v]
        shown = f"[{case.title}]({case.name}/)", case.source, f"`{case.violates}`"
        rows.append([*shown, str(len(case.steps)), ", ".join(changed)])
    columns = ["what happens", "source", "property", "steps", "no longer with"]
    table = "\n".join(Grid(columns, rows, numbers=frozenset({"steps"})).markdown())
    return f"""# Counterexamples of {of}

Made by `highwater cases --pages`: one for each bug of the [catalogue](../../docs/catalogue.md) that
the model reaches, and for what operators should know. Each trace is a shortest one. With the fix in
the last column the same search ends without a violation: a test says so.

{table}
"""


def producer_overview(folder: Path) -> str:
    """The page of the producer model's counterexamples."""
    return kafka_overview(folder, "the producer model")


def group_overview(folder: Path) -> str:
    """The page of the group model's counterexamples."""
    return kafka_overview(folder, "the group model")


def tiered_overview(folder: Path) -> str:
    """The page of the tiered model's counterexamples."""
    return kafka_overview(folder, "the tiered model")


def kraft_overview(folder: Path) -> str:
    """The page of the KRaft model's counterexamples."""
    return kafka_overview(folder, "the KRaft model")


def transactions_overview(folder: Path) -> str:
    """The page of the transaction model's counterexamples."""
    return kafka_overview(folder, "the transaction model")


def streams_overview(folder: Path) -> str:
    """The page of the counterexamples of a task that consumes, processes and produces."""
    return kafka_overview(folder, "the model of a task")


OVERVIEWS: Mapping[str, Callable[[Path], str]] = {
    "kafka": kafka_overview,
    "kafka_producer": producer_overview,
    "kafka_group": group_overview,
    "kafka_tiered": tiered_overview,
    "kafka_transactions": transactions_overview,
    "kafka_streams": streams_overview,
    "kraft": kraft_overview,
    "ladder": ladder_overview,
}
