"""Proofs, bounded checks and inferences as text for people: the verdict last."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from checker.commands.summary_text import as_written, grid, model_heading, verdict_text
from checker.core.proofs.bounded.bounded_check import BoundedCheck
from checker.core.proofs.cutoff.result import CutOff
from checker.core.proofs.inference.candidates import Candidate
from checker.core.proofs.inference.infer import Inference
from checker.core.proofs.proof import Attempt, Obligation, Proof, ProofOutcome
from checker.core.proofs.solvers import Solver
from checker.core.traces.trace import Trace
from checker.core.verdict import Agreement, Verdict
from checker.telling.report.text import render_text
from model.language.naming import instance_words
from properties import Property

_MEANING = {
    Verdict.PROVED: "the properties hold in every state that any run reaches",
    Verdict.VIOLATED: "a property is false in a state that a run reaches",
    Verdict.NOT_INDUCTIVE: "a step breaks a lemma, from a state that may be unreachable; this is "
    "no proof, and no bug",
    Verdict.UNKNOWN: "the solver found no answer; this is no proof",
    Verdict.BOUNDED: "no run of at most that many steps violates a property; longer ones were not "
    "looked at",
}

_WITHOUT_UNBOUNDED = (
    "run it without --unbounded: within bounds on sizes Z3 shows a step that breaks a lemma, if "
    "one is missing"
)


def result_text(
    result: Proof | BoundedCheck, trace: Trace | None, saved: Path | None, console: Console
) -> str:
    """What `prove` came to: what was asked, how far it got, the trace if there is one."""
    told = _bounded(result) if isinstance(result, BoundedCheck) else _proof(result)
    return _text(*told, result.verdict, console, trace, saved)


def _proof(proof: Proof) -> tuple[list[RenderableType], str]:
    """A proof by induction: its obligations and what it falls at; and what the verdict means."""
    parts: list[RenderableType] = [
        model_heading(proof.model, {} if proof.unbounded else proof.bounds)
    ]
    if proof.unbounded:
        parts.append(Text(_sizes(list(proof.bounds))))
    elif isinstance(proof, CutOff):
        parts.append(Text(f"any number of {_plain(proof.bound)}"))
    parts += [Text(), _names(properties=proof.properties, lemmas=proof.lemmas)]
    parts += [Text(), _obligations(proof.obligations)]
    reasons = {
        o.reason or "no answer" for o in proof.obligations if o.outcome is ProofOutcome.UNKNOWN
    }
    if reasons:
        parts += [Text(), Text(f"why unknown: {', '.join(sorted(reasons))}")]
        if proof.unbounded:
            parts.append(Text(_WITHOUT_UNBOUNDED))
    if proof.stopped:
        words = f"stopped by {proof.stopped}: what is not among these obligations is unknown"
        parts += [Text(), Text(words)]
    if isinstance(proof, CutOff):
        parts += _cut_off(proof)
    if proof.never_enabled:
        never = ", ".join(proof.never_enabled)
        parts += [Text(), Text(f"never enabled where the lemmas hold: {never}")]
    found = proof.counterexample
    if found is not None:
        when = "initially"
        if found.instance is not None:
            when = f"after {instance_words(proof.model, found.instance)}"
        parts += [Text(), Text(f"{found.lemma} is false {when}", "bold")]
    parts += [Text(), *_checked(proof)]
    where = "for all sizes" if proof.unbounded else "within the bounds on sizes, at any depth"
    if isinstance(proof, CutOff):
        where = f"{where}, for any number of {_plain(proof.bound)} from {proof.members} on"
    meaning = _MEANING[proof.verdict]
    if proof.stopped:
        meaning = "a limit came before the proof was whole; this is no proof"
    scope = f"{meaning}, {where}" if proof.verdict is Verdict.PROVED else meaning
    return parts, f"{scope} ({proof.seconds:.1f} s)"


def _plain(bound: str) -> str:
    return bound.replace("_", " ")


def _cut_off(proof: CutOff) -> Iterator[RenderableType]:
    """From how many members on nothing new can happen, and what could not be said of a few."""
    of = _plain(proof.bound)
    if proof.verdict is Verdict.PROVED:
        action, lemma = proof.largest
        yield Text()
        yield Text(
            f"cut-off: {proof.cut_off} {of}. If with more of them a step breaks a lemma, one with "
            f"{proof.cut_off} breaks it too. So many are needed for {lemma} ({action})."
        )
    elif proof.outcome is ProofOutcome.NOT_INDUCTIVE:
        failed = proof.obligations[-1]
        members = proof.sizes[failed.action, failed.lemma]
        yield Text()
        yield Text(
            f"no cut-off: with {members} {of}, {failed.action} breaks {failed.lemma} in a state "
            "that has all lemmas. Without --cutoff prove shows such a step, if one with fewer "
            "breaks it."
        )
    for name, why in proof.refused.items():
        yield Text(f"not assumed: {name}: {_short(why)}")


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG // 2]} ... {text[-_LONG // 2 :]}"


_LONG = 200


def _sizes(off: Sequence[str]) -> str:
    """What a proof for all sizes is about, and with which options it would be about more."""
    if not off:
        return "any number of members, every value of the bounds"
    options = ", ".join(f"--{name.replace('_', '-')}" for name in off)
    return (
        "any number of members, every value of the other bounds; these are 0 and stay 0, so that "
        f"what they count never happens: {options}"
    )


def _bounded(result: BoundedCheck) -> tuple[list[RenderableType], str]:
    """A bounded check: how long each depth took; and what the verdict means."""
    parts: list[RenderableType] = [model_heading(result.model), Text()]
    lemmas = {"with lemmas": result.lemmas} if result.lemmas else {}
    parts += [_names(properties=result.properties, **lemmas), Text()]
    depths = grid("depth", "violation", "seconds", numbers=1)
    last = "found" if result.violated is not None else "unknown"
    for depth, seconds in enumerate(result.seconds):
        depths.add_row(str(depth), "none" if depth <= result.depth else last, f"{seconds:.2f}")
    parts.append(depths)
    if result.violated is not None:
        parts += [Text(), Text(f"{result.violated} is false after {len(result.steps)} steps")]
    elif result.stopped:
        parts += [Text(), Text(result.stopped)]
    parts += [Text(), *_checked(result)]
    done = result.depth >= 0
    covered = f"all runs of at most {result.depth} steps: nothing" if done else "no run"
    return parts, f"{_MEANING[result.verdict]} ({covered}, {sum(result.seconds):.1f} s)"


def _checked(result: Attempt) -> Iterator[Text]:
    """What was compared before; and who answered, where that is not Z3 alone."""
    yield Text(Agreement.words(result.agreement))
    solvers = result.solvers
    if solvers.solver is not Solver.Z3 or solvers.smtlib or solvers.certificates:
        yield Text(solvers.words)


def inference_text(result: Inference, survivors: bool, console: Console) -> str:
    """An inference: counts, known lemmas, what follows and from which clauses, the verdict."""
    parts: list[RenderableType] = [model_heading(result.model), Text()]
    counts = Table.grid(padding=(0, 2))
    counts.add_column()
    counts.add_column(justify="right")
    for what, number in (
        ("reachable states", f"{result.states:,}"),
        ("atoms", f"{result.atoms:,}"),
        ("candidates that hold in all of them", f"{result.candidates:,}"),
        ("inductive together", f"{len(result.survivors):,}"),
        ("queries", f"{result.queries:,}"),
        ("seconds", f"{result.seconds:.1f}"),
    ):
        counts.add_row(what, number)
    parts.append(counts)
    if result.holding or result.fallen:
        known = {"known lemmas that hold": result.holding, "that fall": result.fallen}
        if result.survivors:
            known["that hold, but do not follow"] = result.missing
        parts += [Text(), _names(**known)]
    if survivors:
        parts += [Text(), Text("inductive together:")]
        parts += _clauses(result, result.survivors)
    if result.needed:
        count = len(result.needed)
        parts += [Text(), Text(f"{count} of them are enough, and inductive by themselves:")]
        parts += _clauses(result, result.needed)
    parts.append(Text())
    for name, follows in result.follows.items():
        parts.append(Text(f"{name} {'follows' if follows else 'does not follow'}"))
    parts += [Text(), Text(Agreement.words(result.agreement))]
    meaning = {
        Verdict.PROVED: "the properties hold in every state that any run reaches, within the "
        "bounds on sizes, at any depth",
        Verdict.NOT_INDUCTIVE: "some property does not follow from what was found; this says "
        "nothing about whether it holds",
    }.get(result.verdict, result.stopped)
    return _text(parts, meaning, result.verdict, console)


def _text(
    parts: Iterable[RenderableType],
    meaning: str,
    verdict: Verdict,
    console: Console,
    trace: Trace | None = None,
    saved: Path | None = None,
) -> str:
    with console.capture() as capture:
        for part in parts:
            console.print(part)
        console.print()
    text = capture.get()
    if trace is not None:
        text += render_text(trace, console=console) + "\n"
    if saved is not None:
        text += f"trace saved: {saved}\n\n"  # never folded: people copy it
    with console.capture() as capture:
        console.print(verdict_text(verdict, meaning))
    return as_written(text + capture.get(), console)


def _names(**groups: tuple[Property, ...]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for title, properties in groups.items():
        table.add_row(title, ", ".join(prop.name for prop in properties) or "none")
    return table


def _obligations(obligations: Iterable[Obligation]) -> RenderableType:
    """A row for each action; what is not simply proved has a row of its own."""
    table = grid("obligation", "of", "", "seconds", numbers=1)
    table.columns[0].no_wrap = True
    for action, group in itertools.groupby(obligations, key=lambda o: o.action):
        for row in _rows(list(group)):
            table.add_row(action, *row)
    return table


def _rows(group: list[Obligation]) -> Iterator[tuple[str, Text, str]]:
    proved = [o for o in group if o.outcome is ProofOutcome.PROVED]
    if proved:
        names = [o.lemma for o in proved if o.lemma]
        several = f"{len(names)} claims" if names else "all lemmas"
        what = names[0] if len(names) == 1 else several
        yield what, Text("proved", "green"), f"{sum(o.seconds for o in proved):.2f}"
    for other in group:
        if other.outcome is not ProofOutcome.PROVED:
            yield other.lemma, _words(other), f"{other.seconds:.2f}"


def _words(obligation: Obligation) -> Text:
    match obligation.outcome:
        case ProofOutcome.JOINED:
            return Text("no; joins the lemmas")
        case ProofOutcome.NOT_INDUCTIVE:
            return Text("fails", "yellow")
        case _:
            return Text("unknown", "yellow")


def _clauses(result: Inference, candidates: Iterable[Candidate]) -> list[Padding]:
    return [Padding(Text(result.words(c)), (0, 0, 0, 2)) for c in candidates]
