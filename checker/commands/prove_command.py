"""`prove`: induction within bounds or for all sizes, and bounded checking, with Z3."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.choosing import chosen_model, model_command
from checker.commands.common import (
    checked_output_options,
    limited,
    memory_option,
    result_data,
    seconds,
    write_file,
    write_result,
)
from checker.distribution import require
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling
    from checker.core.proofs.bounded.bounded_check import BoundedCheck
    from checker.core.proofs.proof import Obligation, Proof
    from checker.core.proofs.solvers import Solvers
    from model.language.protocol import Model
    from properties import Property


@model_command
@click.option("--lemma", "lemmas", multiple=True, metavar="NAME", help="use only these lemmas")
@click.option(
    "--no-lemmas", is_flag=True, help="use no lemmas: is the property inductive by itself?"
)
@click.option("--unbounded", is_flag=True, help="for any number of members and all bounds")
@click.option("--cutoff", metavar="BOUND", help="for any number of members, such as replicas")
@click.option("--bounded", type=click.IntRange(min=0), metavar="K", help="runs of at most K steps")
@click.option("--strengthen", is_flag=True, help="with --bounded: add the lemmas that hold")
@click.option("--minimize", is_flag=True, help="find lemmas of which none can be left out")
@click.option(
    "--no-symmetry",
    is_flag=True,
    help="ask about every choice of parameters, not one of those that are alike",
)
@click.option(
    "--solver", type=click.Choice(["z3", "cvc5", "both"]), default="z3",
    help="both: proved is what each of them proves [default: z3]",
)  # fmt: skip
@click.option(
    "--smtlib", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="write each question and its answer as a file for any solver",
)  # fmt: skip
@click.option(
    "--certificate", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="write a proof of each answer here, which is checked without a solver",
)  # fmt: skip
@click.option(
    "--picture", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="draw which lemmas each claim rests on, as an SVG picture",
)  # fmt: skip
@click.option(
    "--timeout",
    type=seconds,
    metavar="SECONDS",
    help="for each question to the solver [default: 60]",
)
@limited()
@memory_option
@click.option("--trace-dir", type=click.Path(file_okay=False, path_type=Path), help="save traces")
@checked_output_options
def command(ceiling: Ceiling, **options: Any) -> int:
    """Prove with Z3, cvc5 or both that properties of PROTOCOL hold in every reachable state.

    Exit status: 0 proved, or with --bounded nothing found; 12 violated; 20 unknown; 21 not
    inductive.
    """
    from checker.core.files import prepare_directory

    require_solver("prove")
    _refuse_misfits(options)
    picture = options["picture"]
    drawn = None if picture is None else picture.absolute().parent
    for directory in (options["trace_dir"], options["smtlib"], options["certificate"], drawn):
        if directory is not None:
            prepare_directory(directory)
    with ceiling:
        model = chosen_model(options, ceiling.preparing)
        with _solvers(model, options) as solvers:
            prove = _induction if options["bounded"] is None else _bounded
            result = prove(model, options, solvers)
            drawing = _picture(result) if picture is not None else None
    return _report(result, options, drawing)


def _picture(proof: Proof | BoundedCheck) -> str | None:
    """Which lemmas each claim rests on, drawn; `None`, and why on standard error, if it is not."""
    from checker.core.proofs.bounded.bounded_check import BoundedCheck
    from checker.core.proofs.rests import rests_on
    from checker.core.verdict import Verdict
    from checker.telling.pictures.layers import as_svg

    if isinstance(proof, BoundedCheck) or proof.verdict is not Verdict.PROVED:
        click.echo("no picture: there is no proof to draw", err=True)
        return None
    try:
        arrows = rests_on(proof)
    except UsageError as error:  # the proof is to be told all the same
        click.echo(f"no picture: {error}", err=True)
        return None
    words = {prop.name: prop.words for prop in (*proof.invariants, *proof.properties)}
    properties = {prop.name for prop in proof.properties}
    title = f"What the proof rests on: {proof.model.protocol.name}"
    description = "Below each claim is what it rests on; in one box is what rests on each other."
    return as_svg(title, description, arrows, words, properties)


def _solvers(model: Model, options: dict[str, Any]) -> Solvers:
    from checker.commands.summary_text import model_heading
    from checker.core.proofs.certificates.refutation import Certificates
    from checker.core.proofs.solvers import Solver, Solvers

    place = options["certificate"]
    certificates = None if place is None else Certificates(place, ground=options["unbounded"])
    said = model_heading(model).plain
    return Solvers(Solver(options["solver"]), options["smtlib"], said, certificates)


def _refuse_misfits(options: dict[str, Any]) -> None:
    bounded = options["bounded"] is not None
    if options["unbounded"] and bounded:
        raise UsageError("--unbounded and --bounded: choose one")
    if options["strengthen"] and not bounded:
        raise UsageError("--strengthen goes with --bounded K: induction has the lemmas anyway")
    if options["picture"] and bounded:
        raise UsageError("--picture is of a proof by induction: leave out --bounded")
    if options["minimize"] and (bounded or options["unbounded"]):
        raise UsageError("--minimize is for induction within bounds: leave out --bounded and "
                         "--unbounded")  # fmt: skip
    if options["no_symmetry"] and options["unbounded"]:
        raise UsageError("--no-symmetry is for proofs within bounds: leave out --unbounded")
    if options["cutoff"] is not None:
        taken = ("unbounded", "bounded", "minimize", "no_symmetry", "picture")
        given = [name for name in taken if options[name] not in (None, False)]
        if given:
            raise UsageError(f"--cutoff and --{given[0].replace('_', '-')}: choose one")
    others = options["smtlib"] or options["certificate"] or options["solver"] != "z3"
    if options["minimize"] and others:
        raise UsageError("--minimize asks Z3 alone: leave out --solver, --smtlib and --certificate")
    if options["no_lemmas"] and options["lemmas"]:
        raise UsageError("--lemma and --no-lemmas: choose one")


def require_solver(name: str) -> None:
    """`UsageError` without Z3."""
    require(f"{name} needs Z3", "z3")


def provable_properties(model: Model, names: tuple[str, ...]) -> tuple[Property, ...]:
    """The properties with the given names, or all that the model promises to hold always."""
    from properties import Sense, promised_properties

    chosen = promised_properties(model, names)
    return chosen if names else tuple(p for p in chosen if p.sense is Sense.ALWAYS)


def _lemmas(model: Model, options: dict[str, Any]) -> tuple[Property, ...]:
    from properties import choose_properties, lemmas_of

    if options["no_lemmas"]:
        return ()
    if options["lemmas"]:
        return choose_properties(model.protocol, options["lemmas"])
    return lemmas_of(model.protocol)


def _induction(model: Model, options: dict[str, Any], solvers: Solvers) -> Proof:
    from checker.commands.progress import Ticker
    from checker.core.proofs.bounded.induction import Induction, InductionOptions, minimal_lemmas
    from checker.core.proofs.cutoff.cut_off import CutOffProof
    from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction

    properties, lemmas = provable_properties(model, options["properties"]), _lemmas(model, options)
    timeout = 60.0 if options["timeout"] is None else options["timeout"]
    checked = options["cross_check"]
    with Ticker(options["quiet"] or options["as_json"]) as ticker:

        def settled(obligation: Obligation) -> None:
            ticker.say(f"{obligation.action}: {obligation.lemma or 'all lemmas'} settled")

        def tried(lemma: Property, needed: bool) -> None:
            ticker.say(f"{lemma.name} is {'needed' if needed else 'not needed'}")

        def smaller(members: int) -> None:
            ticker.say(f"the same with {members}")

        if options["cutoff"] is not None:
            attempt: Any = CutOffProof(
                model, options["cutoff"].replace("-", "_"), properties, lemmas, timeout,
                settled, smaller, checked, solvers,
            )  # fmt: skip
        elif options["unbounded"]:
            attempt = UnboundedInduction(
                model, properties, lemmas, timeout, settled, cross_check=checked, solvers=solvers
            )
        else:
            settings = InductionOptions(timeout, not options["no_symmetry"], cross_check=checked)
            if options["minimize"]:
                lemmas = minimal_lemmas(model, properties, lemmas, settings, tried)
            settings = replace(settings, solvers=solvers)
            attempt = Induction(model, properties, lemmas, settings, settled)
        proof: Proof = attempt.run()
    return proof


def _bounded(model: Model, options: dict[str, Any], solvers: Solvers) -> BoundedCheck:
    from checker.commands.progress import Ticker
    from checker.core.proofs.bounded.bounded_check import BoundedChecker, lemmas_that_hold
    from checker.core.proofs.bounded.induction import InductionOptions

    properties = provable_properties(model, options["properties"])
    with Ticker(options["quiet"] or options["as_json"]) as ticker:

        def done(depth: int, seconds: float) -> None:
            ticker.say(f"depth {depth}: nothing, {seconds:.2f} s")

        lemmas: tuple[Property, ...] = ()
        if options["strengthen"]:
            settings = InductionOptions(cross_check=options["cross_check"], solvers=solvers)
            lemmas = lemmas_that_hold(model, _lemmas(model, options), settings)
        checker = BoundedChecker(
            model, properties, lemmas, options["timeout"], done,
            not options["no_symmetry"], options["cross_check"], solvers,
        )  # fmt: skip
        return checker.run(options["bounded"])


def _report(result: Proof | BoundedCheck, options: dict[str, Any], drawing: str | None) -> int:
    """Save trace and picture, print the result, and say it as an exit status."""
    from checker.commands.keeping import Keeping
    from checker.commands.proof_text import result_text
    from checker.core.proofs.proof_report import exit_status, trace_of

    trace = trace_of(result)
    with Keeping() as keeping:
        place = options["trace_dir"]
        saved = None if trace is None else keeping.trace(trace, place, str(trace.property))
        if drawing is not None:
            keeping.store(write_file, options["picture"], drawing)
        write_result(
            options["as_json"],
            lambda: _as_data(result, saved),
            lambda console: result_text(result, trace, saved, console),
        )
    return exit_status(result.verdict)


def _as_data(result: Proof | BoundedCheck, saved: Path | None) -> dict[str, Any]:
    """The result as plain data, with the place where its trace is stored."""
    from checker.core.proofs.bounded.bounded_check import BoundedCheck
    from checker.core.verdict import Agreement

    trace = None if saved is None else str(saved)
    certificates = result.solvers.certificates
    found = {
        "properties": [prop.name for prop in result.properties],
        "lemmas": [lemma.name for lemma in result.lemmas],
        "verdict": str(result.verdict),
        "cross_check": Agreement.data(result.agreement),
        "solver": str(result.solvers.solver),
        "solver_seconds": {name: round(s, 3) for name, s in result.solvers.seconds.items()},
        "questions_written": result.solvers.written,
        "certificates": None if certificates is None else certificates.written,
    }
    more = (
        _of_check(result, trace) if isinstance(result, BoundedCheck) else _of_proof(result, trace)
    )
    return result_data("prove", result.model, **found, **more)


def _of_proof(proof: Proof, trace: str | None) -> dict[str, Any]:
    from checker.core.proofs.cutoff.result import CutOff
    from checker.core.verdict import Verdict
    from model.language.naming import instance_words

    found = proof.counterexample
    counterexample = None
    if found is not None:
        counterexample = {
            "lemma": found.lemma,
            "step": instance_words(proof.model, found.instance) if found.instance else None,
            "may_be_unreachable": found.instance is not None,
            "trace": trace,
        }
    cut_off = None
    if isinstance(proof, CutOff):
        cut_off = {
            "of": proof.bound,
            "members": proof.cut_off,
            "holds_from": proof.members if proof.verdict is Verdict.PROVED else None,
            "sizes": [[*what, members] for what, members in proof.sizes.items()],
            "left_out": proof.refused,
        }
    return {
        "bounds": proof.bounds,
        "cut_off": cut_off,
        "unbounded": proof.unbounded,
        "symmetry": proof.symmetry,
        "obligations": [
            {
                "action": o.action,
                "lemma": o.lemma,
                "outcome": str(o.outcome),
                "never_enabled": o.vacuous,
                "queries": o.queries,
                "seconds": round(o.seconds, 3),
            }
            for o in proof.obligations
        ],
        "counterexample": counterexample,
        "stopped": proof.stopped or None,
        "seconds": round(proof.seconds, 3),
    }


def _of_check(result: BoundedCheck, trace: str | None) -> dict[str, Any]:
    from model.language.naming import instance_words

    return {
        "depth": result.depth,
        "violated": result.violated,
        "steps": [instance_words(result.model, step) for step in result.steps],
        "stopped": result.stopped,
        "trace": trace,
        "seconds": [round(seconds, 3) for seconds in result.seconds],
    }
