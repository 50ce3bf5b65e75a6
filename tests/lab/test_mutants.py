"""Mutants: small changes of a protocol, each noticed by something, equivalent, or explained."""

from __future__ import annotations

import functools
import itertools
import json
import re
import subprocess
import tomllib
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from checker.commands.cli import highwater, run
from checker.core.engines.agreement import require_agreement
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.exits import Exit
from checker.core.search.limits import Limits
from checker.lab.experiments.kill_matrix import REASONS, Question, sweep_of
from checker.lab.experiments.kill_table import read_table
from checker.lab.experiments.mutants import Judge, Kind, Outcome, mutants
from model.language import require
from model.language.declare.settings import as_text
from model.language.graph import Infix
from model.language.graph.nodes import COMMUTATIVE, Op, intern
from model.protocols import PROTOCOLS, protocol_named
from properties import promised_properties, properties_of
from tests.support.lab import Lab, protocol_of
from tests.support.processes import highwater_command
from tests.support.tiers import first_and_slow, nightly
from tests.support.variants import random_states, tiny, walked_states

KIP320 = protocol_named("kip320")
SMALL = KIP320.model({"log_size": 1, "max_records": 1, "max_leader_epoch": 1})
STORED = Path(__file__).parents[2] / "counterexamples" / "mutants"


@functools.cache
def judge(**how):
    return Judge(SMALL, properties_of(KIP320), **how)


def judged(name: str, **how):
    """The fate of the mutant with that name, at small bounds."""
    (mutant,) = [m for m in mutants(SMALL) if m.name == name]
    return judge(**how).judge(mutant)


@pytest.mark.parametrize("name", ["kip320", "async_isr"])
def test_mutants_have_names_of_their_own_and_each_changes_something(name):
    model = tiny(name)
    found = mutants(model)
    captured = {action.name: action for action in model.captured}
    assert len({mutant.name for mutant in found}) == len(found)
    for mutant in found:
        assert mutant.settings or mutant.captured != captured[mutant.subject], mutant.name


@pytest.mark.parametrize("name", first_and_slow("async_isr", "kip320"))
def test_weaker_guards_enable_more_and_stronger_ones_less(name):
    model = tiny(name)
    states = random_states(model, 300, 1) + walked_states(model, 60, 2)
    engine = VectorisedEngine(model)
    words = engine.layout.pack(states)
    usual = engine.enabled(words)
    changed = 0
    for mutant in mutants(model):
        if mutant.kind not in (Kind.WEAKEN, Kind.STRENGTHEN):
            continue
        assert mutant.captured is not None
        actions = model.ground_actions_with({mutant.subject: mutant.captured})
        for number, found in VectorisedEngine(model, actions).enabled(words).items():
            more, less = (found, usual.get(number, found & False))
            if mutant.kind is Kind.STRENGTHEN:
                more, less = less, more
            assert not (less & ~more).any(), mutant.name
            changed += int((less != more).any())
    assert changed


def test_a_guard_against_a_full_domain_is_missed_at_once():
    fate = judged("controller_elect_leader: drop next_leader_epoch <= max_leader_epoch")
    assert (fate.outcome, set(fate.killers)) == (Outcome.KILLED, {"domain"})


def test_electing_outside_the_isr_is_noticed_by_the_properties():
    fate = judged("controller_elect_leader: drop quorum.isr contains leader")
    assert fate.killers["leader_in_isr"] == 2


def test_a_lost_step_is_noticed_by_witnesses_and_coverage():
    fate = judged("become_leader: drop the new replicas.leader[leader]")
    assert fate.killers["a_record_commits"] is None
    assert "coverage" in fate.killers


def test_a_redundant_guard_is_equivalent():
    fate = judged("follower_replicate: drop leader = replicas.leader[leader]")
    assert fate.outcome is Outcome.EQUIVALENT


def test_an_effect_that_is_there_already_is_equivalent():
    """The smaller of the two is the follower's HW: KIP-320 cuts nothing below it."""
    fate = judged("become_follower: drop the new replicas.high_watermark[follower]")
    assert fate.outcome is Outcome.EQUIVALENT
    fate = judged("follower_replicate: drop the new replicas.high_watermark[follower]")
    assert fate.outcome is Outcome.SURVIVED


