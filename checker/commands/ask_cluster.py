"""`ask` of a running cluster, or of what was read of one: its groups, and what is in danger now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.commands.cluster_source import Source
from checker.commands.common import write_file, write_result
from checker.core.exits import Exit
from model.language.errors import UsageError

if TYPE_CHECKING:
    from checker.commands.ceiling import Ceiling
    from checker.commands.keeping import Keeping
    from checker.core.search.allowance import Allowance
    from checker.kafka.guarantees.config_files import Described
    from checker.kafka.guarantees.faults import Faults
    from checker.kafka.live.judged import Judged
    from checker.kafka.live.snapshot import Snapshot


@dataclass(frozen=True)
class Asked:
    """What the command was asked, and how to answer."""

    source: Source
    kafka: str | None
    mode: str | None
    settings: Mapping[str, str]
    numbers: Mapping[str, int]
    rolling_restart: bool
    upgrade_to: str | None
    min_isr_to: int | None
    anonymous: bool
    save: Path | None
    page: Path | None
    trace_dir: Path | None
    as_json: bool
    quiet: bool
    refused: Mapping[str, object] = field(default_factory=dict)
    """Options that are about one partition, or the quorum, with their values."""


def ask_cluster(ceiling: Ceiling, asked: Asked) -> int:
    """Read, judge, and write what was found; the exit status."""
    from checker.commands.interrupt import Interrupt
    from checker.commands.keeping import Keeping
    from checker.commands.progress import Line
    from checker.kafka.live import data, judged, text
    from checker.kafka.live.anonymous import anonymous
    from checker.kafka.live.dangers import judge
    from checker.kafka.live.page import render
    from checker.kafka.live.stored import as_json
    from checker.telling.report.paragraphs import paragraphs

    _refuse(asked)
    budget = ceiling.allowance
    with ceiling, Line(asked.quiet or asked.as_json) as line, Interrupt(budget.end) as interrupt:
        ceiling.keeps_limits()
        tell = line.told(budget)
        others = asked.source.others()
        snapshot = asked.source.read(budget, tell)
        if asked.anonymous:
            snapshot = anonymous(snapshot)
        if asked.save is not None:
            write_file(asked.save, as_json(snapshot))
        found = judge(snapshot)
        groups = _judged(asked, snapshot, others, budget, tell)
    with Keeping() as keeping:
        _keep_traces(keeping, groups, asked.trace_dir)
        if asked.page is not None:
            keeping.store(write_file, asked.page, render(snapshot, found, groups))

        def whole() -> dict[str, Any]:
            from checker.distribution import highwater_version

            return {
                "command": "ask", **data.of_cluster(snapshot, found),
                "groups": [judged.as_data(each) for each in groups],
                "seconds": budget.seconds, "version": highwater_version(),
            }  # fmt: skip

        def lines(width: int) -> str:
            return paragraphs(
                [
                    text.header(snapshot), text.danger_lines(found), text.group_lines(groups),
                    text.unseen_lines(snapshot),
                ],
                width,
            )  # fmt: skip

        write_result(asked.as_json, whole, lambda console: lines(console.width))
    if found.found or any(each.is_lossy for each in groups):
        status = Exit.VIOLATED
    else:
        decided = bool(groups) and all(each.is_decided for each in groups)
        status = Exit.OK if decided and not interrupt.requested else Exit.LIMIT
    return keeping.status(status)


def _refuse(asked: Asked) -> None:
    """`UsageError` for what is not asked of a cluster, before anything is read."""
    from checker.kafka.guarantees.releases import release_named

    for option, value in asked.refused.items():
        if value is not None:
            raise UsageError(
                f"{option} is read from the cluster, or not asked of one: leave it out"
            )
    asked.source.refuse_wrong()
    if asked.kafka is not None:
        release_named(asked.kafka, asked.mode)


def _judged(
    asked: Asked, snapshot: Snapshot, others: list[Described], budget: Allowance,
    tell: Callable[[str], None],
) -> list[Judged]:  # fmt: skip
    """The groups with their answers."""
    from checker.kafka.guarantees.verdicts import STATES
    from checker.kafka.live.groups import as_cluster, groups_of, refuse_wrong
    from checker.kafka.live.judged import judge_groups

    budget.states = STATES
    if asked.kafka or snapshot.line:  # else no group is judged, and each says why
        refuse_wrong(snapshot, asked.kafka, asked.mode, others, asked.settings)
    questions = _questions(asked, snapshot)
    by_racks = any(question.budgets.get("rack_failures") for question in questions)
    return judge_groups(
        groups_of(snapshot, by_racks), questions,
        lambda group: as_cluster(
            snapshot, group, asked.kafka, asked.mode, others, asked.settings
        ),
        budget, lambda what: tell(f"searching: {what}"),
    )  # fmt: skip


def _questions(asked: Asked, snapshot: Snapshot) -> tuple[Faults, ...]:
    """The faults that were named, as one question; the usual ones, one by one, if none was."""
    from dataclasses import replace

    from checker.kafka.guarantees.budgets import BUDGETS
    from checker.kafka.guarantees.faults import Faults
    from checker.kafka.guarantees.releases import release_named, target_named
    from checker.kafka.live.judged import USUAL

    budgets = {name: value for name, value in asked.numbers.items() if name in BUDGETS}
    sizes = {name: value for name, value in asked.numbers.items() if name not in BUDGETS}
    if not (budgets or asked.rolling_restart or asked.upgrade_to or asked.min_isr_to):
        return tuple(replace(each, sizes=sizes) for each in USUAL)
    target = None
    if asked.upgrade_to is not None:
        line = asked.kafka or snapshot.line
        if not line:
            raise UsageError("the release is not known: say it by --kafka VERSION")
        target = target_named(asked.upgrade_to, release_named(line, asked.mode))
    return (Faults(budgets, asked.rolling_restart, target, asked.min_isr_to, sizes),)


def _keep_traces(keeping: Keeping, groups: list[Judged], directory: Path | None) -> None:
    """Store every trace, in a directory for each group and question."""
    for number, group in enumerate(groups, 1):
        for answer in group.answers:
            for part in answer.parts:
                for name, trace in part.traces.items():
                    words = answer.faults.words.replace(" ", "-").replace(",", "")
                    place = None if directory is None else directory / f"group-{number}-{words}"
                    file = keeping.trace(trace, place, name)
                    if file is not None:
                        part.files[name] = file
