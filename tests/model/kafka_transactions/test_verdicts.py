"""Each rule of transactions, off and on, at several bounds: as the pages of verdicts say."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.core.proofs.bounded.bounded_check import BoundedChecker
from checker.core.search.explore import Explorer
from checker.core.search.question import Options
from checker.core.search.textbook import TextbookExplorer
from checker.core.verdict import Verdict
from checker.kafka.tables.releases import has_bug, with_transaction_table
from checker.lab.experiments.cases import read_cases
from model.kafka_transactions.presets import PRESETS
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.kafka_transactions.settings import TransactionSettings
from model.language.declare.settings import as_text, describe
from properties import choose_properties
from tests.support.tiers import nightly
from tests.support.verdicts import CASES as BY_NAME
from tests.support.verdicts import PAGE, has_classes, rows, searched, small, wide, with_table

ROOT = Path(__file__).parents[3] / "counterexamples" / "kafka_transactions"
VERDICTS = rows()
NAMES = list(BY_NAME)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_rule_off_and_on_is_as_the_table_of_verdicts_says(name):
    row = VERDICTS[name]
    off, on = (searched(name, small(name, on)) for on in (False, True))
    assert [v.depth for v in off.violations] == [int(row["steps"])]
    assert off.distinct_states == int(row["states"])
    assert (on.verdict, on.distinct_states) == (
        Verdict.EXHAUSTED,
        int(row["states_with_the_fix"]),
    )


MANY = "33 rules, off and on, take a minute"
QUICK = ("141-a_late_record", "179-an_offset_of_the_next_transaction")
SLOW = ("159-a_retried_marker_is_refused", "171-an_abandoned_load_sends_markers")


def _when(name: str, *quick: str, slow: tuple[str, ...] = SLOW):
    """The row itself where it is quick, or marked."""
    if name in quick:
        return name
    return pytest.param(name, marks=pytest.mark.slow) if name in slow else nightly(MANY, name)


@pytest.mark.parametrize("name", [_when(name, *QUICK) for name in NAMES])
def test_beside_every_fix_a_rule_makes_the_difference_with_two_of_everything(name):
    """With states for classes of states, too: partitions are interchangeable."""
    row = VERDICTS[name]
    off, on = (searched(name, wide(name, on)) for on in (False, True))
    assert [v.depth for v in off.violations] == [int(row["wide_steps"])]
    assert off.distinct_states == int(row["wide_states"])
    assert (on.verdict, on.distinct_states, len(on.levels) - 1) == (
        Verdict.EXHAUSTED,
        int(row["wide_states_with_the_fix"]),
        int(row["wide_depth"]),
    )
    if not has_classes(name):
        return
    classes = searched(name, wide(name, True), symmetry=True)
    assert (classes.verdict, classes.distinct_states) == (Verdict.EXHAUSTED, int(row["classes"]))
    fewer = searched(name, wide(name, False), symmetry=True)
    assert [v.depth for v in fewer.violations] == [int(row["wide_steps"])]


LARGE = "170-decided_by_an_uncommitted_record"
"""Its 79,767 states take the reference engine minutes."""

Z3_STEPS = 17
FOR_Z3 = [name for name in NAMES if int(VERDICTS[name]["steps"]) <= Z3_STEPS]
"""Longer runs take Z3 minutes each."""


@pytest.mark.parametrize(
    "name", [_when(name, *QUICK, slow=SLOW[:1]) for name in NAMES if name != LARGE]
)
def test_the_reference_engine_says_the_same(name):
    row = VERDICTS[name]
    claims = [BY_NAME[name].claim]
    off, on = (TextbookExplorer(small(name, on), claims).run() for on in (False, True))
    assert [v.depth for v in off.violations] == [int(row["steps"])]
    assert off.distinct_states == int(row["states"])
    assert (on.verdict, on.distinct_states) == (
        Verdict.EXHAUSTED,
        int(row["states_with_the_fix"]),
    )


@pytest.mark.parametrize(
    "name", [_when(name, "152-a_cache_that_was_not_dropped", slow=()) for name in FOR_Z3]
)
def test_z3_finds_no_shorter_run_and_with_the_rule_none_of_that_length(name):
    steps = int(VERDICTS[name]["steps"])
    claims = [BY_NAME[name].claim]
    off, on = (
        BoundedChecker(small(name, on), claims, cross_check=False).run(steps)
        for on in (False, True)
    )
    assert (off.verdict, len(off.steps)) == (Verdict.VIOLATED, steps)
    assert (on.verdict, on.depth) == (Verdict.BOUNDED, steps)


def test_the_page_of_verdicts_has_what_the_table_has():
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page)
    assert set(VERDICTS) == set(NAMES)


def test_the_page_shows_which_presets_have_which_bug():
    page = (ROOT.parents[1] / "docs" / "transactions.md").read_text(encoding="utf-8")
    assert page == with_transaction_table(page)
    assert "| 150 | KAFKA-6119 | `timeouts.bump.the.epoch` | x |  |" in page


RULES = [info for info in describe(TransactionSettings).values() if info.catalogue]
SHAPE = ("transaction.version", "transaction.partition.verification.enable")


PRODUCER = "after.a.failed.record"


def is_found(info, rules, value):
    """Whether a search at the bounds of one of its cases, and a time-out, finds a bug.

    A bug of brokers counts with a producer of that release, or with a newer one.
    """
    producers = {rules[PRODUCER]}
    if PRODUCER not in info.name + info.feature:
        producers.add("new_epoch")
    numbers = info.catalogue.split(", ")
    for case in (case for case in read_cases(ROOT) if case.name[:3] in numbers):
        bounds = {**case.broken.bounds, "transaction_timeouts": 1}
        claims = choose_properties(KAFKA_TRANSACTIONS, [case.violates])
        for producer in producers:
            chosen = {name: rules[name] for name in SHAPE} | {PRODUCER: producer, info.name: value}
            chosen["fences.at.the.last.epoch"] = "false"  # which hides what brings that about
            model = KAFKA_TRANSACTIONS.model(bounds, {**PRESETS["kafka-fixed"], **chosen})
            found = Explorer(model, claims, options=Options(cross_check=False)).run()
            if found.verdict is Verdict.VIOLATED:
                return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("info", [pytest.param(rule, id=rule.name) for rule in RULES])
def test_a_preset_has_a_bug_if_its_rule_makes_the_difference_with_all_other_fixes(info):
    for name, rules in PRESETS.items():
        has = rules.get(info.name, as_text(TransactionSettings())[info.name])
        differs = is_found(info, rules, has) and not is_found(info, rules, info.mended)
        assert differs == has_bug(info, rules), name
