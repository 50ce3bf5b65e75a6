"""`hunt`: randomly drawn models are searched for hours; a violation is known by name, or new."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.choosing import chosen, model_command
from checker.commands.common import (
    checked_output_options,
    limited,
    results_option,
    seconds,
    write_result,
)
from checker.core.exits import Exit

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling
    from checker.core.traces.trace import Trace
    from checker.lab.experiments.choices import Choice
    from checker.lab.hunting.hunt import Bag, Kill


@model_command
@click.option("--rounds", type=click.IntRange(min=1), default=10_000, show_default=True,
              help="models to draw and search")  # fmt: skip
@click.option("--round-seconds", type=seconds, default=30, show_default=True,
              help="search each for so long, or to its end")  # fmt: skip
@limited()
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="repeat a hunt [default: random]")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True,
              help="processes")  # fmt: skip
@results_option
@click.option("--trace-dir", type=click.Path(path_type=Path), help="save traces here")
@checked_output_options
def command(ceiling: Ceiling, **options: Any) -> int:
    """Search randomly drawn models of PROTOCOL for new bugs.

    --preset, --set and bounds that you give are kept; other sizes, settings that an operator
    chooses, and numbers of faults are drawn at random. Each violation is shortened. If the fix of
    an entry of the catalogue prevents it, it is an instance of that bug, and the search goes on
    with the fix. With --store and --seed a hunt that was ended goes on where it was.

    Exit status: 12 if something is violated that no entry explains, 1 if a round failed, 20 if
    Ctrl-C ended it or no round was searched, else 0.
    """
    from checker.commands.keeping import Keeping
    from checker.commands.progress import run_shown
    from checker.core.files import prepare_directory
    from checker.lab.hunting.hunt import Bag, sweep_of
    from checker.lab.hunting.plan import Round, plan_of
    from properties import promised_properties

    with ceiling:
        ceiling.keeps_limits()  # what comes before the rounds takes a second or two
        given = chosen(options)
        asked = options["properties"]
        promised_properties(given.model, asked)  # a wrong name is an error before anything runs
        if options["trace_dir"] is not None:
            prepare_directory(options["trace_dir"])
        plan = plan_of(given.model.protocol, given)
        seed = secrets.randbits(31) if options["seed"] is None else options["seed"]
        sweep = sweep_of(
            given, plan, asked, seed=seed, rounds=options["rounds"], workers=options["workers"],
            seconds=options["round_seconds"], store=options["store"],
            cross_check=options["cross_check"],
        )  # fmt: skip
        interrupted = run_shown(sweep, ceiling, options["quiet"] or options["as_json"])
    bag = Bag(plan, tuple(sweep.results.values()), Round(given, seed, 0, asked))
    with Keeping() as keeping:
        for number, kill in enumerate([*bag.unknown, *bag.known]):
            case = "new" if kill.entry is None else kill.entry["case"]
            keeping.trace(_trace(kill), options["trace_dir"], f"{number}-{case}")
        write_result(
            options["as_json"], lambda: to_json(bag, given, seed), lambda _: _text(bag, given, seed)
        )
    if bag.unknown:
        return keeping.status(Exit.VIOLATED)
    if bag.errors:
        return keeping.status(Exit.INTERNAL)
    return keeping.status(Exit.LIMIT if interrupted or not bag.results else Exit.OK)


def _trace(kill: Kill) -> Trace:
    """The trace of a violation, replayed."""
    from checker.core.traces.trace import build_trace
    from checker.lab.experiments.choices import Choice, steps_named

    model = Choice(**kill.first["choice"]).model
    return build_trace(model, steps_named(model, kill.first["steps"]), kill.first["property"])


# --- the result ---------------------------------------------------------------------------------

_TOGETHER = {2: "pairs of a value or fault and a fault", 3: "triples with one fault more"}


def _text(bag: Bag, given: Choice, seed: int) -> str:
    return "\n".join(_lines(bag, given, seed)) + "\n"


def _lines(bag: Bag, given: Choice, seed: int) -> Iterator[str]:
    """The summary for people."""
    yield f"{given.arguments}; seed {seed}"
    yield (
        f"rounds: {len(bag.done):,}, {bag.whole:,} of them to the end without a violation; "
        f"{bag.states:,} states"
    )
    for result in bag.errors:
        yield f"round {result['round']} failed: {result['error']}"
    for kill in bag.known:
        assert kill.entry is not None
        yield ""
        yield f"{kill.entry['case']}: {_times(kill)}; {kill.entry['change']} prevents it"
        yield f"  {kill.entry['source']}"
        yield f"  {_shortest(kill)}"
    for kill in bag.unknown:
        yield ""
        yield f"no entry explains: {_times(kill)}"
        yield f"  {_shortest(kill)}"
        yield from (f"  {number:3}. {step}" for number, step in enumerate(kill.first["steps"], 1))
    yield ""
    if bag.never_met:
        yield f"actions never met: {', '.join(bag.never_met)}"
    for each in bag.together:
        if each.times:
            yield (
                f"{_TOGETHER[each.size]}: {each.tried:,} of {len(each.times):,} tried; "
                f"an hour more would add {each.added:,}"
            )
    if bag.unknown:
        yield f"violated as no entry explains: {len(bag.unknown)}"
    elif bag.done:
        yield "nothing is violated that no entry of the catalogue explains"
    else:
        yield "no round was searched to its end: give more time with --max-seconds"


def _times(kill: Kill) -> str:
    return "once" if kill.times == 1 else f"{kill.times} times"


def _shortest(kill: Kill) -> str:
    return f"{kill.first['depth']} steps: explore {kill.first['explored']}"


def to_json(bag: Bag, given: Choice, seed: int) -> dict[str, Any]:
    """The summary as plain data."""
    from checker.distribution import highwater_version

    return {
        "command": "hunt",
        "protocol": given.protocol,
        "given": given.arguments,
        "seed": seed,
        "rounds": len(bag.done),
        "exhausted": bag.whole,
        "distinct_states": bag.states,
        "known": [_of_kill(kill) for kill in bag.known],
        "unknown": [_of_kill(kill) for kill in bag.unknown],
        "errors": bag.errors,
        "never_met": bag.never_met,
        "pairs": [[*pair, times] for pair, times in bag.together[0].times.items()],
        "together": [
            {
                "size": each.size,
                "of": len(each.times),
                "tried": each.tried,
                "added_by_an_hour": each.added,
            }
            for each in bag.together
        ],
        "version": highwater_version(),
    }


def _of_kill(kill: Kill) -> dict[str, Any]:
    left_out = ("choice",)
    return {"times": kill.times} | {k: v for k, v in kill.first.items() if k not in left_out}
