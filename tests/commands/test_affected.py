"""`highwater affected`: the worst first, what to look at, and one exit status for each answer."""

from __future__ import annotations

from checker.core.exits import Exit
from checker.kafka.live.stored import as_json
from tests.support.told import partition, told, topic


def test_it_says_what_concerns_a_cluster_why_not_and_where_to_look(
    highwater, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.properties").write_text("process.roles=broker\nlog.dirs=/a\n")
    asked = ("affected", "server.properties", "--kafka", "4.3.1")
    ended = highwater(*asked, "--set", "eligible.leader.replicas.version=1")
    assert ended.status == Exit.VIOLATED
    sections = ("affected", "cannot be told from this", "not affected")
    places = [ended.out.index(f"\n\n{title}\n") for title in sections]
    assert places == sorted(places)
    assert places[0] < ended.out.index("\n  0004: acknowledged records are lost\n") < places[1]
    assert places[1] < ended.out.index("CurrentVoters") < places[2]
    lines = ended.out[places[2] :].splitlines()
    reasons = dict(line.strip().split(": ", 1)[::-1] for line in lines if ": " in line)
    told = ended.out[places[0] : places[1]].split("\n  0004: ")[1].split("\n    ")
    assert "tried: kept in 3 of 3 on 4.3.1" in told
    assert "0003" in reasons["fixed in 4.3.0"].split(", ")
    assert "0005" in reasons["needs JBOD: log.dirs names 1 (server.properties)"].split(", ")
    found = highwater(*asked, "--json").json
    concerns = {bug["finding"]: bug["concern"] for bug in found["bugs"] if bug["finding"]}
    assert (concerns["0004"], concerns["0001"]) == ("cannot be told", "affected")
    effects = [bug["effect"] for bug in found["bugs"]]
    worst = ["metadata", "lost", "misread", "repeated", "blocked"]
    assert effects == sorted(effects, key=worst.index)


def test_it_refuses_a_key_that_decides_nothing(highwater):
    ended = highwater("affected", "--kafka", "4.1", "--set", "linger.ms=5")
    assert ended.status == Exit.USAGE
    assert ended.err.count("\n") == 1
    assert "linger.ms" in ended.err
    assert "valid are" in ended.err


def test_of_a_cluster_that_was_read_it_says_what_it_is_and_what_is_not_shown(highwater, tmp_path):
    (tmp_path / "saved").write_text(as_json(told(topic("orders", partition()))))
    ended = highwater("affected", tmp_path / "saved")
    assert ended.status == Exit.VIOLATED
    assert max(map(len, ended.out.splitlines())) <= 80
    assert ended.out.startswith("Kafka 4.3, 4 brokers, 1 topic, 1 partition, read 2026-11-27")
    sections = [ended.out.index(f"\n\n{title}\n") for title in ("affected", "not affected")]
    hidden = ended.out.index("\n\nnot shown to an admin client\n")
    assert sections[0] < hidden < sections[1]
    assert "here: ELR on: eligible.leader.replicas.version=1 (features)" in ended.out
    data = highwater("affected", tmp_path / "saved", "--json").json
    assert (data["release"], data["mode"], data["told"]["cluster"]) == ("4.3", "kraft", "an-id")
    looks = {bug["source"]: bug["look"] for bug in data["bugs"]}
    assert "clientSoftwareVersion" in looks["KAFKA-13598"][0]


def test_without_a_release_or_a_cluster_it_says_what_is_missing(highwater, tmp_path):
    (tmp_path / "server.properties").write_text("process.roles=broker\n")
    for arguments, words in (
        ((), "Missing option '--kafka'"),
        ((tmp_path / "server.properties",), "Missing option '--kafka'"),
        ((tmp_path / "none.json",), "none.json: No such file"),
        (("--bootstrap-server", "a"), "--bootstrap-server a: write HOST:PORT"),
        (("--command-config", "f", "--kafka", "4.1"), "goes with --bootstrap-server"),
    ):
        ended = highwater("affected", *arguments)
        assert ended.status == Exit.USAGE
        assert words in ended.err and ended.err.count("\n") == 1 and ended.out == ""
