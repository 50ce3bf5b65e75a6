"""`certify`: a store whose search ended, checked state by state without the search."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from checker.commands.common import (
    HELP,
    limited,
    output_options,
    protocol_option,
    result_data,
    workers_option,
    write_result,
)
from checker.core.exits import Exit
from properties import Sense

if TYPE_CHECKING:
    from rich.console import Console

    from checker.commands.ceiling import Ceiling
    from checker.core.certificate import Checked
    from checker.core.stores.store import Store
    from model.language import Model


@click.command(context_settings=HELP)
@click.argument("store", metavar="STORE")
@protocol_option("the protocol of the store")
@workers_option("processes")
@limited()
@output_options
def command(ceiling: Ceiling, store: str, **options: Any) -> int:
    """Check the result of the search that wrote STORE (with `explore --store`).

    A small program that shares nothing with the search calls the protocol's functions on every
    stored state: the initial state has to be stored, every step has to lead to a stored state, and
    every property that was asked for has to hold. Then none of them is ever violated within these
    bounds, whatever the search did. After --symmetry every renaming of each state is checked too.

    Exit status: 0 certified, 23 not, 2 wrong usage, or a search that did not end.
    """
    from checker.commands.progress import Line
    from checker.core.stores.certify import certificate_of
    from checker.core.stores.query import model_of
    from checker.core.stores.storage import require_pyarrow
    from checker.core.stores.store import Store
    from model.protocols import protocol_named

    require_pyarrow()
    opened = Store.open(store)
    named = options["protocol"]
    model = model_of(opened, protocol_named(named) if named else None)
    started = time.monotonic()
    with ceiling, Line(options["quiet"]) as line:

        def told(done: int, of: int) -> None:
            words = f"{done:,} of {of:,} states checked"
            line.show(time.monotonic() - started, lambda: words, lambda: words)

        found = certificate_of(opened, model).check(options["workers"], told)
    write_result(
        options["as_json"],
        lambda: _as_data(opened, model, found),
        lambda console: _text(opened, model, found, console),
    )
    return Exit.REJECTED if found.wrong else Exit.OK


def _as_data(store: Store, model: Model, found: Checked) -> dict[str, Any]:
    return result_data(
        "certify",
        model,
        properties=_claims(store, model),
        stored=store.states,
        states=found.states,
        steps=found.steps,
        wrong=found.wrong or None,
    )


def _text(store: Store, model: Model, found: Checked, console: Console) -> str:
    from checker.commands.summary_text import as_written
    from model.language.naming import bounds_words

    stored = "" if found.states == store.states else f" ({store.states:,} stored, and renamed)"
    with console.capture() as capture:
        console.print(f"{model.protocol.name} with {bounds_words(model.bounds)}")
        console.print(f"checked without the search: {found.states:,} states{stored}, "
                      f"{found.steps:,} steps")  # fmt: skip
        console.print()
        if found.wrong:
            console.print(f"not certified: {found.wrong}")
        else:
            console.print(f"certified: {', '.join(_claims(store, model)) or 'no deadlock'}")
    return as_written(capture.get(), console)


def _claims(store: Store, model: Model) -> list[str]:
    from checker.core.stores.query import properties_asked

    asked = properties_asked(store, model.protocol)
    return [prop.name for prop in asked if prop.sense is Sense.ALWAYS]
