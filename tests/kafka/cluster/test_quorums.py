"""Several controllers: who is cut off from whom, who is added, and which topics are lost."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.kafka.cluster import evidence
from checker.kafka.cluster.cluster import Records
from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.frames import Frames, Head, Way
from checker.kafka.cluster.news import News
from checker.kafka.cluster.observed import Node
from checker.kafka.cluster.places import Place
from checker.kafka.cluster.play import take
from checker.kafka.cluster.quorum import Quorum, topic_names
from checker.kafka.cluster.schedule import step_of
from checker.kafka.cluster.shares import Shares
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.transactions import Transactions
from checker.kafka.cluster.verdict import Verdict, judge

FIVE = Quorum((103, 101, 102, 104, 105))
BOTH = (Way.REQUEST, Way.ANSWER)


class Proxy:
    """Holds what it is told to, and lets it go again."""

    def __init__(self):
        self.held: set[Frames] = set()
        self.hold, self.lose, self.release_all = self.held.add, self.held.remove, lambda: None

    def passes(self, server, client, way):
        return not any(frames.match(Head(server, client, 1, way)) for frames in self.held)


class Clients:
    """Brokers that know of these topics, and controllers that answer as they are told to."""

    def __init__(self, topics=(), ends=(), **answers):
        self.topics, self.answers, self.asked = list(topics), answers, []
        self.acknowledged = {"x": Place("t", 0, 0)}
        self.members, self.refused = SimpleNamespace(shared=frozenset()), set()
        self.transactions, self.shares = Transactions(), Shares()

    def ask(self, op, **fields):
        self.asked.append((op, fields))
        if op == "create":
            self.topics.append(fields["topic"])
        if op == "write":
            self.acknowledged[fields["name"]] = Place(fields["topic"], 0, 1)
        answer = {"topics": self.topics, **self.answers}.get(op)
        if op in ("add_voter", "feature") and answer:
            answer = answer.pop(0)
        if isinstance(answer, str):
            raise UndecidedError(answer)
        return answer

    def read(self, topic, partitions):
        return {place: name for name, place in self.acknowledged.items() if place.topic == topic}

    def end(self):
        pass


class Cluster:
    """Five controllers whose logs make these topics, and a broker with these records."""

    def __init__(self, made=(), records=(), aside=()):
        self.quorum, self.brokers = FIVE, (0,)
        self.nodes = {node: Node() for node in (*FIVE.controllers, 0)}
        self.made, self.on_disk, self.aside = frozenset(made), frozenset(records), frozenset(aside)
        self.resume_all = self.make_whole = self.stop = lambda: None

    def address(self, node):
        return f"front of {node}"

    def directory_id(self, node):
        return f"id of {node}"

    def records(self, topics):
        return Records({0: self.on_disk}, self.aside, None)

    def made_topics(self):
        return dict.fromkeys(self.quorum.controllers, self.made)


def staged(clients, cluster=None):
    return Stage(cast(Any, cluster or Cluster()), cast(Any, Proxy()), cast(Any, clients), News())


def play(stage, *lines):
    for line in lines:
        take(step_of(line), stage)


def quorum(leader, high_watermark, end, of=FIVE.controllers):
    ends = dict.fromkeys(map(str, of), high_watermark) | {str(leader): end}
    return {"leader": leader, "high_watermark": high_watermark, "ends": ends}


def test_who_is_cut_off_hears_nothing_either_way_until_all_is_whole_again():
    stage = staged(Clients())
    proxy = cast(Any, stage.proxy)
    play(stage, "cut 101, 103 off from 0, 102")
    apart = [(101, 0), (101, 102), (103, 0), (103, 102)]
    for here, there in (*apart, *((b, a) for a, b in apart)):
        for client in (f"raft-client-{there}", str(there)):
            assert not any(proxy.passes(here, client, way) for way in BOTH)
    for here, there in ((101, 103), (103, 101), (102, 0), (102, 104), (101, 104)):
        assert all(proxy.passes(here, f"raft-client-{there}", way) for way in BOTH)
    play(stage, "let 101, 103 reach 0, 102 again")
    assert not proxy.held


def test_a_controller_that_lags_behind_is_added_when_it_has_read_all():
    clients = Clients(add_voter=["TimeoutException: since it is lagging behind", None])
    play(staged(clients), "add controller 104")
    asked = {"voter": 104, "directory": "id of 104", "address": "front of 104"}
    assert clients.asked == [("add_voter", asked)] * 2
    clients = Clients(feature=["not all of the voters support it", None])
    play(staged(clients), "set feature kraft.version to 1")
    assert clients.asked == [("feature", {"name": "kraft.version", "level": 1})] * 2
    with pytest.raises(UndecidedError, match="another voter change is pending"):
        play(staged(Clients(add_voter=["another voter change is pending"])), "add controller 104")


@pytest.mark.parametrize(
    ("told", "uncommitted", "read"),
    [
        (quorum(103, 50, 250), True, True),
        (quorum(103, 50, 249), False, True),
        (quorum(102, 50, 250), False, True),
        (quorum(103, 50, 250, (101, 102)), True, False),
        (quorum(103, 50, 250) | {"ends": quorum(103, 49, 250)["ends"]}, True, False),
        ("NotLeaderOrFollowerException", False, False),
    ],
)
def test_what_is_committed_and_read_is_as_the_leader_tells(told, uncommitted, read):
    for line, expected in (
        ("until 103 has 200 records of metadata that are not committed within 0 s", uncommitted),
        ("until all controllers have read the metadata of 101 within 0 s", read),
    ):
        stage = staged(Clients(quorum=told))
        if expected:
            play(stage, line)
        else:
            with pytest.raises(UndecidedError, match="not within 0 s"):
                play(stage, line)


def test_metadata_stands_still_when_what_is_told_stays_for_so_long(monkeypatch):
    now, answers = [0.0], [quorum(103, 9, end) for end in (9, 10, 10, 10)]
    monkeypatch.setattr("checker.kafka.cluster.steps.quorums.time.monotonic", lambda: now[0])
    stage = staged(Clients())
    monkeypatch.setattr(stage, "quorum", lambda controller: answers.pop(0))
    test = step_of("until the metadata of 103 has not grown for 3 s").meaning.apply(stage)
    found = []
    for now[0] in (0.0, 3.5, 6.0, 6.5):
        found.append(test())
    assert found == [False, False, False, True]


def test_one_of_several_controllers_leads_as_soon_as_any_does():
    stage = staged(Clients())
    with pytest.raises(UndecidedError, match="not within 0 s"):
        play(stage, "until one of 102, 103 leads the quorum within 0 s")
    stage.cluster.nodes[103].quorum_role = "Leader"
    play(stage, "until one of 102, 103 leads the quorum within 0 s")


def test_a_dump_of_metadata_names_the_topics_that_are_made():
    made = '{"type":"TOPIC_RECORD","version":0,"data":{"name":"t","topicId":"A"}}'
    other = '{"type":"PARTITION_RECORD","version":0,"data":{"partitionId":0,"topicId":"A"}}'
    assert topic_names([made, other, "", "LEADER_CHANGE"]) == {"topic t"}


TOLD = quorum(103, 9, 9)
IN_SYNC = [{"partition": 0, "leader": 0, "replicas": [0], "isr": [0]}]


@pytest.mark.parametrize(
    ("told", "made", "records", "verdict", "lost"),
    [
        ("tu", "tu", ["x", "last-t-0"], Verdict.KEPT, ()),
        ("u", "u", [], Verdict.LOST, ("topic t", "x")),
        ("u", "tu", [], Verdict.NONE, ()),  # some log makes it, and brokers do not know of it
        ("tu", "u", ["x", "last-t-0"], Verdict.NONE, ()),  # the other way round
    ],
)
def test_a_topic_that_no_log_makes_and_no_broker_tells_is_lost_with_its_records(
    told, made, records, verdict, lost
):
    clients = Clients(told, quorum=TOLD, describe=IN_SYNC)
    topics = [*(f"topic {name}" for name in made), "topic last-topic"]
    stage = staged(clients, Cluster(topics, records, {"x"}))
    stage.topics, stage.written = {"t": 1, "u": 1}, {"t"}
    outcome = judge(evidence.gather(stage))
    assert (outcome.verdict, outcome.lost) == (verdict, lost), outcome.words
    assert outcome.set_aside == len(lost) // 2


@pytest.mark.parametrize(
    ("told", "records", "lost"), [("tu", ["x", "last-t-0"], ()), ("u", [], "x")]
)
def test_a_topic_that_is_there_is_read_though_nobody_was_told_that_it_was_made(told, records, lost):
    stage = staged(
        Clients(told, quorum=TOLD, describe=IN_SYNC),
        Cluster([*(f"topic {name}" for name in told), "topic last-topic"], records, {"x"}),
    )
    stage.topics, stage.written = {"u": 1}, {"t"}
    outcome = judge(evidence.gather(stage))
    assert outcome.verdict is (Verdict.LOST if lost else Verdict.KEPT), outcome.words
    assert outcome.lost == tuple(lost)


def test_a_controller_whose_log_does_not_show_the_last_topic_leaves_the_run_undecided():
    clients = Clients("t", quorum=TOLD, describe=IN_SYNC)
    stage = staged(clients, Cluster(["topic t"], ["x", "last-t-0"]))
    stage.topics, stage.written = {"t": 1}, {"t"}
    outcome = judge(evidence.gather(stage))
    assert outcome.verdict is Verdict.NONE
    assert "does not show topic last-topic" in outcome.reason
