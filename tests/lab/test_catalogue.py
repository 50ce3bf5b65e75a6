"""A bug has one number: its cases, finding, schedules and fixes are all found from it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from checker.core.files import COUNTEREXAMPLES
from checker.kafka.cluster.schedule import every_schedule
from checker.kafka.releases.patch import fixes
from checker.lab.catalogue import bugs_called, read_catalogue, with_tables
from checker.lab.experiments.cases import stored_cases
from model.language.errors import UsageError

BUGS = read_catalogue()
PAGE = COUNTEREXAMPLES.parent / "docs" / "catalogue.md"
FINDINGS = {path.name[:4] for path in PAGE.parent.glob("findings/[0-9]*.md")}


def test_the_page_is_what_the_command_writes():
    page = PAGE.read_text(encoding="utf-8")
    assert with_tables(page) == page
    changed = page.replace("| 92 |", "| 93 |")
    assert with_tables(changed) != changed


def test_every_number_is_used_once_and_every_finding_is_of_a_bug():
    assert max(Counter(bug.number for bug in BUGS if bug.number).values()) == 1
    assert {bug.finding for bug in BUGS if bug.finding} == FINDINGS
    assert [bug.number for bug in BUGS if bug.finding and bug.page() is None] == []


def test_a_finding_leaves_no_leader_where_its_row_or_one_of_its_cases_says_so():
    marked = {bug.finding for bug in BUGS if bug.leaderless}
    rows = (PAGE.parent / "findings" / "README.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| \[(\d{4})\]\(.*?\) \| [^|]*no leader", rows, re.MULTILINE)
    assert marked == {*told}
    stuck = {c.folder for c in stored_cases() if c.violates == "live_replicas_have_a_leader"}
    assert {bug.finding for bug in BUGS if bug.finding and stuck & {*bug.cases()}} <= marked


def test_every_numbered_case_is_of_a_bug_and_says_the_same_of_it():
    told = {bug.number: bug for bug in BUGS if bug.number}
    listed = {path for bug in BUGS for path in bug.cases()}
    for case in stored_cases():
        number = re.match(r"(\d+)-", case.name)
        if number is None:
            continue
        bug = told[int(number[1])]
        assert case.folder in listed
        assert bug.model == case.folder.parent.name
        said = case.source.partition(":")[0]
        numbers = [int(each) for each in re.findall(r"\d+", said)]
        assert said.startswith("Catalogue") and bug.number in numbers, case.name
        pages = {told[each].finding for each in numbers if each in told}
        assert set(re.findall(r"\b(0\d{3})\b", case.source)) <= pages, case.name


def test_schedules_and_fixes_are_of_findings_and_each_finding_on_a_cluster_has_a_fix_of_its_own():
    assert {schedule.finding for schedule in every_schedule()} <= FINDINGS
    assert {name[:4] for name in fixes()} <= FINDINGS


@pytest.mark.parametrize(("number", "found"), [("92", [92]), ("0018", [92]), ("0008", [38, 41])])
def test_bugs_are_found_by_either_number(number, found):
    assert [bug.number for bug in bugs_called(number)] == found


@pytest.mark.parametrize("number", ["93", "0", "", "0099"])
def test_a_number_that_there_is_not_is_refused_in_a_line(number):
    with pytest.raises(UsageError, match=r"no (bug|finding)"):
        bugs_called(number)


def test_a_tree_without_a_catalogue_has_none(tmp_path: Path):
    assert read_catalogue(tmp_path) == ()
