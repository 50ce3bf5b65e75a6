"""`explain` says what would have prevented a trace, in lines that fit, and refuses what is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import highwater as public
from checker.core.exits import Exit
from model.kafka.alter_partition import leader_propose_expand

REGISTER = Path(__file__).parents[2] / "docs" / "examples" / "register.py"
CASE = "09-joining_below_the_epoch_start"
SMALL = ("--max-states", "3000")


@pytest.mark.slow
def test_a_case_is_named_with_its_fix_and_its_step(highwater):
    ended = highwater("explain", CASE, "--no-search")
    assert ended.status == Exit.OK
    assert max(len(s) for s in ended.out.splitlines() if not s.startswith("  https://")) <= 80
    words = " ".join(ended.out.split())
    assert (
        "(Catalogue 9: KAFKA-7128; fixed in Kafka 2.0.1 and 2.1): prevented at step 10 in Kafka "
        "since 2.0.1: to join the ISR a follower must have reached the start of the leader's epoch"
    ) in words
    assert "in Kafka since 2.0.1; KAFKA-7128" in words
    line = leader_propose_expand.function.__code__.co_firstlineno
    assert f"model/kafka/alter_partition.py:{line}" in words
    assert "Partition.maybeExpandIsr" in words
    assert "https://issues.apache.org/jira/browse/KAFKA-7128" in words
    assert "searched" not in words and "decided" not in words
    for part in ("what would have prevented it", "because", "where"):
        assert f"\n{part}\n" in ended.out


def test_the_same_is_told_as_data(highwater):
    data = highwater("explain", f"counterexamples/kafka/{CASE}", "--no-search", "--json").json
    assert (data["command"], data["property"]) == ("explain", "exposed_records_survive")
    assert data["instance_of"]["case"] == CASE
    assert data["instance_of"]["step"] == 10
    first = data["prevented_by"][0]
    assert first["settings"] == {"join.isr.from.epoch.start": "true"}
    assert first["impossible"]["step"] == 10 and first["search"] is None
    assert [step["number"] for step in data["steps"]] == list(range(1, data["depth"] + 1))
    assert all(step["needed"] for step in data["steps"])
    assert {link["step"] for link in data["steps"][9]["because"]} == {2, 5, 6, 7, 8, 9}
    assert data["decision"] is None


def test_searches_within_limits_say_what_they_found(highwater):
    data = highwater("explain", "async_isr-without_maximal_isr", "--json").json
    (only,) = data["prevented_by"]
    assert only["search"]["verdict"] == "exhausted" and only["search"]["states"] == 22_456
    assert data["decision"]["risks"][-1] == "lost"
    told = highwater("explain", "async_isr-without_maximal_isr")
    assert "safe in every reachable state within the bounds (22,456 states)" in told.out
    assert "step 6 decides it" in told.out
    cut = highwater("explain", "async_isr-without_maximal_isr", *SMALL)
    assert "stopped by the limit of 3,000 states" in " ".join(cut.out.split())
    assert "when it was decided is not known: the graph is too large" in cut.out


def test_a_trace_of_a_protocol_of_ones_own_is_explained(highwater, tmp_path):
    file, broken = REGISTER, ("--set", "waits_for_backups=false")
    found = highwater("explore", file, *broken, "--trace-dir", tmp_path / "traces", "--json").json
    stored = found["violations"][0]["trace"]
    ended = highwater("explain", stored, "--protocol", file, "--json").json
    (prevented,) = ended["prevented_by"]
    assert prevented["change"] == "waits_for_backups=true" and prevented["kind"] == "fix"
    assert prevented["search"]["verdict"] == "exhausted"
    assert ended["instance_of"] is None
    assert ended["steps"][0]["file"] == "docs/examples/register.py"
    told = highwater("explain", stored, "--protocol", file)
    assert told.status == Exit.OK and "waits_for_backups=true" in told.out
    assert highwater("explain", stored).status == Exit.USAGE


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing",), "nothing"),
        (("kip101-strong_isr", "--max-seconds", "soon"), "no time"),
        (("kip101-strong_isr", "--max-states", "0"), "--max-states"),
        (("kip101-strong_isr", "--protocol", "kip999"), "no protocol is called"),
        ((), "TRACE"),
    ],
)
def test_bad_input_is_one_line_and_status_2(highwater, arguments, words):
    ended = highwater("explain", *arguments)
    assert ended.status == Exit.USAGE
    assert ended.out == "" and words in ended.err
    assert ended.err.count("\n") == 1


def test_a_trace_of_another_protocol_is_rejected(highwater):
    ended = highwater("explain", "kip101-strong_isr", "--protocol", "kip279")
    assert ended.status == Exit.REJECTED


def test_python_explains_what_an_answer_has():
    answer = public.explore(
        "truncate_to_high_watermark", properties=["weak_isr"],
        replicas=2, log_size=1, max_records=1, max_leader_epoch=1,
    )  # fmt: skip
    found = public.explain(answer.traces[0], search=False)
    assert {p.candidate.words for p in found.preventions} >= {"kip320", "kip101"}
    assert str(found).startswith("truncate_to_high_watermark: weak_isr, violated after 8 steps")
    assert public.explain("kip101-weak_isr", search=False).instance_of is not None


@pytest.mark.slow
def test_the_example_in_the_documentation_is_true_word_for_word(highwater):
    page = (Path(__file__).parents[2] / "docs" / "explain.md").read_text()
    block = re.findall(r"^    \$ (.*)\n((?:    .*\n|\n)+)", page, re.MULTILINE)
    ((command, shown),) = block
    lines = [line.removeprefix("    ") for line in shown.rstrip().splitlines()]
    pattern = "".join("(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in lines)
    ended = highwater(*command.split()[1:])
    assert re.fullmatch(pattern, ended.out), ended.out
