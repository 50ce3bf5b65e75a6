"""`simulate`: random walks at sizes that cannot be exhausted; short traces to what they find."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.choosing import chosen_model, model_command
from checker.commands.common import (
    checked_output_options,
    limited,
    result_data,
    stats_option,
    write_result,
)
from checker.commands.keeping import Keeping
from checker.commands.progress import Display
from checker.core.exits import Exit
from checker.core.search.limits import INTERRUPTED, who_stopped
from checker.core.verdict import Agreement
from model.language.errors import LimitError
from model.language.naming import bounds_words

if TYPE_CHECKING:
    from rich.console import Console

    from checker.commands.ceiling import Ceiling
    from checker.commands.summary import Finding
    from checker.core.search.minimise import Minimised
    from checker.core.search.simulate import Simulation, Simulator, WalkedViolation, WalkProgress

DEFAULT_WALKS = 16_384


@dataclass(frozen=True)
class Shown:
    """A violation as it is reported: as walked, and the trace that minimising leaves."""

    walked: WalkedViolation
    finding: Finding
    is_shortest: bool
    minimising_seconds: float


@model_command
@click.option("--walks", type=click.IntRange(min=1), help="stop after this many walks")
@click.option(
    "--steps", "--depth", "steps", type=click.IntRange(min=1, max=10_000), default=100,
    show_default=True, help="steps of a walk at most",
)  # fmt: skip
@limited()
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="repeat a run [default: random]")
@click.option("--continue", "keep_going", is_flag=True, help="find every violated property")
@click.option("--no-minimize", is_flag=True, help="show a violation as it was walked")
@click.option("--trace-dir", type=click.Path(path_type=Path), help="save traces here")
@stats_option
@checked_output_options
def command(ceiling: Ceiling, **options: Any) -> int:
    """Walk PROTOCOL at random, many walks at once, at sizes too large to exhaust.

    Stops at a violation and shortens its trace. Without --walks and --max-seconds, there are
    16,384 walks. The same seed, sizes and properties give the same walks. Nothing found says
    nothing of states that no walk reached: the verdict is then `sampled`.

    Exit status: 0 nothing violated, 12 violated, 20 stopped by Ctrl-C, or by --max-seconds
    before --walks were over, 2 wrong usage.
    """
    from checker.commands.interrupt import Interrupt

    display = _WalkDisplay(options["quiet"] or options["as_json"])
    with ceiling:
        with display, Interrupt(display.stopping) as interrupt:
            model = chosen_model(options, ceiling.preparing, display.preparing)
            simulator = _simulator(model, options, display, ceiling)
            interrupt.stops(simulator.request_stop)
            ceiling.keeps_limits()
            result = simulator.run()
        short = [_short(simulator, walked, options, ceiling) for walked in result.violations]
    with Keeping() as keeping:
        shown = [_shown(simulator, *each, options, keeping) for each in short]
        write_result(
            options["as_json"],
            lambda: to_json(result, shown),
            lambda on: _text(result, shown, on, options["stats"]),
        )
    if result.violations:
        return Exit.VIOLATED
    # Without --walks the time says how much is walked: then it ends nothing before its end.
    short_of = result.stopped and (result.stopped == INTERRUPTED or options["walks"] is not None)
    return Exit.LIMIT if short_of else Exit.OK


def _simulator(
    model: Any, options: dict[str, Any], display: _WalkDisplay, ceiling: Ceiling
) -> Simulator:
    from checker.core.files import prepare_directory
    from checker.core.search.simulate import Budget, Simulator
    from properties import promised_properties

    properties = promised_properties(model, options["properties"])
    if options["trace_dir"] is not None:
        prepare_directory(options["trace_dir"])
    walks = options["walks"]
    if walks is None and ceiling.left is None:
        walks = DEFAULT_WALKS
    seed = secrets.randbits(32) if options["seed"] is None else options["seed"]
    return Simulator(
        model,
        properties,
        seed,
        Budget(walks, None, options["steps"], ceiling.allowance),
        keep_going=options["keep_going"],
        on_progress=display.update_walks,
        cross_check=options["cross_check"],
    )


def _short(
    simulator: Simulator, walked: WalkedViolation, options: dict[str, Any], ceiling: Ceiling
) -> tuple[WalkedViolation, Minimised, float]:
    """The violation made short, and in how many seconds; as it was walked if there is no time."""
    from checker.core.search.minimise import Minimised, minimise

    model, started = simulator.result.model, time.perf_counter()
    short = Minimised(walked.steps, False)
    if not options["no_minimize"] and ceiling.allowance.left:
        with suppress(LimitError, KeyboardInterrupt):
            short = minimise(
                model, walked.steps, walked.property, simulator.engine,
                cross_check=options["cross_check"],
            )  # fmt: skip
    return walked, short, time.perf_counter() - started


def _shown(
    simulator: Simulator, walked: WalkedViolation, short: Minimised, taken: float,
    options: dict[str, Any], keeping: Keeping,
) -> Shown:  # fmt: skip
    """The violation replayed on the reference engine, and stored if that is wanted."""
    from checker.commands.summary import Finding
    from checker.core.traces.trace import build_trace

    trace = build_trace(simulator.result.model, short.steps, walked.property)
    path = keeping.trace(trace, options["trace_dir"], walked.property.name)
    return Shown(walked, Finding(trace, path), short.is_shortest, taken)


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


def _text(result: Simulation, shown: list[Shown], console: Console, stats: bool) -> str:
    """The traces, then the summary."""
    from checker.commands.summary_text import as_written, recognised_words
    from checker.telling.report.text import render_text

    parts = []
    for one in shown:
        parts.append(render_text(one.finding.trace, console=console))
        parts.append(recognised_words(one.finding.trace, console))
        if one.finding.path is not None:
            parts.append(f"trace saved: {one.finding.path}\n")
        parts.append("\n")
    return as_written("".join(parts) + "\n".join(_lines(result, shown, stats)) + "\n", console)


def _lines(result: Simulation, shown: list[Shown], stats: bool) -> Iterator[str]:
    """The summary for people."""
    yield f"{result.model.protocol.name}: {result.model.protocol.words}"
    yield f"{bounds_words(result.model.bounds)}; seed {result.seed}"
    yield ""
    width = max(len(prop.name) for prop in result.properties) if result.properties else 0
    for prop in result.properties:
        vacuous = ", its premise was never true" if result.is_vacuous(prop) else ""
        yield f"{prop.name:<{width}}  {result.verdict_on(prop)}{vacuous}"
    yield ""
    if stats:
        width = max(len(name) for name in result.actions)
        yield f"{'action':<{width}}  {'enabled':>12}  {'taken':>12}"
        for name, count in result.actions.items():
            yield f"{name:<{width}}  {count.enabled:>12,}  {count.taken:>12,}"
        yield ""
    yield (
        f"{result.walks:,} walks, {result.steps:,} steps, the longest {result.longest}; "
        f"{result.distinct_states:,} distinct states"
    )
    if stats:
        yield f"{result.seconds:.2f} s, {result.steps_per_second:,.0f} steps/s"
    yield Agreement.words(result.agreement)
    for one in shown:
        shortest = "; no shorter one exists" if one.is_shortest else ""
        yield (
            f"{one.finding.name}: found after {one.walked.seconds:.2f} s by walk "
            f"{one.walked.walk} in {one.walked.depth} steps, {one.finding.trace.depth} after "
            f"minimising for {one.minimising_seconds:.2f} s{shortest}"
        )
    for words in warnings(result):
        yield f"warning: {words}"
    yield ""
    yield _verdict(result)


def _verdict(result: Simulation) -> str:
    if result.violations:
        return f"violated: {', '.join(result.violated)}; seed {result.seed} repeats it"
    stopped = f" (stopped by {who_stopped(result.stopped)})" if result.stopped else ""
    return f"sampled: nothing is violated on these walks{stopped}; other states were not looked at"


def warnings(result: Simulation) -> Iterator[str]:
    """What makes the walks say less than they seem to."""
    for words, names in (
        ("actions never enabled", result.never_enabled),
        ("premise never true", [p.name for p in result.properties if result.is_vacuous(p)]),
        ("witnesses not reached", result.unreached),
    ):
        if names:
            yield f"{words}: {', '.join(names)}"


def to_json(result: Simulation, shown: list[Shown]) -> dict[str, Any]:
    """The summary as plain data."""
    found = {
        "engine": "local",
        "verdict": str(result.verdict),
        "seed": result.seed,
        "walks": result.walks,
        "steps": result.steps,
        "longest_walk": result.longest,
        "distinct_states": result.distinct_states,
        "actions": {name: asdict(count) for name, count in result.actions.items()},
        "properties": {
            prop.name: {
                "verdict": str(result.verdict_on(prop)),
                "vacuous": result.is_vacuous(prop),
                "depth": result.reached.get(prop.name),
            }
            for prop in result.properties
        },
        "violations": [_violation(one) for one in shown],
        "warnings": list(warnings(result)),
        "cross_check": Agreement.data(result.agreement),
        "stopped": result.stopped,
        "seconds": round(result.seconds, 3),
        "steps_per_second": round(result.steps_per_second),
    }
    return result_data("simulate", result.model, **found)


def _violation(one: Shown) -> dict[str, Any]:
    from checker.commands.summary import finding_data

    return finding_data(one.finding) | {
        "walked": one.walked.depth,
        "walk": one.walked.walk,
        "shortest": one.is_shortest,
        "seconds_to_find": round(one.walked.seconds, 3),
        "seconds_to_minimise": round(one.minimising_seconds, 3),
    }
