"""A round finds known bugs, names them, goes on behind them, and takes nothing new for known."""

from __future__ import annotations

import pytest

from checker.core.search.explore import Explorer
from checker.core.search.narrow import Width
from checker.core.search.question import Options
from checker.core.traces.trace import build_trace
from checker.lab.experiments.choices import Choice, steps_named
from checker.lab.hunting.hunt import Bag, sweep_of
from checker.lab.hunting.plan import Plan, Round
from checker.lab.hunting.rounds import TURNS, hunt, run_round
from model.protocols import protocol_named
from properties import Sense, choose_properties, promised_properties
from tests.support.tiers import first_and_nightly

NOTHING = Plan(sizes={})
"""What draws nothing: all is given."""
SIZES = {"log_size": 1, "max_records": 1, "max_leader_epoch": 3}
FIXED = {"min.insync.replicas": "2"}


def hunted(protocol, preset="", settings=None, bounds=None):
    given = Choice(protocol, preset, settings or {}, bounds or {})
    return run_round(Round(given, 1, 0), NOTHING, 3.0, cross_check=False)


def cases(result):
    return [v["instance_of"] and v["instance_of"]["case"] for v in result["violations"]]


def test_a_fence_that_is_off_is_found_and_named():
    result = hunted("kip320", settings={"wait_for_epoch": "false"})
    assert set(cases(result)) == {"without_wait_for_epoch-strong_isr"}
    assert result["verdict"] == "violated"


KNOWN = [
    ("36-positions_from_a_missed_epoch", {"reset.follower.leo.every.epoch": "false"},
     {"preferred_elections": 2}),
    ("37-a_pending_isr_member_is_forgotten",
     {"pending.isr.survives.image": "false", "isr.answer.apart": "true"},
     {"preferred_elections": 2}),
    ("44-a_disk_taken_out_after_a_clean_stop", {"registration.counts.directories": "false"},
     {"crashes": 0, "preferred_elections": 0, "shutdowns": 2, "lost_directories": 1}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "off", "faults"),
    first_and_nightly("other bugs are found in the same way", *KNOWN),
    ids=[case[:2] for case, *_ in KNOWN],
)
def test_a_bug_is_found_with_its_fix_off_and_named(case, off, faults):
    result = hunted("kafka", "kafka-fixed", {**FIXED, **off}, {**SIZES, **faults})
    assert cases(result)[0] == case
    found = result["violations"][0]
    choice = Choice(**found["choice"])
    trace = build_trace(choice.model, steps_named(choice.model, found["steps"]), found["property"])
    assert (trace.verdict, trace.depth) == ("violated", found["depth"])


@pytest.mark.slow
def test_a_bug_that_another_hides_is_found_behind_it():
    off = {"acks": "1", "reset.follower.leo.every.epoch": "false"}
    result = hunted("kafka", "kafka-fixed", {**FIXED, **off}, {**SIZES, "preferred_elections": 2})
    assert cases(result)[:2] == ["acks_1", "36-positions_from_a_missed_epoch"]


@pytest.mark.slow
def test_what_no_entry_explains_is_told_as_that(monkeypatch):
    monkeypatch.setattr("checker.lab.explanations.candidates.stored_cases", tuple)
    result = hunted("kip320", settings={"wait_for_epoch": "false"})
    assert cases(result) == [None] * len(cases(result))
    assert cases(result)
    bag = Bag(NOTHING, (result, result), Round(Choice("kip320"), 1, 0))
    assert (bag.known, {kill.times for kill in bag.unknown}) == ([], {2})


def test_a_model_that_fits_is_searched_to_its_end():
    model = protocol_named("kip320").model({"max_leader_epoch": 1})
    promised = [p for p in promised_properties(model) if p.sense is Sense.ALWAYS]
    found = hunt(model, promised, 60, 3, cross_check=False, turns=[Width(10**6, 0)])
    symmetric = Explorer(model, promised, options=Options(symmetry=True)).run()
    assert (found.is_whole, found.turns) == (True, 1)
    assert found.states + 1 == symmetric.distinct_states


@pytest.mark.parametrize("turn", TURNS[:2], ids=["narrow", "walks"])
def test_searches_and_walks_find_it_each_alone(turn, monkeypatch):
    monkeypatch.setattr("checker.core.search.narrow._CHUNK", 101)  # so that levels have several
    model = protocol_named("truncate_to_high_watermark").model()
    (prop,) = choose_properties(model.protocol, ["strong_isr"])
    (found,) = hunt(model, [prop], 20, 3, cross_check=False, turns=[turn]).violations
    assert build_trace(model, found[1], prop).verdict == "violated"


def test_what_leaves_states_out_is_no_search_to_the_end():
    model = protocol_named("kip320").model({"max_leader_epoch": 1})
    found = hunt(model, [], 1, 3, cross_check=False, turns=[Width(30, 20, 60)])
    assert not found.is_whole
    assert found.turns > 1


def test_a_journal_is_gone_on_with_and_a_round_is_made_once(tmp_path):
    given = Choice("kip101", bounds={"max_leader_epoch": 1, "replicas": 2})
    store = tmp_path / "journal.jsonl"

    def rounds(count):
        return sweep_of(
            given, Plan(sizes={"log_size": [1, 2], "max_records": [1, 2]}), (), seed=5,
            rounds=count, seconds=5, workers=0, store=store, cross_check=False,
        )  # fmt: skip

    first = rounds(2)
    assert first.run()
    lines = store.read_text()
    again = rounds(3)
    assert list(again.results.values()) == list(first.results.values())
    assert again.run()
    assert store.read_text().startswith(lines)
    assert store.read_text().count("\n") == 3


def test_a_round_that_fails_is_told_and_ends_no_hunt(monkeypatch):
    from model.language.errors import DomainError

    def fails(*_):
        raise DomainError("x cannot be 3")

    monkeypatch.setattr("checker.lab.hunting.hunt.run_round", fails)
    sweep = sweep_of(Choice("kip101"), NOTHING, (), seed=0, rounds=2, seconds=1, workers=0)
    assert sweep.run()
    bag = Bag(NOTHING, tuple(sweep.results.values()), Round(Choice("kip101"), 0, 0))
    assert [each["error"] for each in bag.errors] == ["DomainError: x cannot be 3"] * 2
    assert bag.done == []
