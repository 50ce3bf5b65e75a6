"""Which bugs concern a cluster, as lines of text: the worst first, and with what to do today."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from checker.core.amounts import counted
from checker.kafka.affected.judge import EFFECTS, Answer, Concern, Row
from checker.kafka.guarantees.releases import named_mode
from checker.telling.report.paragraphs import paragraphs

_EMPHASIS = re.compile(r"\*(\w[^*]*)\*")


def text_of(
    answer: Answer,
    width: int,
    cluster: Iterable[str] = (),
    hidden: str = "cannot be told from this",
) -> str:
    """All of it in lines of the width; first what is said of the cluster, if there is one.

    `hidden` is the title of what is not known.
    """
    return paragraphs(
        [
            cluster,
            _asked(answer),
            _section("affected", answer.those(Concern.AFFECTED), _affected),
            _section(hidden, answer.those(Concern.UNKNOWN), _unknown),
            _unaffected(answer.those(Concern.UNAFFECTED)),
            _verdict(answer),
        ],
        width,
    )


def plain(markdown: str) -> str:
    """Words of a page for a terminal."""
    return _EMPHASIS.sub(r"\1", markdown.replace("`", ""))


def _asked(answer: Answer) -> Iterator[str]:
    facts = answer.facts
    kept = named_mode(facts.mode) if facts.mode is not None else "KRaft or ZooKeeper"
    yield f"Kafka {facts.asked} with {kept}: {counted(len(answer.rows), 'known bug')}"


def _section(
    title: str, rows: Iterable[Row], lines: Callable[[Row], Iterable[str]]
) -> Iterator[str]:
    for number, row in enumerate(rows):
        if not number:
            yield title
        yield from lines(row)


def _affected(row: Row) -> Iterator[str]:
    yield f"  {row.numbers}: {EFFECTS[row.judged.effect]}"
    yield f"    what: {plain(row.words)}"
    yield f"    likely: {row.judged.likely}; {plain(row.judged.why)}"
    if row.because:
        yield f"    here: {plain('; '.join(row.because))}"
    yield f"    today: {plain(row.today)}"
    if row.tried:
        yield f"    tried: {plain(row.tried)}"
    if row.judged.watch:
        yield f"    watch: {plain(row.judged.watch)}"


def _unknown(row: Row) -> Iterator[str]:
    yield f"  {row.numbers}: {EFFECTS[row.judged.effect]} ({row.judged.likely})"
    yield f"    what: {plain(row.words)}"
    if row.because:
        yield f"    known: {plain('; '.join(row.because))}"
    if row.look:
        yield f"    look at: {plain('; '.join(row.look))}"


def _unaffected(rows: Iterable[Row]) -> Iterator[str]:
    """Those of the same reason in one line."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        reasons.setdefault("; ".join(row.because), []).append(row.numbers)
    if reasons:
        yield "not affected"
    for why, numbers in reasons.items():
        yield f"  {', '.join(numbers)}: {plain(why)}"


def _verdict(answer: Answer) -> Iterator[str]:
    counts = [f"{len(answer.those(concern))} {concern}" for concern in Concern]
    yield f"{', '.join(counts)}; `highwater list NUMBER` has the page of a bug, and its cases"
