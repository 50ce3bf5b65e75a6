"""Explanations: a stored case is an instance of itself, prevented by its fix where that acts."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.liveness.search import LivenessSearch
from checker.core.search.allowance import Allowance
from checker.core.traces.trace import build_trace
from checker.core.verdict import Verdict
from checker.lab.experiments.cases import read_cases, stored_case
from checker.lab.experiments.choices import steps_named
from checker.lab.experiments.liveness_table import lasso_trace
from checker.lab.explanations.candidates import Candidate, Kind, candidates, links_of
from checker.lab.explanations.effects import Effects, settings_read
from checker.lab.explanations.explanation import as_data, explain
from checker.lab.explanations.moments import decision
from checker.lab.explanations.preventions import recognised
from checker.lab.explanations.remedies import remedy_words
from checker.lab.explanations.searches import STATES, searchable, searched
from model.kafka.protocol import KAFKA
from model.language.declare.settings import as_text, describe
from model.language.naming import instance_words
from model.own_protocols import own_protocol
from model.protocols import PROTOCOLS
from properties import choose_liveness
from tests.support.own import write_counter
from tests.support.tiers import first_and_slow, nightly

ROOT = Path(__file__).parents[2]
CASES = read_cases(ROOT / "counterexamples")
GOLDEN = {
    row["case"]: row
    for row in csv.DictReader(
        (ROOT / "tests" / "golden" / "explanations.csv").read_text().splitlines()
    )
}


def trace_of(name: str) -> Any:
    found = stored_case(Path(name))
    assert found is not None
    return found.stored_trace()


def explained(trace: Any, **options: Any) -> Any:
    return explain(trace, **options)


def replayed(case: Any) -> Any:
    """What the case's own fix, whole, makes of its steps: whether they all go, and what falls."""
    model = case.fix.model
    engine, states = ReferenceEngine(model), [ReferenceEngine(model).initial()]
    known = {instance_words(model, instance): instance for instance in model.instances}
    for line in case.steps:
        after = engine.step(states[-1], known[line])
        if after is None:
            return len(states)
        states.append(after)
    claim = case.claim
    return None if engine.holds(claim.claim, *states[-claim.frames :]) else "falls"


QUICK = CASES[::24]
SOME_QUICK = [
    case
    if case in QUICK
    else pytest.param(case, marks=pytest.mark.slow)
    if place % 9 == 0
    else nightly("a case is explained as others are", case)
    for place, case in enumerate(CASES)
]
SOME_SEARCHED = [
    case
    if place % 36 == 4 and not case.name.startswith(("17-", "38-", "41-", "86-", "97-", "99-"))
    else nightly("each is a search at a case's bounds", case)
    for place, case in enumerate(CASES)
]


# Every stored case.


def test_the_table_has_every_case():
    assert list(GOLDEN) == [case.name for case in CASES]
    same_run = [name for name, row in GOLDEN.items() if row["step"] == ""]  # the property differs
    assert same_run == [
        "13-a_follower_asks_for_an_epoch_in_vain",
        "76-an_owners_commit_is_refused",
        "130-a_read_beyond_the_epoch",
        "a_read_to_the_end_of_the_cached_epoch",
        "no_epoch_is_left_to_fence",
        "103-a_snapshot_is_refused",
        "107-a_removed_controller_has_nothing_to_go_back_to",
        "114-a_leader_refuses_a_lower_fetch_offset",
        "125-a_leader_without_known_endpoints",
        "async_isr-without_maximal_isr",
    ]


