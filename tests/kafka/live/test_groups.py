"""Partitions alike are one group, judged once under each fault, the largest first."""

from dataclasses import replace

import pytest

from checker.core.search.allowance import Allowance
from checker.kafka.guarantees.cluster import describe_cluster
from checker.kafka.guarantees.faults import Faults, choice_of
from checker.kafka.live import judged
from checker.kafka.live.groups import as_cluster, groups_of
from checker.kafka.live.judged import USUAL, judge_groups
from checker.kafka.live.snapshot import Setting
from model.language.errors import UsageError
from tests.support.told import broker, partition, told, topic

MANY = told(
    *(
        topic(f"t{n}", *map(partition, range(10)), least="1" if n < 100 else "2")
        for n in range(1000)
    )
)
"""10,000 partitions of two kinds."""


def test_ten_thousand_partitions_of_two_kinds_are_two_groups_the_largest_first():
    found = groups_of(MANY)
    assert [group.partitions for group in found] == [9000, 1000]
    assert [len(group.topics) for group in found] == [900, 100]


def test_each_group_is_judged_once_under_each_fault(monkeypatch):
    asked = []

    def answer(cluster, faults, part, on_search):
        asked.append((cluster.settings["min.insync.replicas"], faults.words, part.left))

    monkeypatch.setattr(judged, "answer", answer)
    budget = Allowance(90)
    found = judge_groups(groups_of(MANY), USUAL, lambda g: as_cluster(MANY, g, None), budget)
    words = [(least, faults.words) for least in "21" for faults in USUAL]
    assert [each[:2] for each in asked] == words
    assert all(left <= 90 / 3 + 1 for *_, left in asked[:2])
    assert [len(each.answers) for each in found] == [2, 2]
    budget.end()
    rest = judge_groups(groups_of(MANY), USUAL, lambda g: as_cluster(MANY, g, None), budget)
    assert len(asked) == 4 and not any(each.is_decided for each in rest)


def test_groups_whose_settings_mean_the_same_are_judged_by_one_search(monkeypatch):
    asked = []

    def answer(cluster, *_):
        asked.append(cluster)

    monkeypatch.setattr(judged, "answer", answer)
    values = ("2", "3", "4", "1")  # flushes all but the last leave to the operating system
    cluster = told(*(topic(f"t{v}", partition(), flush_messages=v) for v in values))
    groups = groups_of(cluster)
    found = judge_groups(groups, USUAL[:1], lambda g: as_cluster(cluster, g, None), Allowance(9))
    assert [len(each.answers) for each in found] == [1] * 4
    assert len(asked) == 2


@pytest.mark.parametrize(
    "other, apart",
    [
        (partition(replicas=(2, 1, 0)), False),
        (partition(isr=(0,), elr=(1,)), False),
        (partition(replicas=(0, 1, 2, 3), adding=(3,)), False),
        (partition(replicas=(0, 1)), True),
    ],
    ids=["placed on others", "not in sync", "being reassigned", "fewer replicas"],
)
def test_partitions_are_alike_by_settings_and_placement(other, apart):
    found = groups_of(told(topic("t", partition()), topic("u", other)))
    assert len(found) == 1 + apart


def test_racks_count_where_they_are_asked_about():
    cluster = told(
        topic("t", partition(replicas=(0, 1, 2)), partition(1, (2, 1, 0))),
        topic("u", partition(replicas=(0, 2, 3))),
        brokers=tuple(broker(n, rack=rack) for n, rack in enumerate("aabb")),
    )
    assert len(groups_of(cluster)) == 1
    assert {group.kind.racks for group in groups_of(cluster, True)} == {(0, 0, 1), (0, 1, 1)}
    apart = {
        group.kind.racks: as_cluster(cluster, group, None) for group in groups_of(cluster, True)
    }
    assert apart[(0, 0, 1)].settings["broker.rack"] != apart[(0, 1, 1)].settings["broker.rack"]
    unknown = replace(cluster, brokers=tuple(broker(n, rack=None) for n in range(4)))
    assert {group.kind.racks for group in groups_of(unknown, True)} == {()}


def test_a_group_is_judged_by_what_is_in_force_and_says_where_that_is_from():
    selector = Setting("org.apache.kafka.common.replica.RackAwareReplicaSelector", "X")
    cluster = told(
        topic("t", partition(0, (0,)), partition(1), least="2", flush_messages="1"),
        elr=1, brokers=(broker(0), broker(1, settings={"replica.selector.class": selector})),
    )  # fmt: skip
    first, second = (as_cluster(cluster, g, None) for g in groups_of(cluster))
    assert {first.replicas, second.replicas} == {1, 3}
    found = first if first.replicas == 3 else second
    assert found.release.asked == "4.3"
    assert found.settings["log.flush.interval.messages"] == "1"
    assert found.settings["follower.reads"] == "true"
    assert found.settings["first.partition.replicas"] == "1"
    origins = {told.name: told.origin for told in found.read}
    assert origins["min.insync.replicas"] == "the topic's own"
    assert origins["eligible.leader.replicas.version"] == "features"


def test_a_group_is_judged_as_the_same_settings_are_from_files(tmp_path):
    (tmp_path / "a").write_text("process.roles=broker\nmin.insync.replicas=2\n")
    cluster = told(topic("t", partition()))
    (group,) = groups_of(cluster)
    asked = Faults({"crashes": 1})
    found = choice_of(as_cluster(cluster, group, None, settings={"acks": "1"}), asked).model
    alone = describe_cluster("4.3", [tmp_path / "a"], {"acks": "1"})
    assert found.settings == choice_of(alone, asked).model.settings
    assert found.bounds == choice_of(alone, asked).model.bounds


def test_what_cannot_be_judged_is_refused_with_the_reason():
    cluster = told(topic("t", partition(replicas=tuple(range(7)))), topic("u", partition()))
    found = judge_groups(
        groups_of(cluster), (Faults({"crashes": 1}),), lambda g: as_cluster(cluster, g, None),
        Allowance(0),
    )  # fmt: skip
    assert ["7 replicas cannot be searched" in each.refused for each in found] == [True, False]
    unknown = replace(cluster, supported=None, brokers=())
    with pytest.raises(UsageError, match="--kafka VERSION"):
        as_cluster(unknown, groups_of(unknown)[0], None)


def test_a_cluster_of_3_9_without_a_metadata_version_is_with_zookeeper():
    brokers = tuple(broker(n, release="3.9") for n in range(3))
    old = told(topic("t", partition()), brokers=brokers, features={}, supported={}, quorum=None)
    (group,) = groups_of(old)
    assert as_cluster(old, group, None).release.mode == "zookeeper"
    kraft = replace(old, features={"metadata.version": 21}, supported={"metadata.version": 21})
    assert as_cluster(kraft, group, None).release.mode == "kraft"
