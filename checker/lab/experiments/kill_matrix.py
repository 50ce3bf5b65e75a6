"""The kill matrix: each mutant of a protocol against each property, and why some survive.

Mutants are judged in processes of their own, which build the model from its name: a result does not
depend on how many there are.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from checker.core.files import read_toml
from checker.core.search.limits import Limits
from checker.core.verdict import Exploration
from checker.lab.experiments.choices import Choice
from checker.lab.experiments.grid import Grid, Result, Sweep
from checker.lab.experiments.matrix import code_digest
from checker.lab.experiments.mutants import (
    COVERAGE,
    DOMAIN,
    Fate,
    Judge,
    Kind,
    Mutant,
    Outcome,
    mutants,
)
from model.language.declare.settings import as_text
from model.language.errors import UsageError
from model.language.naming import bounds_words
from model.language.protocol import Model
from model.own_protocols import FORMS
from model.protocols import reference_of
from properties import Property, Sense, choose_properties, lemmas_of

REASONS = Path(__file__).with_name("surviving_mutants.toml")
_UNTOLD = "no reachable state tells the two apart"


@dataclass(frozen=True)
class Question:
    """What every mutant is judged by, as plain data. `first` and `symmetry` are as in `Judge`."""

    choice: Choice
    properties: tuple[str, ...]
    limits: Limits = dataclasses.field(default_factory=Limits)
    first: bool = False
    symmetry: bool = False

    @staticmethod
    def about(model: Model, properties: tuple[Property, ...], **how: Any) -> Question:
        """The question about the model of a protocol with a name: `limits`, `first`, `symmetry`."""
        name = reference_of(model.protocol)
        if not name:
            raise UsageError(f"{model.protocol.name} is declared where no name finds it: {FORMS}")
        usual = as_text(model.protocol.settings())
        settings = {k: v for k, v in as_text(model.settings).items() if v != usual[k]}
        choice = Choice(name, "", settings, dict(model.bounds))
        return Question(choice, tuple(prop.name for prop in properties), **how)

    @property
    def arguments(self) -> str:
        """The question as arguments of `mutate`, but for properties and limits."""
        flags = [f"--{name}" for name in ("first", "symmetry") if getattr(self, name)]
        return " ".join([self.choice.arguments, *flags])

    def chosen(self) -> tuple[Property, ...]:
        """The properties asked about."""
        return choose_properties(self.choice.model.protocol, self.properties)

    def original(self, *, cross_check: bool = True) -> Exploration:
        """What the unchanged model reaches. Whoever asks does this first, and once."""
        return self.judge(self.chosen(), cross_check=cross_check).original

    def judge(self, properties: tuple[Property, ...], *, cross_check: bool = False) -> Judge:
        """Who answers it, by these properties."""
        how = {"first": self.first, "symmetry": self.symmetry, "cross_check": cross_check}
        return Judge(self.choice.model, properties, self.limits, **how)


def sweep_of(question: Question, workers: int = 2, store: Path | None = None) -> Sweep[str]:
    """A job for each mutant of the question's model: its name."""
    jobs = {mutant.name: mutant.name for mutant in mutants(question.choice.model)}
    digest = f"{code_digest()} {question.arguments} {question.properties} {question.limits}"
    work = partial(judge_one, question)
    return Sweep(work, jobs, workers=workers, store=store, digest=digest)


def judge_one(question: Question, name: str) -> Result:
    """The fate of a mutant, as plain data."""
    judge, by_lemmas, found = _prepared(question)
    fate = judge.judge(found[name])
    if fate.outcome is Outcome.SURVIVED and by_lemmas.properties and not question.first:
        fate = dataclasses.replace(fate, lemmas=by_lemmas.judge(found[name]).killers)
    return dataclasses.asdict(fate)


_judges: dict[str, tuple[Judge, Judge, dict[str, Mutant]]] = {}


