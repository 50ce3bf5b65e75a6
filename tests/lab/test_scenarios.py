"""Scenarios: the stored ones hold, and whatever does not hold is noticed, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.lab.experiments.scenarios import read_scenario, read_scenarios, replay
from model.language.errors import RejectedError, UsageError
from tests.support.tiers import slow_but

FOLDER = Path(__file__).parents[2] / "counterexamples" / "scenarios"
RUNS = [(s, run) for s in read_scenarios(FOLDER) for run in s.runs]

START = """
title = "t"
[names]
blue = "record 0"
leader = "b0"
[[run]]
name = "r"
protocol = "kafka"
events = '''
{events}
'''
"""


NAMES = [f"{s.name}: {r.name}" for s, r in RUNS]


@pytest.mark.parametrize(("scenario", "run"), slow_but(RUNS[::5], RUNS), ids=NAMES)
def test_every_stored_scenario_goes_as_it_says(scenario, run):
    assert replay(run).depth == sum(not line.word for line in run.lines)


def last_state(run):
    """Where the run ends; nowhere if an event or expectation does not hold."""
    try:
        return replay(run).states[-1]
    except RejectedError:
        return None


@pytest.mark.parametrize(("scenario", "run"), RUNS[::5], ids=NAMES[::5])
def test_a_scenario_with_an_event_left_out_does_not_end_the_same_way(scenario, run):
    events = [line for line in run.lines if not line.word]
    whole = replay(run).states[-1]
    kept = tuple(line for line in run.lines if line is not events[0])
    shorter = type(run)(run.name, run.model, kept, run.names)
    assert last_state(shorter) != whole


def played(tmp_path, events):
    path = tmp_path / "story.toml"
    path.write_text(START.format(events=events))
    return replay(read_scenario(path).runs[0])


@pytest.mark.parametrize(
    "events",
    [
        "producer_send leader\nexpect leader.log = blue",
        "expect controller.isr = {b2, b0, b1}",
        "expect controller.leader = leader",
        "producer_send b0\nexpect offset 0.exposed = none\nexpect blue.acknowledged = false",
        "refused producer_send b1\nenabled producer_send b0\nholds one_leader_per_epoch",
        "producer_send b0\nholds epochs_grow  # of a step",
    ],
)
def test_true_expectations_pass(tmp_path, events):
    played(tmp_path, events)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ("producer_send b1", "line 1: producer_send b1 is not enabled here"),
        ("expect b0.high_watermark = 1", "b0.high_watermark is 0, not 1"),
        ("producer_send b0\nexpect b0.log = none", "line 2: b0.log is 0, not none"),
        ("expect controller.isr = {b0}", r"controller.isr is \{b0, b1, b2\}, not"),
        ("refused producer_send b0", "producer_send b0 is not refused here"),
        ("enabled producer_send b1", "producer_send b1 is not enabled here"),
        ("violated one_leader_per_epoch", "one_leader_per_epoch is not as expected"),
    ],
)
def test_false_expectations_are_rejected_with_their_line(tmp_path, events, message):
    with pytest.raises(RejectedError, match=message):
        played(tmp_path, events)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ("produce b0", "no action is called 'produce'"),
        ("producer_send", "producer_send takes LEADER, not 0 arguments"),
        ("producer_send b9", "no member is called 'b9'"),
        ("broker_crash b0 9", "an argument is out of range"),
        ("broker_crash b0 x", "'x' is not a number"),
        ("expect b0.colour = red", "no variable is called 'b0.colour'"),
        ("expect b0.up", "write `expect what = value`"),
        ("holds nonsense", "no property of kafka is called 'nonsense'"),
        ("holds epochs_grow", "epochs_grow is about steps"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error_with_its_line(tmp_path, events, message):
    with pytest.raises(UsageError, match=message):
        played(tmp_path, events)


def test_a_file_without_runs_is_a_usage_error(tmp_path):
    path = tmp_path / "story.toml"
    path.write_text("title = 't'")
    with pytest.raises(UsageError, match="no 'run'"):
        read_scenario(path)
