"""`growth`: how many states each level has, for one choice of bounds and settings or several."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.choosing import chosen_model, sizes_command
from checker.commands.common import (
    SYMMETRY,
    limited,
    output_options,
    print_json,
    workers_option,
    write_file,
    write_output,
)
from checker.core.exits import Exit
from model.language.errors import LimitError, UsageError

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling
    from checker.telling.pictures.growth import Levels
    from model.language.protocol import Model

MOST = 12  # searches side by side: more are a tangle


@sizes_command
@click.option(
    "--vary", metavar="NAME=VALUES", help="a search for each value of a bound or setting: "
    "log-size=1,2,3 or fence_fetch=true,false",
)  # fmt: skip
@click.option(
    "--store", "stores", multiple=True, metavar="DIR",
    help="take the levels of this store, without a search; repeatable",
)  # fmt: skip
@click.option("--depth", type=click.IntRange(min=0), help="steps from the initial state at most")
@click.option("--max-states", type=click.IntRange(min=1), help="stop a search after this many")
@limited()
@click.option("--symmetry", is_flag=True, help=SYMMETRY)
@workers_option("threads")
@click.option(
    "--picture", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="write the curves as an SVG picture",
)  # fmt: skip
@output_options
def command(ceiling: Ceiling, **options: Any) -> int:
    """Count the states of PROTOCOL at each depth, for several bounds or settings side by side.

    No property is checked, so no search ends at a violation. Exit status 20: a limit or Ctrl-C
    ended one.
    """
    from checker.commands.interrupt import Interrupt
    from checker.commands.keeping import Keeping
    from checker.core.files import prepare_directory
    from checker.telling.pictures.growth import as_svg

    if options["picture"] is not None:
        prepare_directory(options["picture"].absolute().parent)
    if options["stores"]:
        if options["vary"] is not None or options["protocol"] is not None:
            raise UsageError("--store has its protocol and bounds: leave out PROTOCOL and --vary")
        title = "Growth of states"
        searches = [_stored(place) for place in options["stores"]]
    else:
        vary = options.pop("vary")
        with ceiling, Interrupt(ceiling.allowance.end):
            model = chosen_model(options, ceiling.preparing)
            title = f"Growth of states: {model.protocol.name}"
            varied = list(_varied(model, vary))
            ceiling.keeps_limits()
            searches = [_searched(one, name, options, ceiling) for name, one in varied]
    with Keeping() as keeping:
        if options["picture"] is not None:
            keeping.store(write_file, options["picture"], as_svg(title, searches))
        if options["as_json"]:
            print_json(
                {"command": "growth", "title": title, "searches": [_data(s) for s in searches]}
            )
        else:
            write_output("".join(f"{line}\n" for line in _lines(searches)))
    is_cut = any(search.stopped for search in searches)
    return keeping.status(Exit.LIMIT if is_cut else Exit.OK)


def _varied(model: Model, vary: str | None) -> Iterator[tuple[str, Model]]:
    """The models to search, each with its name; `UsageError` for what cannot be varied."""
    from model.language.declare.settings import as_text
    from model.language.naming import bounds_words

    if vary is None:
        yield bounds_words(model.bounds) or model.protocol.name, model
        return
    name, given, text = vary.partition("=")
    values = [value.strip() for value in text.split(",")]
    if not given or not all(values) or len(set(values)) < len(values):
        raise UsageError(f"--vary {vary}: write NAME=VALUES, such as log-size=1,2,3")
    if len(values) > MOST:
        raise UsageError(f"--vary {name}: {len(values)} values are too many: at most {MOST}")
    bound, settings = name.replace("-", "_"), as_text(model.settings)
    for value in values:
        if bound in model.bounds:
            if not (value.isascii() and value.isdigit() and len(value) < 10):
                raise UsageError(f"--vary {name}: {value!r} is no size: write whole numbers")
            changed = model.protocol.model({**model.bounds, bound: int(value)}, settings)
        elif name in settings:
            changed = model.protocol.model(model.bounds, {**settings, name: value})
        else:
            from model.language.errors import unknown_name

            known = [*(each.replace("_", "-") for each in model.bounds), *settings]
            raise unknown_name("bound or setting", name, known)
        yield f"{name} {value}", changed


def _searched(model: Model, name: str, options: dict[str, Any], ceiling: Ceiling) -> Levels:
    from checker.core.search.explore import Explorer
    from checker.core.search.limits import who_stopped
    from checker.core.search.question import Options
    from checker.telling.pictures.growth import Levels

    limits, until = ceiling.limits(options["depth"], options["max_states"]), ceiling.allowance
    how = Options(workers=options["workers"], symmetry=options["symmetry"])
    if not until.left:
        return Levels(name, (), who_stopped(until.reason))
    if not options["quiet"] and not options["as_json"]:
        click.echo(f"{name}: searching", err=True)
    try:
        result = Explorer(model, (), limits, how).run()
    except LimitError as error:
        return Levels(name, (), error.reason)
    return Levels(name, tuple(result.levels), who_stopped(result.stopped or ""))


def _stored(place: str) -> Levels:
    from checker.core.stores.storage import require_pyarrow
    from checker.core.stores.store import Store
    from checker.telling.pictures.growth import Levels

    require_pyarrow()
    opened = Store.open(place)
    if opened.unfinished:
        click.echo(f"note: {opened.unfinished}", err=True)
    about = opened.manifest.model
    bounds = [f"{k.replace('_', ' ')} {v}" for k, v in about.get("bounds", {}).items() if v]
    name = f"{about.get('protocol')}, {', '.join(bounds)}" if bounds else str(about.get("protocol"))
    return Levels(name, tuple(level.size for level in opened.levels if level.size))


def _lines(searches: list[Levels]) -> Iterator[str]:
    """A column for each search, a row for each depth; then each in a sentence."""
    heads = [chr(97 + k) for k in range(len(searches))] if len(searches) > 1 else ["states"]
    deepest = max((len(search.sizes) for search in searches), default=0)
    rows = [
        [str(d), *(f"{s.sizes[d]:,}" if d < len(s.sizes) else "" for s in searches)]
        for d in range(deepest)
    ]
    columns = list(zip(["depth", *heads], *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    for row in (["depth", *heads], *rows):
        cells = zip(row, widths, strict=True)
        yield "  ".join(cell.rjust(width) for cell, width in cells).rstrip()
    yield ""
    for head, search in zip(heads, searches, strict=True):
        first = f"{head} = " if len(searches) > 1 else ""
        yield f"{first}{search.name}: {search.words}"


def _data(search: Levels) -> dict[str, Any]:
    return {**dataclasses.asdict(search), "states": sum(search.sizes)}
