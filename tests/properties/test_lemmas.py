"""The lemmas of KIP-320 and KIP-497 hold in every reachable state, and each can fail."""

from __future__ import annotations

import pytest

from checker.core.search.explore import Explorer, Options
from checker.core.verdict import Verdict
from model.async_isr.protocol import ASYNC_ISR
from model.ladder import LADDER
from model.ladder.kip320 import KIP320
from properties import choose_properties, lemmas_of, properties_of

SMALL = {"log_size": 2, "max_records": 2, "max_leader_epoch": 1}
LEMMAS = lemmas_of(KIP320)
ASYNC_LEMMAS = lemmas_of(ASYNC_ISR)


def test_lemmas_are_found_by_name_but_are_not_checked_unless_asked_for():
    names = [lemma.name for lemma in LEMMAS]

    assert [lemma.name for lemma in choose_properties(KIP320, names)] == names
    assert "committed" not in {prop.name for prop in choose_properties(KIP320)}
    assert len(set(names)) == len(names)
    shared = {prop.name: prop for prop in properties_of(KIP320)}
    assert all(shared.get(lemma.name, lemma) is lemma for lemma in LEMMAS)


@pytest.mark.parametrize(
    "bounds", [SMALL, pytest.param(SMALL | {"max_leader_epoch": 2}, marks=pytest.mark.slow)]
)
def test_every_lemma_holds_in_every_reachable_state(bounds):
    result = Explorer(
        KIP320.model(bounds), LEMMAS, options=Options(keep_going=True, cross_check=False)
    ).run()

    assert result.verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize("maximal_isr", [True, False])
def test_the_lemmas_of_async_isr_hold_whatever_the_high_watermark_counts(maximal_isr):
    model = ASYNC_ISR.model({}, {"maximal_isr": maximal_isr})
    result = Explorer(
        model, ASYNC_LEMMAS, options=Options(keep_going=True, cross_check=False)
    ).run()

    assert result.verdict is Verdict.EXHAUSTED


def test_every_lemma_says_what_it_means_and_what_breaks_it():
    for lemma in (*LEMMAS, *ASYNC_LEMMAS[1:]):
        assert lemma.words and lemma.failure and lemma.broken_by


ABLATIONS = {
    "fence_truncation": "leader_got_there_first",
    "fence_fetch": "epochs_in_logs",
    "fence_high_watermark": "committed",
    "wait_for_epoch": "committed",
}


def fallen(protocol, bounds, settings):
    model = protocol.model(bounds, settings)
    result = Explorer(
        model, lemmas_of(protocol), options=Options(keep_going=True, cross_check=False)
    ).run()
    return {violation.property.name for violation in result.violations}


@pytest.mark.parametrize("protocol", [LADDER[0], LADDER[-2]], ids=lambda protocol: protocol.name)
def test_older_rungs_break_lemmas_in_reachable_states(protocol):
    assert {"leader_got_there_first", "epochs_in_logs", "committed"} <= fallen(protocol, SMALL, {})


@pytest.mark.slow
@pytest.mark.parametrize(("setting", "falls"), ABLATIONS.items())
def test_without_a_fence_its_lemma_falls_in_a_reachable_state(setting, falls):
    assert falls in fallen(KIP320, SMALL | {"max_leader_epoch": 2}, {setting: False})
