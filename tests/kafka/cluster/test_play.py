"""A step that does not come to pass ends a run: as undecided, or as a promise that was broken."""

from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.kafka.cluster.cluster import Cluster as RealCluster
from checker.kafka.cluster.errors import PromiseBrokenError, UndecidedError
from checker.kafka.cluster.members import Members
from checker.kafka.cluster.news import News
from checker.kafka.cluster.observed import Node
from checker.kafka.cluster.places import Place
from checker.kafka.cluster.play import take
from checker.kafka.cluster.quorum import Quorum
from checker.kafka.cluster.schedule import step_of
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.transactions import End, Transactions


@dataclass
class Clients:
    """Producers that were told this, brokers that say that."""

    acknowledged: dict[str, Place] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    appended: set[str] = field(default_factory=set)
    topic: list[dict[str, object]] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    members: Members = field(default_factory=Members)
    transactions: Transactions = field(default_factory=Transactions)
    open: list[dict[str, object]] = field(default_factory=list)
    answers: bool = True

    def ask(self, op, **fields):
        return self.answer(self.begin(op, **fields), op)

    def begin(self, op, **fields):
        self.asked[op] += 1
        return self.asked[op]

    def has_answered(self, number):
        return self.answers

    def answer(self, number, op):
        return {"describe": self.topic, "trim": [2, 0], "open": self.open}.get(op)


@dataclass
class Cluster:
    nodes: dict[int, Node] = field(default_factory=lambda: {n: Node() for n in (0, 1, 100)})
    settings: dict[str, str] = field(default_factory=dict)
    fronts: dict[int, int] = field(default_factory=lambda: {0: 900, 1: 901})
    given = RealCluster.given


@pytest.fixture
def stage():
    return Stage(cast(Any, Cluster()), cast(Any, None), cast(Any, Clients()), News())


def play(stage, *lines):
    for line in lines:
        take(step_of(line), stage)


def test_a_condition_that_does_not_come_to_pass_leaves_the_run_undecided(stage):
    with pytest.raises(UndecidedError, match="not within 0 s"):
        play(stage, "until x is acknowledged within 0 s")


def test_a_promise_that_is_not_kept_is_broken(stage):
    with pytest.raises(PromiseBrokenError, match="x is acknowledged, not within 0 s"):
        play(stage, "promise x is acknowledged within 0 s")


def test_what_the_brokers_tell_of_its_topic_is_said_with_a_broken_promise(stage):
    stage.topics["t"] = 1
    one = {
        "partition": 0,
        "leader": -1,
        "replicas": [0, 1],
        "isr": [],
        "elr": [],
        "last_known_elr": [-1],
    }
    stage.clients.topic = [one]
    told = "t-0: leader -1, replicas 0, 1, ISR none, ELR none, last known -1"
    with pytest.raises(PromiseBrokenError, match=f"t has a leader, not within 0 s; {told}$"):
        play(stage, "promise t has a leader within 0 s")


def test_the_levels_that_a_cluster_begins_with_are_given_to_kafkas_own_program(tmp_path):
    begun = []

    class Formatting(RealCluster):
        def configure(self, node):
            return tmp_path / "settings"

        def _java(self, arguments, *_):
            begun.append(arguments)
            return SimpleNamespace(has_ended=True)

    cluster = object.__new__(Formatting)
    cluster.features, cluster.log_dirs, cluster.news = {"one": 0, "two": 3}, {0: ()}, News()
    cluster.quorum = Quorum()
    cluster.programs = cast(Any, SimpleNamespace(storage_tool="Tool"))
    gone = SimpleNamespace(directory=tmp_path, gone=lambda process: None)
    cluster.processes = cast(Any, gone)
    cluster.format([0], "--more")
    (arguments,) = begun
    assert arguments[:2] == ["Tool", "format"]
    assert arguments[-5:] == ["--feature", "one=0", "--feature", "two=3", "--more"]


def test_the_topic_of_groups_is_compacted_and_its_first_replica_coordinates(stage):
    def ask(op, **fields):
        made.append({"op": op, **fields})

    made: list[dict[str, object]] = []
    stage.clients.ask = ask
    play(stage, "keep groups on 2, 0, 1")
    (one,) = made
    assert (one["op"], one["topic"], one["partitions"]) == ("create", "__consumer_offsets", 1)
    assert (one["replicas"], one["settings"]) == ((2, 0, 1), {"cleanup.policy": "compact"})
    assert stage.topics == {}


