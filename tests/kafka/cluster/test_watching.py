"""Waiting without missing anything, and what the lines of Kafka's logs say."""

import threading

from checker.kafka.cluster.news import News
from checker.kafka.cluster.observed import Node

SECONDS = 10.0

LEADER = (
    "[23:26:35.398] INFO [Broker id=0] Leader t-0 with topic id Some(bkr6F_frR3aZtl6XUKZChw) starts"
    " at leader epoch 2 from offset 2 with partition epoch 3, high watermark 1, ISR [0,2], adding"
    " replicas [] and removing replicas [] . Previous leader Some(0) and previous leader epoch was"
    " 0. (logger)"
)
FOLLOWER = (
    "[23:26:33.928] INFO [Broker id=1] Follower t-0 starts at leader epoch 3 from offset 1 with"
    " partition epoch 3 and high watermark 1. Current leader is 0. Previous leader Some(0) and"
    " previous leader epoch was 2. (logger)"
)
NOTED = (
    "[23:26:29.979] DEBUG [Partition t-0 broker=0] Recorded replica 2 log end offset (LEO) position"
    " 2 and log start offset 0. (Partition)"
)
ANSWERED = (
    "[23:27:06.676] INFO [Partition t-0 broker=2] ISR updated to 2,0,1  and version updated to 7"
)
READ = (
    "[23:27:06.251] INFO [Broker id=2] Skipped the become-leader state change for t-0 with topic id"
    " Some(bkr6F_frR3aZtl6XUKZChw) and partition state LeaderAndIsrPartitionState(topicName='t',"
    " partitionIndex=0, controllerEpoch=-1, leader=2, leaderEpoch=3, isr=[2, 0], partitionEpoch=6,"
    " replicas=[1, 0, 2], addingReplicas=[], removingReplicas=[], isNew=false,"
    " leaderRecoveryState=0) since it is already the leader with leader epoch 3."
)
AWAITS = "[23:26:23.295] INFO Awaiting socket connections on 127.0.0.1:41010. (DataPlaneAcceptor)"
STARTED = "[23:26:23.349] INFO [KafkaRaftServer nodeId=0] Kafka Server started (KafkaRaftServer)"

LEADER_OF_THE_QUORUM = (
    "[12:01:57.393] INFO [RaftManager id=103] Completed transition to Leader(localVoterNode="
    "VoterNode(voterKey=ReplicaKey(id=103, directoryId=GQ), listeners=Endpoints(endpoints={}),"
    " epoch=1) from CandidateState(localId=103, epoch=1) (QuorumState)"
)
VOTERS = (
    "[12:01:33.536] INFO [RaftManager id=103] Latest set of voters is VoterSet(voters={104="
    "VoterNode(voterKey=ReplicaKey(id=104, directoryId=q9), listeners=Endpoints(endpoints={"
    "ListenerName(CONTROLLER)=127.0.0.1/<unresolved>:42071}), supportedKRaftVersion="
    "SupportedVersionRange[min_version:0, max_version:1]), 101=VoterNode(voterKey=ReplicaKey("
    "id=101, directoryId=ps), listeners=Endpoints(endpoints={})}) at offset 39"
)


def test_a_change_that_comes_while_the_test_runs_is_not_missed(monkeypatch):
    news = News()
    tried: list[None] = []

    def rest(news, before, seconds):
        assert news._changes != before, "it would rest, although there was a change"

    monkeypatch.setattr(News, "_rest", rest)

    def test():
        tried.append(None)
        if len(tried) == 1:
            with news.change():
                pass
        return len(tried) == 2

    assert news.wait(test, SECONDS)


def test_a_change_by_another_thread_ends_the_wait(monkeypatch):
    monkeypatch.setattr("checker.kafka.cluster.news.AGAIN", 10 * SECONDS)
    news, begun = News(), threading.Event()
    happened: list[str] = []
    ended: list[object] = []

    def test():
        begun.set()
        return happened

    waiting = threading.Thread(target=lambda: ended.append(news.wait(test, 10 * SECONDS)))
    waiting.start()
    assert begun.wait(SECONDS)
    with news.change():
        happened.append("it")
    waiting.join(SECONDS)
    assert ended == [["it"]]


def test_what_never_comes_is_none():
    assert News().wait(lambda: False, 0.01) is None


def test_a_role_is_taken_up_anew_without_positions():
    node = Node()
    node.hear(NOTED)
    assert node.replica("t-0").positions == {2: 2}
    node.hear(LEADER)
    replica = node.replica("t-0")
    assert (replica.role, replica.epoch, replica.positions) == ("leader", 2, {})
    node.hear(NOTED)
    node.hear(FOLLOWER)
    replica = node.replica("t-0")
    assert (replica.role, replica.epoch, replica.positions) == ("follower", 3, {})


def test_an_isr_is_known_by_answer_and_by_image():
    node = Node()
    node.hear(ANSWERED)
    assert (node.replica("t-0").answered, node.replica("t-0").read) == ({0, 1, 2}, frozenset())
    node.hear(READ)
    assert node.replica("t-0").read == {0, 2}


def test_a_controller_says_who_votes_and_what_it_is_in_the_quorum():
    node = Node()
    assert (node.quorum_role, node.voters) == ("", frozenset())
    node.hear(LEADER_OF_THE_QUORUM)
    node.hear(VOTERS)
    assert (node.quorum_role, node.voters) == ("Leader", {101, 104})
    node.hear("[RaftManager id=103] Completed transition to ResignedState(localId=103, epoch=1")
    assert node.quorum_role == "Resigned"


def test_a_controller_says_how_far_it_has_flushed_the_metadata():
    node = Node()
    line = "DEBUG [UnifiedLog partition={}, dir=d] Flushing log up to offset {} (exclusive)with"
    for partition, offset, flushed in (
        ("t-0", 9, 0),
        ("__cluster_metadata-0", 7, 7),
        ("__cluster_metadata-0", 6, 7),  # after a truncation
    ):
        node.hear(line.format(partition, offset))
        assert node.flushed == flushed


def test_a_node_listens_and_starts_when_it_says_so():
    node = Node()
    assert (node.port, node.started) == (None, False)
    node.hear(AWAITS)
    node.hear(STARTED)
    assert (node.port, node.started) == (41010, True)


def test_nothing_is_known_of_a_partition_that_no_line_names():
    node = Node()
    node.hear(LEADER)
    assert node.replica("t-1").role == ""
