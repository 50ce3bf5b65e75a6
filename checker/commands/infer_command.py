"""`infer`: lemmas from templates, filtered on all reachable states, kept if inductive."""

from __future__ import annotations

import sys
from collections.abc import Iterator
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

if TYPE_CHECKING:
    from checker.proofs.infer import Inference


@click.command(context_settings=HELP)
@model_options
@property_option
@click.option("--timeout", type=Seconds(), metavar="SECONDS", help="for each query [default: 60]")
@output_options
def command(**options: Any) -> int:
    """Find lemmas about PROTOCOL by itself, and say which of the known ones hold.

    Exit status: 0 if the properties follow from what was found, 20 unknown, 21 they do not.
    """
    from checker.commands.prove_command import require_solver

    require_solver("infer")
    model = chosen_model(options)
    from checker.proofs.infer import Inferrer
    from checker.proofs.proof_report import exit_status
    from properties import Sense, promised_properties

    names = options["properties"]
    chosen = promised_properties(model, names)
    properties = chosen if names else [p for p in chosen if p.sense is Sense.ALWAYS]
    quiet = options["quiet"] or options["as_json"]
    timeout = 60.0 if options["timeout"] is None else options["timeout"]
    result = Inferrer(model, properties, timeout, None if quiet else _say).run()
    if options["as_json"]:
        print_json(_as_data(result))
    else:
        write_output("\n".join(_lines(result)) + "\n")
    return exit_status(result.verdict)


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _lines(result: Inference) -> Iterator[str]:
    from checker.proofs.proof_report import model_words

    yield model_words(result.model)
    yield f"{result.states:,} reachable states, {result.candidates:,} candidates hold in them"
    yield f"{len(result.survivors):,} survive, {result.queries:,} queries, {result.seconds:.1f} s"
    yield from (f"  {words}" for words in result.words)
    if result.holding or result.fallen:
        yield "known lemmas that hold: " + (_names(result.holding) or "none")
        yield "known lemmas that fall: " + (_names(result.fallen) or "none")
    for name, follows in result.follows.items():
        yield f"{name} {'follows' if follows else 'does not follow'} from what survives"
    yield str(result.verdict) + (f": {result.stopped}" if result.stopped else "")


def _names(properties: Any) -> str:
    return ", ".join(prop.name for prop in properties)


def _as_data(result: Inference) -> dict[str, Any]:
    from checker.traces.trace import highwater_version

    return {
        "command": "infer",
        **result.model.identity,
        "verdict": str(result.verdict),
        "states": result.states,
        "candidates": result.candidates,
        "survivors": list(result.words),
        "queries": result.queries,
        "follows": result.follows,
        "lemmas_holding": [prop.name for prop in result.holding],
        "lemmas_fallen": [prop.name for prop in result.fallen],
        "stopped": result.stopped,
        "seconds": round(result.seconds, 3),
        "version": highwater_version(),
    }
