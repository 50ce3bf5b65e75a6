"""Kafka's own formats are read as its tools write them, and what is none is told in one line."""

from __future__ import annotations

import os

import pytest

from checker.kafka.guarantees.cluster import describe_cluster
from checker.kafka.guarantees.config_files import Scope, read_config
from checker.kafka.guarantees.kafka_keys import BY_NAME, KEYS, OPERATORS, WITHOUT_MEANING
from checker.kafka.guarantees.releases import RELEASES, Mode, later, release_named
from model.kafka.protocol import KAFKA
from model.language.declare.settings import describe
from model.language.errors import UsageError

SERVER = """\
# a broker of ours
process.roles=broker
num.network.threads : 3
log.dirs = /var/lib/kafka,\\
    /mnt/kafka
default.replication.factor=3
min.insync.replicas=1
replica.lag.time.max.ms=30000
"""
CONFIGS = """\
Dynamic configs for topic orders are:
  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2}
  cleanup.policy=compact,delete sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:a=b, DEFAULT:c=d}
"""
BROKERS = """\
Default configs for brokers in the cluster are:
  unclean.leader.election.enable=true sensitive=false synonyms={X:a=b}
Dynamic configs for broker 1 are:
  unclean.leader.election.enable=false sensitive=false synonyms={X:a=b}
"""
TOPICS = (
    "Topic: orders\tTopicId: Qk\tPartitionCount: 1\tReplicationFactor: 2\t"
    "Configs: min.insync.replicas=2,cleanup.policy=compact,delete\n"
    "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\tElr: \tLastKnownElr: \n"
    "Topic:old\tPartitionCount:1\tReplicationFactor:3\tConfigs:\n"
)
FEATURES = """\
Feature: eligible.leader.replicas.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\t\
FinalizedVersionLevel: {elr}\tEpoch: 42
Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.1-IV1\t\
FinalizedVersionLevel: {metadata}\tEpoch: 42
"""
ELR = "eligible.leader.replicas"


def topic(*partitions, factor=3):
    """What kafka-topics prints of a topic with these partitions."""
    head = f"Topic: t\tTopicId: Q\tPartitionCount: {len(partitions)}\tReplicationFactor: {factor}"
    rows = [f"\tTopic: t\tPartition: {n}\t{rest}" for n, rest in enumerate(partitions)]
    return "\n".join([f"{head}\tConfigs: min.insync.replicas=2", *rows]) + "\n"


HEALTHY = "Leader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\tElr: \tLastKnownElr: "


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_properties_are_javas(written):
    found = {e.key: e.value for e in read_config(written("a", SERVER)).entries}
    assert found["log.dirs"] == "/var/lib/kafka,/mnt/kafka"
    assert found["num.network.threads"] == "3"
    assert "# a broker of ours" not in found


def test_what_kafka_configs_prints_has_its_scope(written):
    (first, second) = read_config(written("a", CONFIGS)).entries
    assert (first.key, first.value, first.scope, first.topic) == (
        "min.insync.replicas", "2", Scope.TOPIC, "orders",
    )  # fmt: skip
    assert second.value == "compact,delete"
    scopes = [(e.value, e.scope) for e in read_config(written("b", BROKERS)).entries]
    assert scopes == [("true", Scope.CLUSTER), ("false", Scope.BROKER)]


def test_what_kafka_topics_prints_has_replicas_and_configs(written):
    found = read_config(written("a", TOPICS))
    assert {name: each.replicas for name, each in found.topics.items()} == {"orders": 2, "old": 3}
    (partition,) = found.topics["orders"].partitions
    assert (partition.leader, partition.replicas, partition.isr) == (1, (1, 2), (1, 2))
    assert [(e.key, e.value, e.topic) for e in found.entries] == [
        ("min.insync.replicas", "2", "orders"), ("cleanup.policy", "compact,delete", "orders"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "1e999",
        '{"a": 1}',
        "a = ",
        "\0" * 9,
        CONFIGS + "what is this\n",
        "some.key=1\nother.key=2\n",
        "Error while executing topic command : Topic 'orders' does not exist as expected\n",
        "[2026-01-01 10:00:00,000] ERROR java.lang.IllegalArgumentException: Topic 'orders'\n",
        "spec:\n  kafka:\n    config:\n      min.insync.replicas: 2\n",
        "---\nmin.insync.replicas: 2\n",
        "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\n",
        TOPICS[:40],
        topic(HEALTHY).replace("ReplicationFactor: 3", "ReplicationFactor: three"),
        topic(HEALTHY).replace("ReplicationFactor: 3", "ReplicationFactor: -3"),
        topic(HEALTHY, HEALTHY).rpartition("\tTopic")[0],
        topic(HEALTHY)[:-60],
        "x\n" + topic(HEALTHY),
        FEATURES.format(elr=0, metadata="4.1-IV1") + "Error\n",
    ],
)
def test_what_is_not_recognised_is_refused(written, text):
    words = "no configuration|no line of kafka|like YAML|not as kafka-topics|is missing|lines of"
    with pytest.raises(UsageError, match=words) as refused:
        read_config(written("a", text))
    assert len(str(refused.value)) < 300


