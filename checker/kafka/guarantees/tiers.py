"""Changes, what they take of an operator, and which known bugs a feature brings with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from checker.lab.catalogue import read_catalogue
from checker.lab.experiments.choices import Choice
from checker.lab.explanations.remedies import IN_NO_RELEASE
from model.language.declare.settings import describe

FINDING = "finding "


class Tier(IntEnum):
    """What a change takes of an operator, from the least on; last what no operator can do."""

    SETTING = 0
    FEATURE = 1
    MACHINES = 2
    UPGRADE = 3
    UNRELEASED = 4

    @property
    def words(self) -> str:
        """What follows a change in a line."""
        return _WORDS[self]


@dataclass(frozen=True)
class Change:
    """Something that may keep a promise: its words, what it takes, and the choice with it."""

    words: str
    tier: Tier
    choice: Choice
    about: str = ""

    @property
    def line(self) -> str:
        """The change as a list has it, with what it takes."""
        about = f" ({self.about})" if self.about else ""
        return f"{self.words}, {self.tier.words}{about}"


_WORDS = {
    Tier.SETTING: "a setting",
    Tier.FEATURE: "a feature",
    Tier.MACHINES: "machines and no setting",
    Tier.UPGRADE: "a release",
    Tier.UNRELEASED: IN_NO_RELEASE,
}
SEVERAL = frozenset({Tier.SETTING, Tier.FEATURE, Tier.MACHINES})
"""Of these all that help are told; of releases the nearest, of fixes in no release one."""


@dataclass(frozen=True)
class KnownBugs:
    """The numbers of findings that need a feature, and that a release has."""

    numbers: tuple[int, ...] = ()

    @property
    def words(self) -> str:
        """Which there are; empty for none."""
        return f"known bugs with it: {_listed(self.numbers)}" if self.numbers else ""

    @property
    def stops(self) -> str:
        """Which of them stop a partition, whatever was found under the faults of a question."""
        leaderless = {bug.finding for bug in read_catalogue() if bug.leaderless}
        found = [name for number in self.numbers if (name := f"{number:04}") in leaderless]
        if not found:
            return ""
        which = " and ".join(filter(None, [", ".join(found[:-1]), found[-1]]))
        return f"known bugs that can leave a partition without a leader: {which}"


NO_BUGS = KnownBugs()


def known_bugs(settings_class: type, feature: str, values: Mapping[str, str]) -> KnownBugs:
    """The findings that need a feature, and that a release with these values has."""
    numbers = sorted({
        int(issue.removeprefix(FINDING))
        for name, info in describe(settings_class).items()
        if info.feature == feature and info.source is not None and values[name] != info.mended
        for issue in info.source.issues.split(", ")
        if issue.startswith(FINDING)
    })  # fmt: skip
    return KnownBugs(tuple(numbers))


def _listed(numbers: Iterable[int]) -> str:
    """`0003 to 0006, 0011`: of three and more in a row the first and the last."""
    rows: list[list[int]] = []
    for number in numbers:
        if rows and number == rows[-1][-1] + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    told = [[f"{row[0]:04} to {row[-1]:04}"] if len(row) > 2 else [f"{n:04}" for n in row]
            for row in rows]  # fmt: skip
    return ", ".join(word for words in told for word in words)
