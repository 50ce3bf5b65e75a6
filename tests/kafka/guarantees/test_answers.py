"""An answer is the grid's row; stops are as bad as the worst; changes are safe and cheap."""

from __future__ import annotations

import json
import shlex
from functools import cache
from typing import Any

import pytest

import highwater
from checker.core.files import COUNTEREXAMPLES
from checker.core.search.allowance import Allowance
from checker.core.search.limits import Limits
from checker.core.traces.trace import check_trace
from checker.kafka.guarantees.answer import as_data
from checker.kafka.guarantees.changes import Change, Tried, changes
from checker.kafka.guarantees.cluster import describe_cluster
from checker.kafka.guarantees.faults import Faults, choice_of
from checker.kafka.guarantees.releases import release_named
from checker.kafka.guarantees.stops import NONE, Ends, Outage, outages
from checker.kafka.guarantees.text import listed
from checker.kafka.guarantees.tiers import KnownBugs, Tier, known_bugs
from checker.kafka.guarantees.verdicts import STATES, finer_of_the_grid, is_safe, judge_losses
from checker.lab.experiments.choices import Choice
from model.kafka.protocol import KAFKA
from model.kafka.settings import KafkaSettings
from model.kafka.settings.eligible_replicas import ELR
from model.language.declare.settings import as_text
from properties import choose_properties
from tests.support.asked import NO_LIMIT, TINY, TWO, asked, losses

MARK = "0002"


def prevented(kafka, settings, **faults):
    """What the cluster loses, and by its words each change that is told, without what stops."""
    judged = losses(kafka, settings, **faults)
    found, all_tried = changes(judged, release_named(kafka), Allowance(NO_LIMIT, STATES))
    assert all_tried
    return judged.lost, {tried.change.words: tried for tried in found}


def words(answer, part=-1):
    judged = answer.parts[part].judged
    return {cell.column.name: cell.words for cell in (*judged.losses, *judged.stops)}


@pytest.mark.slow
def test_acks_1_loses_to_a_crash_and_the_text_says_how_and_what_helps():
    answer = asked("4.1", "acks=1", crashes=1, replicas=2)
    assert not answer and answer.is_lossy and answer.is_decided
    assert words(answer)["acknowledged records"] == "lost in 4 steps"
    first = answer.changes[0]
    assert (first.change.words, first.change.tier, first.costs) == ("acks=all", Tier.SETTING, ())
    assert "S7: by design" in answer.known
    text = str(answer)
    assert max(map(len, text.splitlines())) <= 80
    assert "   2. b0 crashes; its high watermark checkpoint is 0" in text
    assert "  1. acks=all, a setting: costs no availability" in text
    for cell in answer.parts[0].judged.lost:
        trace = answer.parts[0].traces[cell.found["property"]]
        check_trace(trace)
        assert trace.depth == cell.found["depth"]
        assert trace.model.identity == cell.search.choice.model.identity


@pytest.mark.nightly("a third of a minute; the grid of guarantees holds the verdict")
def test_acks_all_loses_nothing_to_a_crash_but_by_an_answer_before_its_image():
    """Finding 0002, which a search with both in one step does not see."""
    safe = asked("4.1", "acks=all pending.isr.survives.image=true", crashes=1, replicas=2)
    assert safe and not safe.is_lossy and safe.changes == ()
    assert max(map(len, str(safe).splitlines())) <= 80
    answer = asked("4.1", "acks=all", crashes=1, max_leader_epoch=1)
    lost = answer.parts[0].judged.lost
    assert answer.is_lossy and {cell.mark for cell in lost} == {MARK}
    assert words(answer)["acknowledged records"] == f"lost in 10 steps ({MARK})"
    assert "Catalogue 37" in answer.known
    told = {tried.change.words: tried.change.tier for tried in answer.changes}
    assert told["the fix of finding 0002"] is Tier.UNRELEASED
    text = " ".join(str(answer).split())
    assert "the fix of finding 0002, in no release (in the model pending.isr" in text
    assert not any(known.case.startswith("37-") for known in answer.beyond)
    assert any(known.case.startswith("36-") for known in answer.beyond)
    for trace in answer.traces:
        check_trace(trace)