OPEN = {"partition": 0, "offset": 3, "producer": 7, "epoch": 0}


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, "says nothing, without this partition"),
        ({"state": "Ongoing", "known": True}, "says Ongoing, with this partition"),
    ],
)
def test_an_open_transaction_is_told_with_a_broken_promise(stage, known, words):
    stage.topics["t"] = 1
    none: dict[str, object] = {key: [] for key in ("replicas", "isr", "elr", "last_known_elr")}
    stage.clients.topic = [none | {"partition": 0, "leader": 0}]
    stage.clients.open = [OPEN | known]
    play(stage, "let producer 1 begin a transaction", "until a transaction is open in t")
    told = f"producer id 7 has a transaction open in t-0 since offset 3; its coordinator {words}"
    with pytest.raises(PromiseBrokenError, match=told):
        play(stage, "promise no transaction is open in t within 0 s")
    stage.clients.open = []
    play(stage, "until no transaction is open in t")


def test_a_producer_is_asked_for_the_end_and_the_next_step_begins(stage):
    stage.topics["t"] = 1
    play(stage, "let producer 1 begin a transaction", "let producer 1 send x to t")
    play(stage, "let producer 1 commit")
    last = stage.clients.transactions.last(1)
    assert (last.records, last.end, stage.written) == (["x"], End.UNKNOWN, {"t"})
    with pytest.raises(UndecidedError, match="not within 0 s"):
        play(stage, "until producer 1 is told that its transaction is committed within 0 s")
    stage.clients.transactions.hear("committed", {"producer": 1})
    play(stage, "until producer 1 is told that its transaction is committed")
    play(stage, "let producer 1 begin a transaction", "let producer 1 commit")
    stage.clients.transactions.hear("committed", {"producer": 1, "error": "Fenced"})
    play(stage, "until producer 1 has heard of its transaction")
    with pytest.raises(UndecidedError, match="Fenced"):
        play(stage, "until producer 1 is told that its transaction is committed")


def test_a_consumer_has_what_it_has_begun_with_and_no_more(stage):
    stage.clients.members.has[1] = {"t-0", "t-1"}
    play(stage, "until consumer 1 has 0, 1 of t within 0 s")
    for line in ("consumer 1 has 0 of t", "consumer 2 has 0 of t", "consumer 1 has read x"):
        with pytest.raises(UndecidedError):
            play(stage, f"until {line} within 0 s")


def test_a_consumer_is_in_the_rack_of_the_broker_that_it_reads_beside(stage):
    def ask(op, **fields):
        asked.append({"op": op, **fields})

    asked: list[dict[str, object]] = []
    stage.clients.ask = ask
    stage.topics["t"] = 2
    stage.cluster.settings = {"broker.rack": "rack-{node}", "replica.selector.class": "Selector"}
    play(stage, "let consumer 7 read t beside 1")
    wanted = {"consumer": 7, "topic": "t", "numbers": [0, 1], "rack": "rack-1"}
    assert asked == [{"op": "watch", **wanted}]


@pytest.mark.parametrize("missing", ["broker.rack", "replica.selector.class"])
def test_no_consumer_reads_beside_a_follower_if_all_read_from_leaders(stage, missing):
    stage.topics["t"] = 1
    stage.cluster.settings = {"broker.rack": "{node}", "replica.selector.class": "Selector"}
    del stage.cluster.settings[missing]
    with pytest.raises(UndecidedError, match="no replica selector and racks are set"):
        play(stage, "let consumer 7 read t beside 1")
    assert not stage.clients.asked


def test_a_promise_is_not_broken_if_the_brokers_do_not_answer(stage):
    def ask(op, **fields):
        raise UndecidedError("no answer in time")

    stage.topics["t"] = 1
    stage.clients.ask = ask
    with pytest.raises(UndecidedError, match="no answer in time"):
        play(stage, "promise t has a leader within 0 s")