def test_the_narrowest_scope_goes_first_and_flags_before_it(written):
    server, configs = written("server.properties", SERVER), written("topic", CONFIGS)
    assert describe_cluster("4.1", [server]).settings["min.insync.replicas"] == "1"
    for files in ([server, configs], [configs, server]):
        cluster = describe_cluster("4.1", files)
        assert cluster.settings == {"min.insync.replicas": "2"}
        assert cluster.replicas == 3
    flags = {"min.insync.replicas": "3"}
    assert describe_cluster("4.1", [server, configs], flags).settings == flags
    assert describe_cluster("4.1", [written("b", BROKERS)]).settings == {
        "unclean.leader.election.enable": "false"
    }


def test_everything_that_was_read_is_told_and_the_rest_counted(written):
    cluster = describe_cluster("4.1", [written("server.properties", SERVER)])
    told = {one.name: one.value for one in (*cluster.read, *cluster.defaults)}
    assert told["min.insync.replicas"] == "1" and told["replicas"] == "3"
    assert told["acks"] == "all" and told["unclean.leader.election.enable"] == "false"
    assert set(cluster.ignored) == {"num.network.threads", "log.dirs"}
    assert list(cluster.unused) == ["replica.lag.time.max.ms"]
    assert {one.name for one in cluster.defaults}.isdisjoint(one.name for one in cluster.read)


def test_defaults_are_those_of_the_release():
    def value(kafka, name):
        return {one.name: one.value for one in describe_cluster(kafka).defaults}[name]

    assert [value(kafka, "acks") for kafka in ("2.7", "3.5")] == ["1", "all"]
    unclean = "unclean.leader.election.enable"
    assert [value(kafka, unclean) for kafka in ("0.10", "0.11")] == ["true", "false"]


def test_two_files_that_differ_on_a_key_that_matters_are_refused(written):
    one, other = written("a", "min.insync.replicas=1\nx=1\n"), written("b", "x=2\nacks=all\n")
    assert describe_cluster("4.1", [one, other]).settings["acks"] == "all"
    with pytest.raises(UsageError, match=r"min.insync.replicas is 1 in .*a and 2 in .*b"):
        describe_cluster("4.1", [one, written("b", "min.insync.replicas=2\n")])


def test_of_several_topics_one_is_chosen(written):
    topics = written("a", TOPICS)
    with pytest.raises(UsageError, match="choose one by --topic: old, orders"):
        describe_cluster("4.1", [topics])
    assert describe_cluster("4.1", [topics], topic="orders").replicas == 2
    assert describe_cluster("4.1", [topics], topic="old").settings == {}


@pytest.mark.parametrize(
    ("version", "preset", "mode"),
    [
        ("3.7.2", "kafka-3.7", Mode.KRAFT), ("4.1", "kafka-4.1", Mode.KRAFT),
        ("3.9.2", "kafka-3.9.1", Mode.KRAFT), ("3.4.0", "kafka-3.3", Mode.KRAFT),
        ("0.8.2.2", "kafka-0.8.2", Mode.ZOOKEEPER), ("0.10.2.1", "kafka-0.10", Mode.ZOOKEEPER),
        ("2.7.0", "kafka-2.7", Mode.ZOOKEEPER), ("kafka-4.3", "kafka-4.3", Mode.KRAFT),
        ("4.4.0", "kafka-4.3", Mode.KRAFT), ("3.6.2", "kafka-3.5.1-zookeeper", Mode.ZOOKEEPER),
    ],
)  # fmt: skip
def test_a_version_is_the_preset_with_its_rules(version, preset, mode):
    found = release_named(version, mode if preset.endswith("-zookeeper") else None)
    assert (found.preset, found.mode) == (preset, mode)


@pytest.mark.parametrize("version", ["5", "4", "", "fixed", "4.1.x", "4.10", "0.8.1"])
def test_a_version_that_is_none_is_refused_with_the_valid_ones(version):
    with pytest.raises(
        UsageError, match=r"valid are releases of 0\.8\.2, .*4\.4, such as 4\.4\.0$"
    ):
        release_named(version)