def test_a_step_that_changes_nothing_is_a_step_more():
    fate = judged("leader_shrink_isr: drop replicas.isr[leader] contains follower")
    assert fate.outcome is Outcome.SURVIVED
    assert fate.states == judge().original.distinct_states


@pytest.mark.slow
def test_what_no_state_of_the_model_tells_apart_a_search_would_not_either(monkeypatch):
    """Else `_changes_nothing` answers without a search. Each is searched here."""
    some = [m for m in mutants(SMALL) if not m.settings][::5]
    told = [judge().judge(mutant) for mutant in some]
    assert {fate.outcome for fate in told} >= {Outcome.EQUIVALENT, Outcome.SURVIVED}

    monkeypatch.setattr(Judge, "_changes_nothing", lambda *_: False)

    assert [judge().judge(mutant) for mutant in some] == told


def test_a_search_that_is_cut_off_says_nothing():
    fate = judged("leader_write: drop the new next_record_id", limits=Limits(states=50))
    assert fate.outcome is Outcome.UNKNOWN


@pytest.mark.slow
def test_to_end_a_search_at_the_first_violation_changes_no_outcome():
    for name in (
        "controller_elect_leader: drop quorum.isr contains leader",
        "become_follower: drop the new replicas.high_watermark[follower]",
        "follower_replicate: drop the new replicas.high_watermark[follower]",
    ):
        whole, first = judged(name), judged(name, first=True, symmetry=True)
        assert first.outcome is whole.outcome
        earliest = min((depth or 99 for depth in whole.killers.values()), default=0)
        assert set(first.killers.values()) <= {None, earliest}
        assert first.killers.items() <= whole.killers.items()


def turned(node, operators):
    """The same expression, these operators with their arguments in the other order."""
    args = tuple(turned(arg, operators) for arg in node.args)
    if node.op in operators:
        args = args[::-1]
    return intern(node.op, args, node.sort, node.data)


BY_AGE = frozenset({Op.EQ, Op.MIN, Op.MAX})
"""The operators whose arguments the graph sorts by which of them was captured first."""


@pytest.mark.parametrize("name", first_and_slow("kip320", "async_isr", "kafka"))
def test_names_do_not_depend_on_the_order_of_arguments(name):
    """That order comes from what was captured before in the process."""
    model = tiny(name) if name != "kafka" else protocol_named(name).model({}, {})
    guards = [guard for action in model.captured for guard in action.guards]
    different = [guard for guard in guards if turned(guard, COMMUTATIVE) is not guard]
    assert len(different) > 3
    for guard in different:
        assert Infix().words(turned(guard, COMMUTATIVE)) == Infix().words(guard)
    names = [mutant.name for mutant in mutants(model)]
    captured = [
        replace(
            action,
            guards=tuple(turned(guard, BY_AGE) for guard in action.guards),
            writes=tuple(replace(w, value=turned(w.value, BY_AGE)) for w in action.writes),
        )
        for action in model.captured
    ]
    other = protocol_named(name).model(model.bounds, as_text(model.settings))
    other.__dict__["captured"] = captured
    assert [mutant.name for mutant in mutants(other)] == names


@pytest.mark.slow
def test_the_command_names_survivors_without_a_reason_and_fails(capsys, tmp_path):
    small = ["--replicas", "2", "--max-offset", "1", "--max-version", "1"]
    command = ["mutate", "async_isr", *small, "--store", str(tmp_path / "results")]
    status = run(highwater, [*command, "--json"])
    data = json.loads(capsys.readouterr().out)
    assert status == Exit.VACUOUS
    assert data["unexplained"]
    outcomes = {mutant["outcome"] for mutant in data["mutants"]}
    assert outcomes <= {"killed", "equivalent", "survived"}
    compared = data["cross_check"]
    assert compared["tried"] > compared["taken"] > compared["states"] > compared["claims"] > 0
    assert run(highwater, [*command, "--no-cross-check"]) == Exit.VACUOUS
    assert "\nnot checked against the reference engine\n" in capsys.readouterr().out


