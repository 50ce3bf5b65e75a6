"""Which known bugs the answer to an application's question is about: by rules, and by faults.

A bug of the catalogue concerns it if the releases have the rules of one of its cases, and that case
takes no other faults than the question names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from checker.kafka.guarantees.facets import Facet
from checker.lab.catalogue import Bug, read_catalogue
from checker.lab.experiments.cases import Case, stored_cases
from model.language.declare.settings import as_text, describe
from model.protocols import protocol_named


@dataclass(frozen=True)
class Concern:
    """A known bug, and the fewest faults that bring it about in a stored case."""

    bug: Bug
    faults: Mapping[str, int]

    @property
    def words(self) -> str:
        """What people call it: a finding by its number, the others by where they are published."""
        return self.bug.finding or f"{self.bug.number} ({self.bug.source})"


def concerning(
    facets: Iterable[Facet], faults: Mapping[str, int], max_faults: int
) -> tuple[Concern, ...]:
    """The bugs that concern an application under the faults of a question; any, if it names none.

    Findings first, then by number.
    """
    taken = [
        (case.folder, needed)
        for facet in facets
        for case in stored_cases()
        if case.broken.protocol == facet.choice.protocol and _has_rules_of(facet, case)
        if _fits(needed := _faults_of(facet, case), faults, max_faults)
    ]
    found = []
    for bug in read_catalogue():
        folders = bug.cases()
        fewest = [needed for folder, needed in taken if folder in folders]
        if fewest:
            found.append(Concern(bug, min(fewest, key=lambda needed: sum(needed.values()))))
    return tuple(sorted(found, key=lambda one: (not one.bug.finding, one.words)))


def _has_rules_of(facet: Facet, case: Case) -> bool:
    """What the case's fix changes is as in the case, and so is what makes it matter."""
    if case.fix is None:
        return False
    here, broken, fixed = (
        as_text(choice.model.settings) for choice in (facet.choice, case.broken, case.fix)
    )
    rules = [name for name, value in broken.items() if fixed.get(name) != value]
    infos = describe(protocol_named(facet.choice.protocol).settings)
    matters = dict(each.split("=") for name in rules for each in infos[name].feature.split())
    asked = {**{name: broken[name] for name in rules}, **matters}
    return bool(rules) and all(here[name] == value for name, value in asked.items())


def _faults_of(facet: Facet, case: Case) -> Mapping[str, int]:
    """The faults that the case takes."""
    bounds = case.broken.bounds
    return {name: bounds[name] for name in facet.faults if bounds.get(name)}


def _fits(needed: Mapping[str, int], faults: Mapping[str, int], max_faults: int) -> bool:
    """The question allows for them."""
    if faults:
        return all(count <= faults.get(name, 0) for name, count in needed.items())
    return sum(needed.values()) <= max_faults
