"""Each case of clients, transactions and tiered storage: a shortest trace; none with its fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.core.verdict import Verdict
from checker.lab.experiments.cases import read_cases
from tests.support.fixes import found_steps, searched_with_fix, stored_steps

ROOT = Path(__file__).parents[2] / "counterexamples"
PROTOCOLS = ("kafka_group", "kafka_producer", "kafka_streams", "kafka_tiered", "kafka_transactions")
CASES = [pytest.param(case, id=case.name) for name in PROTOCOLS for case in read_cases(ROOT / name)]


@pytest.mark.parametrize("case", CASES)
def test_a_search_finds_the_very_trace_that_is_stored(case):
    assert found_steps(case) == stored_steps(case)


@pytest.mark.parametrize("case", CASES)
def test_with_the_fix_the_same_search_ends_without_a_violation(case):
    assert searched_with_fix(case).verdict is Verdict.EXHAUSTED