@pytest.mark.slow
def test_the_unchanged_model_is_cross_checked_and_mutants_are_not(monkeypatch):
    compared = []

    def noting(model, properties, engine):
        compared.append(engine)
        return require_agreement(model, properties, engine)

    monkeypatch.setattr("checker.core.search.explore.require_agreement", noting)
    unasked, asked = (Judge(SMALL, properties_of(KIP320), cross_check=c) for c in (False, True))
    names = {
        "settings: fence_fetch=false",
        "controller_elect_leader: drop quorum.isr contains leader",
    }
    for who in (unasked, asked):
        fates = [who.judge(mutant) for mutant in mutants(SMALL) if mutant.name in names]
        assert len(fates) == 2
        assert {fate.outcome for fate in fates} <= {Outcome.KILLED, Outcome.SURVIVED}
        assert all(fate.states != 0 for fate in fates)
    assert [engine.is_of_model for engine in compared] == [True]
    assert unasked.original.agreement is None
    assert asked.original.agreement is not None


@pytest.mark.slow
def test_how_many_processes_judge_makes_no_difference():
    model = tiny("async_isr")
    question = Question.about(model, properties_of(model.protocol))
    one, two = (sweep_of(question, workers) for workers in (0, 2))
    assert one.run()
    assert two.run()
    assert one.results == two.results


def test_a_mutant_may_change_what_the_protocol_leaves_as_it_is():
    def rest(s: Lab) -> None:
        require(s.n < 2)
        s.n = s.n + 1
        s.flag = False

    model = protocol_of(rest).model({"nodes": 1, "rows": 1})
    assert "flag" in model.unchanging
    (mutant,) = [m for m in mutants(model) if m.name == "rest: the new flag negated"]
    assert Judge(model, ()).judge(mutant).outcome is Outcome.SURVIVED


def test_every_recorded_reason_is_of_a_protocol_that_exists():
    entries = tomllib.loads(REASONS.read_text(encoding="utf-8"))["survivor"]
    assert entries
    for entry in entries:
        assert set(entry["protocols"]) <= set(PROTOCOLS)
        assert entry["reason"].endswith(".")


def test_reasons_of_transactions_excuse_no_mutant_that_is_noticed_and_each_is_of_one_that_is_not():
    """A reason that is of all mutants of an action would excuse what a later change lets live."""
    rows = read_table(STORED / "kill-matrix-kafka_transactions.md").rows
    alive = {name for name, cells in rows.items() if str(Outcome.SURVIVED) in cells}
    unnoticed = {str(Outcome.SURVIVED), str(Outcome.EQUIVALENT)}
    noticed = [name for name, cells in rows.items() if not unnoticed & cells.keys()]
    entries = tomllib.loads(REASONS.read_text(encoding="utf-8"))["survivor"]
    patterns = [e["mutant"] for e in entries if e["protocols"] == ["kafka_transactions"]]
    assert len(noticed) > len(alive) > len(patterns) / 2 > 0
    for pattern in patterns:
        assert any(fnmatchcase(name, pattern) for name in alive), pattern
        assert not [name for name in noticed if fnmatchcase(name, pattern)], pattern


def test_each_reason_of_the_tiered_model_is_of_a_few_mutants_that_survive():
    page = (STORED / "kill-matrix-kafka_tiered.md").read_text(encoding="utf-8")
    alive = re.findall(r"^- `(.*)`$", page, flags=re.MULTILINE)
    entries = tomllib.loads(REASONS.read_text(encoding="utf-8"))["survivor"]
    patterns = [e["mutant"] for e in entries if e["protocols"] == ["kafka_tiered"]]
    assert len(alive) > 100
    for pattern in patterns:
        assert 0 < sum(fnmatchcase(name, pattern) for name in alive) <= 5, pattern


def command_of(page: str) -> list[str]:
    """The arguments of the command that the page says it was made by."""
    found = re.search(r"`highwater (mutate .*) --markdown \S*`", (STORED / page).read_text())
    assert found is not None
    return found[1].split()


