"""Commands compare the captured graph with the functions first, say so, and refuse a difference."""

import pytest

from checker.core.exits import Exit
from model.language import protocol

TINY = ("--replicas", 2, "--max-offset", 1, "--max-version", 1)
COMMANDS = [
    ("explore", "async_isr", *TINY),
    ("simulate", "async_isr", *TINY, "--walks", 10, "--seed", 1),
    ("prove", "async_isr", *TINY),
    ("prove", "async_isr", *TINY, "--bounded", 1),
    ("prove", "async_isr", *TINY, "--unbounded", "--property", "well_formed", "--no-lemmas"),
    ("prove", "async_isr", *TINY, "--cutoff", "replicas"),
    ("infer", "async_isr", *TINY),
]
every_command = pytest.mark.parametrize("arguments", COMMANDS, ids=str)


@every_command
def test_the_report_says_how_much_was_compared(highwater, arguments):
    found = highwater(*arguments, "--json").json["cross_check"]
    assert set(found) == {"states", "tried", "taken", "claims"}
    assert found["tried"] > found["taken"] > found["states"] > 10
    assert found["claims"] > 0


def test_the_text_says_it_too(highwater):
    lines = highwater(*COMMANDS[1], "--quiet").out.splitlines()
    (line,) = [line for line in lines if "checked against" in line]
    said = highwater(*COMMANDS[1], "--json").json["cross_check"]
    assert line == (
        f"checked against the reference engine: {said['states']} states, {said['tried']} steps "
        f"tried, {said['taken']} taken, {said['claims']} claims"
    )


@every_command
def test_a_comparison_that_is_left_out_is_no_secret(highwater, arguments, monkeypatch):
    monkeypatch.setattr("checker.core.engines.agreement.Sample", None)
    ended = highwater(*arguments, "--no-cross-check", "--quiet")
    assert "\nnot checked against the reference engine\n" in ended.out


def test_nor_is_it_where_json_is_asked_for(highwater, monkeypatch):
    monkeypatch.setattr("checker.core.engines.agreement.Sample", None)
    assert highwater(*COMMANDS[0], "--no-cross-check", "--json").json["cross_check"] is None


@every_command
def test_a_difference_is_an_error_and_no_answer(highwater, arguments, monkeypatch):
    monkeypatch.setattr(protocol, "capture_start", lambda *_: ())
    ended = highwater(*arguments, "--quiet")
    assert ended.status == Exit.INTERNAL
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    assert ended.err.startswith("error: start start (model/async_isr/protocol.py:")
    assert "run as Python, " in ended.err
    assert "; as captured, " in ended.err
