"""`ask` of a tiered topic says what remote segments can lose, by the release's rules."""

from __future__ import annotations

import pytest

from checker.core.search.allowance import Allowance
from checker.kafka.guarantees.answer import Answer, as_data
from checker.kafka.guarantees.cluster import describe_cluster
from checker.kafka.guarantees.faults import Faults
from checker.kafka.guarantees.remote import COLUMNS, judge_remote, remote_choice
from model.language.errors import UsageError

CRASH = Faults({"crashes": 1})
ELECTION = Faults({"preferred_elections": 1})
TIERED = {"remote.storage.enable": "true", "local.retention.ms": "1000"}


def cluster(release="4.3.1", files=(), **settings):
    return describe_cluster(release, files, {**TIERED, **settings})


def test_what_a_release_loses_of_remote_segments_is_told_with_the_bug():
    found = judge_remote(cluster(), ELECTION, Allowance(60, 10_000_000))
    assert found.is_decided
    told = {cell.column.name: cell.is_violated for cell in found.cells}
    assert told == {"remote segments": True, "reads of them": True, "what such reads return": False}
    assert "finding 0033" in found.known["committed_is_kept"]
    lines = "\n".join(found.lines({}))
    assert "0 stops, one read" in lines and "the committed record of offset 0 is nowhere" in lines
    whole = Answer(cluster(), ELECTION, (), (), True, 1.0, remote=found)
    assert whole.is_lossy and whole.remote_lost == found.lost and not whole


def test_an_answer_has_remote_segments_only_where_the_topic_is_tiered():
    for value in ("false", "FALSE"):
        assert not describe_cluster("4.3.1", (), {"remote.storage.enable": value}).tiered
    assert cluster().tiered and not describe_cluster("4.3.1").tiered


def test_the_rules_are_the_releases_and_unclean_elections_are_asked_about_where_they_can_be():
    older, newer = (remote_choice(cluster(each), CRASH).settings for each in ("3.6.2", "3.7.0"))
    assert older["tier.build.moves.local.start"] == "false"
    assert newer["tier.build.moves.local.start"] == "true"
    unclean = cluster(**{"unclean.leader.election.enable": "true"})
    assert remote_choice(unclean, CRASH).bounds["unclean_elections"] == 1
    assert remote_choice(cluster(), CRASH).bounds["unclean_elections"] == 0


@pytest.mark.parametrize(
    ("faults", "stops"),
    [
        (CRASH, 1),
        (Faults({"crashes": 1, "power_losses": 2}), 2),
        (Faults(rolling_restart=True), 2),
        (ELECTION, 0),
    ],
    ids=["a crash", "three ends", "a rolling restart", "an election"],
)
def test_every_fault_that_ends_a_process_is_a_stop(faults, stops):
    bounds = remote_choice(cluster(), faults).bounds
    assert bounds["crashes"] == stops and bounds["build_crashes"] == min(1, stops)


def test_a_described_topic_is_tiered_by_its_settings(tmp_path):
    path = tmp_path / "topic.txt"
    path.write_text(
        "Topic: t\tTopicId: x\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: "
        "remote.storage.enable=true,local.retention.bytes=5\n"
        "\tTopic: t\tPartition: 0\tLeader: 0\tReplicas: 0,1\tIsr: 0,1\n"
    )
    found = describe_cluster("4.3.1", (path,))
    told = {each.name: each.means for each in found.read}
    assert found.tiered and not found.unused
    assert "remote store" in told["remote.storage.enable"]
    assert "at any moment" in told["local.retention.bytes"]


@pytest.mark.parametrize(
    ("release", "value", "words"),
    [("3.5.2", "true", r"begins with 3\.6\.0"), ("4.3.1", "maybe", "valid are true, false")],
)
def test_what_no_release_takes_is_refused(release, value, words):
    with pytest.raises(UsageError, match=words):
        describe_cluster(release, (), {"remote.storage.enable": value})


def test_the_data_has_each_question_once():
    found = judge_remote(cluster(), CRASH, Allowance(60, 0))
    data = found.data({})
    names = [column.properties[0] for column in COLUMNS]
    assert [loss["property"] for loss in data["losses"]] == names
    assert not found.is_decided
    assert "remote" not in as_data(Answer(cluster(), CRASH, (), (), True, 1.0))