def _prepared(question: Question) -> tuple[Judge, Judge, dict[str, Mutant]]:
    """Who judges by properties, who by lemmas, and the mutants; made once in each process."""
    key = repr(question)
    if key not in _judges:
        model = question.choice.model
        by_lemmas = question.judge(lemmas_of(model.protocol))
        named = {mutant.name: mutant for mutant in mutants(model)}
        _judges[key] = question.judge(question.chosen()), by_lemmas, named
    return _judges[key]


@dataclass(frozen=True)
class KillMatrix:
    """The fates of a model's mutants, in order, and the recorded reasons of those that survive.

    `mutants` is how many there are; fewer have a fate where something ended the sweep.
    """

    question: Question
    original: Exploration
    fates: tuple[Fate, ...]
    reasons: Mapping[str, str]
    mutants: int

    @property
    def is_complete(self) -> bool:
        """Every mutant has its fate."""
        return len(self.fates) == self.mutants

    @staticmethod
    def of(sweep: Sweep[str], question: Question, original: Exploration) -> KillMatrix:
        """The matrix of what a sweep has judged."""
        fates = tuple(
            Fate(**result | {"kind": Kind(result["kind"]), "outcome": Outcome(result["outcome"])})
            for result in (sweep.results[name] for name in sweep.jobs if name in sweep.results)
        )
        reasons = recorded_reasons(question.choice.protocol, fates)
        return KillMatrix(question, original, fates, reasons, len(sweep.jobs))

    @property
    def columns(self) -> list[str]:
        """What may notice a mutant: properties, then domains and coverage."""
        properties = self.original.properties
        always = [p.name for p in properties if p.sense is Sense.ALWAYS]
        rest = [p.name for p in properties if p.sense is Sense.SOMETIMES]
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

    def grid(self) -> Grid:
        """Mutants that something noticed x what did: the depth, or `lost`."""
        killed = [fate for fate in self.fates if fate.outcome is Outcome.KILLED]
        rows = [[fate.mutant, *_depths(fate, self.columns)] for fate in killed]
        return Grid(["mutant", *self.columns], rows)


def recorded_reasons(protocol: str, fates: tuple[Fate, ...]) -> dict[str, str]:
    """The recorded reason for each mutant that has one; the first entry that matches counts."""
    entries: list[dict[str, Any]] = [
        entry for entry in read_toml(REASONS)["survivor"] if protocol in entry["protocols"]
    ]
    known = {}
    for fate in fates:
        for entry in entries:
            fits = entry.get("kind", fate.kind) == fate.kind
            if fits and fnmatchcase(fate.mutant, entry["mutant"]):
                known[fate.mutant] = entry["reason"]
                break
    return known


def _depths(fate: Fate, columns: list[str]) -> list[str]:
    """What each column says of a mutant: the depth at which it noticed, `lost`, or nothing."""
    depths = (fate.killers.get(column, "") for column in columns)
    return ["lost" if depth is None else str(depth) for depth in depths]


# --- as a page -----------------------------------------------------------------------------------

_DEPTHS = """\
A number is the depth at which a search of the mutant first falsifies the property of its column; \
for `domain`, at which a value leaves its domain, which ends the search. `lost`: \
the protocol reaches the witness, or enables every action, and the mutant does not. \
A mutant is *equivalent* if its states and steps are exactly the protocol's within these bounds."""

_FOLDER = "counterexamples/mutants"
_COUNTS = """\
A number says how many mutants of the action the property, the witness or the check of its column \
is the first to notice; where several do at the same depth, each counts. `domain`: a value leaves \
its domain; `coverage`: an action is never enabled that the protocol enables. *Equivalent* mutants \
have exactly the states and steps of the protocol within these bounds; `highwater mutate` lists \
them."""