def test_leaders_with_zookeeper_read_no_image_of_what_they_were_answered():
    for kafka, mode, is_finer in (
        ("2.1", None, False), ("3.2", None, False), ("3.9", "zookeeper", False),
        ("3.3", None, True), ("4.3", None, True),
    ):  # fmt: skip
        cluster = describe_cluster(kafka, settings=TWO, mode=mode)
        choice = choice_of(cluster, Faults({"crashes": 1}))
        assert (finer_of_the_grid().of(choice) is not None) is is_finer


@pytest.mark.slow
def test_every_change_that_is_told_is_safe_at_the_same_bounds():
    answer = asked("4.1", "acks=1", crashes=1, replicas=2)
    for tried in answer.changes:
        assert tried.change.choice.bounds == answer.parts[0].judged.choice.bounds
        again = judge_losses(tried.change.choice, Allowance(NO_LIMIT, STATES), finer=False)
        assert all(is_safe(cell) for cell in again.losses)
    orders = [tried.order for tried in answer.changes]
    assert orders == sorted(orders)


@pytest.mark.nightly("ten seconds; the grid of guarantees has these cells")
def test_more_in_sync_replicas_cost_writes_after_fewer_faults():
    answer = asked("4.1", "min.insync.replicas=1", power_losses=1, replicas=2)
    costs = {tried.change.words: tried.costs for tried in answer.changes}
    assert costs["log.flush.interval.messages=1"] == ()
    (cost,) = costs["min.insync.replicas=2"]
    assert "writes with acks=all" in cost and "after 1 fault until a broker starts" in cost
    assert answer.changes[0].change.words == "log.flush.interval.messages=1"
    assert answer.changes[0].cost.endswith("throughput and latency are not measured")


@pytest.mark.nightly("ten seconds; the model's test of racks loses the same")
def test_a_rack_with_two_of_three_replicas_loses_what_only_they_had():
    lost, told = prevented("4.1", "min.insync.replicas=2", racks="a,a,b", rack_failures=1)
    assert {c.column.name: c.words for c in lost}["a copy on some disk"] == "gone in 7 steps"
    assert {"min.insync.replicas=3", "a rack for each replica"} <= told.keys()
    assert not any("racks" in each for each in told)


@pytest.mark.nightly(
    "half a minute; docs/ask.md has another upgrade, which is asked on every change"
)
def test_an_upgrade_and_a_feature_close_the_loss_of_the_last_replica_standing():
    answer = asked("3.9", "min.insync.replicas=2", power_losses=1)
    told = {tried.change.words: tried.change for tried in answer.changes}
    assert told["upgrade to 4.1"].tier is Tier.UPGRADE
    assert "eligible.leader.replicas.version=1; known bugs with it: 0003 to" in (
        told["upgrade to 4.1"].about
    )
    assert "upgrade to 4.0" not in told and "eligible.leader.replicas.version=1" not in told
    newer = asked("4.0", "min.insync.replicas=2", power_losses=1)
    tiers = {tried.change.words: tried.change.tier for tried in newer.changes}
    assert tiers["eligible.leader.replicas.version=1"] is Tier.FEATURE


@pytest.mark.slow
def test_a_change_that_only_loses_another_way_is_not_told():
    """Finding 0001: with three replicas in sync the same loss takes another way."""
    _, told = prevented("4.3", "min.insync.replicas=2", preferred_elections=3)
    ((words, tried),) = told.items()
    assert (words, tried.change.tier) == ("the fix of finding 0001", Tier.UNRELEASED)
    assert tried.is_safe


