"""`conform`: the model's steps taken on Kafka's own classes, and Kafka's on the model."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checker.commands.choosing import (
    DEFAULT_PROTOCOL,
    chosen_sizes,
    first_named,
    first_named_command,
)
from checker.commands.common import (
    limited,
    output_options,
    print_json,
    write_file,
)
from checker.core.exits import Exit
from model.language.errors import LimitError, UsageError

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling
    from checker.kafka.conformance.compare import Kind, Tally
    from checker.kafka.conformance.compared import Compared
    from checker.kafka.conformance.replays import Cell
    from checker.kafka.conformance.table import Table

STEPS = 60


@first_named_command
@click.argument(
    "traces", metavar="[PROTOCOL] [TRACE]...", nargs=-1, type=click.Path(path_type=Path)
)
@click.option(
    "--kafka", "versions", multiple=True, metavar="VERSION",
    help="a release; repeatable [default: the newest; with --write, those of the page]",
)  # fmt: skip
@click.option(
    "--fix", metavar="NAME", default="", help="TRACE on classes with this fix laid on them"
)
@click.option("--walks", type=click.IntRange(min=1), help="take so many random walks of the model")
@click.option(
    "--steps", type=click.IntRange(1, 10_000), default=STEPS, show_default=True,
    help="steps of a walk at most, or of a drive",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="repeat a run [default: random]")
@click.option("--cover", is_flag=True, help="take every step of the model's graph, at small bounds")
@click.option(
    "--observe", metavar="STATES", type=click.IntRange(min=1),
    help="have Kafka take random steps, and explain so many of its states by the model",
)  # fmt: skip
@click.option("--table", is_flag=True, help="the stored cases on each release: where each departs")
@click.option(
    "--write", "page", metavar="PAGE", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="put the table into a page, between its marks",
)  # fmt: skip
@click.option(
    "--sensitivity", "most", metavar="STATES", type=click.IntRange(min=1),
    help="switch each fix the other way: after how many states that is noticed",
)  # fmt: skip
@limited()
@output_options
def command(ceiling: Ceiling, traces: tuple[Path, ...], **options: Any) -> int:
    """Run a model's steps on Kafka's own classes, and compare every state.

    PROTOCOL is kafka (brokers; the default), kraft (controllers), kafka_tiered (brokers with a
    remote store) or kafka_transactions (transaction coordinators). TRACE is a file, or a stored
    counterexample's folder or name: its steps are run, and you see where Kafka departs from them.
    --walks runs random walks of the model. --cover runs every step that the model has within small
    bounds. --observe goes the other way: Kafka's classes take random steps, and steps of the model
    have to explain them. The classes are those of a published release, which Maven fetches;
    `docs/conformance.md` says what is compared.

    Exit status: 0 no disagreement except allowed ones, 23 a disagreement, 20 time ran out before
    all was compared, 2 wrong usage.
    """
    from checker.kafka.conformance.compared import compared_named

    name, traces = first_named(traces)
    options["of"] = of = compared_named(name)
    given = [options[name] is not None for name in ("walks", "observe", "most")]
    modes = [bool(traces), options["cover"], options["table"], *given]
    if sum(modes) != 1:
        raise UsageError(
            "choose one of TRACE, --walks, --cover, --observe, --table and --sensitivity"
        )
    if options["page"] is not None and not options["table"]:
        raise UsageError("--write goes with --table, whose table it puts into the page")
    if options["fix"] and not traces:
        raise UsageError("--fix goes with TRACE, where it shows what the fix prevents")
    options["versions"] = _versions(options["versions"], options["page"], bool(options["fix"]))
    options["ceiling"] = ceiling
    sizes = chosen_sizes(options, name)
    if options["walks"] is not None:
        return _walk(options, *sizes)
    if options["cover"]:
        return _cover(options, *sizes)
    if any(sizes) or options["preset"] is not None:
        raise UsageError(
            "--preset, --set and bounds go with --walks and --cover, whose model they choose"
        )
    if traces:
        return _replay(traces, options)
    if of.protocol.name != DEFAULT_PROTOCOL and options["most"] is None:
        raise UsageError(f"--table and --observe are of {DEFAULT_PROTOCOL} alone")
    if options["table"]:
        return _table(options)
    if options["observe"] is not None:
        return _observe(options)
    return _sensitivity(options)


def _versions(given: tuple[str, ...], page: Path | None, fixed: bool) -> tuple[str, ...]:
    """The releases asked for; else those of the table in the page; else the newest that will do."""
    from checker.kafka.conformance.table import BEGIN, END, columns
    from checker.kafka.releases.jars import newest, releases
    from checker.telling.report.pages import part_of
    from model.language.errors import unknown_name

    stored = () if page is None else columns(part_of(page.read_text("utf-8"), BEGIN, END))
    versions = given or stored or (newest(with_sources=fixed),)
    for version in versions:
        if version not in releases():
            raise unknown_name("release of Kafka", version, releases())
    return versions


def _say(options: dict[str, Any], words: str) -> None:
    if not options["quiet"] and not options["as_json"]:
        click.echo(words, err=True)


# --- traces -------------------------------------------------------------------------------------


def _replay(paths: tuple[Path, ...], options: dict[str, Any]) -> int:
    from checker.kafka.conformance.replays import cell
    from checker.lab.experiments.cases import accepted_trace

    stored = [(path.name, accepted_trace(path, options["of"].protocol.name)) for path in paths]
    rows: list[dict[str, Any]] = []
    with suppress(LimitError), options["ceiling"]:
        for version in options["versions"]:
            with options["of"].classes(version, options["fix"]) as harness:
                for name, trace in stored:
                    found = cell(harness, trace)
                    about = {"trace": name, "kafka": version, "depth": trace.depth}
                    rows.append(about | _cell(found))
                    if not options["as_json"]:
                        click.echo(_trace_line(name, version, trace.depth, found))
    if options["as_json"]:
        print_json({"command": "conform", "traces": rows})
    return _status(all(row["as_predicted"] for row in rows), options)


def _status(is_right: bool, options: dict[str, Any]) -> Exit:
    """The exit status; a limit that came before all was compared is said."""
    options["ceiling"].tell("the rest was not compared")
    if not is_right:
        return Exit.REJECTED
    return Exit.OK if options["ceiling"].allowance.left else Exit.LIMIT


def _cell(found: Cell) -> dict[str, Any]:
    return {
        "departs_at": found.departs_at,
        "predicted": found.predicted or None,
        "as_predicted": found.is_right,
        "difference": found.words,
    }


def _trace_line(name: str, version: str, depth: int, found: Cell) -> str:
    if found.departs_at is None:
        line = f"{name} on {version}: all {depth} steps agree"
    else:
        line = f"{name} on {version}: departs at step {found.departs_at} of {depth}: {found.words}"
    if found.is_right:
        return line
    return f"{line}; the model of {version} departs at {found.predicted or 'no step'}"


# --- walks --------------------------------------------------------------------------------------


def _walk(options: dict[str, Any], bounds: dict[str, int], settings: dict[str, str]) -> int:
    from checker.kafka.conformance.compare import Tally, compare_walks
    from checker.kafka.conformance.shorten import shorten_new
    from checker.kafka.conformance.walks import Walker

    seed = secrets.randbits(32) if options["seed"] is None else options["seed"]
    tallies = []
    with suppress(LimitError), options["ceiling"]:
        for version in options["versions"]:
            tallies.append(tally := Tally(version))
            chosen = options["of"].models(version, bounds, settings, options["preset"])
            with options["of"].classes(version) as harness:
                for number, model in enumerate(chosen):
                    share = _share(options["walks"], len(chosen), number)
                    walker = Walker(model, version, seed + number)
                    walks = walker.walks(share, options["steps"])
                    compare_walks(harness, walker.projection, walks, tally)
                    shorten_new(harness, model, walker.projection, tally)
                    done = f"{tally.runs:,} walks, {tally.compared:,} states compared"
                    _say(options, f"{version}: {done}")
    if options["as_json"]:
        print_json({"command": "conform", "seed": seed, "releases": [_data(t) for t in tallies]})
    else:
        click.echo("\n".join(line for t in tallies for line in _lines(t, f"seed {seed}")))
    return _status(not any(tally.unknown for tally in tallies), options)


def _share(walks: int, models: int, number: int) -> int:
    return walks // models + (number < walks % models)


def _cover(options: dict[str, Any], bounds: dict[str, int], settings: dict[str, str]) -> int:
    from checker.kafka.conformance.compare import Tally
    from checker.kafka.conformance.cover import cover

    of: Compared = options["of"]
    found: list[tuple[Tally, dict[str, Any]]] = []
    keys = ("graphs", "states", "steps", "compared", "disagreed", "behind")
    with suppress(LimitError), options["ceiling"]:
        for version in options["versions"]:
            found.append((Tally(version), dict.fromkeys(keys, 0)))
            tally, sums = found[-1]
            with of.classes(version) as harness:
                for model in of.covered_models(version, bounds, settings, options["preset"]):
                    one = cover(harness, model, tally)
                    graph = one.graph
                    sums["graphs"] += 1
                    sums["states"] += graph.states.shape[1]
                    sums["steps"] += graph.edges
                    sums["compared"] += len(one.compared)
                    sums["disagreed"] += len(one.disagreed)
                    sums["behind"] += one.behind
                    _say(options, f"{version}: {sums['graphs']} graphs, {sums['steps']:,} steps")
    for tally, sums in found:
        never = {action.name for action in of.protocol.actions} - tally.actions.keys()
        sums["not_in_these_graphs"] = sorted(never)
    if options["as_json"]:
        rows = [_data(tally) | {"cover": sums} for tally, sums in found]
        print_json({"command": "conform", "releases": rows})
    else:
        click.echo("\n".join(line for one in found for line in _cover_lines(*one)))
    return _status(not any(tally.unknown for tally, _ in found), options)


def _cover_lines(tally: Tally, sums: dict[str, Any]) -> Iterator[str]:
    heading = f"{sums['graphs']} graphs, {sums['states']:,} states, {sums['steps']:,} steps"
    yield from _lines(tally, heading)
    yield f"  {sums['compared']:,} steps taken and compared, {sums['disagreed']:,} disagreed"
    if sums["behind"]:
        yield f"  {sums['behind']:,} steps not taken: only such a step leads to them"
    if sums["not_in_these_graphs"]:
        yield "  not in these graphs: " + ", ".join(sums["not_in_these_graphs"])


def _lines(tally: Tally, chosen: str) -> Iterator[str]:
    from checker.kafka.conformance.compare import allowed_row

    counts = f"{tally.runs:,} runs, {tally.compared:,} states compared, {tally.agreed:,} agree"
    yield f"Kafka {tally.version}, {chosen}: {counts}"
    for kind, found in tally.kinds.items():
        row = allowed_row(kind, tally.version)
        yield f"  {len(found)} x {kind.words}" + (f" (allowed: {row.name})" if row else "")
        if row is None:
            difference, steps = tally.shortest(kind)
            yield f"    {difference.words}"
            yield "    after " + " ".join(map(str, steps))
    for words, times in sorted(tally.forced.items()):
        yield f"  {times} x {words}"


def _data(tally: Tally) -> dict[str, Any]:
    return {
        "kafka": tally.version,
        "walks": tally.runs,
        "states_compared": tally.compared,
        "states_agreed": tally.agreed,
        "actions": dict(sorted(tally.actions.items())),
        "notes": dict(sorted(tally.forced.items())),
        "disagreements": [_kind(tally, kind) for kind in tally.kinds],
    }


def _kind(tally: Tally, kind: Kind) -> dict[str, Any]:
    from checker.kafka.conformance.compare import allowed_row

    row = allowed_row(kind, tally.version)
    difference, steps = tally.shortest(kind)
    return {
        "kind": kind.words,
        "times": len(tally.kinds[kind]),
        "allowed": row.name if row else None,
        "difference": difference.words,
        "steps": [str(step) for step in steps],
    }


# --- Kafka to the model -------------------------------------------------------------------------


def _observe(options: dict[str, Any]) -> int:
    from checker.kafka.conformance.harness import Harness
    from checker.kafka.conformance.observed import Explainer, observe, observing_model

    seed = secrets.randbits(32) if options["seed"] is None else options["seed"]
    rows: list[dict[str, Any]] = []
    with suppress(LimitError), options["ceiling"]:
        for version in options["versions"]:
            rows.append(row := {"kafka": version, "drives": 0, "states": 0, "rejected": None})
            explainers = [Explainer(observing_model(version, m), version) for m in (1, 2, 3)]
            with Harness(version) as harness:
                while row["states"] < options["observe"] and row["rejected"] is None:
                    explainer, number = explainers[row["drives"] % len(explainers)], row["drives"]
                    explained, rejected = observe(
                        harness, explainer, seed + number, options["steps"]
                    )
                    row["states"] += explained
                    row["drives"] += 1
                    row["rejected"] = rejected.words if rejected else None
    for row in rows if not options["as_json"] else ():
        counts = f"{row['drives']:,} drives, {row['states']:,} states explained"
        click.echo(f"Kafka {row['kafka']}, seed {seed}: {counts}")
        if row["rejected"]:
            click.echo(f"drive {seed + row['drives'] - 1}: {row['rejected']}")
    if options["as_json"]:
        print_json({"command": "conform", "seed": seed, "observed": rows})
    return _status(not any(row["rejected"] for row in rows), options)


# --- tables -------------------------------------------------------------------------------------


def _table(options: dict[str, Any]) -> int:
    from checker.kafka.conformance.table import BEGIN, END, case_table
    from checker.telling.report.pages import with_part

    page: Path | None = options["page"]
    with options["ceiling"]:
        table = case_table(options["versions"], lambda words: _say(options, words))
    if page is not None:
        text = page.read_text("utf-8")
        write_file(page, with_part(text, BEGIN, END, table.markdown()))
    if options["as_json"]:
        print_json({"command": "conform", "table": _table_data(table)})
    else:
        click.echo(table.markdown(), nl=False)
        for name, version, found in table.wrong:
            click.echo(f"{name} on {version}: {found.words}", file=sys.stderr)
    return Exit.REJECTED if table.wrong else Exit.OK


def _table_data(table: Table) -> dict[str, Any]:
    return {
        name: {version: None if cell is None else _cell(cell) for version, cell in row.items()}
        for name, row in table.rows.items()
    }


def _sensitivity(options: dict[str, Any]) -> int:
    from checker.kafka.conformance.sensitivity import sensitivity

    seed = secrets.randbits(32) if options["seed"] is None else options["seed"]
    with options["ceiling"]:
        rows = [
            (version, one)
            for version in options["versions"]
            for one in sensitivity(
                version, seed, options["most"], options["steps"],
                tell=lambda words: _say(options, words), of=options["of"],
            )
        ]  # fmt: skip
    if options["as_json"]:
        keys = ("setting", "value", "states", "compared", "drawn")
        data = [{"kafka": version} | {k: getattr(one, k) for k in keys} for version, one in rows]
        print_json({"command": "conform", "seed": seed, "sensitivity": data})
    else:
        click.echo(
            "| release | wrong setting | states until noticed | noticed by |\n|---|---|---|---|"
        )
        for version, one in rows:
            states = "not noticed" if one.states is None else f"{one.states:,}"
            by = one.difference.kind.words if one.difference else f"{one.compared:,} compared"
            by += f" (of {one.drawn:,} walks those that differ)" if one.drawn else ""
            click.echo(f"| {version} | `{one.setting}={one.value}` | {states} | {by} |")
    return Exit.OK if all(one.states is not None for _, one in rows) else Exit.REJECTED