def test_every_preset_is_a_release_but_one():
    assert [one.preset for one in RELEASES] == list(KAFKA.presets)[:-1]
    assert [one.alike for one in later(release_named("4.1"))] == ["4.2", "4.3"]
    after = [(one.alike, one.mode) for one in later(release_named("3.8.1", "zookeeper"))][:4]
    zookeeper, kraft = Mode
    assert after == [("3.9.1", zookeeper), ("3.8", kraft), ("3.9", kraft), ("3.9.1", kraft)]


def test_zookeeper_is_known_by_the_files(written):
    old = written("a", "zookeeper.connect=a:2181\n")
    assert describe_cluster("3.7", [old]).release.preset == "kafka-3.7-zookeeper"
    with pytest.raises(UsageError, match=r"4.0 is modelled with KRaft only: .* 0.8.2 to 3.9$"):
        describe_cluster("4.0", [old])
    assert describe_cluster("2.7", [old]).release.mode is Mode.ZOOKEEPER
    both = written("b", "zookeeper.connect=a:2181\nprocess.roles=broker\n")
    assert describe_cluster("3.7", [both]).release.mode is Mode.KRAFT


def test_every_key_gives_a_setting_of_the_model():
    known = describe(KAFKA.settings)
    assert {key.setting for key in KEYS} | OPERATORS <= set(known)
    assert not set(BY_NAME) & set(WITHOUT_MEANING)


@pytest.mark.parametrize(
    ("racks", "placed"),
    [
        ("a,a,a", "together"),
        ("a,b,c", "spread"),
        ("spread", "spread"),
        ("z,z,a", "aab"),
        ("b,a,b", "aba"),
        ("a,x,x", "abb"),
        ("b,c,c,b", "abba"),
        ("q,r,s,q", "abca"),
    ],
)
def test_racks_are_a_word_or_a_list(racks, placed):
    cluster = describe_cluster("4.1", racks=racks, replicas=4 if racks.count(",") == 3 else 3)
    assert cluster.settings == {"broker.rack": placed}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"racks": "a,a,b,b,c", "replicas": 5}, "so many --power-losses"),
        ({"settings": {"broker.rack": "aabb"}}, "valid are spread, together, aab, aba, abb"),
        ({"racks": "a,b"}, "the racks of the 3 replicas"),
        ({"settings": {"acks": "2"}}, "valid are 0, 1, all"),
        ({"settings": {"replica.lag.time.max.ms": "2"}}, "there is no time in the model"),
        ({"replicas": 0}, "valid are 1 to 5"),
        ({"topic": "x"}, "no file describes a topic"),
    ],
)
def test_what_the_model_cannot_be_is_refused(arguments, words):
    with pytest.raises(UsageError, match=words):
        describe_cluster("4.1", **arguments)


# --- eligible leader replicas --------------------------------------------------------------------


def elr_of(kafka, files=(), **settings):
    """Whether a cluster has ELR, as the model is told."""
    cluster = describe_cluster(kafka, files, {k.replace("_", "."): v for k, v in settings.items()})
    chosen = KAFKA.model({}, dict(cluster.settings), cluster.release.preset).settings
    return chosen.eligible_leader_replicas


def test_elr_is_as_the_feature_says_wherever_it_is_given(written):
    key = "eligible.leader.replicas.version"
    assert elr_of("4.1") and not elr_of("4.0")
    for level, on in (("0", False), ("1", True)):
        assert elr_of("4.0", eligible_leader_replicas_version=level) is on
        assert elr_of("4.1", eligible_leader_replicas_version=level) is on
        file = written("server.properties", f"process.roles=broker\n{key}={level}\n")
        assert elr_of("4.1", [file]) is on
        assert elr_of("4.1", [written("f", FEATURES.format(elr=level, metadata="4.1-IV1"))]) is on
    unsaid = "\n".join(FEATURES.format(elr=1, metadata="4.1-IV1").splitlines()[1:])
    assert not elr_of("4.1", [written("f", unsaid)])


def test_what_is_assumed_of_elr_is_told_and_only_where_it_is():
    def told(kafka, **settings):
        cluster = describe_cluster(kafka, settings=settings)
        return {(one.value, bool(one.means)) for one in cluster.defaults if "eligible" in one.name}

    assert told("4.1") == {("1", True)} and told("4.0") == {("0", True)}
    assert told("3.9") == set() and told("4.1", **{ELR: "false"}) == set()


