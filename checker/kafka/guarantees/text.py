"""The parts of an answer as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checker.core.amounts import counted
from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import Trace
from checker.kafka.guarantees.beyond import Known
from checker.kafka.guarantees.changes import Tried
from checker.kafka.guarantees.cluster import Cluster
from checker.kafka.guarantees.faults import Faults
from checker.kafka.guarantees.parts import Part
from checker.kafka.guarantees.releases import mode_words, rules_by_mode
from checker.kafka.guarantees.tiers import Tier
from checker.kafka.guarantees.verdicts import finer_of_the_grid
from checker.lab.experiments.matrix import Cell


def asked(cluster: Cluster, faults: Faults) -> Iterator[str]:
    """The cluster and the faults that were asked about."""
    release = cluster.release
    alike = "" if release.asked == release.alike else f", which has the rules of {release.alike}"
    yield f"Kafka {release.asked} with {mode_words(release)}{alike}: {faults.words}"
    own = ", ".join(f"{name}={value}" for name, value in rules_by_mode(release).items())
    if own:
        yield f"  with {mode_words(release)}, and not with KRaft: {own}"
    for one in cluster.read:
        means = f"; {one.means}" if one.means else ""
        yield f"  {one.name}={one.value}: {one.origin}{means}"
    left = ", ".join(f"{one.name}={one.value}" for one in cluster.defaults)
    if left:
        yield f"  at the defaults of {release.asked}: {left}"
    yield from (f"  {one.name}: {one.means}" for one in cluster.defaults if one.means)
    for why in dict.fromkeys(cluster.unused.values()):
        keys = ", ".join(key for key, reason in cluster.unused.items() if reason == why)
        yield f"  not used: {keys}: {why}"
    if cluster.ignored:
        yield f"  not used by the model: {counted(len(cluster.ignored), 'other key')}"


def bounds(part: Part, mixed: str) -> Iterator[str]:
    """How far was searched; `mixed` says what there is of brokers of two releases."""
    sizes = part.judged.choice.model.bounds
    yield (
        f"within {counted(sizes['max_records'], 'record')}, logs of "
        f"{counted(sizes['log_size'], 'entry', 'entries')}, leader epochs 0 to "
        f"{sizes['max_leader_epoch']}"
    )
    if mixed:
        yield mixed


def part_lines(part: Part) -> Iterator[str]:
    """What is lost and what becomes unavailable in one part."""
    if part.name:
        yield part.name
    yield "what can be lost"
    yield from _rows(part.judged.losses, part)
    if any(cell.mark for cell in part.judged.lost):
        yield f"  ({finer_of_the_grid().mark}): {finer_of_the_grid().about}"
    yield "what becomes unavailable, while live followers keep up"
    yield from _rows(part.judged.stops, part)


def found_of(cell: Cell) -> str:
    """What was found of one promise, as a line."""
    said = cell.words if cell.result is not None else "not searched: time ran out"
    return f"  {cell.column.name:<26} {said}"


def _rows(cells: Iterable[Cell], part: Part) -> Iterator[str]:
    for cell in cells:
        name = cell.column.properties[0]
        lasting = part.judged.lasting.get(name)
        yield found_of(cell) + (f"; {lasting.words}" if lasting is not None else "")
        if name in part.files:
            yield f"    {part.files[name]}"


def story(parts: Sequence[Part], known: str) -> Iterator[str]:
    """The shortest way to the first loss, in words."""
    part = next((part for part in reversed(parts) if part.is_lossy), None)
    if part is None:
        return
    yield f"how: {part.judged.lost[0].column.name}" + (f", {part.name}" if part.name else "")
    yield from steps_of(part.first_loss)
    if known:
        yield known


def steps_of(trace: Trace) -> Iterator[str]:
    """A trace in words: a line a step, and what is wrong at its end."""
    engine = ReferenceEngine(trace.model)
    for number, (state, step) in enumerate(zip(trace.states, trace.steps, strict=False), 1):
        yield f"{number:>4}. {engine.words(state, step)}"
    yield f"{trace.explanation}"


def prevented(part: Part, changes: Sequence[Tried], all_tried: bool) -> Iterator[str]:
    """The changes with which nothing is lost."""
    rest = "" if all_tried else " (time ran out before all were tried)"
    if not part.judged.lost[0].mark and finer_of_the_grid().of(part.judged.choice):
        rest += f" (finding {finer_of_the_grid().mark} was not checked)"
    lines = [(tried.change.tier, _change(tried)) for tried in changes]
    yield from listed(lines, rest)


def listed(changes: Sequence[tuple[Tier, str]], rest: str) -> Iterator[str]:
    """The changes that an operator can make, numbered, and beside them a fix in no release."""
    can = [words for tier, words in changes if tier is not Tier.UNRELEASED]
    cannot = [words for tier, words in changes if tier is Tier.UNRELEASED]
    if can:
        yield f"any one of these prevents the loss, cheapest first{rest}"
    elif cannot:
        yield f"no setting and no release was found that prevents the loss{rest}"
    else:
        yield f"no single change was found that prevents the loss{rest}"
    yield from (f"  {number}. {words}" for number, words in enumerate(can, 1))
    yield from (f"  {'also' if can else 'only'} {words}" for words in cannot)


def _change(tried: Tried) -> str:
    change = tried.change
    about = f" ({change.about})" if change.about else ""
    return f"{change.words}, {change.tier.words}{about}: {tried.cost}"


def beyond(losses: Sequence[Known]) -> Iterator[str]:
    """What more than was asked about is known to lose of this cluster, few faults first."""
    if not losses:
        return
    yield "known to lose records of this cluster too, with other faults than you asked about"
    yield from (f"  {known.words}" for known in losses)


def verdict(
    parts: Sequence[Part], remote: Sequence[Cell], is_decided: bool, seconds: float
) -> Iterator[str]:
    """The answer in a sentence; `remote` is what is lost of remote segments."""
    first = next((part for part in parts if part.is_lossy), None)
    if first is not None:
        when = f" ({first.name})" if first.name else ""
        cells = ", ".join(cell.column.name for cell in (*first.judged.lost, *remote))
        yield f"lost{when}: {cells}"
    elif remote:
        yield f"lost: {', '.join(cell.column.name for cell in remote)}"
    else:
        yield no_loss(is_decided, seconds)


def no_loss(is_decided: bool, seconds: float) -> str:
    """That none was found, in a sentence, and whether there can be one."""
    if is_decided:
        return "nothing is lost in any state within these bounds"
    return (
        f"no loss was found in {seconds:g} s, in which not all states within these bounds were "
        "visited (--max-seconds)"
    )
