"""The kill matrix: each mutant of a protocol against each property, and why some survive.

Mutants are judged in processes of their own, which build the model from its name: a result does not
depend on how many there are.
"""

from __future__ import annotations

import dataclasses
import functools
import multiprocessing
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from checker.experiments.mutants import (
    COVERAGE,
    DOMAIN,
    Fate,
    Kind,
    Mutant,
    Outcome,
    baseline,
    judge,
    mutants,
)
from checker.experiments.toml_files import read_toml
from checker.search.explore import Limits
from checker.verdict import Exploration
from model.language.declare.settings import as_text
from model.language.protocol import Model
from model.protocols import protocol_named
from properties import Property, Sense, choose_properties, lemmas_of

REASONS = Path(__file__).with_name("surviving_mutants.toml")

Request = tuple[
    str, tuple[tuple[str, int], ...], tuple[tuple[str, str], ...], tuple[str, ...], Limits
]
"""A model as plain data: protocol, bounds, settings; the properties to check; limits."""


@dataclass(frozen=True)
class Matrix:
    """The fates of a model's mutants, in order, and the recorded reasons of those that survive."""

    model: Model
    properties: tuple[Property, ...]
    original: Exploration
    fates: tuple[Fate, ...]
    reasons: Mapping[str, str]

    @property
    def columns(self) -> list[str]:
        """What may notice a mutant: properties, then domains and coverage."""
        always = [p.name for p in self.properties if p.sense is Sense.ALWAYS]
        rest = [p.name for p in self.properties if p.sense is Sense.SOMETIMES]
        noticed = {name for fate in self.fates for name in fate.killers}
        return always + [name for name in (*rest, DOMAIN, COVERAGE) if name in noticed]

    def count(self, outcome: Outcome) -> int:
        """How many mutants had this outcome."""
        return sum(1 for fate in self.fates if fate.outcome is outcome)

    @property
    def unexplained(self) -> list[Fate]:
        """The mutants that survive, or were not searched to the end, without a recorded reason."""
        alive = (Outcome.SURVIVED, Outcome.UNKNOWN)
        return [f for f in self.fates if f.outcome in alive and f.mutant not in self.reasons]


