"""Scenarios: named sequences of events, written by people, replayed with what they expect.

A scenario is a TOML file: a title, a story, names for members and rows, and one or more runs. A run
chooses a protocol, a preset, settings and bounds, and lists one event or expectation a line:

    producer_send b1                 an action with its arguments
    expect b1.high_watermark = 1     what a variable's value is now
    expect b1.log = blue green       the first field of a sequence's entries
    refused producer_send b1         the action is not enabled here
    enabled producer_send b1         it is
    holds exposed_records_survive    a property is true of this state, or of the last step
    violated isr_logs_agree          it is false

All of it runs on the reference engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checker.core.engines.reference import ReferenceEngine, State
from checker.core.files import parsed, table, tables
from checker.core.traces.trace import Trace, build_trace
from checker.lab.experiments.choices import Choice, texts
from model.language.declare.domains import Reference
from model.language.errors import RejectedError, UsageError, unknown_name
from model.language.naming import NONE, member_names, value_words
from model.language.protocol import Instance, Model
from properties import choose_properties

CHECKS = ("expect", "refused", "enabled", "holds", "violated")


@dataclass(frozen=True)
class Line:
    """One line of a run: an action (`word` is empty) or an expectation, and where it stands."""

    word: str
    text: str
    where: str


@dataclass(frozen=True)
class Run:
    """One telling of a scenario: a model and the lines that it goes through."""

    name: str
    model: Model
    lines: tuple[Line, ...]
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """A story with one or more runs. `names` gives story names to members and rows."""

    path: Path
    title: str
    source: str
    story: str
    names: Mapping[str, str]
    runs: tuple[Run, ...]

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem


def read_scenario(path: Path) -> Scenario:
    """The scenario in a file; `UsageError` in one line if it is not well formed."""
    with parsed(path) as data:
        names = texts(table(data, "names", {}))
        runs = tuple(_run(path, run, names) for run in tables(data, "run"))
        return Scenario(
            path, data["title"], data.get("source", ""), data.get("story", ""), names, runs
        )


def _run(path: Path, data: Mapping[str, Any], names: Mapping[str, str]) -> Run:
    lines = []
    for number, text in enumerate(data["events"].splitlines(), 1):
        words = text.partition("#")[0].split()
        if words:
            word = words[0] if words[0] in CHECKS else ""
            rest = " ".join(words[1:] if word else words)
            lines.append(Line(word, rest, f"{path.name}, {data['name']}, event line {number}"))
    return Run(data["name"], Choice.of(data).model, tuple(lines), names)


def read_scenarios(folder: Path) -> list[Scenario]:
    """Every scenario in a folder, by name; `UsageError` if there is none."""
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise UsageError(f"{folder}: there is no scenario (*.toml) in it")
    return [read_scenario(path) for path in paths]


# --- events --------------------------------------------------------------------------------------


def step_of(model: Model, text: str, names: Mapping[str, str] | None = None) -> Instance:
    """The action instance that `action argument ...` names; `UsageError` if there is none."""
    name, *words = text.split()
    actions = {action.name: action for action in model.protocol.actions}
    if name not in actions:
        raise unknown_name("action", name, actions)
    parameters = model.protocol.parameters[name]
    if len(words) != len(parameters):
        wanted = " ".join(p.name.upper() for p in parameters) or "no arguments"
        raise UsageError(f"{name} takes {wanted}, not {len(words)} arguments")
    given = []
    for parameter, word in zip(parameters, words, strict=True):
        if isinstance(parameter.domain, Reference):
            given.append(_member(model, parameter.domain.family, word, names or {}))
        else:
            given.append(_number(word))
    for instance in model.instances:
        if instance.action.name == name and instance.arguments == tuple(given):
            return instance
    raise UsageError(f"{text}: an argument is out of range")


def _number(word: str) -> int:
    if not (word.isascii() and word.lstrip("-").isdecimal()):
        raise UsageError(f"{word!r} is not a number")
    return int(word)


def _member(model: Model, family: str, word: str, names: Mapping[str, str]) -> int:
    known = member_names(model, family)
    real = names.get(word, word)
    if real not in known:
        raise unknown_name("member", word, [*names, *known])
    return known.index(real)


def replay(run: Run) -> Trace:
    """Take every event and check every expectation; `RejectedError` at the first that fails."""
    engine = ReferenceEngine(run.model)
    states, steps = [engine.initial()], []
    for line in run.lines:
        try:
            if line.word:
                _check(run, engine, line, states)
                continue
            instance = step_of(run.model, line.text, run.names)
        except UsageError as error:
            raise UsageError(f"{line.where}: {error}") from error
        after = engine.step(states[-1], instance)
        if after is None:
            raise RejectedError(f"{line.where}: {line.text} is not enabled here")
        states.append(after)
        steps.append(instance)
    return build_trace(run.model, steps)


# --- expectations --------------------------------------------------------------------------------


def _check(run: Run, engine: ReferenceEngine, line: Line, states: list[State]) -> None:
    if line.word == "expect":
        path, equals, wanted = line.text.partition("=")
        if not equals:
            raise UsageError(f"{line.text}: write `expect what = value`")
        found = value_at(run, states[-1], path.strip())
        if found != _plain(run, wanted):
            raise RejectedError(f"{line.where}: {path.strip()} is {found}, not {wanted.strip()}")
    elif line.word in ("refused", "enabled"):
        after = engine.step(states[-1], step_of(run.model, line.text, run.names))
        if (after is not None) is not (line.word == "enabled"):
            raise RejectedError(f"{line.where}: {line.text} is not {line.word} here")
    else:
        (prop,) = choose_properties(run.model.protocol, [line.text])
        if len(states) < prop.frames:
            raise UsageError(f"{prop.name} is about steps, and none was taken yet")
        if engine.holds(prop.claim, *states[-prop.frames :]) is not (line.word == "holds"):
            raise RejectedError(f"{line.where}: {prop.name} is not as expected: {line.word}")


def _plain(run: Run, wanted: str) -> str:
    """A value as written, with story names replaced and sets in order."""
    words = wanted.replace("{", " { ").replace("}", " } ").replace(",", " ").split()
    words = [_last(run.names.get(word, word)) for word in words]
    if words[:1] == ["{"]:
        return "{" + ", ".join(sorted(words[1:-1])) + "}"
    return " ".join(words)


def _last(name: str) -> str:
    """`0` for `record 0`: how a variable that holds a row's number shows it."""
    return name.rsplit(" ", 1)[-1]


def value_at(run: Run, state: State, path: str) -> str:
    """The value of a variable, such as `b1.high_watermark` or `controller.isr`, in words."""
    model = run.model
    head, _, rest = path.partition(".")
    head = run.names.get(head, head)
    for family in model.schema.families:
        names = member_names(model, family)
        if head in names:
            return _show(model, state, f"{family}.{rest}", (names.index(head),), path)
    return _show(model, state, path, (), path)


def _show(model: Model, state: State, name: str, index: tuple[int, ...], path: str) -> str:
    position = model.positions.get((name, index))
    if position is not None:
        words = value_words(model, model.cells[position], state[position])
        return words.rsplit(" ", 1)[-1] if words.startswith("record ") else words
    end = model.positions.get((f"{name}.end", index))
    first = next((v for v in model.schema.variables if v.startswith(f"{name}.")
                  and not v.endswith(".end")), None)  # fmt: skip
    if end is None or first is None:
        raise UsageError(f"no variable is called {path!r}")
    places = [model.positions[first, (*index, k)] for k in range(state[end])]
    return " ".join(value_words(model, model.cells[p], state[p]) for p in places) or NONE