def test_what_may_be_or_not_is_waited_for_and_decides_nothing(stage):
    play(stage, "perhaps x is acknowledged within 0 s")
    stage.clients.acknowledged["x"] = Place("t", 0, 1)
    play(stage, "perhaps x is acknowledged within 0 s")


def test_who_appends_at_a_broker_asks_that_one_and_hears_of_the_leader_alone(stage):
    asked = []
    stage.clients.ask = lambda op, **fields: asked.append((op, fields))
    play(stage, "append x to t at 1", "append 3 f of 10 bytes to t at 0")
    at = [(f["name"], f["count"], f["padding"], f["servers"]) for _, f in asked]
    assert at == [("x", 1, 0, "127.0.0.1:901"), ("f", 3, 10, "127.0.0.1:900")]
    assert stage.written == {"t"}
    stage.clients.acknowledged["x"] = Place("t", 0, 1)
    with pytest.raises(UndecidedError, match="not within 0 s"):
        play(stage, "until x is appended within 0 s")
    stage.clients.appended.add("y")
    play(stage, "until y is appended within 0 s")
    with pytest.raises(UndecidedError, match="not within 0 s"):
        play(stage, "until y is acknowledged within 0 s")
    stage.clients.failed["z"] = "NotLeaderOrFollowerException"
    with pytest.raises(UndecidedError, match="z failed: NotLeader"):
        play(stage, "until z is appended within 0 s")


def test_what_is_down_is_launched_and_nothing_else(stage):
    launched: list[object] = []
    stage.cluster.all_nodes = (101, 102, 0)
    stage.cluster.is_up = lambda node: node == 102
    stage.cluster.wait_until_down = lambda node: None
    stage.cluster.launch = launched.append
    play(stage, "launch what is down")
    assert launched == [101, 0]


def test_a_topic_that_is_begun_is_made_once_who_asked_is_told(stage):
    with pytest.raises(UndecidedError, match="no step has begun to make topic t"):
        play(stage, "until topic t is made within 0 s")
    stage.clients.answers = False
    play(stage, "begin to make topic t on 0, 1", "perhaps topic t is made within 0 s")
    assert (stage.clients.asked["create"], stage.topics) == (1, {})
    stage.clients.answers = True
    play(stage, "until topic t is made within 0 s", "until topic t is made within 0 s")
    assert (stage.clients.asked["create"], stage.topics) == (1, {"t": 1})


def test_what_has_come_to_pass_is_not_waited_for(stage):
    stage.clients.acknowledged["x"] = Place("t", 0, 1)
    play(stage, "until x is acknowledged within 0 s", "promise x is acknowledged within 0 s")


def test_a_record_that_failed_is_not_waited_for(stage):
    stage.clients.failed["x"] = "TimeoutException"
    with pytest.raises(UndecidedError, match="x failed: TimeoutException"):
        play(stage, "until x is acknowledged")


def test_a_log_counts_from_the_last_step_that_acted(stage):
    stage.cluster.nodes[0].hear("the word")
    play(stage, 'until the log of 0 says "w.rd" within 0 s', "send x to t")
    with pytest.raises(UndecidedError):
        play(stage, 'until the log of 0 says "w.rd" within 0 s')
    stage.cluster.nodes[0].hear("a new word")
    play(stage, 'until the log of 0 says "w.rd" within 0 s')
    stage.cluster.nodes[0] = Node()
    stage.cluster.nodes[0].hear("started again, word")
    play(stage, 'until the log of 0 says "again" within 0 s')


def test_more_records_are_those_since_the_last_step_that_acted(stage):
    stage.clients.acknowledged["before"] = Place("t", 0, 0)
    play(stage, "send x to t")
    with pytest.raises(UndecidedError):
        play(stage, "until 1 more records are acknowledged within 0 s")
    stage.clients.acknowledged["x"] = Place("t", 0, 1)
    play(stage, "until 1 more records are acknowledged within 0 s")


