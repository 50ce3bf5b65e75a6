"""`infer`: lemmas from templates or derived atoms that hold in all runs and are inductive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from checker.commands.choosing import chosen_model, model_command
from checker.commands.common import (
    checked_output_options,
    limited,
    memory_option,
    result_data,
    seconds,
    write_result,
)
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling
    from checker.core.proofs.inference.infer import Inference
    from properties import Property


@model_command
@click.option(
    "--timeout", type=seconds, metavar="SECONDS", help="for each question to Z3 [default: 60]"
)
@click.option(
    "--derived",
    is_flag=True,
    help="build them from what the protocol declares, even if it has templates",
)
@click.option("--survivors", is_flag=True, help="print all lemmas that were found")
@limited()
@memory_option
@checked_output_options
def command(ceiling: Ceiling, **options: Any) -> int:
    """Find the lemmas of a proof about PROTOCOL, and say which known lemmas hold and follow.

    They are built from the protocol's templates or, if it has none, from its fields, the conditions
    in its actions, and its properties.

    Exit status: 0 if the properties follow from what was found, 20 unknown, 21 they do not.
    """
    from checker.commands.prove_command import provable_properties, require_solver

    require_solver("infer")
    from checker.commands.progress import Ticker
    from checker.commands.proof_text import inference_text
    from checker.core.proofs.inference.derive import DerivingInferrer
    from checker.core.proofs.inference.infer import Inferrer
    from checker.core.proofs.proof_report import exit_status
    from properties import templates_of

    timeout = 60.0 if options["timeout"] is None else options["timeout"]
    with ceiling, Ticker(options["quiet"] or options["as_json"]) as ticker:
        model = chosen_model(options, ceiling.preparing)
        properties = provable_properties(model, options["properties"])
        _refuse_properties_of_steps(properties, options["properties"])
        derived = options["derived"] or templates_of(model.protocol) is None
        result = (DerivingInferrer if derived else Inferrer)(
            model, properties, timeout, ticker.say, cross_check=options["cross_check"]
        ).run()
    write_result(
        options["as_json"],
        lambda: _as_data(result),
        lambda console: inference_text(result, options["survivors"], console),
    )
    return exit_status(result.verdict)


def _refuse_properties_of_steps(properties: tuple[Property, ...], named: tuple[str, ...]) -> None:
    for prop in properties:
        if prop.of_steps and prop.name in named:
            raise UsageError(f"{prop.name} is about steps: infer finds lemmas for states")


def _as_data(result: Inference) -> dict[str, Any]:
    from checker.core.verdict import Agreement

    found = {
        "verdict": str(result.verdict),
        "states": result.states,
        "atoms": result.atoms,
        "candidates": result.candidates,
        "survivors": [result.words(candidate) for candidate in result.survivors],
        "needed": [result.words(candidate) for candidate in result.needed],
        "queries": result.queries,
        "follows": result.follows,
        "lemmas_holding": [prop.name for prop in result.holding],
        "lemmas_found": [prop.name for prop in result.found],
        "lemmas_fallen": [prop.name for prop in result.fallen],
        "stopped": result.stopped,
        "cross_check": Agreement.data(result.agreement),
        "seconds": round(result.seconds, 3),
    }
    return result_data("infer", result.model, **found)
