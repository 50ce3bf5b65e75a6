"""A cluster that does not answer everything: what is not told is named, and the rest is read."""

import time
from collections import namedtuple
from types import SimpleNamespace
from typing import Any

import pytest
from kafka import errors

from checker.kafka.live.admin import read_cluster, why_unreachable
from checker.kafka.live.client_properties import (
    client_options,
    request_seconds,
    servers_of,
)
from checker.kafka.live.reading import within
from checker.kafka.live.versions import name_of
from model.language.errors import LimitError, UsageError


def a_partition(number):
    return {
        "partition_index": number, "leader_id": -1, "replica_nodes": [0, 1], "isr_nodes": [],
        "eligible_leader_replicas": [1], "last_known_elr": None, "offline_replicas": [0],
    }  # fmt: skip


Place = namedtuple("Place", "topic partition")


class Client:
    """Answers as kafka-python's admin client does; `refuses` are calls that raise, by name."""

    def __init__(self, **refuses):
        self.refuses, self.pages = refuses, 0

    def __getattribute__(self, name):
        refuses = {} if name == "refuses" else self.refuses

        def refuse(*_, **__):
            raise refuses[name]

        return refuse if name in refuses else super().__getattribute__(name)

    def describe_features(self):
        return {"metadata.version": {"supported": (7, 30), "finalized": (27, 27)}}

    def describe_cluster(self):
        brokers = [
            {"broker_id": n, "host": "h", "port": 1, "rack": None, "is_fenced": n == 1}
            for n in (0, 1)
        ]
        return {"brokers": brokers, "cluster_id": "c"}

    def list_topics(self):
        return ["t", "u"]

    def describe_topic_partitions(self, names, limit, cursor):
        self.pages += 1
        topic = {"name": "t", "error_code": 0, "partitions": [a_partition(self.pages - 1)]}
        at = {"topic_name": "t", "partition_index": self.pages}
        return {"topics": [topic], "next_cursor": at if self.pages < 3 else None}

    def describe_topics(self, names):
        return [{"name": "t", "error_code": 0, "partitions": [a_partition(0)]}]

    def list_partition_reassignments(self):
        return {Place("t", 0): {"adding_replicas": [1], "removing_replicas": []}}

    def describe_configs(self, resources, config_filter):
        entry = {"min.insync.replicas": {"value": "2", "config_source": "DEFAULT_CONFIG"}}
        (kind,) = {each.resource_type.name.lower() for each in resources}
        return {kind: {each.name: dict(entry) for each in resources}}

    def get_broker_version_data(self, broker):
        return SimpleNamespace(broker_version=(4, 1))

    def describe_log_dirs(self, topics, brokers):
        return [{"log_dirs": [{"error_code": 56, "log_dir": "/d"}]}]

    def list_groups(self, brokers):
        return [{"group_id": "g"}, {"group_id": "h", "group_type": "Consumer"}]

    def describe_metadata_quorum(self):
        voter = {"replica_id": 9, "log_end_offset": 5, "last_caught_up_timestamp": 7}
        first = {"leader_id": 9, "leader_epoch": 1, "high_watermark": 5, "current_voters": [voter]}
        return {"topics": [{"partitions": [first | {"error": None}]}]}


def read(topic=None, left=lambda: 9.0, **refuses):
    return read_cluster(Client(**refuses), topic, 5.0, left)


def test_all_that_is_told_is_read_and_who_is_fenced_is_not_asked():
    found = read()
    (topic,) = found.topics
    assert [p.number for p in topic.partitions] == [0, 1, 2]
    first = topic.partitions[0]
    assert (first.leader, first.elr, first.offline, first.adding) == (None, (1,), (0,), (1,))
    assert (found.level, found.line, found.with_fenced) == ("4.1-IV1", "4.3", True)
    assert found.consumer_groups == {"classic": 1, "consumer": 1}
    assert found.brokers[0].directories[0].error == "KafkaStorageError"
    assert found.brokers[1].directories is None
    assert [each.words for each in found.unread] == [
        "log directories and settings of broker 1: fenced"
    ]


