"""`reproduce` as a command: what it lists, refuses, prints, and with which status it ends."""

import pytest

from checker.core.exits import Exit
from checker.kafka.cluster import play as module
from checker.kafka.cluster.verdict import Outcome, Verdict

LOST = Outcome(Verdict.LOST, 3, ("x",), seconds=41.5)
KEPT = Outcome(Verdict.KEPT, 3, seconds=40)
NONE = Outcome(Verdict.NONE, reason="until x is acknowledged: not within 90 s", seconds=99)


@pytest.fixture
def ends(monkeypatch):
    """Have runs end so, one after the other; without Kafka. What was run is returned."""
    played = []

    def prepare(*outcomes):
        left = list(outcomes)

        def outcome(run):
            played.append(run)
            run.tell(1.0, "a step that is told")
            found = left.pop(0)
            if isinstance(found, BaseException):
                raise found
            return found

        monkeypatch.setattr(module.Run, "play", outcome)
        monkeypatch.setattr(
            "checker.kafka.cluster.programs.programs", lambda version, patch, **_: patch
        )
        return played

    return prepare


def test_without_a_finding_all_schedules_are_listed_with_their_controls(highwater):
    ended = highwater("reproduce")
    assert ended.status == Exit.OK
    for words in ("0001 --schedule crash: A leader", "0002 --schedule election", "control: "):
        assert words in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    schedules = highwater("reproduce", "--json").json["schedules"]
    assert {"finding": "0001", "schedule": "load"}.items() <= schedules[2].items()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["0099"], "no finding is called '0099'"),
        (["0001", "--schedule", "crush"], "did you mean 'crash'?"),
        (["0001", "--kafka", "4.1"], "no release of Kafka is called '4.1'"),
        (["0001", "--kafka", "four"], "valid are 3.5.0"),
        (["0001", "--runs", "0"], "0 is not in the range"),
    ],
)
def test_what_is_not_there_is_refused_in_one_line(highwater, arguments, words):
    ended = highwater("reproduce", *arguments)
    assert ended.status == Exit.USAGE
    assert words in ended.err
    assert ended.err.count("\n") == 1
    assert ended.out == ""


@pytest.mark.parametrize(
    "outcome, status, words",
    [
        (LOST, Exit.VIOLATED, "lost: 1 of 3 acknowledged records is in no log on any disk (x)\n"),
        (KEPT, Exit.OK, "kept: all 3 acknowledged records are on disk, and are read\n"),
        (NONE, Exit.LIMIT, "no verdict: until x is acknowledged: not within 90 s\n"),
    ],
)
def test_a_run_is_told_and_ends_with_its_verdict(highwater, ends, outcome, status, words):
    ends(outcome)
    ended = highwater("reproduce", "36", "--kafka", "4.1.0")
    assert ended.status == status
    assert ended.out.startswith("0001 crash, Kafka 4.1.0\n   1.0 s  a step that is told\n")
    assert ended.out.endswith(words)


def test_a_quiet_run_tells_its_verdict_alone(highwater, ends):
    ends(KEPT)
    ended = highwater("reproduce", "0001", "--kafka", "4.1.0", "--quiet")
    assert ended.out == "kept: all 3 acknowledged records are on disk, and are read\n"


def test_several_runs_end_with_a_table_and_the_worst(highwater, ends):
    ends(KEPT, LOST, NONE)
    ended = highwater("reproduce", "0001", "--kafka", "4.1.0", "--runs", "3", "--quiet")
    assert ended.status == Exit.VIOLATED
    rows = [line.split() for line in ended.out.splitlines()]
    assert ["2", "lost", "1", "3", "42"] in rows
    assert ended.out.endswith("worst: lost\n")
    assert max(map(len, ended.out.splitlines())) <= 80


def test_the_json_has_every_run(highwater, ends):
    played = ends(LOST, NONE)
    ended = highwater("reproduce", "0002", "--kafka", "4.1.0", "--runs", "2", "--control", "--json")
    assert ended.status == Exit.VIOLATED
    assert [run.way for run in played] == ["control", "control"]
    data = ended.json
    assert [run["verdict"] for run in data["runs"]] == ["lost", "no verdict"]
    assert data["runs"][0] | {"acknowledged": 3, "lost": 1, "records": ["x"]} == data["runs"][0]
    assert data["runs"][1]["reason"] == NONE.reason
    del data["runs"]
    assert data == {
        "command": "reproduce", "finding": "0002", "schedule": "crash", "kafka": "4.1.0",
        "control": True, "workaround": False, "patched": False, "verdict": "lost",
    }  # fmt: skip


def test_a_workaround_is_played_where_a_schedule_has_one(highwater, ends):
    played = ends(KEPT)
    ended = highwater("reproduce", "0004", "--kafka", "4.1.0", "--workaround")
    assert [run.way for run in played] == ["workaround"]
    assert ended.out.startswith("0004 tried-again, with the workaround, Kafka 4.1.0\n")
    refused = {("--control",): "choose one", ("--schedule", "stuck"): "valid are tried-again"}
    for more, words in refused.items():
        ended = highwater("reproduce", "0004", "--workaround", *more)
        assert (ended.status, ended.err.count("\n")) == (Exit.USAGE, 1)
        assert words in ended.err


def test_ctrl_c_reports_the_runs_that_have_ended(highwater, ends):
    ends(KEPT, KeyboardInterrupt())
    ended = highwater("reproduce", "0001", "--kafka", "4.1.0", "--runs", "9", "--json")
    assert ended.status == Exit.INTERRUPTED
    assert [run["verdict"] for run in ended.json["runs"]] == ["kept"]
    ends(KeyboardInterrupt())
    ended = highwater("reproduce", "0001", "--kafka", "4.1.0", "--runs", "9", "--json")
    assert ended.status == Exit.INTERRUPTED
    assert ended.json == {"command": "reproduce", "error": "interrupted", "status": 130}