@pytest.mark.parametrize("case", SOME_QUICK, ids=lambda case: case.name)
def test_a_stored_case_is_an_instance_of_itself_and_its_fix_prevents_it_at_the_right_step(case):
    trace = case.stored_trace()
    found = explained(trace, search=False)
    first = found.instance_of
    assert first is found.preventions[0]
    assert first.candidate.entries[0].case == case.name
    assert first.candidate.entries[0].source == case.source
    if first.candidate.kind is Kind.PROTOCOL:
        assert first.candidate.model.protocol.name == case.fix.protocol
    else:
        fixed = as_text(case.fix.model.settings)
        assert all(fixed[name] == value for name, value in first.candidate.settings.items())
    mends = [p for p in found.preventions if case.name in (e.case for e in p.candidate.entries)]
    whole = max(mends, key=lambda prevention: len(prevention.candidate.settings)).effect
    assert replayed(case) == (whole.impossible.step if whole.impossible else None)
    assert whole.holds is (whole.impossible is None)
    effect = first.effect
    told = [effect.step, *(one and one.step for one in (effect.otherwise, effect.impossible))]
    change, *steps = list(GOLDEN[case.name].values())[1:]
    assert (first.candidate.words, told) == (
        change,
        [int(step) if step else None for step in steps],
    )
    assert found.why.needless == ()  # it is a shortest one
    if case in QUICK:  # it is recognised though nothing else is tried
        alone = recognised(trace)
        assert alone is not None and alone.candidate.entries[0].case == case.name
        assert (alone.effect.step, alone.candidate.words) == (effect.step, first.candidate.words)


def test_a_trace_of_no_entry_is_not_recognised():
    model = PROTOCOLS["kip320"].model()
    assert recognised(build_trace(model, [model.instances[0]])) is None


@pytest.mark.parametrize(
    ("name", "setting", "words"),
    [
        (
            "kafka", "hw.frozen.below.min.isr=true",
            "in Kafka since 3.7.0: no HW advance while the ISR is below its minimum",
        ),
        (
            "kafka", "reset.follower.leo.every.epoch=true",
            "by the fix of finding 0001, in no release: a leader forgets its followers' LEOs at "
            "every new leader epoch",
        ),
        ("kafka", "acks=all", "by acks=all"),
        ("kafka", "eligible.leader.replicas=true", "by eligible.leader.replicas.version=1"),
        ("kafka", "broker.rack=spread", "by a rack for each replica"),
        ("kafka_group", "offsets.expire.in.use=false",
         "in Kafka since 2.1.0: offsets.expire.in.use=false"),
        ("kafka_producer", "epoch.bump=after_all",
         "by the fix of KAFKA-14034, in no release: epoch.bump=after_all"),
        ("async_isr", "maximal_isr=true", "by maximal_isr=true"),
    ],
)  # fmt: skip
def test_what_prevents_an_entry_is_told_by_release_by_configuration_or_by_fix(name, setting, words):
    settings = dict([setting.split("=")])
    model = PROTOCOLS[name].model({}, settings)
    assert remedy_words(Candidate(settings, model, Kind.FIX)) == words


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_case_is_about_is_linked(case):
    links = links_of(case.source)
    for name in re.findall(r"\b(?:KIP|KAFKA)-\d+\b", case.source):
        assert any(re.search(rf"/{name}\b", link) for link in links), name
    for number in re.findall(r"\b0\d{3}\b", case.source):
        assert any(link.startswith(f"docs/findings/{number}-") for link in links)
    assert all((ROOT / link).is_file() for link in links if not link.startswith("https://"))
    assert not any(" " in link for link in links)


@pytest.mark.slow
@pytest.mark.parametrize("case", SOME_SEARCHED, ids=lambda case: case.name)
def test_a_search_says_that_the_fix_of_a_case_is_safe_at_its_bounds(case):
    trace = case.stored_trace()
    found = explained(trace, search=False)
    mends = [p for p in found.preventions if case.name in (e.case for e in p.candidate.entries)]
    prop: Any = searchable(trace)
    said: list[Any] = [
        searched(p.candidate, prop, Allowance(seconds=240, states=80_000_000)) for p in mends
    ]
    if case.name == "44-the_last_known_leader_without_its_disk":  # two findings: one is not enough
        assert [len(p.candidate.settings) for p in mends] == [1, 2]
        assert said[0].verdict is Verdict.VIOLATED and said[0].depth >= trace.depth - 1
        said = said[1:]
    assert said[0].is_safe, said


# What is tried, and what it does.


