"""`simulate`: random walks at sizes that cannot be exhausted; short traces to what they find."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.common import (
    HELP,
    chosen_model,
    cross_check_option,
    model_options,
    output_options,
    print_json,
    property_option,
    write_output,
)
from checker.commands.progress import Display
from checker.exits import Exit
from checker.verdict import Agreement

if TYPE_CHECKING:
    from checker.search.simulate import Finding, Simulation, Simulator, WalkProgress
    from checker.traces.trace import Trace

DEFAULT_WALKS = 16_384


@dataclass(frozen=True)
class Shown:
    """A violation as it is reported: as walked, as minimised, and where its trace is stored."""

    finding: Finding
    trace: Trace
    is_shortest: bool
    minimising_seconds: float
    path: Path | None = None


@click.command(context_settings=HELP)
@model_options
@property_option
@click.option("--walks", type=click.IntRange(min=1), help="stop after this many walks")
@click.option(
    "--steps", "--depth", "steps", type=click.IntRange(min=1, max=10_000), default=100,
    show_default=True, help="steps of a walk at most",
)  # fmt: skip
@click.option("--max-seconds", type=click.FloatRange(min=0), help="stop walking after this time")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="repeat a run [default: random]")
@click.option("--continue", "keep_going", is_flag=True, help="find every violated property")
@click.option("--no-minimize", is_flag=True, help="show a violation as it was walked")
@click.option("--trace-dir", type=click.Path(path_type=Path), help="save traces here")
@cross_check_option
@output_options
def command(**options: Any) -> int:
    """Walk PROTOCOL at random, many walks at once, at sizes too large to exhaust.

    Stops at a violation and shortens the way to it. Without --walks and --max-seconds, there are
    16,384 walks. The same seed, sizes and properties give the same walks. Nothing found says
    nothing of states that no walk reached: the verdict is then `sampled`.

    Exit status: 0 nothing violated, 12 violated, 2 wrong usage.
    """
    from checker.commands.interrupt import Interrupt

    model = chosen_model(options)
    quiet = options["quiet"] or options["as_json"]
    display = _WalkDisplay(quiet)
    with display, Interrupt(display.stopping) as interrupt:
        simulator = _simulator(model, options, display)
        interrupt.stops(simulator.request_stop)
        result = simulator.run()
    shown = [_shown(simulator, finding, options) for finding in result.findings]
    _print(result, shown, options)
    return Exit.VIOLATED if result.findings else Exit.OK


def _simulator(model: Any, options: dict[str, Any], display: _WalkDisplay) -> Simulator:
    from checker.files import prepare_directory
    from checker.search.simulate import Budget, Simulator
    from properties import promised_properties

    properties = promised_properties(model, options["properties"])
    if options["trace_dir"] is not None:
        prepare_directory(options["trace_dir"])
    walks, seconds = options["walks"], options["max_seconds"]
    if walks is None and seconds is None:
        walks = DEFAULT_WALKS
    seed = secrets.randbits(32) if options["seed"] is None else options["seed"]
    return Simulator(
        model,
        properties,
        seed,
        Budget(walks, seconds, options["steps"]),
        keep_going=options["keep_going"],
        on_progress=display.update_walks,
        cross_check=options["cross_check"],
    )


def _shown(simulator: Simulator, finding: Finding, options: dict[str, Any]) -> Shown:
    """The finding made short, replayed on the reference engine, and stored if that is wanted."""
    from checker.search.minimise import Minimised, minimise
    from checker.traces.itf import write_trace
    from checker.traces.trace import build_trace

    model, started = simulator.result.model, time.perf_counter()
    short = Minimised(finding.steps, False)
    if not options["no_minimize"]:
        short = minimise(
            model, finding.steps, finding.property, simulator.engine,
            cross_check=options["cross_check"],
        )  # fmt: skip
    seconds = time.perf_counter() - started
    trace, path = build_trace(model, short.steps, finding.property), None
    if options["trace_dir"] is not None:
        name = f"{model.protocol.name}-{finding.property.name}.itf.json"
        path = options["trace_dir"] / name
        write_trace(trace, path)
    return Shown(finding, trace, short.is_shortest, seconds, path)


class _WalkDisplay(Display):
    """Progress in walks and steps."""

    def update_walks(self, progress: WalkProgress) -> None:
        """Show how far the walks are, if it is time to."""
        line = _progress_words(progress)
        self.show(
            progress.seconds, lambda: line, lambda: line + (", stopping" if self._stopping else "")
        )


def _progress_words(progress: WalkProgress) -> str:
    rate = progress.steps / max(progress.seconds, 1e-9)
    return (
        f"{progress.walks:,} walks, {progress.steps:,} steps, {progress.states:,} distinct states, "
        f"{rate:,.0f} steps/s, {progress.seconds:.0f} s"
    )


# --- the result ---------------------------------------------------------------------------------


def _print(result: Simulation, shown: list[Shown], options: dict[str, Any]) -> None:
    if options["as_json"]:
        print_json(to_json(result, shown))
        return
    from checker.commands.summary_text import console_for
    from checker.report.text import render_text

    console = console_for(sys.stdout)
    parts = []
    for one in shown:
        on = console if console.is_terminal else None
        parts.append(render_text(one.trace, console.width, on))
        if one.path is not None:
            parts.append(f"trace saved: {one.path}\n")
        parts.append("\n")
    write_output("".join(parts) + "\n".join(_lines(result, shown)) + "\n")


def _lines(result: Simulation, shown: list[Shown]) -> Iterator[str]:
    """The summary for people."""
    sizes = ", ".join(f"{n.replace('_', ' ')} {v}" for n, v in result.model.bounds.items())
    yield f"{result.model.protocol.name}: {result.model.protocol.words}"
    yield f"{sizes}; seed {result.seed}"
    yield ""
    width = max(len(prop.name) for prop in result.properties) if result.properties else 0
    for prop in result.properties:
        vacuous = ", its premise was never true" if result.is_vacuous(prop) else ""
        yield f"{prop.name:<{width}}  {result.verdict_on(prop)}{vacuous}"
    yield ""
    width = max(len(name) for name in result.actions)
    yield f"{'action':<{width}}  {'enabled':>12}  {'taken':>12}"
    for name, count in result.actions.items():
        yield f"{name:<{width}}  {count.enabled:>12,}  {count.taken:>12,}"
    yield ""
    yield (
        f"{result.walks:,} walks, {result.steps:,} steps, the longest {result.longest}; "
        f"{result.distinct_states:,} distinct states"
    )
    yield f"{result.seconds:.2f} s, {_rate(result):,.0f} steps/s"
    yield Agreement.words(result.agreement)
    for one in shown:
        shortest = "; no shorter one exists" if one.is_shortest else ""
        yield (
            f"{one.finding.property.name}: found after {one.finding.seconds:.2f} s by walk "
            f"{one.finding.walk} in {len(one.finding.steps)} steps, {one.trace.depth} after "
            f"minimising for {one.minimising_seconds:.2f} s{shortest}"
        )
    for words in warnings(result):
        yield f"warning: {words}"
    yield ""
    yield _verdict(result)


def _verdict(result: Simulation) -> str:
    if result.findings:
        names = ", ".join(finding.property.name for finding in result.findings)
        return f"violated: {names}; seed {result.seed} repeats it"
    stopped = f" (stopped by {result.stopped})" if result.stopped else ""
    return f"sampled: nothing is violated on these walks{stopped}; other states were not looked at"


def warnings(result: Simulation) -> list[str]:
    """What makes the walks say less than they seem to."""
    found = []
    if result.never_enabled:
        found.append(f"actions never enabled: {', '.join(result.never_enabled)}")
    vacuous = [prop.name for prop in result.properties if result.is_vacuous(prop)]
    if vacuous:
        found.append(f"premise never true: {', '.join(vacuous)}")
    unreached = [p.name for p in result.properties if result.verdict_on(p) == "unreached"]
    if unreached:
        found.append(f"witnesses not reached: {', '.join(unreached)}")
    return found


def _rate(result: Simulation) -> float:
    return result.steps / max(result.seconds, 1e-9)


def to_json(result: Simulation, shown: list[Shown]) -> dict[str, Any]:
    """The summary as plain data."""
    from checker.traces.trace import highwater_version

    return {
        "command": "simulate",
        **result.model.identity,
        "engine": "local",
        "verdict": str(result.verdict),
        "seed": result.seed,
        "walks": result.walks,
        "steps": result.steps,
        "longest_walk": result.longest,
        "distinct_states": result.distinct_states,
        "actions": {
            name: {"enabled": count.enabled, "taken": count.taken}
            for name, count in result.actions.items()
        },
        "properties": {
            prop.name: {
                "verdict": str(result.verdict_on(prop)),
                "vacuous": result.is_vacuous(prop),
                "depth": result.reached.get(prop.name),
            }
            for prop in result.properties
        },
        "violations": [_violation(one) for one in shown],
        "warnings": warnings(result),
        "cross_check": Agreement.data(result.agreement),
        "stopped": result.stopped,
        "seconds": round(result.seconds, 3),
        "steps_per_second": round(_rate(result)),
        "version": highwater_version(),
    }


def _violation(one: Shown) -> dict[str, Any]:
    from model.language.naming import instance_words

    return {
        "property": one.finding.property.name,
        "depth": one.trace.depth,
        "walked": len(one.finding.steps),
        "walk": one.finding.walk,
        "shortest": one.is_shortest,
        "seconds_to_find": round(one.finding.seconds, 3),
        "seconds_to_minimise": round(one.minimising_seconds, 3),
        "trace": str(one.path) if one.path else None,
        "steps": [instance_words(one.trace.model, step) for step in one.trace.steps],
        "explanation": one.trace.explanation,
    }