@pytest.mark.slow
def test_the_row_is_that_of_the_grid():
    """The searches of the stored grid, asked for in an operator's words."""
    stored = {}
    lines = (COUNTEREXAMPLES / "matrix" / "guarantees.jsonl").read_text().splitlines()
    for line in lines:
        entry = json.loads(line)
        stored[entry["job"].partition(" --property")[0]] = entry["result"]["properties"]
    sizes = {"log_size": 2, "max_records": 2, "max_leader_epoch": 4}
    for kafka, settings, faults in [
        ("4.1", {"acks": "1", **TWO}, {"crashes": 1}),
        ("4.1", {"acks": "all", "min.insync.replicas": "1"}, {"power_losses": 1}),
        ("4.3", {"acks": "all", **TWO}, {"crashes": 1}),
    ]:
        given = {"unclean.leader.election.enable": "false", **settings}
        choice = choice_of(describe_cluster(kafka, settings=given), Faults(faults, sizes=sizes))
        found = {
            key.strip(): value
            for key, value in stored.items()
            if _is_same(shlex.split(key), choice)
        }
        assert found, (kafka, settings, faults)
        judged = judge_losses(choice, Allowance(NO_LIMIT, STATES), finer=False)
        ours = {cell.column.properties[0]: cell.found["depth"] for cell in judged.lost}
        for properties in found.values():
            for name, result in properties.items():
                known = result["verdict"] == "violated"
                assert (name in ours) is known
                assert not known or ours[name] == result["depth"]


def _is_same(arguments, choice):
    """The arguments of `explore` choose the same model."""
    bounds, settings, preset = {}, {}, ""
    for option, value in zip(arguments[1::2], arguments[2::2], strict=True):
        if option == "--set":
            name, _, text = value.partition("=")
            settings[name] = text
        elif option == "--preset":
            preset = value
        else:
            bounds[option.removeprefix("--").replace("-", "_")] = int(value)
    other = Choice("kafka", preset, settings, bounds)
    return preset == choice.preset and other.model.identity == choice.model.identity


def test_a_fix_in_no_release_comes_last_whatever_a_setting_costs():
    judged: Any = None
    changes = [
        Tried(Change("a fix", Tier.UNRELEASED, judged), judged, ()),
        Tried(Change("a setting", Tier.SETTING, judged), judged, ("writes refused",)),
        Tried(Change("a flush", Tier.SETTING, judged, waits=True), judged, ()),
        Tried(Change("a feature", Tier.FEATURE, judged), judged, ()),
    ]
    told = [tried.change.words for tried in sorted(changes, key=lambda one: one.order)]
    assert told == ["a feature", "a flush", "a setting", "a fix"]
    text = list(listed([(Tier.UNRELEASED, "the fix of finding 0002")], ""))
    assert text == ["no setting and no release was found that prevents the loss",
                    "  only the fix of finding 0002"]  # fmt: skip


def test_a_feature_is_told_with_the_findings_that_need_it_and_that_the_release_has():
    def bugs(preset):
        return known_bugs(KafkaSettings, ELR, as_text(KAFKA.model({}, None, preset).settings))

    assert bugs("kafka-4.1").words.startswith("known bugs with it: 0003 to 0007, 0011, 0014")
    assert bugs("kafka-4.3").words.startswith("known bugs with it: 0004 to 0007, 0011, 0014")
    assert bugs("kafka-fixed").words == bugs("kafka-fixed").stops == ""


def test_a_change_that_costs_nothing_still_names_the_known_bugs_that_stop_a_partition():
    """A search meets only those that the faults of its question lead to."""
    judged: Any = None
    bugs = KnownBugs((3, 6, 11, 18))
    cost = Tried(Change("ELR", Tier.FEATURE, judged, bugs=bugs), judged, ()).cost
    assert cost == (
        "costs no availability under these faults; known bugs that can leave a partition without "
        "a leader: 0006, 0011 and 0018"
    )
    setting = Change("acks=all", Tier.SETTING, judged)
    assert Tried(setting, judged, ()).cost == "costs no availability"


