"""What is known to be lost beyond the bounds of an answer: stored traces, by a cluster's rules.

A search ends at its bounds, and "nothing is lost" says nothing of more faults than were asked
about. Each stored loss that the cluster's own settings do not prevent is a run of the cluster too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from checker.core.graphs.views import chosen_cells
from checker.core.traces.trace import Trace
from checker.kafka.guarantees.verdicts import losses_of
from checker.lab.catalogue import bugs_called
from checker.lab.experiments.cases import Case, stored_cases
from checker.lab.experiments.choices import Choice
from checker.lab.explanations.effects import Effects
from model.kafka.protocol import KAFKA
from model.kafka.settings import KafkaSettings
from model.language import Role
from model.language.declare.settings import as_text, named
from model.language.errors import UsageError

SURROUNDINGS = named(KafkaSettings, role=Role.SURROUNDING)
"""What operators and clients do beside the cluster's settings: a case says so where it matters.

What a cluster has or has not, such as a first partition with fewer replicas, is no such thing.
"""

FINENESS = named(KafkaSettings, role=Role.FINENESS)
"""How fine the model is: no rule of Kafka's, and no choice of an operator's."""


@dataclass(frozen=True)
class Known:
    """A stored loss that the cluster's settings do not prevent.

    `lost` is what, in the words of the answer; `takes` are the faults, and `given` what surrounds
    the cluster, where that is not as in the answer's search. `about` is which bug it is: a finding,
    or an issue of Kafka's. `explored` has all of it, and how fine the model is.
    """

    case: str
    title: str
    about: str
    lost: str
    steps: int
    takes: Mapping[str, int]
    given: Mapping[str, str]
    explored: str

    @property
    def words(self) -> str:
        """All of it, in a line."""
        faults = [f"{name.replace('_', ' ')} {count}" for name, count in self.takes.items()]
        conditions = [f"{name}={value}" for name, value in self.given.items()]
        of = ", ".join([*faults, *conditions]) or "no fault"
        return f"{of}: {self.lost} lost in {self.steps} steps: {self.case} ({self.about})"


def known_beyond(choice: Choice, but: Mapping[str, str] | None = None) -> tuple[Known, ...]:
    """The stored losses that the settings of a choice do not prevent; few faults first.

    But none of a model with these settings, where the answer has a loss of its own.
    """
    words = {column.properties[0]: column.name for column in losses_of(choice)}
    found = [
        _known(case, loss.trace, there, choice, words[case.violates])
        for case in stored_cases()
        if case.broken.protocol == KAFKA.name and case.violates in words
        if not (but and but.items() <= case.broken.settings.items())
        if (there := _with_rules_of(choice, case)) is not None
        if not (loss := _loss_of(case.folder)).of(there.model, why=False).prevents
    ]
    return tuple(sorted(found, key=lambda one: (sum(one.takes.values()), one.steps)))


@cache
def _loss_of(folder: Path) -> Effects:
    """What other rules do to the case in the folder: its trace is replayed once a process."""
    (case,) = (case for case in stored_cases() if case.folder == folder)
    return Effects(case.stored_trace(), None)


def _with_rules_of(choice: Choice, case: Case) -> Choice | None:
    """The case with the rules of the choice; none for other numbers of replicas."""
    theirs, ours = case.broken.model, choice.model
    if theirs.bounds["replicas"] != ours.bounds["replicas"]:
        return None
    here = as_text(ours.settings)
    other = {
        name: value
        for name, value in as_text(theirs.settings).items()
        if name in SURROUNDINGS | FINENESS and value != here[name]
    }
    there = replace(choice, settings={**choice.settings, **other}, bounds=dict(case.broken.bounds))
    try:
        return there if there.model else None
    except UsageError:
        return None


def _about(case: Case) -> str:
    """Which bug it is: the number of its finding, else where it is published."""
    number = case.name.partition("-")[0]
    bugs = bugs_called(str(int(number))) if number.isdecimal() else []
    if not bugs:
        return case.source.partition(": ")[2]  # a story by its letter: a choice of operators
    return ", ".join(f"finding {bug.finding}" if bug.finding else bug.source for bug in bugs)


def _known(case: Case, trace: Trace, there: Choice, choice: Choice, lost: str) -> Known:
    end = trace.states[-1]
    cells = chosen_cells(trace.model.wide, ["faults"])
    takes = {cell.name.rpartition(".")[2]: end[cell.position] for cell in cells}
    given = {
        name: value
        for name, value in there.settings.items()
        if name in SURROUNDINGS and choice.settings.get(name) != value
    }
    return Known(
        case.name, case.title, _about(case), lost, trace.depth,
        {name: count for name, count in takes.items() if count}, given, there.arguments,
    )  # fmt: skip
