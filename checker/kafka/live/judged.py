"""The groups of a cluster, each judged once under each fault, as far as the time goes.

The largest group comes first. Each question may take a part of what is left, so that one that is
hard leaves something to the others; what it does not need goes to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from checker.core.search.allowance import Allowance
from checker.kafka.guarantees.answer import Answer, answer
from checker.kafka.guarantees.cluster import Cluster
from checker.kafka.guarantees.faults import Faults, choice_of
from checker.kafka.guarantees.tiers import Tier
from checker.kafka.guarantees.verdicts import finer_of_the_grid
from checker.kafka.live.groups import Group
from checker.lab.experiments.matrix import Cell
from model.language.declare.settings import as_text
from model.language.errors import LimitError, UsageError

USUAL = (Faults({"crashes": 1}), Faults({"power_losses": 1}))
"""What is asked about where nobody says which faults."""

AT_MOST = 3
"""A question gets at least this part of what is left: a third."""

_KEPT = ("faults", "mixed", "known", "parts", "changes", "all_tried", "beyond", "lossy", "decided")


@dataclass(frozen=True)
class Judged:
    """A group with its answers in the order of the questions, fewer where time ran out.

    `refused` says why it cannot be judged.
    """

    group: Group
    answers: tuple[Answer, ...] = ()
    asked: int = 0
    refused: str = ""

    @property
    def is_lossy(self) -> bool:
        """Something is lost."""
        return any(each.is_lossy for each in self.answers)

    @property
    def is_decided(self) -> bool:
        """Each question has an answer, and each of these knows of every loss."""
        whole = len(self.answers) == self.asked and not self.refused
        return whole and all(each.is_decided for each in self.answers)


def judge_groups(
    groups: Sequence[Group],
    questions: Sequence[Faults],
    cluster_of: Callable[[Group], Cluster],
    budget: Allowance,
    on_search: Callable[[str], None] = lambda _: None,
) -> list[Judged]:
    """Every group, those with many partitions first; `cluster_of` says what it is judged as.

    Groups whose settings mean the same to the model are judged by the same searches.
    """
    judge = _Judge(budget, len(groups) * len(questions))
    found = []
    for number, group in enumerate(groups, 1):
        answers: list[Answer] = []
        refused = ""
        for faults in questions:
            say = partial(_say, on_search, f"group {number} of {len(groups)}, {faults.words}")
            try:
                answers += judge.answers(cluster_of(group), faults, say)
            except UsageError as error:
                refused = str(error)
        found.append(Judged(group, tuple(answers), len(questions), refused))
    return found


class _Judge:
    """The answers by what they are about, and how many questions are left."""

    def __init__(self, budget: Allowance, left: int) -> None:
        self._budget, self._left = budget, left
        self._known: dict[tuple[object, ...], Answer] = {}

    def answers(
        self, cluster: Cluster, faults: Faults, say: Callable[[str], None]
    ) -> tuple[Answer, ...]:
        """The answer to a question, none if time ran out; `UsageError` if it cannot be asked."""
        part, self._left = self._budget.part(min(max(self._left, 1), AT_MOST)), self._left - 1
        about = _about(cluster, faults)
        if about not in self._known:
            if not self._budget.left:
                return ()
            try:
                self._known[about] = answer(cluster, faults, part, say)
            except LimitError:
                return ()
        return (self._known[about],)


def _about(cluster: Cluster, faults: Faults) -> tuple[object, ...]:
    """What an answer follows from."""
    model = choice_of(cluster, faults).model
    settings, bounds = as_text(model.settings), dict(model.bounds)
    target = faults.upgrade_to
    return (
        cluster.release, cluster.rebalances, target, faults.rolling_restart,
        tuple(sorted(settings.items())), tuple(sorted(bounds.items())),
    )  # fmt: skip


def _say(on_search: Callable[[str], None], at: str, what: str) -> None:
    on_search(f"{at}: {what}")


# --- for people ----------------------------------------------------------------------------------


def lost_words(found: Answer) -> str:
    """What one answer says is lost, in a clause."""
    cells = [cell for part in found.parts for cell in part.judged.lost]
    if not cells:
        return "nothing" if found.is_decided else "not known: time ran out"
    if all(cell.mark for cell in cells):
        return f"nothing, except by ({cells[0].mark})"
    names = dict.fromkeys(_words(cell) for cell in cells if not cell.mark)
    return ", ".join(names) + ("" if found.is_decided else " (more is not known: time ran out)")


def mark_words(judged: Iterable[Judged]) -> str:
    """What the mark of a loss means, if one has it."""
    parts = (part for one in judged for each in one.answers for part in each.parts)
    finer = finer_of_the_grid()
    has = any(cell.mark for part in parts for cell in part.judged.lost)
    return f"({finer.mark}): {finer.about}" if has else ""


def _words(cell: Cell) -> str:
    return f"{cell.column.name} {cell.words}"


def cheapest_words(found: Answer) -> str:
    """What prevents it, cheapest first; empty where nothing is lost."""
    if not found.is_lossy:
        return ""
    can = [t for t in found.changes if t.change.tier is not Tier.UNRELEASED]
    rest = "" if found.all_tried else " (time ran out before all were tried)"
    told = [f"{t.change.words}, {t.change.tier.words}: {t.cost}" for t in can]
    fix = [f"{t.change.words}, {t.change.tier.words}" for t in found.changes if t not in can]
    return "; ".join(told or fix or ["no single change was found"]) + rest


def as_data(found: Judged) -> dict[str, Any]:
    """One group as plain data."""
    group = found.group
    answers = [each.data() for each in found.answers]
    return {
        "partitions": group.partitions,
        "topics": list(group.topics),
        "replicas": group.kind.replicas,
        "racks": list(group.kind.racks),
        "first": group.kind.first,
        "settings": [
            {"name": key, "value": value, "origin": group.origins[key]}
            for key, value in group.kind.settings
        ],
        "refused": found.refused,
        "asked": found.asked,
        "answers": [{key: each[key] for key in _KEPT} for each in answers],
    }
