"""Liveness, preset by preset: verdicts, runs for ever that show a violation, and least fairness."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from checker.core.amounts import counted
from checker.core.liveness.least import Least
from checker.core.liveness.search import LivenessSearch
from checker.core.search.limits import Limits, Stop
from checker.core.search.question import Options
from checker.core.traces.lasso import Rounds
from checker.core.traces.trace import Trace, TraceVerdict, build_trace
from checker.core.verdict import Judgement, Verdict
from model.language import Model
from model.language.errors import LimitError
from model.language.fairness import Fairness
from properties import Liveness


@dataclass(frozen=True)
class Row:
    """One property under one preset, or under the settings chosen where `preset` is empty.

    `stopped` says what ended the search before all of it was answered, if something did. Then there
    may be no `least`.
    """

    preset: str
    states: int
    judgement: Judgement
    least: Least | None
    trace: Trace | None
    stopped: str = ""


def rows_of(
    preset: str,
    model: Model,
    promises: Iterable[Liveness],
    fairness: tuple[Fairness, ...],
    limits: Limits,
    options: Options,
) -> Iterator[Row]:
    """Judge each property, and search for the least fairness under which it holds.

    What the limits leave no time for is unknown.
    """
    left = list(promises)
    try:
        limits.check(0.0, 0)
        search = LivenessSearch(model, (), tuple(left), fairness, limits, options)
        result = search.run()
        for judgement in result.liveness:
            least, stopped = _least(search, judgement, result.stopped)
            trace = lasso_trace(model, judgement)
            left.remove(judgement.property)
            yield Row(preset, result.distinct_states, judgement, least, trace, stopped)
    except (Stop, LimitError) as error:
        reason = error.reason if isinstance(error, LimitError) else str(error)
        for prop in left:
            unknown = Judgement(prop, Verdict.UNKNOWN, fairness)
            yield Row(preset, 0, unknown, None, None, reason)


def _least(search: LivenessSearch, judgement: Judgement, stopped: str) -> tuple[Least | None, str]:
    """The least fairness, if the whole graph is there and there is time; and what came first."""
    if stopped:
        return None, stopped
    try:
        return search.least(judgement.property), ""
    except Stop as stop:
        return None, str(stop)
    except LimitError as error:
        return None, error.reason


def lasso_trace(model: Model, judgement: Judgement) -> Trace | None:
    """The run for ever that breaks a liveness property, twice around on the reference engine."""
    if judgement.lasso is None:
        return None
    lasso, prop = judgement.lasso, judgement.property
    rounds = Rounds(len(lasso.stem), prop, judgement.fairness, judgement.member)
    steps = (*lasso.stem, *lasso.loop)
    return build_trace(model, steps, prop.name, verdict=TraceVerdict.UNFULFILLED, rounds=rounds)


def as_markdown(rows: Iterable[Row]) -> str:
    """The table, a line for each thing that is said of a property, with the presets it is said of.

    The least fairness is weak unless it says `strong`. Presets that follow each other share a word:
    `kafka-4.1 to kafka-4.3`. A protocol without presets has no column for them.
    """
    return table_of([(row.preset, f"`{row.judgement.property.name}`", _cells(row)) for row in rows])


def table_of(told: Sequence[tuple[str, str, str]]) -> str:
    """A table of (preset, property, what is said of it), each preset's together."""
    presets = list(dict.fromkeys(preset for preset, _, _ in told))
    by_property: dict[str, dict[str, list[int]]] = {}
    for preset, prop, cells in told:
        by_property.setdefault(prop, {}).setdefault(cells, []).append(presets.index(preset))
    heads = ("property", *(["presets"] if presets != [""] else []))
    lines = [
        f"| {' | '.join(heads)} | verdict | run for ever | holds if these are fair |",
        f"|{'---|' * (len(heads) + 3)}",
    ]
    for prop, said in by_property.items():
        for cells, numbers in said.items():
            of = [_spans(presets, numbers)] if presets != [""] else []
            lines.append(f"| {' | '.join([prop, *of])} | {cells} |")
    return "\n".join(lines) + "\n"


def _spans(presets: Sequence[str], numbers: Sequence[int]) -> str:
    """Presets by their places: `a-1 to a-3, b`. A span is of names that differ in numbers alone."""
    kinds = [re.sub(r"[\d.]+", "", preset) for preset in presets]
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] == number - 1 and kinds[number - 1] == kinds[number]:
            spans[-1].append(number)
        else:
            spans.append([number])
    called = [presets[k[0]] + (f" to {presets[k[-1]]}" if k[1:] else "") for k in spans]
    return ", ".join(called)


def _cells(row: Row) -> str:
    return f"{verdict_words(row.judgement)} | {run_words(row.judgement)} | {least_words(row)}"


def verdict_words(judgement: Judgement) -> str:
    """The verdict, and whether anything was owed at all."""
    return f"{judgement.verdict}{'' if judgement.owed else ', vacuous'}"


def run_words(judgement: Judgement) -> str:
    """How long the way is and the circle, or that the run stops."""
    if judgement.lasso is None:
        return ""
    stem, loop = len(judgement.lasso.stem), len(judgement.lasso.loop)
    return f"{counted(stem, 'step')}, then {f'round {loop}' if loop else 'stopped'}"


def least_words(row: Row) -> str:
    """The actions that must be fair; that nothing need be, or that no fairness is enough."""
    if row.least is None or row.judgement.verdict in (Verdict.UNKNOWN, Verdict.BOUNDED):
        return "not searched to the end"
    if row.least.fairness is None:
        return "no fairness of these actions is enough"
    if not row.least.fairness:
        return "nothing need be"
    return ", ".join(
        f"`{' '.join(f.actions)}`" + (" strongly" if f.strength == "strong" else "")
        for f in row.least.fairness
    )