@pytest.mark.parametrize("case", first_and_slow("without_fence_fetch-weak_isr", "acks_1"))
def test_settings_that_were_not_read_on_the_way_change_nothing(case):
    trace = trace_of(case)
    read = settings_read(trace)
    everything = {info.field for info in describe(type(trace.model.settings)).values()}
    assert read < everything
    effects = Effects(trace, None)
    skipped = {c.words: c for c in candidates(trace, everything)}.keys() - {
        c.words for c in candidates(trace, read)
    }
    assert skipped
    for candidate in candidates(trace, everything):
        if candidate.words in skipped:
            effect = effects.of(candidate.model)
            assert not effect.prevents and effect.step is None


@pytest.mark.slow
def test_no_change_makes_another_upgrade():
    """With a rule more in it its features would wait: that prevents a trace, and mends nothing."""
    trace = trace_of("90-eligible_leaders_are_switched_on_while_offline")
    everything = {info.field for info in describe(type(trace.model.settings)).values()}
    tried = {candidate.words for candidate in candidates(trace, everything)}
    assert {"last.member.is.last.known.leader=true", "eligible.leader.replicas=true"} < tried
    other = {"truncate.every.epoch": "false"}
    model = KAFKA.model(trace.model.bounds, as_text(trace.model.settings) | other)
    assert Effects(trace, None).of(model).prevents
    assert "truncate.every.epoch=false" not in tried


def test_the_same_bug_under_other_names_and_with_detours_is_the_same_entry():
    case: Any = stored_case(Path("09-joining_below_the_epoch_start"))
    trace = case.stored_trace()
    renamed = [
        line.translate(str.maketrans("12", "21")) if "checkpoint" not in line else line
        for line in case.steps
    ]
    other = build_trace(trace.model, steps_named(trace.model, renamed), case.violates)
    assert other.steps != trace.steps
    first = explained(other, search=False).instance_of
    assert first.candidate.words == "join.isr.from.epoch.start=true"
    assert first.candidate.entries[0].case == case.name
    assert first.effect.step == 10


def test_a_needless_step_that_becomes_impossible_prevents_nothing():
    trace = trace_of("acks_1")
    (detour,) = steps_named(trace.model, ["leader_propose_shrink(leader=b0, follower=b2)"])
    longer = build_trace(trace.model, [detour, *trace.steps], trace.property)
    found = explained(longer, search=False)
    assert found.why.needless == (1,)
    assert as_data(found)["steps"][0]["needed"] is False
    lag = "replica.lag.max.messages=1"  # with it nobody is dropped for being behind in time
    assert lag in found.without_effect
    (candidate,) = (c for c in candidates(longer, settings_read(longer)) if c.words == lag)
    effect: Any = Effects(longer, None).of(candidate.model)
    assert effect.impossible.step == 1


@pytest.mark.slow
def test_a_fix_makes_the_step_impossible_that_its_requirement_is_in():
    found = explained(trace_of("09-joining_below_the_epoch_start"), search=False)
    impossible = found.instance_of.effect.impossible
    file, line = impossible.place
    assert Path(file).name == "alter_partition.py"
    assert "require(" in Path(file).read_text().splitlines()[line - 1]
    assert not impossible.switched_off and impossible.false[0].values
    off = explained(trace_of("25-unclean_election"), search=False).instance_of.effect.impossible
    assert off.switched_off


def test_an_entry_is_not_offered_where_its_bug_is_mended():
    """Catalogue 2 goes from one lookup to several: no fix where a fetch says what diverges."""
    trace = trace_of("36-positions_from_a_missed_epoch")
    tried = candidates(trace, {info.field for info in describe(KAFKA.settings).values()})
    entries = {c.words: [entry.case for entry in c.entries] for c in tried}
    assert entries["truncation=leader_epoch_iterated"] == []
    assert entries["truncation=leader_epoch"] == []
    assert "36-positions_from_a_missed_epoch" in entries["reset.follower.leo.every.epoch=true"]
    offered = {case for names in entries.values() for case in names}
    assert not offered & {"01-truncate_to_high_watermark", "27-last_replica_standing"}