def kill_matrix(
    model: Model,
    properties: tuple[Property, ...],
    limits: Limits | None = None,
    *,
    processes: int = 2,
    on_progress: Callable[[int, int, Fate], None] | None = None,
    reasons: Path = REASONS,
    cross_check: bool = True,
) -> Matrix:
    """Judge every mutant of a registered protocol's model, several at a time."""
    original = baseline(model, properties, limits or Limits(), cross_check=cross_check)
    request = _request(model, properties, limits or Limits())
    found = mutants(model)
    fates: dict[int, Fate] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        try:
            jobs = {pool.submit(_judge, request, place): place for place in range(len(found))}
            for job in as_completed(jobs):
                fates[jobs[job]] = job.result()
                if on_progress is not None:
                    on_progress(len(fates), len(found), job.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = tuple(fates[place] for place in range(len(found)))
    return Matrix(model, properties, original, ordered, _reasons(model, found, reasons))


def _request(model: Model, properties: tuple[Property, ...], limits: Limits) -> Request:
    names = tuple(prop.name for prop in properties)
    bounds, texts = tuple(model.bounds.items()), tuple(as_text(model.settings).items())
    return model.protocol.name, bounds, texts, names, limits


def _judge(request: Request, place: int) -> Fate:
    model, properties, found, original = _prepared(request)
    fate = judge(model, found[place], properties, original, request[-1])
    lemmas = lemmas_of(model.protocol)
    if fate.outcome is not Outcome.SURVIVED or not lemmas:
        return fate
    again = judge(model, found[place], lemmas, original, request[-1])
    return dataclasses.replace(fate, lemmas=again.killers)


@functools.cache
def _prepared(
    request: Request,
) -> tuple[Model, tuple[Property, ...], list[Mutant], Exploration]:
    name, bounds, texts, names, limits = request
    model = protocol_named(name).model(dict(bounds), dict(texts))
    properties = choose_properties(model.protocol, names)
    original = baseline(model, properties, limits, cross_check=False)  # whoever asks has done it
    return model, properties, mutants(model), original


def _reasons(model: Model, found: Iterable[Mutant], path: Path) -> dict[str, str]:
    """The recorded reason for each mutant that has one; the first entry that matches counts."""
    entries: list[dict[str, Any]] = read_toml(path)["survivor"]
    known = {}
    for mutant in found:
        for entry in entries:
            protocols, kind = entry["protocols"], entry.get("kind", mutant.kind)
            fits = model.protocol.name in protocols and kind == mutant.kind
            if fits and fnmatchcase(mutant.name, entry["mutant"]):
                known[mutant.name] = entry["reason"]
                break
    return known


# --- as a table ---------------------------------------------------------------------------------


def cell(fate: Fate, column: str) -> str:
    """What a column says of a mutant: the depth at which it noticed, `lost`, or nothing."""
    if column not in fate.killers:
        return ""
    depth = fate.killers[column]
    return "lost" if depth is None else str(depth)


def as_markdown(matrix: Matrix) -> str:
    """The matrix as a page."""
    model, columns = matrix.model, matrix.columns
    bounds = ", ".join(f"{n.replace('_', ' ')} {v}" for n, v in model.bounds.items())
    options = " ".join(f"--{n.replace('_', '-')} {v}" for n, v in model.bounds.items())
    original = matrix.original
    lines = [
        f"# Kill matrix of `{model.protocol.name}`",
        "",
        "Generated by "
        f"`highwater mutate {model.protocol.name} {options} --markdown docs/kill-matrix.md`.",
        "",
        f"Bounds: {bounds}. Unchanged, the protocol has {original.distinct_states:,} states and "
        f"{original.transitions:,} steps.",
        "",
        "A number is the depth at which a search of the mutant first falsifies the property of its "
        "column; for `domain`, at which a value leaves its domain, which ends the search. `lost`: "
        "the protocol reaches the witness, or enables every action, and the mutant does not. "
        "A mutant is *equivalent* if its states and steps are exactly the protocol's within these "
        "bounds.",
        "",
        ", ".join(f"{matrix.count(outcome)} {outcome}" for outcome in Outcome)
        + f"; {len(matrix.fates)} in all.",
        "",
    ]
    lines += _table("Settings", [f for f in matrix.fates if f.kind is Kind.SETTING], columns)
    for action in model.protocol.actions:
        own = [f for f in matrix.fates if f.mutant.startswith(f"{action.name}: ")]
        killed = [f for f in own if f.outcome is Outcome.KILLED]
        lines += _table(f"`{action.name}`", killed, columns)
    lines += _alive(matrix)
    return "\n".join(lines)


def _table(title: str, fates: list[Fate], columns: list[str]) -> list[str]:
    if not fates:
        return []
    rows = [
        f"| `{fate.mutant.partition(': ')[2]}` | "
        + " | ".join(cell(fate, column) for column in columns)
        + f" | {fate.states:,} |"
        for fate in fates
    ]
    header = "| mutant | " + " | ".join(f"`{c}`" for c in columns) + " | states |"
    return [f"## {title}", "", header, "|---" * (len(columns) + 1) + "|---:|", *rows, ""]


def _alive(matrix: Matrix) -> list[str]:
    """The mutants that nothing notices, each with what is known of it."""
    lines = [
        "## What no property notices",
        "",
        "The last column has the lemmas, auxiliary properties made for proofs, that notice it.",
        "",
        "| mutant | outcome | states | why | lemmas |",
        "|---|---|---:|---|---|",
    ]
    for fate in matrix.fates:
        if fate.outcome is not Outcome.KILLED:
            why = matrix.reasons.get(fate.mutant, "")
            if not why and fate.outcome is Outcome.EQUIVALENT:
                why = "no reachable state tells the two apart"
            lemmas = ", ".join(f"`{name}` {depth}" for name, depth in fate.lemmas.items())
            row = f"| `{fate.mutant}` | {fate.outcome} | {fate.states:,} | {why} | {lemmas} |"
            lines.append(row)
    return [*lines, ""]
