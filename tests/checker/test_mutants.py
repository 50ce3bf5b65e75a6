"""Mutants: small changes of a protocol, each noticed by something, equivalent, or explained."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from checker.cli import highwater, run
from checker.engines.vectorised import VectorisedEngine
from checker.exits import Exit
from checker.experiments.kill_matrix import REASONS, kill_matrix
from checker.experiments.mutants import Kind, Outcome, baseline, judge, mutants
from checker.search.explore import Limits
from model.protocols import PROTOCOLS, protocol_named
from properties import properties_of
from tests.support.variants import random_states, tiny, walked_states

KIP320 = protocol_named("kip320")
SMALL = KIP320.model({"log_size": 1, "max_records": 1, "max_leader_epoch": 1})
PAGE = Path(__file__).parents[2] / "docs" / "kill-matrix.md"


@functools.cache
def judged(name: str):
    """The fate of the mutant with that name, at small bounds."""
    properties = properties_of(KIP320)
    original = baseline(SMALL, properties, Limits())
    (mutant,) = [m for m in mutants(SMALL) if m.name == name]
    return judge(SMALL, mutant, properties, original, Limits())


@pytest.mark.parametrize("name", ["kip320", "kip101", "kip320_first_try", "async_isr"])
def test_mutants_have_names_of_their_own_and_each_changes_something(name):
    model = tiny(name)
    found = mutants(model)
    captured = {action.name: action for action in model.captured}
    assert len({mutant.name for mutant in found}) == len(found)
    for mutant in found:
        assert mutant.settings or mutant.captured != captured[mutant.subject], mutant.name


@pytest.mark.parametrize("name", ["kip320", "async_isr"])
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


def test_a_search_that_is_cut_off_says_nothing():
    properties = properties_of(KIP320)
    original = baseline(SMALL, properties, Limits())
    mutant = next(
        m for m in mutants(SMALL) if m.name == "leader_write: drop the new next_record_id"
    )
    fate = judge(SMALL, mutant, properties, original, Limits(states=50))
    assert fate.outcome is Outcome.UNKNOWN


def test_the_command_names_survivors_without_a_reason_and_fails(capsys):
    small = ["--replicas", "2", "--max-offset", "1", "--max-version", "1"]
    status = run(highwater, ["mutate", "async_isr", *small, "--json"])
    data = json.loads(capsys.readouterr().out)
    assert status == Exit.VACUOUS
    assert data["unexplained"]
    outcomes = {mutant["outcome"] for mutant in data["mutants"]}
    assert outcomes <= {"killed", "equivalent", "survived"}


@pytest.mark.slow
def test_how_many_processes_judge_makes_no_difference():
    model = tiny("async_isr")
    one, two = (
        [
            (f.mutant, f.outcome, f.killers, f.states)
            for f in kill_matrix(model, properties_of(model.protocol), processes=count).fates
        ]
        for count in (1, 2)
    )
    assert one == two


def test_every_recorded_reason_is_of_a_protocol_that_exists():
    entries = tomllib.loads(REASONS.read_text(encoding="utf-8"))["survivor"]
    assert entries
    for entry in entries:
        assert set(entry["protocols"]) <= set(PROTOCOLS)
        assert entry["reason"].endswith(".")


@pytest.mark.slow
def test_the_kill_matrix_of_kip320_is_the_one_in_the_docs_and_explains_every_survivor(tmp_path):
    """By the command that the page names: what ran before in a process may turn `or` around."""
    page = tmp_path / "page.md"
    entry = "from checker.cli import main; main()"
    command = [sys.executable, "-c", entry, "mutate", "kip320", "--replicas", "3"]
    command += ["--log-size", "2", "--max-records", "2", "--max-leader-epoch", "2"]

    done = subprocess.run(
        [*command, "--markdown", page, "--json"], capture_output=True, text=True, check=False
    )

    assert done.returncode == Exit.OK, done.stderr
    data = json.loads(done.stdout)
    assert data["unexplained"] == []
    assert page.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
    depths = {m["mutant"]: m["killers"] for m in data["mutants"] if m["kind"] == str(Kind.SETTING)}
    assert depths == {
        "settings: fence_truncation=false": {"weak_isr": 13, "strong_isr": 13},
        "settings: fence_fetch=false": {"weak_isr": 12},
        "settings: fence_high_watermark=false": {"weak_isr": 12, "strong_isr": 12},
        "settings: wait_for_epoch=false": {"weak_isr": 13, "strong_isr": 11},
    }
