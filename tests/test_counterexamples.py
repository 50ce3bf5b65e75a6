"""Stored counterexamples stay true: each trace replays, is the shortest, and its fix holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.experiments.cases import PAGE_FILE, TRACE_FILE, Case, explored, read_cases
from checker.experiments.overviews import OVERVIEWS
from checker.traces.itf import trace_as_itf
from checker.traces.trace import check_trace
from checker.verdict import Verdict

ROOT = Path(__file__).parent.parent / "counterexamples"
CASES = read_cases(ROOT)
LADDER = [case for case in CASES if case.folder.parent.name == "ladder"]


def named(case: Case) -> str:
    return f"{case.folder.parent.name}/{case.name}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_stored_trace_replays_on_the_reference_engine(case):
    trace = case.stored_trace()
    check_trace(trace)
    assert trace.property == case.violates
    assert trace.model.identity == case.broken.model.identity


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_page_shows_the_stored_trace_and_the_story(case):
    assert (case.folder / PAGE_FILE).read_text() == case.page(case.stored_trace())


@pytest.mark.parametrize("case", LADDER, ids=named)
def test_a_search_finds_the_very_trace_that_is_stored(case):
    stored = (case.folder / TRACE_FILE).read_text()
    assert trace_as_itf(case.find()) == stored


@pytest.mark.parametrize("arguments", sorted({c.fix.arguments for c in LADDER if c.fix}))
def test_the_fix_of_a_case_is_explored_to_the_end_and_holds(arguments):
    case = next(c for c in LADDER if c.fix and c.fix.arguments == arguments)
    assert case.fix is not None
    assert explored(case.fix).verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize("name", OVERVIEWS)
def test_the_overview_is_what_the_command_writes(name):
    assert (ROOT / name / "README.md").read_text() == OVERVIEWS[name](ROOT / name)


def test_a_story_without_its_violation_would_be_noticed():
    case = LADDER[0]
    assert case.fix is not None
    fixed = Case(
        case.folder, case.title, case.source, case.story, case.violates, case.fix, case.fix
    )
    with pytest.raises(Exception, match="is not violated"):
        fixed.find()
