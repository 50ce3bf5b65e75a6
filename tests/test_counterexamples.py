"""Stored counterexamples stay true: each trace replays, is the shortest, and its fix holds."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from checker.core.verdict import Verdict
from checker.lab.experiments.cases import OVERVIEWS, PAGE_FILE, Case, read_cases, with_steps
from checker.lab.experiments.choices import explored
from model.language.errors import RejectedError, UsageError
from tests.support.tiers import nightly, slow_but

ROOT = Path(__file__).parent.parent / "counterexamples"
CASES = read_cases(ROOT)
pytestmark = pytest.mark.usefixtures("few_compared")
LADDER = [case for case in CASES if case.folder.parent.name == "ladder"]


def named(case: Case) -> str:
    return f"{case.folder.parent.name}/{case.name}"


@pytest.mark.parametrize("case", slow_but(CASES[::9], CASES), ids=named)
def test_a_stored_trace_replays_and_its_page_and_file_are_what_is_written(case):
    """One test, since the replay on the reference engine is what takes time."""
    trace = case.stored_trace()
    assert trace.property == case.violates
    assert trace.depth == len(case.steps) > 0
    assert (case.folder / PAGE_FILE).read_text() == case.page(trace)
    text = (case.folder / "case.toml").read_text()
    assert with_steps(text, trace) == text
    without = re.sub(r"^steps = \[.*?^\]\n\n", "", text, flags=re.MULTILINE | re.DOTALL)
    assert "steps" not in tomllib.loads(without)
    assert with_steps(without, trace) == text
    empty = re.sub(r"^\[", "steps = []\n\n[", without, count=1, flags=re.MULTILINE)
    assert with_steps(empty, trace) == text


@pytest.mark.parametrize("case", LADDER, ids=named)
def test_a_search_finds_the_very_trace_that_is_stored(case):
    assert case.find().steps == case.stored_trace().steps


@pytest.mark.parametrize("arguments", sorted({c.fix.arguments for c in LADDER if c.fix}))
def test_the_fix_of_a_case_is_explored_to_the_end_and_holds(arguments):
    case = next(c for c in LADDER if c.fix and c.fix.arguments == arguments)
    assert case.fix is not None
    assert explored(case.fix).verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize(
    "name",
    [
        nightly("ten seconds for a page like the others", n) if n == "ladder" else n
        for n in OVERVIEWS
    ],
)
def test_the_overview_is_what_the_command_writes(name):
    assert (ROOT / name / "README.md").read_text() == OVERVIEWS[name](ROOT / name)


def test_a_story_without_its_violation_would_be_noticed():
    case = LADDER[0]
    assert case.fix is not None
    with pytest.raises(Exception, match="is not violated"):
        replace(case, broken=case.fix).find()


def test_steps_that_do_not_lead_to_the_violation_are_rejected():
    case = LADDER[0]
    with pytest.raises(RejectedError, match=r"not enabled|does not hold"):
        replace(case, steps=case.steps[:-1]).stored_trace()
    with pytest.raises(UsageError, match=r"no step of .* is called"):
        replace(case, steps=("nothing()",)).stored_trace()
