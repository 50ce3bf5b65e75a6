"""Whom a bug concerns follows from the release and the files, and what they do not say is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.kafka.affected.conditions import CONDITIONS
from checker.kafka.affected.facts import facts_of
from checker.kafka.affected.judge import Concern, affected, every_row, judged_by
from model.language.errors import UsageError

SERVER = "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@a:1,2@b:1,3@c:1\n"
FEATURES = (
    "Feature: {}\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\tFinalizedVersionLevel: {}\n"
)


def elr(level: int) -> str:
    return FEATURES.format("eligible.leader.replicas.version", level)


def quorum(level: int) -> str:
    return FEATURES.format("kraft.version", level)


def topic(first: int, second: int, configs: str = "min.insync.replicas=2") -> str:
    """A topic of two partitions with so many replicas."""
    head = f"Topic: t\tPartitionCount: 2\tReplicationFactor: {first}\tConfigs: {configs}\n"
    lines = [
        f"\tTopic: t\tPartition: {n}\tLeader: 0\tReplicas: {ids}\tIsr: {ids}\n"
        for n, ids in enumerate([",".join(map(str, range(count))) for count in (first, second)])
    ]
    return head + "".join(lines)


def concern(tmp_path: Path, number: str, kafka: str, *texts: str) -> Concern:
    files = [tmp_path / f"{n}.txt" for n in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    (row,) = (row for row in affected(kafka, files).rows if row.numbers == number)
    return row.concern


YES, MAYBE, NO = Concern.AFFECTED, Concern.UNKNOWN, Concern.UNAFFECTED


@pytest.mark.parametrize(
    ("number", "kafka", "texts", "expected"),
    [
        ("0003", "4.1", [elr(1)], YES),
        ("0003", "4.1", [elr(0)], NO),
        ("0003", "4.1", [SERVER], MAYBE),
        ("0003", "4.3.0", [elr(1)], NO),  # fixed
        ("0003", "3.9.1", [], NO),  # there is no ELR
        ("0011", "4.1", [elr(0)], YES),
        ("0011", "4.0.0", [elr(0)], MAYBE),  # nobody looked at 4.0
        ("27", "3.9.1", [], YES),
        ("27", "4.1", [elr(1)], NO),
        ("0002", "3.5.0", ["process.roles=broker\n"], YES),
        ("0002", "3.5.0", ["zookeeper.connect=z:2181\n"], NO),
        ("0002", "3.5.0", [], MAYBE),
        ("22", "3.9.1", ["zookeeper.connect=z:2181\n"], YES),  # never fixed with ZooKeeper
        ("22", "3.9.1", [SERVER], NO),
        ("22", "3.9.1", [], MAYBE),
        ("0022", "4.3.1", [quorum(1)], YES),
        ("0022", "4.3.1", [quorum(0)], NO),
        ("0022", "4.0.1", [SERVER], NO),  # configured voters
        ("0022", "4.1.0", [SERVER], MAYBE),  # they may have been raised to level 1
        ("0022", "4.4.0", [quorum(1)], MAYBE),  # nobody looked at 4.4
        ("0023", "4.1", [SERVER], NO),
        ("0023", "4.1", [SERVER.partition(",2@")[0] + "\n"], YES),
        ("0005", "4.3.1", [elr(1), SERVER + "log.dirs=/a,/b\n"], YES),
        ("0005", "4.3.1", [elr(1), SERVER + "log.dirs=/a\n"], NO),
        ("0005", "4.3.1", [elr(1), "log.dirs=/a\n", "log.dirs=/c,/d\n"], YES),  # of one
        ("0014", "4.3.1", [elr(1), topic(1, 3)], YES),
        ("0014", "4.3.1", [elr(1), topic(3, 3)], NO),
        ("0001", "4.3.1", [topic(2, 2)], NO),
        ("0015", "3.4.0", [], NO),
        ("0015", "4.3.1", [SERVER], NO),
        ("0015", "4.3.1", [SERVER + "replica.selector.class=x.RackAwareReplicaSelector\n"], YES),
        ("0010", "4.3.1", ["group.id=g\ngroup.protocol=consumer\n"], YES),
        ("0010", "4.3.1", ["group.id=g\n"], NO),
        ("18", "4.0.0", [], YES),  # fixed in 3.9.1, 4.0.1 and 4.1.0
        ("18", "3.9.2", [], NO),
        ("16", "3.5.0", [], NO),
        ("16", "3.6.2", [], YES),
        ("25", "3.9.1", [SERVER], NO),
        ("25", "0.10.2", ["broker.id=1\n"], YES),  # it is the default there
        ("25", "3.9.1", [topic(3, 3, "unclean.leader.election.enable=true")], YES),
        ("0017", "4.4.1", [], MAYBE),
        ("0010", "3.5.2", [], NO),  # there is no group.protocol
        ("0011", "3.9.1", [], NO),  # there is no ELR to switch on
        ("110", "3.5.2", [], MAYBE),  # it may be with ZooKeeper
        ("110", "3.5.2", [SERVER], YES),
        ("18", "4.0", [], MAYBE),  # 4.0.0 or 4.0.1
        ("18", "3.8", [], YES),
    ],
)
def test_what_the_files_say_decides(tmp_path, number, kafka, texts, expected):
    assert concern(tmp_path, number, kafka, *texts) is expected


def test_what_is_asked_for_goes_before_all_files(tmp_path):
    file = tmp_path / "server.properties"
    file.write_text("log.dirs=/a,/b\n")
    more = {"eligible.leader.replicas.version": "1", "log.dirs": "/a"}
    answer = affected("4.3.1", [file], more)
    assert next(r for r in answer.rows if r.numbers == "0005").concern is NO


def test_a_finding_concerns_its_first_and_its_last_release_unless_a_file_says_otherwise():
    for row in every_row():
        if not row.bug.finding:
            continue
        first = row.span.since or row.span.first
        for version in (first, *([] if row.span.fixed else [row.span.last])):
            found = judged_by(row, facts_of(version))
            looks = {CONDITIONS[name].look for name in (*row.judged.needs, "kraft")}
            assert found.concern is not Concern.UNAFFECTED, (row.numbers, version)
            assert {*found.look} <= looks, (row.numbers, version)
            assert (found.concern is MAYBE) is bool(found.look), (row.numbers, version)


@pytest.mark.parametrize(
    ("kafka", "more", "message"),
    [
        ("5.0", {}, "there is no Kafka 5.0"),
        ("2.7", {"mode": "kraft"}, "it begins with 2.8"),
        ("4.1", {"mode": "zookeeper"}, "it ends with 3.9"),
        ("4.1", {"settings": {"elr": "1"}}, "elr"),
        ("4.1", {"settings": {"min.insync.replicas": "two"}}, "whole numbers"),
        ("4.1", {"topic": "t"}, "no file describes a topic"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(kafka, more, message):
    with pytest.raises(UsageError, match=message):
        affected(kafka, **more)