def test_another_protocol_with_the_same_state_may_prevent_a_trace():
    found = explained(trace_of("truncate_to_high_watermark-weak_isr"), search=False)
    words = {p.candidate.words for p in found.preventions}
    assert {"kip320", "kip101", "kip279"} <= words
    unable = explained(trace_of("kip320_first_try-strong_isr"), search=False)
    told: Any = {p.candidate.words: p.effect.impossible for p in unable.preventions}
    assert told["kip101"].words == "kip101 has no such step"


def test_a_search_that_finds_another_way_says_so_and_limits_are_kept():
    trace = trace_of("kip101-weak_isr")
    found = explained(trace, budget=Allowance(seconds=60, states=30_000))
    said = {p.candidate.words: p.search for p in found.preventions}
    assert not said["kip320"].is_safe
    assert said["kip320"].verdict is Verdict.UNKNOWN and "30,000" in said["kip320"].stopped
    assert "too large" in found.decision.left_out
    none = explained(trace, budget=Allowance(0, STATES))
    assert all(p.search is None for p in none.preventions)
    assert none.decision.left_out == "there was no time left"


@pytest.mark.slow
def test_the_moment_is_where_the_state_graph_says_that_a_loss_became_certain():
    trace = trace_of("26-high_watermark_below_min_isr")
    moment = decision(trace, Allowance(60, 20_000))
    assert moment.states == 14_588
    assert moment.risks == (*["possible"] * 5, "certain", "certain", "lost")
    assert moment.last_avoidable == 4
    assert trace.steps[moment.last_avoidable].action.name == "broker_lose_power"
    assert "20,000" not in moment.left_out
    assert "10,000" in decision(trace, Allowance(60, 10_000)).left_out


@pytest.mark.slow
def test_the_text_is_never_wider_than_asked_but_for_addresses_and_loses_nothing():
    found = explained(trace_of("08-a_missed_epoch_of_the_same_leader"), search=False)
    for width in (40, 80):
        lines = found.text(width).splitlines()
        assert max(len(line) for line in lines if not line.startswith("  https://")) <= width
        assert "".join(" ".join(lines).split()) == "".join(found.text(10_000).split())


def test_a_step_that_differs_only_in_what_no_sentence_tells_leaves_no_empty_part():
    found = explained(trace_of("01-truncate_to_high_watermark"), search=False)
    first = found.preventions[0]
    assert ", differs: " in found.text(10_000)
    untold = replace(first.effect.otherwise, values=(), instead_of=())
    less = replace(first, effect=replace(first.effect, otherwise=untold))
    told = replace(found, preventions=(less,)).text(10_000)
    assert ", differs" in told
    assert "otherwise:" not in told and "instead of ;" not in told


# Traces of other kinds.


def test_a_protocol_of_ones_own_is_explained(tmp_path):
    file = write_counter(tmp_path)
    protocol = own_protocol(str(file))
    model = protocol.model()
    steps = [model.instances[0]] * 2
    trace = build_trace(model, steps, protocol.properties[0].name)
    found = explained(trace)
    assert found.preventions == () and found.without_effect == ()
    assert found.why.failed and found.decision.risks[-1] == "lost"
    assert found.judged.file.endswith("counter.py")
    assert as_data(found)["instance_of"] is None


def test_a_run_for_ever_is_tried_on_other_settings():
    model = PROTOCOLS["kip320"].model({"replicas": 2, "log_size": 1, "max_records": 1})
    promised = choose_liveness(model.protocol, "everybody_is_in_sync")
    result = LivenessSearch(model, (), (promised,), ()).run()
    trace = lasso_trace(model, result.liveness[0])
    found = explained(trace)
    assert found.why.needless is None and found.decision.left_out
    assert all(p.search is None for p in found.preventions)
    assert as_data(found)["steps"][0]["needed"] is None


def test_what_the_reference_engine_does_not_confirm_is_no_explanation():
    trace = trace_of("kip101-weak_isr")
    wrong = replace(trace, states=(trace.states[0], *trace.states[2:], trace.states[-1]))
    with pytest.raises(Exception, match="does something else"):
        explained(wrong, search=False)
