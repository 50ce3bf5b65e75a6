"""`prove`: induction within bounds or for all sizes, and bounded checking, with Z3."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.common import (
    HELP,
    Seconds,
    chosen_model,
    model_options,
    output_options,
    print_json,
    property_option,
    write_output,
)
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.traces.trace import Trace
    from model.language.protocol import Model
    from properties import Property


@click.command(context_settings=HELP)
@model_options
@property_option
@click.option("--lemma", "lemmas", multiple=True, metavar="NAME", help="use only these lemmas")
@click.option("--no-lemmas", is_flag=True, help="use none: is the property inductive by itself?")
@click.option("--unbounded", is_flag=True, help="for any number of members and all bounds")
@click.option("--bounded", type=click.IntRange(min=0), metavar="K", help="runs of at most K steps")
@click.option("--strengthen", is_flag=True, help="with --bounded: add the lemmas that hold")
@click.option("--minimize", is_flag=True, help="find a set of lemmas that none can be left out of")
@click.option("--no-symmetry", is_flag=True, help="every choice of parameters, not one of a kind")
@click.option("--timeout", type=Seconds(), metavar="SECONDS", help="for each query [default: 60]")
@click.option("--trace-dir", type=click.Path(file_okay=False, path_type=Path), help="save traces")
@output_options
def command(**options: Any) -> int:
    """Prove with Z3 that properties of PROTOCOL hold in every reachable state.

    Exit status: 0 proved, or with --bounded nothing found; 12 violated; 20 unknown; 21 not
    inductive.
    """
    require_solver("prove")
    model = chosen_model(options)
    if options["unbounded"] and options["bounded"] is not None:
        raise UsageError("--unbounded and --bounded: choose one")
    if options["bounded"] is not None:
        return _bounded(model, options)
    return _induction(model, options)


def require_solver(name: str) -> None:
    """`UsageError` without Z3."""
    if find_spec("z3") is None:
        raise UsageError(f"{name} needs Z3: pip install 'highwater[prove]'")


def _properties(model: Model, names: tuple[str, ...]) -> tuple[Property, ...]:
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


def _induction(model: Model, options: dict[str, Any]) -> int:
    from checker.proofs.induction import Induction, InductionOptions, minimise
    from checker.proofs.proof_report import (
        counterexample_trace,
        exit_status,
        proof_json,
        render_proof,
    )
    from checker.proofs.unbounded_proof import UnboundedInduction

    properties, lemmas = _properties(model, options["properties"]), _lemmas(model, options)
    show = _progress(options)
    timeout = 60.0 if options["timeout"] is None else options["timeout"]
    if options["unbounded"]:
        attempt: Any = UnboundedInduction(model, properties, lemmas, timeout, show)
    else:
        settings = InductionOptions(timeout, not options["no_symmetry"])
        if options["minimize"]:
            lemmas = minimise(model, properties, lemmas, settings, _kept(options))
        attempt = Induction(model, properties, lemmas, settings, show)
    proof = attempt.run()
    trace = counterexample_trace(proof)
    saved = _save(trace, options["trace_dir"])
    if options["as_json"]:
        print_json(proof_json(proof, saved))
    else:
        write_output(render_proof(proof))
        _show(trace)
    return exit_status(proof.verdict)


def _bounded(model: Model, options: dict[str, Any]) -> int:
    from checker.proofs.bounded_check import BoundedChecker, lemmas_that_hold
    from checker.proofs.proof_report import (
        bounded_json,
        exit_status,
        render_bounded,
        violation_trace,
    )

    properties = _properties(model, options["properties"])
    lemmas = lemmas_that_hold(model, _lemmas(model, options)) if options["strengthen"] else ()
    verbose = not (options["quiet"] or options["as_json"])

    def show(depth: int, seconds: float) -> None:
        if verbose:
            print(f"depth {depth}: nothing, {seconds:.2f} s", file=sys.stderr, flush=True)

    symmetry = not options["no_symmetry"]
    checker = BoundedChecker(model, properties, lemmas, options["timeout"], show, symmetry)
    result = checker.run(options["bounded"])
    trace = violation_trace(result)
    saved = _save(trace, options["trace_dir"])
    if options["as_json"]:
        print_json(bounded_json(result, saved))
    else:
        write_output(render_bounded(result))
        _show(trace)
    return exit_status(result.verdict)


def _progress(options: dict[str, Any]) -> Any:
    """Says each obligation as it is settled, on standard error."""
    if options["quiet"] or options["as_json"]:
        return None
    from checker.proofs.proof_report import obligation_words

    def show(obligation: Any) -> None:
        print(obligation_words(obligation), file=sys.stderr, flush=True)

    return show if sys.stderr.isatty() else None


def _kept(options: dict[str, Any]) -> Any:
    if options["quiet"] or options["as_json"]:
        return None

    def show(lemma: Property, needed: bool) -> None:
        word = "needed" if needed else "not needed"
        print(f"{lemma.name}: {word}", file=sys.stderr, flush=True)

    return show


def _save(trace: Trace | None, directory: Path | None) -> str | None:
    if trace is None or directory is None:
        return None
    from checker.commands.summary import Finding, prepare_directory, save_traces

    prepare_directory(directory)
    (saved,) = save_traces((Finding(trace),), directory)
    return str(saved.path)


def _show(trace: Trace | None) -> None:
    if trace is None:
        return
    from checker.commands.summary_text import console_for
    from checker.report.text import render_text

    console = console_for(sys.stdout)
    text = render_text(trace, console.width, console if console.is_terminal else None)
    write_output("\n" + text)
