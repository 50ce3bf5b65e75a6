"""Of each finding all is declared that its ticket needs, once, and in Kafka's naming."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePath

import pytest

from checker.kafka.cluster.schedule import schedules_of
from checker.kafka.releases.patch import fixes
from checker.kafka.upstream.finding import every_finding, finding_called
from checker.kafka.upstream.order import ORDER, priority
from checker.kafka.upstream.text import CODE, component, fix_versions
from checker.kafka.upstream.tree import PARTS, folder_of, part_of
from checker.kafka.upstream.unit_tests import UNIT, package_of, sources_of
from checker.lab.catalogue import Effect, Likely
from model.language.errors import UsageError

FINDINGS = {finding.number: finding for finding in every_finding()}
UNITS = {name: fix.unit for name, fix in fixes().items() if fix.unit is not None}


@pytest.mark.parametrize("number", FINDINGS)
def test_every_field_of_a_ticket_is_declared(number):
    finding = FINDINGS[number]
    assert 10 < len(finding.summary) < 130 and not finding.summary.endswith(".")
    assert finding.page.heads.keys() >= {"Affected", "Noticed by", "What to do today", "Fixed in"}
    assert finding.page.sections.keys() >= {"Steps", CODE, "Fix and risk"}
    assert component(finding) in {part.component for part in PARTS.values()}
    assert finding.priority in ORDER
    assert finding.row.judged.why and finding.page.in_short[0].islower()
    assert fix_versions(finding) and finding.versions
    assert not any(fix.instead_of for fix in finding.fixes.values())
    told = [fix for fix in finding.fixes.values() if fix.title]
    assert len(told) == min(1, len(finding.fixes)), "one of its edits has the ticket"
    assert all("The change" in fix.ticket or "The first" in fix.ticket for fix in told) or (
        all(re.search(r"[Ww]ith the change|The second part", fix.ticket) for fix in told)
    )


def test_every_fix_has_tests_and_every_test_is_of_one_fix():
    assert fixes().keys() == UNITS.keys()
    declared = Counter(
        (unit.name, test) for unit in UNITS.values() for test in (*unit.fails, *unit.passes)
    )
    assert set(declared.values()) == {1}
    there = {
        (path.stem, test)
        for path in UNIT.glob("*Test.*")
        for test in re.findall(r"@Test\s+(?:public void|void|def) (\w+)", path.read_text("utf-8"))
    }
    assert there == set(declared)
    assert all(unit.fails for unit in UNITS.values())
    others = [(fix.instead_of, fix.title) for fix in fixes().values() if fix.instead_of]
    assert all(fixes()[instead].title and not title for instead, title in others)


def test_tests_are_named_as_kafkas_are():
    names = [test for unit in UNITS.values() for test in (*unit.fails, *unit.passes)]
    assert [n for n in names if not re.fullmatch(r"test([A-Z][a-z0-9]*)+", n)] == []
    assert [n for n in names if re.match(r"test(A|An|The|What|Who)[A-Z]", n) or len(n) > 72] == []


def test_a_class_stands_where_its_artifact_does():
    for fix in fixes().values():
        for method in fix.methods:
            assert part_of(method.file).folder == folder_of(method.module)
            assert PurePath(method.file).suffix in (".java", ".scala")
    for unit in UNITS.values():
        package = package_of(sources_of(unit.name, "4.3.1")[0])
        assert part_of(f"{package.replace('.', '/')}/").folder
    with pytest.raises(KeyError):
        part_of("org/apache/kafka/connect/Worker.java")


def test_the_order_names_findings_once_and_is_what_they_are_listed_by():
    named = [number for findings in ORDER.values() for number in findings]
    assert len(set(named)) == len(named)
    assert {*named} <= {*FINDINGS}
    assert [number for number in FINDINGS if number in named] == named
    assert list(FINDINGS)[: len(named)] == named


def test_a_new_finding_has_the_priority_of_what_it_does():
    assert priority("9999", Effect.LOST, Likely.RARE) == "Critical"
    assert priority("9999", Effect.METADATA, Likely.VERY_RARE) == "Major"
    assert priority("9999", Effect.BLOCKED, Likely.ORDINARY) == "Major"
    assert priority("9999", Effect.REPEATED, Likely.RARE) == "Minor"


def test_the_release_is_the_newest_that_has_the_finding_and_sources():
    assert FINDINGS["0001"].release(None) == "4.3.1"
    assert FINDINGS["0003"].release(None) == "4.2.1"
    assert fix_versions(FINDINGS["0003"]) == ["4.2.2", "4.1.3", "4.0.3"]
    assert fix_versions(FINDINGS["0001"])[:2] == ["trunk", "4.4.1"]


@pytest.mark.parametrize(
    "number, asked, words",
    [
        ("0003", "4.3.1", "finding 0003 is not in Kafka 4.3.1: fixed in 4.3.0"),
        ("0004", "3.9.1", "finding 0004 is not in Kafka 3.9.1: begins with 4.0.0"),
        ("0001", "4.4.0", "no sources of Kafka 4.4.0 are published"),
        ("0001", "4.3", "no release of Kafka is called '4.3'"),
    ],
)
def test_a_release_without_the_finding_or_its_sources_is_refused(number, asked, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        FINDINGS[number].release(asked)


def test_a_number_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(UsageError, match=r"no finding is called '18'.* 0001, 0002, .*0027"):
        finding_called("18")


def test_a_number_is_the_pages_or_the_catalogues_as_where_a_finding_is_run():
    for called in ("0022", "99", "102"):
        assert finding_called(called).number == "0022"
        assert {schedule.finding for schedule in schedules_of(called)} == {"0022"}
