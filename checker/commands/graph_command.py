"""`graph`: the state graph to look at and to hand on, and what only the whole of it can say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands import completion
from checker.commands.choosing import DEFAULT_PROTOCOL, chosen_model, model_command
from checker.commands.common import (
    checked_output_options,
    limited,
    memory_option,
    print_json,
    refuse_replacing,
    workers_option,
    write_file,
    write_output,
    write_result,
)
from checker.commands.forms import FolderForm, Form, form_named, names_of, words_of
from checker.commands.graph_forms import FORMS
from checker.core.exits import Exit
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling
    from checker.core.graphs.losses import Losses
    from checker.core.graphs.tables import Tables
    from checker.core.traces.trace import Trace
    from model.language.protocol import Cell, Model
    from properties import Property

MOST_STATES = 5_000_000
OWN = frozenset({
    "protocol", "properties", "kind", "output", "quotient", "around", "radius", "depth", "fair",
    "workers", "max_states", "max_memory", "cross_check", "quiet", "as_json",
})  # fmt: skip
"""Options that choose no model."""


@model_command
@click.option(
    "--format",
    "kind",
    type=click.Choice(names_of(FORMS)),
    help=f"write the graph, and not what it says; {words_of(FORMS)}",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
    help="write it here, not to standard output; for parquet a directory",
)  # fmt: skip
@click.option(
    "--quotient", multiple=True, metavar="VIEW",
    help="one node for all states that look the same in VIEW",
    shell_complete=completion.of_protocol(completion.views, DEFAULT_PROTOCOL),
)  # fmt: skip
@click.option(
    "--around", metavar="TRACE", type=click.Path(path_type=Path),
    help="the states around this trace, in the graph of its model",
)  # fmt: skip
@click.option("--radius", type=click.IntRange(min=0), help="how many steps around [default: 1]")
@click.option("--fair", multiple=True, metavar="ACTION=HOW", help="as for `explore`")
@click.option("--depth", type=click.IntRange(min=0), help="steps from the initial state at most")
@workers_option("threads")
@click.option(
    "--max-states", type=click.IntRange(min=1), default=MOST_STATES, show_default=True,
    help="stop after this many states",
)  # fmt: skip
@limited()
@memory_option
@checked_output_options
def command(ceiling: Ceiling, **options: Any) -> int:
    """Find when a loss becomes inevitable, or export the graph of PROTOCOL's reachable states.

    A loss is a state that violates a property. The command says from which states a loss can still
    come, from which it must come, which steps every path to it has, and how many shortest paths
    there are. VIEW is a view of the protocol (`highwater list`) or fields of the state: `isr`,
    `quorum.leader,replicas[r1].log`.

    \b
    highwater graph kip101 --property strong_isr
    highwater graph kip101 --quotient roles,isr --format dot | dot -Tsvg > g.svg
    highwater graph --around kip101-strong_isr --format graphml -o near.graphml

    Exit status: 0 done, whatever is violated, 20 a limit other than --depth has cut the graph, 23
    the trace is rejected, 2 wrong usage.
    """
    from checker.core.graphs.account import account_of

    trace = _refuse_misfits(options)
    with ceiling:
        model = chosen_model(options) if trace is None else trace.model
        properties, cells = _properties(model, options["properties"], trace), _cells(model, options)
        form = None if options["kind"] is None else form_named(FORMS, options["kind"])
        if isinstance(form, FolderForm):
            form.prepare(options["output"])
        losses = _losses(model, properties, options, ceiling)
        radius = None if form is None else options["radius"]
        seen = _seen(losses, cells, trace, radius) if form is not None or cells else None
        account = None if form is not None else account_of(losses, seen, trace)
    if form is not None and seen is not None:
        _write(form, seen, losses.built.model, options)
    elif account is not None:
        _tell(account, options)
    return Exit.LIMIT if losses.built.stopped else Exit.OK


def _tell(account: dict[str, Any], options: dict[str, Any]) -> None:
    """Write what the graph says."""
    from checker.commands.graph_text import render

    write_result(
        options["as_json"],
        lambda: {"command": "graph", **account},
        lambda console: render(account, console.width),
    )


def _refuse_misfits(options: dict[str, Any]) -> Trace | None:
    """The trace that is asked about, if one is; `UsageError` for options that do not fit."""
    around, kind, output = options["around"], options["kind"], options["output"]
    if options["radius"] is not None and around is None:
        raise UsageError("--radius goes with --around TRACE")
    if around is not None and options["quotient"]:
        raise UsageError("--around and --quotient do not go together")
    if output is not None and kind is None:
        raise UsageError(f"-o {output} goes with --format: valid are {', '.join(names_of(FORMS))}")
    if output is None and kind is not None and isinstance(form_named(FORMS, kind), FolderForm):
        raise UsageError(f"--format {kind} writes files: say where with -o DIRECTORY")
    if around is None:
        return None
    given = [name for name, value in options.items() if name not in OWN and value not in (None, ())]
    if given:
        context = click.get_current_context()
        params = context.command.get_params(context)
        flags = ", ".join(sorted(each.opts[0] for each in params if each.name in given))
        raise UsageError(f"--around takes bounds and settings from the trace: leave out {flags}")
    refuse_replacing(around, output)
    from checker.core.traces.trace import TraceVerdict
    from checker.lab.experiments.cases import accepted_trace

    trace = accepted_trace(around, options["protocol"])
    if trace.verdict == TraceVerdict.NOT_INDUCTIVE:
        raise UsageError(f"the trace {around} need not begin in a reachable state: it is no run")
    return trace


def _properties(model: Model, names: tuple[str, ...], trace: Trace | None) -> tuple[Property, ...]:
    """What is a loss: what was named, else what the trace falsifies, else all that is promised."""
    from checker.core.graphs.losses import require_losing
    from properties import Sense, promised_properties

    shown = None if trace is None else trace.claim
    if not names and shown is not None and shown.sense is Sense.ALWAYS:
        return (shown,)
    chosen = promised_properties(model, names)
    losing = chosen if names else tuple(prop for prop in chosen if prop.sense is Sense.ALWAYS)
    require_losing(losing)
    return losing


def _cells(model: Model, options: dict[str, Any]) -> tuple[Cell, ...]:
    """The fields that the quotient is by; none if there is none."""
    from checker.core.graphs.views import chosen_cells, split_view

    names = [name for text in options["quotient"] for name in split_view(text)]
    return chosen_cells(model, names) if options["quotient"] else ()


def _losses(
    model: Model, properties: tuple[Property, ...], options: dict[str, Any], ceiling: Ceiling
) -> Losses:
    from checker.commands.interrupt import Interrupt
    from checker.commands.progress import Display
    from checker.core.graphs.built import build
    from checker.core.graphs.losses import find_losses
    from checker.core.search.question import Options
    from model.language.fairness import changed

    limits = ceiling.limits(options["depth"], options["max_states"])
    ceiling.keeps_limits()
    how = Options(workers=options["workers"], cross_check=options["cross_check"])
    fairness = changed(model.protocol.fairness, options["fair"])
    with (
        Display(options["quiet"] or options["as_json"]) as display,
        Interrupt(display.stopping) as interrupt,
    ):
        built = build(model, properties, limits, how, display.update, fairness, interrupt.stops)
    if interrupt.requested:
        raise KeyboardInterrupt
    return find_losses(built, properties, fairness)  # where Ctrl-C ends the command


def _seen(
    losses: Losses, cells: tuple[Cell, ...], trace: Trace | None, radius: int | None
) -> Tables:
    """The graph, or what of it was asked for."""
    from checker.core.graphs.account import places
    from checker.core.graphs.tables import near, quotient, whole

    if cells:
        return quotient(losses, cells)
    if trace is None:
        return whole(losses)
    numbers = places(losses, trace)
    kept = near(losses.built, numbers, 1 if radius is None else radius)
    return whole(losses, numbers).without(kept)


def _write(
    form: Form[Tables] | FolderForm[Tables], seen: Tables, model: Model, options: dict[str, Any]
) -> None:
    output = options["output"]
    data = {
        "command": "graph", **seen.about, **model.identity, "format": form.name,
        "nodes": len(seen.ids), "arrows": len(seen.begin),
    }  # fmt: skip
    text = ""
    if isinstance(form, FolderForm):
        form.write(seen, output)
    else:
        text = form.text(seen)
        if output is not None:
            write_file(output, text)
    if options["as_json"]:
        print_json(data | ({"text": text} if output is None else {"output": str(output)}))
    elif output is None:
        write_output(text)
    elif not options["quiet"]:
        words = f"{len(seen.ids):,} nodes and {len(seen.begin):,} arrows"
        click.echo(f"wrote {output}: {words}{_cut(seen)}", err=True)


def _cut(seen: Tables) -> str:
    return "" if seen.about["complete"] else "; a limit has cut the graph"