CALLS = [
    "describe_features", "describe_topic_partitions", "list_partition_reassignments",
    "describe_configs", "get_broker_version_data", "describe_log_dirs", "list_groups",
    "describe_metadata_quorum",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_a_request_that_fails_is_named_and_the_rest_is_read(call):
    for error, why in (
        (errors.ClusterAuthorizationFailedError(), "no permission"),
        (errors.IncompatibleBrokerVersion(), "this release does not answer that"),
        (OSError("host-0:9092 refused"), "OSError"),
    ):
        found = read(**{call: error})
        assert why in {each.why for each in found.unread}
        assert "host-0" not in str(found.unread)
        assert found.topics and len(found.brokers) == 2
        assert found.reassignments_told == (call != "list_partition_reassignments")


class Manager:
    """Sends requests, and has the responses of a broker of 3.5."""

    def __init__(self, error=0):
        self.error = error

    def send(self, request):
        broker = {"broker_id": 0, "host": "h", "port": 1, "rack": None}
        voter = {"replica_id": 9, "log_end_offset": 5}
        first = {"leader_id": 9, "leader_epoch": 1, "high_watermark": 5, "current_voters": [voter]}
        quorum = {"topics": [{"partitions": [first | {"error_code": self.error}]}]}
        cluster = {"brokers": [broker], "cluster_id": "c", "error_code": self.error}
        return quorum if "Quorum" in type(request).__name__ else cluster

    def run(self, send, request):
        return SimpleNamespace(to_dict=lambda: send(request))


def test_responses_of_older_brokers_that_the_client_trips_over_are_read():
    old = {"describe_cluster": KeyError("endpoint_type"), "describe_metadata_quorum": KeyError("m")}
    client: Any = Client(**old)
    client._manager = Manager()
    found = read_cluster(client, None, 5.0)
    assert ([broker.id for broker in found.brokers], found.with_fenced) == ([0], False)
    assert found.quorum is not None
    assert [voter.id for voter in found.quorum.voters] == [9]
    client._manager = Manager(31)  # ClusterAuthorizationFailed
    with pytest.raises(UsageError, match="does not tell its brokers: no permission"):
        read_cluster(client, None, 5.0)


def test_without_brokers_nothing_can_be_said():
    with pytest.raises(UsageError, match="does not tell its brokers: no permission"):
        read(describe_cluster=errors.ClusterAuthorizationFailedError())


def test_a_pattern_chooses_topics_and_one_without_any_is_refused():
    assert [topic.name for topic in read("t*").topics] == ["t"]
    with pytest.raises(UsageError, match="--topic x: no topic"):
        read("x")


def test_nothing_waits_longer_than_its_limit():
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        within(0.2, lambda: time.sleep(30), lambda: 9.0)
    with pytest.raises(TimeoutError):
        within(30, lambda: time.sleep(30), lambda: 0.0)  # as Ctrl-C has it
    assert time.monotonic() - begun < 5
    with pytest.raises(LimitError, match="no time was left"):
        read(left=lambda: 0.0)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"security.protocol": "TLS"}, "security.protocol"),
        ({"security.protocol": "SSL", "ssl.truststore.location": "s"}, "ssl.truststore.type"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI",
          "sasl.kerberos.service.name": "kafka"}, "sasl.mechanism GSSAPI is not supported"),
        ({"security.protocol": "SASL_SSL", "sasl.jaas.config": "hunter2"}, "left out, so GSSAPI,"),
        ({"security.protocol": "SSL", "ssl.truststore.location": "s.jks",
          "ssl.truststore.password": "hunter2"}, "ssl.truststore.type JKS is not read here"),
        ({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
          "sasl.jaas.config": 'X required username="u" pass="hunter2";'}, "sasl.jaas.config"),
        ({"sasl.jaas": "hunter2"}, "sasl.jaas is not read here"),
        ({"security.protocol": "SSL", "ssl.keystore.type": "PEM",
          "ssl.keystore.location": "none", "ssl.key.password": "hunter2"}, "ssl.keystore.location"),
    ],
)  # fmt: skip
def test_properties_that_are_not_valid_are_refused_without_their_secrets(given, words):
    with pytest.raises(UsageError) as refused:
        client_options(given)
    assert words in str(refused.value) and "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "said, words",
    [
        ("Connection failed: KafkaConnectionError: 111 ECONNREFUSED", "nothing listens there"),
        ("<KafkaTCPTransport [h:1<-2]>: Abort ([Error 7] RequestTimedOutError: after 15000 ms)",
         "no response as of Kafka"),
        ("<KafkaSSLTransport [h:1<-2]>: socket disconnected", "are user and password right?"),
        ("Handshake failed: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed", "is not trusted"),
        ("Handshake failed: [SSL: WRONG_VERSION_NUMBER] wrong version number", "no TLS there"),
        ("[Error 35] Kafka broker does not support the 'MetadataRequest' Kafka protocol.",
         "a controller's port"),
        ("<KafkaTCPTransport [h:1<-2]>: something new", "something new"),
    ],
)  # fmt: skip
def test_why_a_cluster_is_not_reached_is_told_for_people(said, words):
    found = why_unreachable(said)
    assert words in found and "Transport" not in found


def test_users_and_times_are_read_by_kafkas_names():
    options = client_options({
        "security.protocol": "sasl_plaintext", "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": r'a.b.ScramLoginModule required username=alice password="a \"b\";c";',
    })  # fmt: skip
    assert options["sasl_plain_username"] == "alice"
    assert options["sasl_plain_password"] == 'a "b";c'
    assert request_seconds({"request.timeout.ms": "2500"}) == 2.5
    assert servers_of("a:1, [::1]:2") == ["a:1", "[::1]:2"]
    for text in ("a", "a:b", ":1", "a:70000", ""):
        with pytest.raises(UsageError, match="HOST:PORT"):
            servers_of(text)
    with pytest.raises(UsageError, match=r"request\.timeout\.ms"):
        request_seconds({"request.timeout.ms": "soon"})


def test_levels_of_the_metadata_version_are_named_as_kafka_names_them():
    # as `MetadataVersion.values()` of 4.4.0 prints them
    known = {7: "3.3-IV3", 11: "3.5-IV2", 21: "3.9-IV0", 25: "4.0-IV3", 27: "4.1-IV1"}
    known |= {29: "4.2-IV1", 30: "4.3-IV0", 33: "4.4-IV2", 34: "", 0: ""}
    assert {level: name_of(level) for level in known} == known
