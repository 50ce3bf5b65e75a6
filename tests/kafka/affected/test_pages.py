"""What pages say of a bug's releases, and of what to do today, is what the command says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.kafka.affected.conditions import CONDITIONS
from checker.kafka.affected.judge import Row, every_row
from checker.kafka.affected.page import with_table
from checker.kafka.cluster.schedule import every_schedule
from checker.kafka.upstream.page import read_page
from checker.lab.catalogue import Effect, read_catalogue

DOCS = Path(__file__).parents[3] / "docs"
ROWS = every_row()
FINDINGS = {row.bug.finding: row for row in ROWS if row.bug.finding}

EFFECTS = {
    Effect.METADATA: r"committed metadata is lost",
    Effect.LOST: r"acknowledged records are lost",
    Effect.MISREAD: r"consumers read records that were never committed|no consumer gets|umers skip",
    Effect.REPEATED: r"records are processed twice",
    Effect.BLOCKED: r"no leader|cannot|exits|does not|never ends|stays out|elect|neither",
}


def words_of(markdown: str) -> str:
    """Markdown in one line, with links as their words."""
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown).split())


def heads_of(row: Row) -> dict[str, str]:
    """What the head of a finding's page says: effect, releases, and what to do."""
    path = row.bug.page()
    assert path is not None
    page = read_page(path)
    told = {"effect": page.effect, **page.heads}
    return {name: words_of(text) for name, text in told.items()}


def test_every_bug_is_judged_once_or_it_is_said_why_not():
    judged = {bug.number: bug for bug in read_catalogue() if bug.judged is not None}
    for bug in read_catalogue():
        ways = (bug.judged is not None, bool(bug.judged_with), bool(bug.not_judged))
        assert sum(ways) == 1, bug.name
        assert not bug.judged_with or judged[bug.judged_with].finding == bug.finding, bug.name
    for row in ROWS:
        assert {*row.judged.needs} <= CONDITIONS.keys(), row.numbers
        assert row.judged.today or row.span.fixed, f"{row.numbers}: what to do today?"
        assert row.judged.watch or not row.bug.finding, row.numbers


def test_the_page_is_what_the_declarations_say():
    page = (DOCS / "affected.md").read_text(encoding="utf-8")
    assert with_table(page) == page


@pytest.mark.parametrize("finding", FINDINGS)
def test_a_findings_page_begins_with_what_the_command_says(finding):
    row, heads = FINDINGS[finding], heads_of(FINDINGS[finding])
    assert re.search(EFFECTS[row.judged.effect], heads["effect"].lower())
    releases = row.span.since or row.span.first
    assert heads["Affected"].startswith(releases)
    assert heads["How likely"].startswith(f"{row.judged.likely}: {row.judged.why}")
    assert heads["What to do today"].startswith(row.judged.today)
    assert heads["Noticed by"].startswith(row.judged.watch)
    fixed = row.span.fixed_words or "no release"
    assert heads["Fixed in"].startswith(fixed)
    if not row.span.fixed:
        assert f"to {row.span.last}" in heads["Affected"].partition("(")[0]


def test_the_readme_has_the_releases_of_each_finding():
    page = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    told: dict[str, str] = {}
    for line in re.findall(r"^\| \[0.*\|$", page, re.MULTILINE):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        releases = cells[-1].removeprefix("clients ")
        for finding in re.findall(r"\[(\d{4})\]", cells[0]):
            assert FINDINGS[finding].judged.of_clients is (releases != cells[-1]), finding
            own = re.search(rf"\({finding}: ([^)]*)\)", releases)
            begins = own[1] if own else releases.partition(" ")[0]
            told[finding] = f"{begins} to {releases.rpartition(' to ')[2]}"
    spans = {f: row.span.words for f, row in FINDINGS.items() if not row.span.fixed}
    assert {f: words for f, words in told.items() if f in spans} == spans
    assert {*told} == {*FINDINGS}


def test_a_page_says_whether_its_workaround_was_tried_as_the_catalogue_does():
    known = {schedule.finding for schedule in every_schedule() if schedule.workaround}
    for finding, row in FINDINGS.items():
        today, tried = heads_of(row)["What to do today"], row.judged.tried
        assert ("`--workaround`" in today) is (finding in known), finding
        if finding in known:
            assert re.match(r"kept in (\d+) of \d+ on \d", tried), finding
            assert f"`--workaround`: {tried}." in today, finding
        else:
            assert f"Tried: {tried}." in today if tried else "Not tried" in today, finding
