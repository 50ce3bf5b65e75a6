"""The summary of an exploration for people: traces first, the verdict last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from checker.commands.summary import Finding, rate, settled_at, vacuous, warnings
from checker.core.amounts import counted
from checker.core.search.limits import who_stopped
from checker.core.traces.trace import Trace
from checker.core.verdict import Agreement, Exploration, Judgement, Verdict
from model.language.naming import bounds_words, settings_words
from model.language.protocol import Instance, Model
from properties import Property

_GOOD = ("exhausted", "reached", "proved")
_BAD = ("violated", "deadlock")


def render(
    exploration: Exploration, found: tuple[Finding, ...], console: Console, stats: bool = False
) -> str:
    """The whole summary as text for `console`; with `stats`, also how often what was done."""
    parts = _traces(found, console)
    with console.capture() as capture:
        if not found:
            console.print(model_heading(exploration.model))
            console.print()
        console.print(_properties(exploration))
        actions = [_actions(exploration)] if stats else []
        for part in (*actions, _search(exploration, stats)):
            console.print()
            console.print(part)
        noted = list(warnings(exploration))
        if noted:
            console.print()
        for words in noted:
            console.print(Text.assemble(("warning: ", "yellow"), words))
        console.print()
        console.print(verdict_line(exploration))
    parts.append(capture.get())
    text = "\n".join(parts)
    return as_written(text, console)


def as_written(text: str, console: Console) -> str:
    """What a console captured; in plain text without the blanks that fill its lines."""
    if console.is_terminal:
        return text
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def _traces(found: tuple[Finding, ...], console: Console) -> list[str]:
    """Each trace once; a property that the same steps violate just says so."""
    if not found:
        return []
    from checker.telling.report.text import render_text

    texts: dict[tuple[tuple[Instance, ...], bool], str] = {}
    for finding in found:
        steps = finding.trace.steps, finding.trace.rounds is not None
        if steps in texts:
            texts[steps] += "\n" + _same_steps(finding.trace, console)
        else:
            texts[steps] = render_text(finding.trace, console=console)
            texts[steps] += recognised_words(finding.trace, console)
        if finding.path is not None:
            # Never folded: people copy it.
            texts[steps] += f"trace saved: {finding.path}\n"
    return list(texts.values())


def recognised_words(trace: Trace, console: Console) -> str:
    """Which entry of the catalogue it is, if it is one, and how to ask for more."""
    from checker.lab.explanations.explanation import recognised_words as words_of

    words = words_of(trace)
    if not words:
        return ""
    with console.capture() as capture:
        console.print()
        console.print(Text(words))
    return capture.get()


def _same_steps(trace: Trace, console: Console) -> str:
    with console.capture() as capture:
        about = trace.claim if trace.rounds is None else trace.rounds.promise
        words = "" if about is None else f": {about.words}"
        console.print(Text(f"The same steps: {trace.property} is violated{words}.", "bold"))
        console.print()
        console.print(Text(f"{trace.explanation}."))
    return capture.get()


def model_heading(model: Model, bounds: Mapping[str, int] | None = None) -> Text:
    """Protocol, bounds (the model's, or those given), and settings that were changed."""
    if bounds is None:
        chosen = [bounds_words(model.bounds)] if model.bounds else []
    else:
        chosen = [f"{name.replace('_', ' ')} {value}" for name, value in bounds.items()]
    chosen += settings_words(model)
    text = Text.assemble((model.protocol.name, "bold"), f": {model.protocol.words}")
    return text.append("\n" + ", ".join(chosen)) if chosen else text


def _properties(exploration: Exploration) -> RenderableType:
    table = grid("property", "verdict")
    for prop in exploration.properties:
        table.add_row(prop.name, property_words(exploration, prop))
    for judgement in exploration.liveness:
        table.add_row(judgement.property.name, liveness_words(judgement))
    return table


def liveness_words(judgement: Judgement) -> Text:
    """What is known of a property of runs."""
    text = Text(str(judgement.verdict), style=_style(judgement.verdict))
    if judgement.lasso is not None:
        ways = f" on a way of {_steps(len(judgement.lasso.stem))}, then "
        loop = judgement.lasso.loop
        text.append(ways + (f"round {_steps(len(loop))}" if loop else "stopped"), style="default")
    if not judgement.owed:
        text.append(", vacuous", style="yellow")
    return text


def property_words(exploration: Exploration, prop: Property) -> Text:
    """What is known of a property of states or steps."""
    verdict = exploration.verdict_on(prop)
    depth = settled_at(exploration, prop)
    text = Text(str(verdict), style=_style(verdict))
    if depth is not None:
        text.append(f" after {_steps(depth)}", style="default")
    if prop.name in vacuous(exploration):
        text.append(", vacuous", style="yellow")
    return text


def _actions(exploration: Exploration) -> RenderableType:
    """What was done, how often; what never was is a warning."""
    table = grid("action", "enabled", "new states", numbers=2)
    for name, count in exploration.actions.items():
        if count.enabled:
            table.add_row(name, f"{count.enabled:,}", f"{count.new:,}")
    return table


def grid(*titles: str, numbers: int = 0) -> Table:
    """A table with titles; the last `numbers` columns are numbers."""
    table = Table.grid(padding=(0, 2))
    for place, _ in enumerate(titles):
        right = place >= len(titles) - numbers
        table.add_column(justify="right" if right else "left", overflow="fold")
    table.add_row(*(Text(title, style="dim") for title in titles))
    return table


def _search(exploration: Exploration, stats: bool) -> Text:
    return Text("\n").join(Text(line) for line in _search_lines(exploration, stats))


def _search_lines(exploration: Exploration, stats: bool) -> Iterator[str]:
    yield (
        f"{exploration.distinct_states:,} distinct states, depth {exploration.depth}, "
        f"{exploration.transitions:,} transitions"
    )
    if exploration.reduced:
        yield "reduced: only steps and states that a shortest way to what is asked may need"
    if exploration.unfinished:
        yield (
            f"{exploration.unfinished:,} of the states are at depth {exploration.depth + 1}, "
            "which is unfinished"
        )
    if exploration.disk_bytes:
        yield f"{exploration.disk_bytes / 1e6:,.0f} MB on disk"
    if stats:
        megabytes = exploration.peak_memory_bytes / 1e6
        yield (
            f"{exploration.seconds:.2f} s, {rate(exploration):,.0f} states/s, "
            f"{megabytes:,.0f} MB of memory at most, engine {exploration.engine}"
        )
    if exploration.collision_probability:
        yield (
            f"{exploration.fingerprint_bits}-bit fingerprints: the probability that two states "
            f"shared one is below {exploration.collision_probability:.1e}"
        )
    else:
        yield "whole states were compared: no two can be confused"
    if exploration.engine != "reference":
        yield Agreement.words(exploration.agreement)


def verdict_line(exploration: Exploration) -> Text:
    """One line that answers the question that was asked."""
    return verdict_text(*verdict_words(exploration))


def verdict_text(word: str, rest: str) -> Text:
    """A verdict in its colour, and what it means."""
    return Text.assemble((word, f"bold {_style(word)}"), f": {rest}")


def verdict_words(exploration: Exploration) -> tuple[str, str]:
    """The verdict in one word, and what it means."""
    states, depth = counted(exploration.distinct_states, "state"), exploration.depth
    if exploration.violations:
        found = [f"{v.property.name} after {_steps(v.depth)}" for v in exploration.violations]
        return "violated", ", ".join(found) + "; no shorter trace exists"
    if exploration.deadlock is not None:
        return "deadlock", f"nothing is enabled after {_steps(len(exploration.deadlock))}"
    if exploration.unfulfilled:
        names = ", ".join(j.property.name for j in exploration.unfulfilled)
        return "violated", f"{names}: a fair run never does what it must"
    clean = "nothing is violated"
    if exploration.verdict is Verdict.HELD_UP:
        return "held_up", f"{clean} but where only a bound keeps a run from going on ({states})"
    match exploration.coverage:
        case Verdict.EXHAUSTED:
            return "exhausted", f"{clean} in any reachable state within the bounds ({states})"
        case Verdict.BOUNDED:
            within = f"{clean} within {_steps(depth)} ({states})"
            return "bounded", f"{within}; deeper states were not visited"
        case _:
            return "unknown", (
                f"stopped by {who_stopped(exploration.stopped)} after {states}; {clean} within "
                f"{_steps(depth)}, all of which were tried"
            )


def _steps(count: int) -> str:
    return counted(count, "step")


def _style(word: str) -> str:
    return "green" if word in _GOOD else "red" if word in _BAD else "yellow"