def as_markdown(matrix: KillMatrix, page: str = "") -> str:
    """The matrix as a page: every mutant, or where searches end early, counts for each action.

    `page` is its file name, for the command that makes it anew; that of the protocol if empty.
    """
    question, original = matrix.question, matrix.original
    bounds = bounds_words(question.choice.bounds)
    page = page or f"kill-matrix-{question.choice.protocol}.md"
    states = "classes of states" if question.symmetry else "states"
    lines = [
        f"# Kill matrix of `{question.choice.protocol}`",
        "",
        f"Generated by `highwater mutate {question.arguments} --markdown {_FOLDER}/{page}`.",
        "",
        f"Bounds: {bounds}. Unchanged, the protocol has {original.distinct_states:,} {states} and "
        f"{original.transitions:,} steps.",
        "",
        _COUNTS if question.first else _DEPTHS,
        "",
        ", ".join(f"{matrix.count(outcome)} {outcome}" for outcome in Outcome)
        + f"; {len(matrix.fates)} in all.",
        "",
    ]
    if question.first:
        return "\n".join([*lines, *_counts(matrix), "", *_by_reason(matrix)])
    subjects = ("settings", *(a.name for a in question.choice.model.protocol.actions))
    for subject in subjects:
        lines += _table(matrix, subject)
    return "\n".join(lines + _alive(matrix))


def _of(matrix: KillMatrix, subject: str, outcome: Outcome) -> list[Fate]:
    own = (fate for fate in matrix.fates if fate.mutant.startswith(f"{subject}: "))
    return [fate for fate in own if fate.outcome is outcome]


def _table(matrix: KillMatrix, subject: str) -> list[str]:
    killed = _of(matrix, subject, Outcome.KILLED)
    if not killed:
        return []
    rows = [
        [f"`{fate.mutant.partition(': ')[2]}`", *_depths(fate, matrix.columns), f"{fate.states:,}"]
        for fate in killed
    ]
    columns = ["mutant", *(f"`{name}`" for name in matrix.columns), "states"]
    title = "## Settings" if subject == "settings" else f"## `{subject}`"
    return [title, "", *Grid(columns, rows, numbers=frozenset({"states"})).markdown(), ""]


def _alive(matrix: KillMatrix) -> list[str]:
    """The mutants that nothing notices, each with what is known of it."""
    rows = []
    for fate in matrix.fates:
        if fate.outcome is not Outcome.KILLED:
            why = matrix.reasons.get(fate.mutant, "")
            if not why and fate.outcome is Outcome.EQUIVALENT:
                why = _UNTOLD
            lemmas = ", ".join(f"`{name}` {depth}" for name, depth in fate.lemmas.items())
            rows.append([f"`{fate.mutant}`", str(fate.outcome), f"{fate.states:,}", why, lemmas])
    columns = ["mutant", "outcome", "states", "why", "lemmas"]
    return [
        "## What no property notices",
        "",
        "The last column has the lemmas, auxiliary properties made for proofs, that notice it.",
        "",
        *Grid(columns, rows, numbers=frozenset({"states"})).markdown(),
        "",
    ]


def _counts(matrix: KillMatrix) -> list[str]:
    """A table of actions: how many of their mutants what noticed first, and what became of all."""
    outcomes = [outcome for outcome in Outcome if matrix.count(outcome)]
    rows = []
    for subject in dict.fromkeys(fate.mutant.partition(": ")[0] for fate in matrix.fates):
        killed = _of(matrix, subject, Outcome.KILLED)
        noticed = Counter(name for fate in killed for name in fate.killers)
        counts = [noticed[name] for name in matrix.columns]
        counts += [len(_of(matrix, subject, outcome)) for outcome in outcomes]
        rows.append([f"`{subject}`", *(str(count or "") for count in counts)])
    names = [f"`{name}`" for name in matrix.columns]
    columns = ["", *names, *map(str, outcomes)]
    return Grid(columns, rows, numbers=frozenset(columns[1:])).markdown()


def _by_reason(matrix: KillMatrix) -> list[str]:
    """The mutants that survive, by the recorded reason."""
    why: dict[str, list[str]] = {}
    for fate in matrix.fates:
        if fate.outcome in (Outcome.SURVIVED, Outcome.UNKNOWN):
            reason = matrix.reasons.get(fate.mutant, "Not explained.")
            why.setdefault(reason, []).append(f"`{fate.mutant}`")
    lines = ["## What no property notices"]
    for reason, named in why.items():
        lines += ["", reason, "", *(f"- {name}" for name in named)]
    return [*lines, ""]
