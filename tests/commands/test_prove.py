"""`prove` and `infer` say what was proved, with the exit status for it."""

import pytest

from checker.exits import Exit
from checker.traces.itf import read_trace

SMALL = ("--log-size", 2, "--max-records", 2, "--max-leader-epoch", 1)
TINY = ("--replicas", 2, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1)


def test_a_proof_is_reported_with_all_its_obligations(highwater):
    ended = highwater("prove", "kip320", *SMALL, "--property", "strong_isr", "--json")

    assert ended.status == Exit.OK
    data = ended.json
    assert data["verdict"] == "proved"
    assert data["properties"] == ["strong_isr"]
    assert {o["outcome"] for o in data["obligations"]} == {"proved"}
    assert {"initially", "become_follower"} <= {o["action"] for o in data["obligations"]}
    assert data["counterexample"] is None
    assert not any(o["never_enabled"] for o in data["obligations"])


def test_the_text_ends_with_the_verdict(highwater):
    ended = highwater("prove", "kip320", *TINY, "--property", "strong_isr", "--quiet")

    assert ended.status == Exit.OK
    assert ended.out.splitlines()[-1].startswith("proved: ")
    assert ended.err == ""


def test_a_counterexample_to_induction_is_shown_and_stored(highwater, tmp_path):
    options = ("--set", "wait_for_epoch=false", "--trace-dir", tmp_path)

    ended = highwater("prove", "kip320", *SMALL, "--property", "strong_isr", *options)

    assert ended.status == Exit.NOT_INDUCTIVE
    assert "committed is false after leader_expand_isr" in ended.out
    assert "a state that may be unreachable" in ended.out
    (path,) = tmp_path.iterdir()
    assert read_trace(path).property == "committed"


def test_a_solver_without_time_is_unknown(highwater):
    sizes = ("--log-size", 8, "--max-records", 8, "--max-leader-epoch", 8)

    ended = highwater("prove", "kip320", *sizes, "--timeout", "0.001", "--json")

    assert ended.status == Exit.LIMIT
    assert ended.json["verdict"] == "unknown"


def test_bounded_checking_finds_a_shortest_trace(highwater):
    arguments = ("truncate_to_high_watermark", "--replicas", 2, *TINY[2:])

    below = highwater("prove", *arguments, "--property", "strong_isr", "--bounded", 3, "--json")
    found = highwater("prove", *arguments, "--property", "strong_isr", "--bounded", 9, "--json")
    search = highwater("explore", *arguments, "--property", "strong_isr", "--json")

    assert (below.status, below.json["verdict"]) == (Exit.OK, "bounded")
    assert (found.status, found.json["verdict"]) == (Exit.VIOLATED, "violated")
    assert len(found.json["steps"]) == search.json["violations"][0]["depth"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("prove", "kip320", "--lemma", "nonsense"), "nonsense"),
        (("prove", "kip320", "--unbounded", "--bounded", "3"), "choose one"),
        (("prove", "kip320", "--property", "a_record_commits"), "sometimes"),
        (("prove", "kip320", "--timeout", "soon"), "soon"),
        (("infer", "async_isr"), "no templates"),
    ],
)
def test_wrong_usage_is_one_line(highwater, arguments, words):
    ended = highwater(*arguments)

    assert ended.status == Exit.USAGE
    assert words in ended.err
    assert len(ended.err.splitlines()) == 1
