"""`ask` of what was read of a cluster: dangers and groups, in lines that fit and as data."""

import json
from dataclasses import replace

import pytest
from kafka.errors import KafkaTimeoutError

from checker.core.exits import Exit
from checker.kafka.live import admin
from checker.kafka.live.snapshot import Directory, Unread
from checker.kafka.live.stored import as_json, read
from tests.support.told import broker, partition, told, topic

STUCK = told(topic("orders", partition(0, leader=None, isr=()), partition(1)))


@pytest.fixture
def saved(tmp_path):
    """A file as `--save` writes it."""

    def save(cluster):
        path = tmp_path / "cluster.json"
        path.write_text(as_json(cluster))
        return path

    return save


def test_a_danger_is_told_with_what_to_do_now(highwater, saved):
    ended = highwater("ask", saved(STUCK), "--max-seconds", "0")
    assert (ended.status, ended.err) == (Exit.VIOLATED, "")
    assert max(map(len, ended.out.splitlines())) <= 80
    out = " ".join(ended.out.split())
    assert "finding 0006, finding 0011: no leader, and nobody may be elected" in out
    assert "orders-0: leader none, ISR none, ELR none, replicas 0, 1, 2 now: find" in out
    assert "1. 2 partitions of 1 topic: orders" in out and "time ran out" in out
    assert "0010: nothing in Kafka: the application" in out


def test_as_data_it_has_all_and_without_names_none_of_these(highwater, saved, tmp_path):
    again = tmp_path / "again.json"
    ended = highwater(
        "ask", saved(STUCK), "--max-seconds", "0", "--json", "--anonymous", "--save", again,
        "--topic", "ord*",
    )  # fmt: skip
    data = ended.json
    (danger,) = data["dangers"]
    assert danger["hits"][0]["topic"] == "topic-1" and danger["bugs"] == ["0006", "0011"]
    assert [group["partitions"] for group in data["groups"]] == [2]
    assert "orders" not in ended.out + again.read_text()
    assert read(again).topics[0].partitions == STUCK.topics[0].partitions


def test_remote_segments_of_a_cluster_that_was_read_are_not_judged(highwater, saved):
    path = saved(told(topic("a", partition())))
    ended = highwater("ask", path, "--set", "remote.storage.enable=true")
    assert ended.status == Exit.USAGE and "is not read of a running cluster" in ended.err


def test_no_danger_and_no_time_is_a_limit_and_so_is_a_cluster_that_tells_nothing(highwater, saved):
    healthy = told(topic("t", partition()))
    assert highwater("ask", saved(healthy), "--max-seconds", "0").status == Exit.LIMIT
    assert highwater("ask", saved(told())).status == Exit.LIMIT


def test_what_is_wrong_with_brokers_and_what_was_not_told_is_said_first(highwater, saved):
    failed = (Directory("/a"), Directory("/b", "KafkaStorageError"))
    cluster = told(
        topic("t", partition()),
        brokers=(broker(0, directories=failed), broker(1, release="4.2"), broker(2, fenced=True)),
        unread=(Unread("the quorum", "no permission"),), quorum=None, level=29,
    )  # fmt: skip
    out = highwater("ask", saved(cluster), "--max-seconds", "0").out
    for words in (
        "Kafka 4.2, 3 brokers, 1 topic, 1 partition, read 2026-11-27 00:00:00 UTC",
        "  metadata.version 4.2-IV1, ELR on",
        "  fenced brokers: 2",
        "  log directory offline: /b of broker 0 (KafkaStorageError)",
        "  brokers of several releases: 4.2, 4.3; judged as 4.2",
        "  not told: the quorum: no permission",
        "  not judged everywhere: finding 0023 (voters of the quorum), without the quorum",
    ):
        assert f"{words}\n" in out


def test_of_a_release_that_is_not_known_the_dangers_are_told(highwater, saved):
    newer = {"metadata.version": 99, "eligible.leader.replicas.version": 1}
    ended = highwater("ask", saved(replace(STUCK, features=newer, supported=newer, brokers=())))
    out = " ".join(ended.out.split())
    assert ended.status == Exit.VIOLATED
    assert "finding 0006, finding 0011" in out and "not judged: the release is not known" in out


