"""Cases: stored counterexamples, each with its story, what fixes it, and a trace that is replayed.

A case is a folder with `case.toml` (written by people), `trace.itf.json` and `README.md` (both made
from it by `highwater cases --write`). The overview of all cases is generated too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from checker.experiments.toml_files import read_toml
from checker.report.markdown import render_markdown
from checker.search.explore import Explorer, Options
from checker.traces.itf import read_trace, trace_as_itf
from checker.traces.trace import Trace, build_trace
from checker.verdict import Exploration, Verdict
from model.language.errors import UsageError
from model.language.protocol import Model
from model.protocols import protocol_named
from properties import Property, choose_properties

CASE_FILE, TRACE_FILE, PAGE_FILE = "case.toml", "trace.itf.json", "README.md"


@dataclass(frozen=True)
class Choice:
    """A protocol with a preset, settings and bounds, as `case.toml` writes it."""

    protocol: str
    preset: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def model(self) -> Model:
        """The model that is chosen."""
        protocol = protocol_named(self.protocol)
        preset = protocol.preset(self.preset) if self.preset else {}
        return protocol.model(self.bounds, {**preset, **self.settings})

    @property
    def arguments(self) -> str:
        """The choice as arguments of `explore`."""
        parts = [self.protocol]
        if self.preset:
            parts.append(f"--preset {self.preset}")
        parts += [f"--set {name}={value}" for name, value in self.settings.items()]
        parts += [f"--{name.replace('_', '-')} {value}" for name, value in self.bounds.items()]
        return " ".join(parts)


@dataclass(frozen=True)
class Case:
    """A violation worth keeping. `violates` names the property that fails;
    `fix` is what no longer makes it fail."""

    folder: Path
    title: str
    source: str
    story: str
    violates: str
    broken: Choice
    fix: Choice | None
    symmetry: bool = False

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def claim(self) -> Property:
        """The property that fails."""
        return choose_properties(self.broken.model.protocol, [self.violates])[0]

    def stored_trace(self) -> Trace:
        """The trace in the folder, replayed; errors as `read_trace` and `check_trace`."""
        return read_trace(self.folder / TRACE_FILE)

    def find(self) -> Trace:
        """Search for the shortest trace anew."""
        result = explored(self.broken, [self.violates])
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
            self.story.strip(),
            "",
            f"`{self.violates}` fails after {trace.depth} steps; no shorter way exists:",
            "",
            f"    {command}",
            "",
        ]
        if self.fix is not None:
            fix = f"    explore {self.fix.arguments} --property {self.violates}"
            lines += ["The fix, explored at the same sizes, holds:", "", fix, ""]
        shown = render_markdown(trace).split("\n", 1)[1].strip()
        return "\n".join(lines) + "\n## The trace\n\n" + shown.replace("\n## ", "\n### ") + "\n"

    def write(self) -> Trace:
        """Search anew, and write trace and page."""
        trace = self.find()
        (self.folder / TRACE_FILE).write_text(trace_as_itf(trace), encoding="utf-8")
        (self.folder / PAGE_FILE).write_text(self.page(trace), encoding="utf-8")
        return trace


def explored(choice: Choice, properties: Iterable[str] = ()) -> Exploration:
    """An exhaustive search of a choice for all violations of the given properties, or all."""
    model = choice.model
    chosen = choose_properties(model.protocol, properties)
    return Explorer(model, chosen, options=Options(workers=2, keep_going=True)).run()


def read_case(folder: Path) -> Case:
    """The case in a folder; `UsageError` in one line if its `case.toml` is not well formed."""
    path = folder / CASE_FILE
    try:
        data = read_toml(path)
        fix = _choice(data["fix"]) if "fix" in data else None
        return Case(
            folder, data["title"], data["source"], data["story"], data["violates"],
            _choice(data["broken"]), fix, data.get("symmetry", False),
        )  # fmt: skip
    except KeyError as error:
        raise UsageError(f"{path}: no {error.args[0]!r}") from error


def _choice(data: Mapping[str, Any]) -> Choice:
    settings = {name: str(value) for name, value in data.get("settings", {}).items()}
    return Choice(data["protocol"], data.get("preset", ""), settings, data.get("bounds", {}))


def read_cases(root: Path) -> list[Case]:
    """Every case below a folder, by path; `UsageError` if there is none."""
    folders = sorted(path.parent for path in root.rglob(CASE_FILE))
    if not folders:
        raise UsageError(f"{root}: no folder below it holds a {CASE_FILE}")
    return [read_case(folder) for folder in folders]


def overview(cases: list[Case], root: Path, results: Mapping[str, Exploration]) -> str:
    """A table choice × property for one set of cases, with a link behind each violation.

    `results` holds the exploration of each choice, by its arguments.
    """
    names = _columns(results.values())
    lines = [f"| explored | states | {' | '.join(f'`{n}`' for n in names)} |"]
    lines.append("|---|---:|" + "---|" * len(names))
    links = {(c.broken.arguments, c.violates): c.folder.relative_to(root) for c in cases}
    for arguments, result in results.items():
        cells = [_cell(result, name, links.get((arguments, name))) for name in names]
        lines.append(f"| `{arguments}` | {result.distinct_states:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _columns(results: Iterable[Exploration]) -> list[str]:
    """The properties that some choice violates, in the order of their declaration."""
    violated = {v.property.name for result in results for v in result.violations}
    declared = dict.fromkeys(p.name for result in results for p in result.properties)
    return [name for name in declared if name in violated]


def _cell(result: Exploration, name: str, link: Path | None) -> str:
    for violation in result.violations:
        if violation.property.name == name:
            words = f"lost in {violation.depth}"
            return f"[{words}]({link.as_posix()}/)" if link is not None else words
    known = any(prop.name == name for prop in result.properties)
    return ("holds" if result.coverage is Verdict.EXHAUSTED else result.coverage) if known else ""