# --- stops ---------------------------------------------------------------------------------------


@cache
def outage(name, settings, **faults):
    given = {"followers.keep.up": "true", **dict(part.split("=") for part in settings.split())}
    choice = choice_of(describe_cluster("4.1", settings=given), Faults(faults, sizes=TINY))
    return outages(choice, [name], Limits())[name]


@pytest.mark.slow
def test_a_stop_is_as_bad_as_its_worst_state():
    writes = "leader_takes_writes"
    assert outage(writes, "min.insync.replicas=1", crashes=1) == NONE
    mild = outage(writes, "min.insync.replicas=2", crashes=1)
    assert mild.ends is Ends.BY_ITSELF and mild.steps > 0
    harder = outage(writes, "min.insync.replicas=3", crashes=1)
    assert harder.ends is Ends.WITH_A_RESTART and harder.faults == 1
    assert outage(writes, "min.insync.replicas=2", crashes=2).faults == 2
    assert harder.is_worse_than(mild) and mild.is_worse_than(NONE)
    assert harder.is_worse_than(outage(writes, "min.insync.replicas=2", crashes=2))
    assert not mild.is_worse_than(harder) and not harder.is_worse_than(harder)


def test_of_two_stops_the_worse_takes_more_to_end_or_comes_after_fewer_faults():
    by_itself = Outage(Ends.BY_ITSELF, 9, 1)
    after_two, after_one = (Outage(Ends.WITH_A_RESTART, 1, faults) for faults in (2, 1))
    for_good = Outage(Ends.NOT_WITHIN_BOUNDS, None, 3)
    order = [NONE, by_itself, after_two, after_one, for_good]
    for place, one in enumerate(order):
        assert [one.is_worse_than(other) for other in order] == [k < place for k in range(5)]
    assert not by_itself.is_worse_than(Outage(Ends.BY_ITSELF, 3, 2))


@pytest.mark.nightly("a third of a minute; how long a stop lasts is held by smaller answers")
def test_what_no_broker_ends_is_for_good():
    """Finding 0006: offline for good with every broker back, until an operator forces a leader."""
    settings = "min.insync.replicas=2 min.insync.replicas.later=1"
    found = outage("live_replicas_have_a_leader", settings, shutdowns=3, min_isr_changes=1)
    assert found.ends is Ends.NOT_WITHIN_BOUNDS and found.steps is None
    assert "for good" in found.words
    assert found.is_worse_than(outage("leader_takes_writes", "min.insync.replicas=2", crashes=2))
    kept = f"{settings} min.isr.change.keeps.elr=true"
    assert outage("live_replicas_have_a_leader", kept, shutdowns=3, min_isr_changes=1) == NONE


# --- limits --------------------------------------------------------------------------------------


def test_without_time_nothing_is_claimed():
    answer = highwater.ask("4.1", settings=TWO, crashes=1, max_seconds=0)
    assert not answer and not answer.is_lossy and not answer.is_decided
    assert "not searched: time ran out" in str(answer) and "not all states" in str(answer)
    data = as_data(answer)
    assert not data["decided"] and {c["verdict"] for c in data["parts"][0]["losses"]} == {"unknown"}


def test_parts_of_a_budget_end_with_the_whole():
    whole = Allowance(100.0, STATES)
    part = whole.part(2)
    assert 40 < part.left <= 50
    whole.end()
    assert part.left == 0 == whole.left


def test_properties_that_are_judged_exist():
    from checker.kafka.guarantees.verdicts import LOSSES, READS, STOPS
    from model.kafka.protocol import KAFKA

    names = [name for column in (*LOSSES, READS, *STOPS) for name in column.properties]
    assert len(choose_properties(KAFKA, names)) == len(names) == len(set(names))