def test_of_many_groups_that_are_not_judged_the_text_names_some(highwater, saved):
    many = told(*(topic(f"t{n}", partition(), flush_messages=str(n + 2)) for n in range(30)))
    out = highwater("ask", saved(many), "--max-seconds", "0").out
    assert "5. 1 partition of 1 topic" in out and "6. 1 partition" not in out
    assert "and 25 groups of 25 partitions, not judged: time ran out (--json)" in out


def test_the_page_has_every_place_and_runs_nothing(highwater, saved, tmp_path):
    many = told(topic("<a&b>", *(partition(n, leader=None, isr=()) for n in range(9))))
    highwater("ask", saved(many), "--max-seconds", "0", "--html", tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text()
    assert all(f"&lt;a&amp;b&gt;-{n}: leader none" in page for n in range(9))
    assert "<script" not in page and "<a&b>" not in page
    assert "time ran out" in page and "0010: nothing in Kafka: the application" in page


@pytest.mark.slow
def test_a_group_has_an_answer_with_what_prevents_the_loss(highwater, saved):
    cluster = told(topic("t", partition(replicas=(0,)), least="1"))
    tiny = ("--log-size", "1", "--max-records", "1", "--power-losses", "1")
    ended = highwater("ask", saved(cluster), *tiny)
    assert ended.status == Exit.VIOLATED
    out = " ".join(ended.out.split())
    assert "power losses 1: acknowledged records lost in " in out
    assert "prevented by, cheapest first: " in out


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("FILE", "--replicas", "3"), "--replicas is read from the cluster"),
        (("FILE", "--controllers", "3"), "--controllers is read from the cluster"),
        (("FILE", "--topic", "x*"), "--topic x*: no topic that was read is called so"),
        (("FILE", "--bootstrap-server", "a:1"), "ask about one cluster"),
        (("FILE", "--command-config", "FILE"), "--command-config goes with --bootstrap-server"),
        (("FILE", "--kafka", "9.9"), "valid are releases of"),
        (("FILE", "--kafka", "4.1"), "metadata.version 4.3-IV0 is newer than Kafka 4.1"),
        (("FILE", "--set", "acks=2"), "acks cannot be '2'"),
        (("--kafka", "4.1", "--crashes", "1", "--anonymous"), "--anonymous goes with"),
        (("--bootstrap-server", "a", "--crashes", "1"), "--bootstrap-server a: write HOST:PORT"),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(highwater, saved, arguments, words):
    file = saved(STUCK)
    ended = highwater("ask", *(file if each == "FILE" else each for each in arguments))
    assert ended.status == Exit.USAGE
    assert words in ended.err and ended.err.count("\n") == 1 and ended.out == ""


def test_a_cluster_that_cannot_be_reached_is_told_in_one_line(highwater, monkeypatch):
    def refuse(**_):
        raise KafkaTimeoutError("Unable to bootstrap")

    monkeypatch.setattr(admin, "KafkaAdminClient", refuse)
    ended = highwater("ask", "--bootstrap-server", "a:1")
    assert (ended.status, ended.out) == (Exit.USAGE, "")
    assert "cannot reach a:1: " in ended.err and ended.err.count("\n") == 1


def test_a_running_cluster_is_read_and_closed(highwater, monkeypatch, tmp_path):
    asked = []

    def client(**options):
        asked.append(options)
        return Shut()

    monkeypatch.setattr(admin, "KafkaAdminClient", client)
    monkeypatch.setattr(admin, "read_cluster", lambda client, *_: STUCK)
    config = tmp_path / "client.properties"
    config.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        'sasl.jaas.config=Module required username="u" password="hunter2";\n'
    )
    ended = highwater(
        "ask", "--bootstrap-server", "a:1,b:2", "--command-config", config, "--max-seconds", "0",
        "--save", tmp_path / "s", "--json",
    )  # fmt: skip
    (options,) = asked
    assert options["bootstrap_servers"] == ["a:1", "b:2"]
    assert options["sasl_plain_password"] == "hunter2"
    assert "hunter2" not in ended.out + ended.err + (tmp_path / "s").read_text()
    assert json.loads((tmp_path / "s").read_text())["cluster_id"] == "an-id"


class Shut:
    """A client that can be closed."""

    def close(self):
        pass
