"""A finding with all that is declared of it: judgement, page, fixes; and releases that have it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from checker.kafka.affected.judge import Row, every_row
from checker.kafka.guarantees.releases import Mode
from checker.kafka.releases.jars import newest, releases, versions
from checker.kafka.releases.patch import Fix, fixes
from checker.kafka.upstream.order import place, priority
from checker.kafka.upstream.page import Page, read_page
from checker.lab.catalogue import number_of_finding
from model.language.declare.history import version_of
from model.language.errors import UsageError, unknown_name


@dataclass(frozen=True)
class Finding:
    """A finding that is judged, its page, and the fixes to offer by name; there may be none."""

    row: Row
    page: Page
    fixes: dict[str, Fix]

    @property
    def number(self) -> str:
        """Its four digits."""
        return self.row.bug.finding

    @property
    def summary(self) -> str:
        """The title of its ticket: that of its fix, or of its page."""
        return next((fix.title for fix in self.fixes.values() if fix.title), self.page.title)

    @property
    def text(self) -> str:
        """What its fix says in the ticket; empty without one."""
        return next((fix.ticket.strip() for fix in self.fixes.values() if fix.title), "")

    @property
    def priority(self) -> str:
        """JIRA's priority."""
        return priority(self.number, self.row.judged.effect, self.row.judged.likely)

    @cached_property
    def versions(self) -> list[str]:
        """The releases with it that this project runs, oldest first."""
        return [version for version in releases() if self.holds(version)]

    def holds(self, version: str) -> bool | None:
        """Whether a release has it, with ZooKeeper or KRaft; `None` where nobody looked."""
        held = {self.row.span.holds(version_of(version), mode) for mode in Mode}
        return True if True in held else None if None in held else False

    def release(self, asked: str | None) -> str:
        """The release to offer it for: the one asked for, or the newest that can be patched.

        Raises `UsageError` for one that is not known, or has not got the finding.
        """
        bare = versions()["kafka"]["without_sources"]
        if asked is None:
            return [version for version in self.versions if version not in bare][-1]
        if asked not in releases():
            raise unknown_name("release of Kafka", asked, releases())
        if self.holds(asked) is False:
            why = self.row.span.why_not(version_of(asked))
            raise UsageError(f"finding {self.number} is not in Kafka {asked}: {why}")
        if asked in bare and self.fixes:
            raise UsageError(
                f"no sources of Kafka {asked} are published, so no patch can be made of it: "
                f"the newest are of {newest(with_sources=True)}"
            )
        return asked


def every_finding() -> list[Finding]:
    """All of them, in the order in which to offer them.

    Raises `UsageError` where the pages are not: they are in a checkout, and not installed.
    """
    found = []
    for row in every_row():
        if row.bug.finding:
            path = row.bug.page()
            if path is None:
                raise UsageError(
                    "tickets are made of docs/findings, which is not installed: "
                    "run this in a checkout of Highwater"
                )
            own = {
                name: fix
                for name, fix in fixes().items()
                if name[:4] == row.bug.finding and not fix.instead_of
            }
            found.append(Finding(row, read_page(path), own))
    return sorted(found, key=lambda finding: place(finding.number))


def finding_called(number: str) -> Finding:
    """The finding of its page's number or the catalogue's; `UsageError` names those there are."""
    known = {finding.number: finding for finding in every_finding()}
    return known[number_of_finding(number, known)]