@functools.cache
def judge_of_kafka():
    """Who judges the mutants of the page about the broker model, as its command says."""
    words = command_of("kill-matrix-kafka.md")
    flags = {word[2:] for word in words if word in ("--first", "--symmetry")}
    assert flags == {"first", "symmetry"}
    pairs = dict(itertools.pairwise(words))
    settings = dict(w.split("=") for before, w in itertools.pairwise(words) if before == "--set")
    kafka = protocol_named("kafka")
    bounds = {b.name: int(pairs[f"--{b.name.replace('_', '-')}"]) for b in kafka.bounds}
    model = kafka.model(bounds, settings)
    return Judge(model, promised_properties(model), first=True, symmetry=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *first_and_slow(
            "settings: maximal.isr=false",
            "leader_apply_metadata: drop the new records.acknowledged[records5]",
            "producer_send: drop next_record < max_records",
            "follower_fetch_record: drop the new brokers.high_watermark[follower]",
            "controller_unfence_broker: drop brokers.up[broker]",
        ),
    ],
)
def test_the_page_of_the_broker_model_says_of_a_mutant_what_a_search_says(name):
    judge = judge_of_kafka()
    (mutant,) = [m for m in mutants(judge.model) if m.name == name]
    survives = judge.judge(mutant).outcome is Outcome.SURVIVED
    page = (STORED / "kill-matrix-kafka.md").read_text()
    assert (f"- `{name}`\n" in page) is survives


def test_the_overview_in_the_docs_counts_what_the_pages_count():
    overview = (STORED.parents[1] / "docs" / "kill-matrices.md").read_text()
    for page in STORED.glob("kill-matrix-*.md"):
        tally = re.search(
            r"^(\d+) killed, (\d+) equivalent, (\d+) survived, 0 unknown; (\d+) in all",
            page.read_text(),
            re.MULTILINE,
        )
        assert tally is not None
        *parts, whole = (f"{int(number):,}" for number in tally.groups())
        row = rf"{re.escape(page.name)}\) \| .* \| {whole} \| (.*) \|"
        assert re.findall(row, overview) == [" | ".join(parts)]


def test_the_pages_explain_every_survivor():
    for page in STORED.glob("kill-matrix-*.md"):
        text = page.read_text()
        assert "Not explained." not in text
        assert "0 unknown" in text
        assert not re.search(r"\| survived \| [\d,]+ \|\s+\|", text)


@pytest.mark.parametrize(
    "page",
    [
        nightly("158 mutants take two minutes", "kill-matrix-kip320.md"),
        nightly("the mutants of the broker model take minutes", "kill-matrix-kafka.md"),
        nightly("742 mutants take a minute", "kill-matrix-kafka_group.md"),
        nightly("702 mutants take a minute", "kill-matrix-kafka_group-classic.md"),
        nightly("910 mutants take more than a minute", "kill-matrix-kafka_producer.md"),
        nightly("1,318 mutants take minutes", "kill-matrix-kraft.md"),
        nightly("625 mutants take half a minute", "kill-matrix-kafka_tiered.md"),
        nightly("1,866 mutants take minutes", "kill-matrix-kafka_transactions.md"),
    ],
)
def test_a_kill_matrix_is_the_one_in_the_docs_and_explains_every_survivor(tmp_path, page):
    anew = tmp_path / page
    command = highwater_command(*command_of(page))

    done = subprocess.run(
        [*command, "--markdown", anew, "--json"], capture_output=True, text=True, check=False
    )

    assert done.returncode == Exit.OK, done.stderr
    data = json.loads(done.stdout)
    assert data["unexplained"] == []
    assert anew.read_text(encoding="utf-8") == (STORED / page).read_text(encoding="utf-8")
    if "kip320" in page:
        settings = [m for m in data["mutants"] if m["kind"] == str(Kind.SETTING)]
        assert {m["mutant"]: m["killers"] for m in settings} == {
            "settings: fence_truncation=false": {"weak_isr": 13, "strong_isr": 13},
            "settings: fence_fetch=false": {"weak_isr": 12},
            "settings: fence_high_watermark=false": {"weak_isr": 12, "strong_isr": 12},
            "settings: wait_for_epoch=false": {"weak_isr": 13, "strong_isr": 11},
        }
