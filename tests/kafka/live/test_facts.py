"""Which bugs concern a running cluster follows from what it told; nothing is taken for granted."""

from dataclasses import replace

import pytest

from checker.kafka.affected.judge import Concern, answered
from checker.kafka.live.facts import facts_of_cluster
from checker.kafka.live.snapshot import Directory, Setting
from model.language.errors import UsageError
from tests.support.told import broker, partition, told, topic

YES, MAYBE, NO = Concern.AFFECTED, Concern.UNKNOWN, Concern.UNAFFECTED
FILE = "STATIC_BROKER_CONFIG"


def brokers(*, down=(), disks=1, lines=("4.3",) * 3, **settings):
    """Three brokers with these settings; those of `down` tell nothing of themselves."""
    given = {"broker.rack": Setting("r", FILE)} | {
        key.replace("_", "."): Setting(value, FILE) for key, value in settings.items()
    }
    return tuple(
        broker(n, fenced=True, release="", directories=None)
        if n in down
        else broker(
            n, release=line, settings=given, directories=(Directory("/a"), Directory("/b"))[:disks]
        )
        for n, line in enumerate(lines)
    )


def cluster(*topics, **more):
    return told(*topics, **({"brokers": brokers()} | more))


ONE = topic("t", partition())
SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LEADER = "org.apache.kafka.common.replica.LeaderSelector"
LEVEL_1 = {"metadata.version": 30, "eligible.leader.replicas.version": 1, "kraft.version": 1}

CASES = [
    ("0004", cluster(ONE), YES),
    ("0004", cluster(ONE, elr=0), NO),
    ("0004", cluster(ONE, features=None), MAYBE),
    ("0011", cluster(ONE, elr=0), YES),
    ("0022", cluster(ONE), NO),  # a feature that is not finalized is at level 0
    ("0022", cluster(ONE, features=LEVEL_1), YES),
    ("0023", cluster(ONE, voters=1), YES),
    ("0023", cluster(ONE), NO),
    ("0023", cluster(ONE, quorum=None), MAYBE),
    ("25", cluster(ONE), NO),
    ("25", cluster(ONE, topic("u", partition(), unclean_leader_election_enable="true")), YES),
    ("25", cluster(ONE, replace(ONE, name="u", settings={})), MAYBE),
    ("25", cluster(brokers=brokers(unclean_leader_election_enable="true")), YES),  # no topic yet
    ("0014", cluster(topic("t", partition(replicas=(0, 1)), partition(1))), YES),
    ("0014", cluster(ONE), NO),
    ("0001", cluster(topic("t", partition(replicas=(0, 1)))), NO),
    ("0001", cluster(topic("a", partition(replicas=(0, 1))), ONE), YES),
    ("0005", cluster(ONE), NO),
    ("0005", cluster(ONE, brokers=brokers(disks=2, down=(0,))), YES),
    ("0005", cluster(ONE, brokers=brokers(down=(0,))), MAYBE),
    ("0015", cluster(ONE), NO),
    ("0015", cluster(ONE, brokers=brokers(replica_selector_class=SELECTOR, down=(2,))), YES),
    ("0015", cluster(ONE, brokers=brokers(replica_selector_class=LEADER, down=(2,))), MAYBE),
    ("76", cluster(ONE, level=29, consumer_groups={"classic": 2, "consumer": 1}), YES),
    ("76", cluster(ONE, level=29, consumer_groups={"classic": 2}), NO),
    ("76", cluster(ONE, level=29, consumer_groups={"classic": 2}, reassignments_told=False), MAYBE),
    ("76", cluster(ONE, level=29), MAYBE),
    ("66", cluster(ONE), MAYBE),  # a client may be older than its brokers
    ("69", cluster(ONE), MAYBE),
    ("18", cluster(ONE, level=22, brokers=brokers(lines=("4.0",) * 3)), MAYBE),  # 4.0.0 or 4.0.1
    ("0003", cluster(ONE, level=29, brokers=brokers(lines=("4.2", "4.3", "4.3"))), YES),
    ("0013", cluster(ONE, level=29, brokers=brokers(lines=("4.2", "4.3", "4.3"))), YES),
    ("29", cluster(ONE, level=29, brokers=brokers(lines=("4.2", "4.3", "4.3"))), NO),
]


@pytest.mark.parametrize("number, snapshot, expected", CASES)
def test_what_the_cluster_told_decides(number, snapshot, expected):
    answer = answered(facts_of_cluster(snapshot))
    (row,) = (row for row in answer.rows if row.numbers == number)
    assert row.concern is expected, row
    assert row.because or row.look or not row.needs


def test_of_brokers_of_several_releases_it_is_said_which_have_a_bug():
    mixed = cluster(ONE, level=29, brokers=brokers(lines=("4.2", "4.3", "4.3")))
    answer = answered(facts_of_cluster(mixed))
    (row,) = (row for row in answer.rows if row.numbers == "0003")
    assert row.because[0] == "broker 0 of 4.2"
    assert answer.facts.asked == "4.2, 4.3"


def test_a_release_that_is_said_goes_before_the_line_and_settings_before_what_was_told():
    old = cluster(ONE, level=22, brokers=brokers(lines=("4.0",) * 3))
    said = {"eligible.leader.replicas.version": "0", "enable.idempotence": "true"}
    answer = answered(facts_of_cluster(old, "4.0.1", settings=said))
    concerns = {row.numbers: row.concern for row in answer.rows}
    assert (concerns["18"], concerns["0004"], concerns["27"]) == (NO, NO, YES)
    with pytest.raises(UsageError, match=r"newer than Kafka 3\.9"):
        facts_of_cluster(old, "3.9.1")
    with pytest.raises(UsageError, match=r"linger\.ms"):
        facts_of_cluster(old, settings={"linger.ms": "5"})
