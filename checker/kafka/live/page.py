"""What was read of a cluster and what it means, as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from checker.core.amounts import counted
from checker.kafka.live.danger import SHOWN, Dangers, few
from checker.kafka.live.judged import Judged, cheapest_words, lost_words, mark_words
from checker.kafka.live.snapshot import Snapshot
from checker.kafka.live.text import bugs_words, header
from checker.kafka.live.unseen import unseen_of
from checker.telling.report.html import page

_TEMPLATE = Path(__file__).with_name("cluster.html.j2")


def render(cluster: Snapshot, dangers: Dangers, groups: Sequence[Judged]) -> str:
    """The page, with every place of each danger, and a row for each group and question."""
    title, *facts = header(cluster)
    return page(
        _TEMPLATE, None,
        title=title, facts=facts, dangers=dangers.found, not_judged=dangers.not_judged,
        groups=groups, rows=_rows, mark=mark_words(groups),
        unseen=unseen_of(cluster), bugs_words=bugs_words, few=few, shown=SHOWN, counted=counted,
    )  # fmt: skip


def _rows(one: Judged) -> Iterator[tuple[str, str, str]]:
    """Of each answer the faults, what is lost, and what prevents it; or why there is none."""
    for each in one.answers:
        yield each.faults.words, lost_words(each), cheapest_words(each)
    if one.refused:
        yield "not judged", one.refused, ""
    elif len(one.answers) < one.asked:
        yield "not judged", "under all faults: time ran out", ""
