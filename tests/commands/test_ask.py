"""`ask` answers in lines that fit and as data, stores the traces, and ends as the answer says."""

from __future__ import annotations

import pytest

from checker.core.exits import Exit

SMALL = ("--replicas", "2", "--log-size", "1", "--max-records", "1")


@pytest.mark.slow
def test_a_loss_is_told_with_traces_that_other_commands_read(highwater, tmp_path):
    ended = highwater(
        "ask", "--kafka", "4.1", "--set", "acks=1", "--crashes", "1", *SMALL,
        "--trace-dir", tmp_path, "--json",
    )  # fmt: skip
    assert ended.status == Exit.VIOLATED
    data = ended.json
    assert (data["preset"], data["mode"], data["lossy"]) == ("kafka-4.1", "kraft", True)
    (part,) = data["parts"]
    lost = [cell for cell in part["losses"] if cell["verdict"] == "violated"]
    assert lost[0]["property"] == "acknowledged_records_survive"
    assert highwater("replay", lost[-1]["trace"], "--quiet").status == Exit.OK
    assert all(len(cell["steps"]) == cell["depth"] for cell in lost)
    assert data["changes"][0]["change"] == "acks=all"
    assert "acks=all" in highwater("explain", lost[0]["trace"], "--no-search").out


@pytest.mark.slow
def test_what_files_say_is_told(highwater, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.properties").write_text(
        "process.roles=broker\nnum.io.threads=8\nmin.insync.replicas=1\nreplica.lag.time.max.ms=1\n"
    )
    (tmp_path / "producer.properties").write_text("acks=-1\n")
    ended = highwater(
        "ask", "server.properties", "producer.properties", "--kafka", "4.1.0", "--crashes", "1",
        "--set", "pending.isr.survives.image=true", *SMALL,
    )  # fmt: skip
    assert ended.status == Exit.OK
    assert max(map(len, ended.out.splitlines())) <= 80
    for words in (
        "Kafka 4.1.0 with KRaft, which has the rules of 4.1: crashes 1",
        "  acks=-1: producer.properties; what producers wait for",
        "  min.insync.replicas=1: server.properties; acks=all needs so many ISR members",
        "  not used: replica.lag.time.max.ms: there is no time in the model, so that a",
        "  not used by the model: 1 other key",
        "  eligible.leader.replicas.version: new clusters have it so, upgraded ones may",
        "nothing is lost in any state within these bounds",
    ):
        assert words in ended.out


def test_without_time_the_answer_is_a_limit(highwater):
    ended = highwater("ask", "--kafka", "4.1", "--crashes", "1", "--max-seconds", "0", "--json")
    assert ended.status == Exit.LIMIT
    assert not ended.json["decided"] and not ended.json["lossy"]


def test_with_zookeeper_it_says_which_rules_are_not_those_with_kraft(highwater, tmp_path):
    (tmp_path / "a").write_text("zookeeper.connect=a:2181\n", encoding="utf-8")
    told = ("--kafka", "3.9.1", "--crashes", "1", "--max-seconds", "0")
    first = highwater("ask", str(tmp_path / "a"), *told).out.partition("replicas=")[0]
    assert first.startswith("Kafka 3.9.1 with ZooKeeper: ")
    rules = "isr.shrink.starts.epoch=by_controller, broker.epoch.checked=false"
    assert rules in " ".join(first.split())
    assert "isr.shrink" not in highwater("ask", *told).out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--crashes", "1"), "Missing option '--kafka'"),
        (("--kafka", "3.10", "--crashes", "1"), "valid are releases of 0.8.2"),
        (("--kafka", "4.1"), "name what may happen"),
        (("--kafka", "3.6", "--crashes", "1", "--set", "min.insync.replicas=5"), "more than the 3"),
        (("--kafka", "4.0", "--mode", "zookeeper", "--crashes", "1"), "ZooKeeper are 0.8.2 to 3.9"),
        (("--kafka", "2.7", "--upgrade-to", "4.1"), "a migration"),
        (("--kafka", "4.1", "--voter-changes", "1"), "say how many with --controllers"),
        (("--kafka", "4.1", "--controllers", "3", "--topic", "t"), "--topic is about partitions"),
        (("--kafka", "4.1", "--fault", "late-markers"), "--fault goes with --application"),
        (("--kafka", "4.1", "--application", "--crashes", "1"), "name faults by --fault"),
        (("--kafka", "4.1", "--application", "--fault", "late-markers=x"), "write NAME=N"),
        (("--kafka", "4.1", "--application", "--fault", "crashes=1"), "fault of this application"),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(highwater, arguments, words):
    ended = highwater("ask", *arguments)
    assert ended.status == Exit.USAGE
    assert words in ended.err and ended.err.count("\n") == 1 and ended.out == ""


@pytest.mark.slow
def test_an_application_is_asked_about_with_its_own_files(highwater, tmp_path):
    file = tmp_path / "app.properties"
    file.write_text("transactional.id=a\nisolation.level=read_uncommitted\n", encoding="utf-8")
    told = ("ask", file, "--kafka", "4.3", "--application", "--max-faults", "0")
    ended = highwater(*told, "--json")
    assert ended.status == Exit.VIOLATED
    assert {promise["searched"] for promise in ended.json["promises"]} == {0}
    assert ended.json["stated"][0]["instead"] == "isolation.level=read_committed"
    out = highwater(*told, "--set", "isolation.level=read_committed").out
    assert "every promise is kept in any state within these bounds" in out
    assert max(map(len, out.splitlines())) <= 80
