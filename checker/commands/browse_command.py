"""`browse`: a local web page to walk through a state space."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.choosing import chosen_model, model_command, set_bounds
from checker.commands.common import (
    print_json,
    write_output,
)
from checker.distribution import require
from model.language.errors import HighwaterError, UsageError

if TYPE_CHECKING:
    from checker.telling.browse.walk import Walk


@model_command
@click.option(
    "--trace", "trace", type=click.Path(path_type=Path), metavar="FILE",
    help="walk along this trace; the model is the trace's",
)  # fmt: skip
@click.option(
    "--state", "state", type=click.Path(path_type=Path), metavar="FILE",
    help="begin in this state, which `audit --state FILE` wrote, or which you wrote",
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="[default: any that is free]"
)
@click.option("--open", "opens", is_flag=True, help="open the page in the browser")
@click.option("--json", "as_json", is_flag=True, help="print the address as one JSON object")
def command(**options: Any) -> int:
    """Walk through the states of PROTOCOL on a web page, until Ctrl-C.

    The page shows the steps that are enabled and what each would change, takes them and takes them
    back, asks how near a violation is, begins in a state that you type, and keeps a walk as a
    trace, a test or a scenario. It is served on 127.0.0.1 alone, to whoever has its address.
    """
    require("browse needs Flask", "flask")
    from checker.telling.browse.server import Server

    walk, at = _chosen(options)
    try:
        server = Server(walk, at, options["port"])
    except OSError as error:
        raise UsageError(f"cannot serve on port {options['port']}: {error.strerror}") from None
    with suppress(KeyboardInterrupt):
        if options["as_json"]:
            print_json({"command": "browse", **walk.model.identity, "address": server.address})
        else:
            write_output(f"{server.address}\nCtrl-C ends it\n")
        if options["opens"]:
            click.launch(server.address)
        server.run()
    return 0


def _chosen(options: dict[str, Any]) -> tuple[Walk, int]:
    """The walk, and the state that it stands in at first."""
    from checker.telling.browse.walk import Walk
    from properties import promised_properties

    file, names = options["trace"], options.pop("properties")
    if options["state"] is not None:
        if file is not None:
            raise UsageError("--trace and --state are two places to begin in: choose one")
        return _from_state(options, names)
    if file is None:
        model = chosen_model(options)
        return Walk(model, promised_properties(model, names)), 0
    from checker.lab.experiments.cases import accepted_trace

    trace = accepted_trace(file, options["protocol"])
    plain = ("protocol", "trace", "state", "port", "opens", "as_json")
    if any(value not in (None, ()) for name, value in options.items() if name not in plain):
        raise UsageError("--trace brings its bounds and settings: leave out all others")
    chosen = promised_properties(trace.model, names)
    if trace.claim is not None and trace.claim not in chosen:
        chosen = (trace.claim, *chosen)
    walk = Walk(trace.model, chosen)
    return walk, walk.add_trace(trace)


def _from_state(options: dict[str, Any], names: tuple[str, ...]) -> tuple[Walk, int]:
    """A walk that begins in the state of a file; its bounds go where no option says others."""
    from checker.telling.browse.given import read_state
    from checker.telling.browse.walk import Walk
    from properties import promised_properties

    path = options["state"]
    found = read_state(path)
    options["protocol"] = options["protocol"] or found.protocol
    set_bounds(options, found.bounds)
    model = chosen_model(options)
    walk = Walk(model, promised_properties(model, names))
    try:
        return walk, walk.begin(found.values, found.words)
    except HighwaterError as error:
        raise type(error)(f"{path}: {error}") from None