def test_an_older_metadata_version_holds_rules_back(written):
    def settings(metadata):
        file = written("f", FEATURES.format(elr=0, metadata=metadata))
        return describe_cluster("4.1", [file]).settings

    assert settings("4.1-IV1") == {ELR: "false"}
    assert settings("3.9-IV0") == {ELR: "false", "last.known.leader.election": "false"}
    assert settings("3.5-IV2")["isr.shrink.starts.epoch"] == "always"
    for metadata, words in (("4.2-IV0", "newer than Kafka 4.1"), ("x", "such as 4.1-IV1")):
        with pytest.raises(UsageError, match=words):
            settings(metadata)


def test_a_brokers_rack_is_told_unless_all_are_given(written):
    file = written("server.properties", "process.roles=broker\nbroker.rack=a\n")
    told = {one.name: one.means for one in describe_cluster("4.1", [file]).read}
    assert "--racks" in told["broker.rack"]
    placed = describe_cluster("4.1", [file], racks="together")
    assert "broker.rack" not in {one.name for one in placed.read}
    assert placed.ignored == ()


# --- partitions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (topic(HEALTHY, HEALTHY.replace("Leader: 1", "Leader: none")), "partition 1 is offline"),
        (topic(HEALTHY + "\tAdding Replicas: 4\tRemoving Replicas: "), "0 is being reassigned"),
        (topic(HEALTHY, factor=2), "ReplicationFactor 2, and partition 0 has 3"),
        (
            topic("Leader: 1\tReplicas: 1,2\tIsr: 1,2", HEALTHY, factor=2),
            "have 2 or 3 replicas: choose by --replicas 2 or 3",
        ),
    ],
)
def test_partitions_that_a_search_does_not_begin_with_are_refused(written, text, words):
    with pytest.raises(UsageError, match=words):
        describe_cluster("4.1", [written("a", text)])


def test_where_partitions_differ_the_first_one_counts_too(written):
    """Finding 0014: the controller goes by the first partition's number of replicas."""
    file = written("a", topic("Leader: 1\tReplicas: 1,2\tIsr: 1,2", HEALTHY, factor=2))
    larger = describe_cluster("4.1", [file], replicas=3)
    assert larger.settings["first.partition.replicas"] == "2"
    assert (
        "finding 0014"
        in {one.name: one.means for one in larger.read}["replicas of the first partition"]
    )
    assert "first.partition.replicas" not in describe_cluster("4.1", [file], replicas=2).settings


def test_a_partition_that_is_not_in_sync_is_told(written):
    file = written("a", topic(HEALTHY, HEALTHY.replace("Isr: 1,2,3", "Isr: 2")))
    told = {one.name: one.value for one in describe_cluster("4.1", [file]).read}
    assert told["partition 1 in sync"] == "1 of 3" and "partition 0 in sync" not in told


def test_a_minimum_above_the_replicas_counts_as_kafka_counts_it():
    """Since 3.7.0 a leader counts no more than the replicas (KAFKA-15583); before, it refuses."""
    two = {"min.insync.replicas": "2"}
    assert describe_cluster("3.7", settings=two, replicas=1).settings == two
    assert describe_cluster("3.6", settings={**two, "acks": "1"}, replicas=1)
    with pytest.raises(UsageError, match=r"3\.6 then refuses every write with acks=all"):
        describe_cluster("3.6", settings=two, replicas=1)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"log.flush.interval.messages": "0"}, "valid are whole numbers from 1"),
        ({"flush.messages": "x"}, "valid are whole numbers from 1"),
        ({"eligible.leader.replicas.version": "2"}, "valid are 0, 1"),
        ({"eligible.leader.replicas.versio": "0"}, "did you mean"),
    ],
)
def test_values_that_kafka_refuses_are_refused_in_a_short_line(settings, words):
    with pytest.raises(UsageError, match=words) as refused:
        describe_cluster("4.1", settings=settings)
    assert len(str(refused.value)) < 400


def test_a_feature_that_a_release_lacks_is_refused():
    with pytest.raises(UsageError, match=r"3\.9 has no eligible\.leader\.replicas\.version"):
        describe_cluster("3.9", settings={"eligible.leader.replicas.version": "1"})


def test_a_key_that_is_twice_in_a_file_is_told(written):
    twice = written("a", "acks=1\nacks=all\nlinger.ms=1\nlinger.ms=2\n")
    with pytest.raises(UsageError, match="acks is there twice, 1 and all"):
        describe_cluster("4.1", [twice])


def test_a_pipe_that_nobody_writes_to_is_empty(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not recognised"):
        read_config(tmp_path / "pipe")
