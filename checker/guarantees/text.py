"""An answer as text, in lines of a given width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from checker.engines.reference import ReferenceEngine
from checker.experiments.matrix import Cell
from checker.guarantees.changes import Tier, Tried
from checker.guarantees.releases import mode_words
from checker.guarantees.stops import counted

if TYPE_CHECKING:
    from checker.guarantees.answer import Answer, Part

_TIERS = {
    Tier.SETTING: "a setting",
    Tier.UPGRADE: "a release",
    Tier.UNRELEASED: "in no release of Kafka",
}
FILES = ".itf.json"
_MOST = 4
"""Changes that are told, and known losses."""


def render(found: Answer, width: int) -> str:
    """The whole answer."""
    blocks = [_asked(found), _bounds(found)]
    blocks += [_part(part) for part in found.parts]
    blocks += [_story(found), _changes(found), _beyond(found), _verdict(found)]
    lines = [[line for text in block for line in _folded(text, width)] for block in blocks]
    return "\n\n".join("\n".join(block) for block in lines if block) + "\n"


def _folded(line: str, width: int) -> list[str]:
    begin = len(line) - len(line.lstrip())
    if line.endswith(FILES):
        return [line]  # never folded: people copy it
    return textwrap.wrap(
        line, max(width, 40), subsequent_indent=" " * (begin + 4), break_long_words=True,
        break_on_hyphens=False,
    ) or [""]  # fmt: skip


def _asked(found: Answer) -> Iterator[str]:
    cluster, release = found.cluster, found.cluster.release
    alike = "" if release.asked == release.alike else f", which has the rules of {release.alike}"
    yield f"Kafka {release.asked} with {mode_words(release)}{alike}: {found.faults.words}"
    for one in cluster.read:
        means = f"; {one.means}" if one.means else ""
        yield f"  {one.name}={one.value}: {one.origin}{means}"
    left = ", ".join(f"{one.name}={one.value}" for one in cluster.defaults)
    if left:
        yield f"  at the defaults of {release.asked}: {left}"
    if cluster.timed:
        yield f"  there is no time in the model: {', '.join(cluster.timed)}"
    if cluster.ignored:
        yield f"  without meaning to the model: {counted(len(cluster.ignored), 'other key')}"


def _bounds(found: Answer) -> Iterator[str]:
    sizes = found.parts[0].judged.choice.model.bounds
    yield (
        f"within {counted(sizes['max_records'], 'record')}, logs of "
        f"{counted(sizes['log_size'], 'entry', 'entries')}, leader epochs 0 to "
        f"{sizes['max_leader_epoch']}"
    )
    if found.mixed:
        yield found.mixed


def _part(part: Part) -> Iterator[str]:
    if part.name:
        yield part.name
    yield "what can be lost"
    yield from _rows(part.judged.losses, part)
    yield "what stops, where live followers keep up"
    yield from _rows(part.judged.stops, part)


def _rows(cells: Iterable[Cell], part: Part) -> Iterator[str]:
    for cell in cells:
        name = cell.column.properties[0]
        lasting = part.judged.lasting.get(name)
        said = cell.words if cell.result is not None else "no time for it"
        more = f"; {lasting.words}" if lasting is not None else ""
        yield f"  {cell.column.name:<26} {said}{more}"
        if name in part.files:
            yield f"    {part.files[name]}"


def _story(found: Answer) -> Iterator[str]:
    """The shortest way to the first loss, in words."""
    if not found.is_lossy:
        return
    part = next(part for part in reversed(found.parts) if part.judged.lost)
    trace = part.first_loss
    engine = ReferenceEngine(trace.model)
    yield f"how: {part.judged.lost[0].column.name}" + (f", {part.name}" if part.name else "")
    for number, (state, step) in enumerate(zip(trace.states, trace.steps, strict=False), 1):
        yield f"{number:>4}. {engine.words(state, step)}"
    yield f"{trace.explanation}"
    if found.known:
        yield found.known


def _changes(found: Answer) -> Iterator[str]:
    if not found.is_lossy:
        return
    rest = "" if found.all_tried else " (there was no time for every one)"
    if not found.changes:
        yield f"no single change was found with which nothing is lost{rest}"
        return
    yield f"with one of these nothing is lost, the cheapest first{rest}"
    for number, tried in enumerate(found.changes[:_MOST], 1):
        yield f"  {number}. {_change(tried)}"
    if len(found.changes) > _MOST:
        yield f"  and {len(found.changes) - _MOST} more: --json"


def _change(tried: Tried) -> str:
    change = tried.change
    about = f" ({change.about})" if change.about else ""
    cost = f"it costs {'; '.join(tried.costs)}" if tried.costs else "nothing more stops"
    return f"{change.words}, {_TIERS[change.tier]}{about}: {cost}"


def _beyond(found: Answer) -> Iterator[str]:
    """What more than was asked about is known to lose of this cluster, few faults first."""
    if not found.beyond:
        return
    yield "known to lose records of this cluster, beyond these bounds"
    yield from (f"  {known.words}" for known in found.beyond[:_MOST])
    if len(found.beyond) > _MOST:
        yield f"  and {len(found.beyond) - _MOST} more: --json"


def _verdict(found: Answer) -> Iterator[str]:
    if found.is_lossy:
        first = next(part for part in found.parts if part.judged.lost)
        when = f" ({first.name})" if first.name else ""
        cells = ", ".join(cell.column.name for cell in first.judged.lost)
        yield f"lost{when}: {cells}"
    elif found.is_decided:
        yield "nothing is lost in any state within these bounds"
    else:
        yield (
            f"nothing is lost as far as {found.seconds:g} s came: not all states within these "
            "bounds were visited (--max-seconds)"
        )