@pytest.mark.parametrize(
    "line",
    [
        "until the ISR of t is 2, 0", "until the ELR of t is 1", "until t is led by 0",
        "until t has a leader", "until the replicas of t are 0, 1, 2",
    ],
)  # fmt: skip
def test_what_brokers_tell_of_a_topic_holds_for_every_partition(stage, line):
    one = {"partition": 0, "leader": 0, "replicas": [0, 1, 2], "isr": [0, 2], "elr": [1]}
    stage.topics["t"] = 2
    stage.clients.topic = [one, {**one, "partition": 1}]
    play(stage, f"{line} within 0 s")
    other = {"partition": 1, "leader": -1, "replicas": [0, 2, 1], "isr": [0], "elr": []}
    stage.clients.topic = [one, other]
    with pytest.raises(UndecidedError):
        play(stage, "send x to t", f"{line} within 0 s")


def test_one_partition_of_a_topic_is_named_as_kafka_names_it(stage):
    first = {"partition": 0, "leader": -1, "replicas": [0], "isr": [], "elr": []}
    second = {"partition": 1, "leader": 1, "replicas": [1, 2], "isr": [1], "elr": [2]}
    stage.topics["t"] = 2
    stage.clients.topic = [first, second]
    play(stage, "until the ELR of t-1 is 2 within 0 s", "until t-0 has no leader within 0 s")
    with pytest.raises(UndecidedError, match="not within"):
        play(stage, "until t has a leader within 0 s")
    asked = []
    stage.clients.ask = lambda op, **fields: asked.append((op, fields))
    play(stage, "reassign t-1 to 1, 3", "reassign t to 1, 3")
    assert asked == [
        ("reassign", {"topic": "t", "numbers": numbers, "replicas": (1, 3)})
        for numbers in ([1], [0, 1])
    ]


def test_of_a_broken_promise_about_one_partition_that_one_is_told(stage):
    blank = {"replicas": [0], "isr": [], "elr": [], "last_known_elr": []}
    stage.topics["t"] = 2
    stage.clients.topic = [{"partition": n, "leader": -1, **blank} for n in (0, 1)]
    with pytest.raises(PromiseBrokenError) as broken:
        play(stage, "promise t-1 has a leader within 0 s")
    assert "t-1: leader -1" in str(broken.value)
    assert "t-0" not in str(broken.value)


@pytest.mark.parametrize("name", ["u", "u-0", "t-2", "t-", "t-x"])
def test_a_topic_or_partition_that_no_step_has_made_is_said(stage, name):
    stage.topics["t"] = 2
    for line in (f"reassign {name} to 0, 1", f"until {name} has a leader within 0 s"):
        with pytest.raises(UndecidedError, match=f"no step has made a topic {name}"):
            play(stage, line)


def test_the_records_of_a_topic_that_was_sent_to_are_evidence(stage):
    play(stage, "make topic t on 0, 1", "make topic u on 0, 1", "send x to t")
    assert (stage.topics, stage.written) == ({"t": 1, "u": 1}, {"t"})
    play(stage, "delete topic u")
    assert (stage.topics, stage.written) == ({"t": 1}, {"t"})
    with pytest.raises(UndecidedError, match="records of t are evidence"):
        play(stage, "delete topic t")


def test_what_was_to_be_deleted_is_below_the_start_that_the_brokers_tell(stage):
    stage.topics["t"] = 2
    play(stage, "delete the records of t")
    deleted = [
        place
        for place in (Place("t", 0, 1), Place("t", 0, 2), Place("t", 1, 0), Place("u", 0, 0))
        if stage.is_deleted(place)
    ]
    assert deleted == [Place("t", 0, 1)]


def test_a_deletion_that_is_begun_is_waited_for_where_a_step_says_so(stage):
    stage.topics["t"] = 2
    with pytest.raises(UndecidedError, match="no step has begun to delete the records of t"):
        play(stage, "until the records of t are deleted within 0 s")
    stage.clients.answers = False
    play(stage, "begin to delete the records of t")
    with pytest.raises(UndecidedError, match="not within 0 s"):
        play(stage, "until the records of t are deleted within 0 s")
    assert not stage.is_deleted(Place("t", 0, 1))
    stage.clients.answers = True
    play(stage, "until the records of t are deleted within 0 s")
    assert stage.is_deleted(Place("t", 0, 1))


def test_a_record_that_has_failed_is_waited_for_as_such(stage):
    with pytest.raises(UndecidedError, match="not within 0 s"):
        play(stage, "until x has failed within 0 s")
    stage.clients.failed["x"] = "NetworkException"
    play(stage, "until x has failed within 0 s")
