"""Each rule of danger sees its state, not the one beside it, and is silent about a healthy one."""

from dataclasses import replace

import pytest

from checker.kafka.live.danger import RULES
from checker.kafka.live.dangers import BEHIND_MS, judge
from checker.kafka.live.snapshot import Quorum, Setting, Voter
from checker.kafka.live.unseen import unseen_of
from checker.lab.catalogue import read_catalogue
from tests.support.told import NOW, broker, partition, told, topic

GONE = tuple(map(broker, (0, 1, 3)))
MINIMA = tuple(
    broker(n, settings={"min.insync.replicas": Setting(value, "STATIC_BROKER_CONFIG")})
    for n, value in enumerate("122")
)


def one(**more):
    """A cluster with one topic of one partition."""
    return told(topic("t", partition(**more)))


def of_release(line):
    return replace(told(brokers=(broker(0, release=line),)), supported=None)


def uneven(first):
    return topic("t", partition(0, first), partition(1, (1, 2, 3)))


def voters(*caught_up):
    found = tuple(Voter(100 + n, 9, at) for n, at in enumerate(caught_up))
    return told(quorum=Quorum(100, 1, 9, found))


def with_minima(source):
    return told(topic("t", partition(), source=source), brokers=MINIMA)


def unclean(**more):
    return told(topic("t", partition(**more), unclean_leader_election_enable="true"))


# By rule: a state that it names, and the nearest one that it does not.
STATES = {
    "removed_replica_in_the_elr": (
        one(replicas=(0, 3, 2), isr=(3,), leader=3, elr=(0, 1)),
        one(replicas=(0, 3, 2), isr=(3,), leader=3, elr=(0, 2)),
    ),
    "reassigned_replica_in_the_elr": (
        one(replicas=(0, 1, 2, 3), isr=(0,), elr=(3,), adding=(3,)),
        one(replicas=(0, 1, 2, 3), isr=(0,), elr=(1,), adding=(3,)),
    ),
    "unregistered_broker_in_the_elr": (
        told(topic("t", partition(isr=(1,), leader=1, elr=(2,))), brokers=GONE),
        told(topic("t", partition(isr=(1,), leader=1, elr=(0,))), brokers=GONE),
    ),
    "fewer_replicas_in_the_first_partition": (told(uneven((0,))), told(uneven((0, 1)))),
    "nobody_may_lead": (
        one(leader=None, isr=(), last_known_elr=(-1,)),
        one(leader=None, isr=(), last_known_elr=(1,)),
    ),
    "nobody_but_the_isr": (one(isr=(0,)), one(isr=(0, 1))),
    "elr_before_4_3": (
        told(topic("t", partition(isr=(0,), elr=(1,))), level=29),
        told(topic("t", partition(isr=(0,), elr=(1,))), level=30),
    ),
    "elr_in_a_failed_directory": (
        one(isr=(0,), elr=(1,), offline=(1,)),
        told(
            topic("t", partition(isr=(0,), elr=(1,), offline=(1,))),
            brokers=(broker(0), broker(1, fenced=True), broker(2)),
        ),
    ),
    "reassignment_that_never_ends": (
        one(adding=(2,), removing=(2,)),
        one(replicas=(0, 1, 2, 3), isr=(0, 1, 2), adding=(3,), removing=(2,)),
    ),
    "cancelling_leaves_too_few": (
        one(replicas=(0, 1, 2, 3), isr=(0, 3), adding=(3,)),
        one(replicas=(0, 1, 2, 3), isr=(0, 1, 3), adding=(3,)),
    ),
    "last_replica_standing": (
        told(topic("t", partition(isr=(0,))), elr=0),
        told(topic("t", partition(isr=(0, 1))), elr=0),
    ),
    "unclean_election_is_next": (unclean(isr=(0,), elr=(1,)), unclean(isr=(0, 1))),
    "brokers_disagree_on_the_minimum": (
        with_minima("STATIC_BROKER_CONFIG"),
        with_minima("DYNAMIC_TOPIC_CONFIG"),
    ),
    "single_controller": (told(voters=1), told(voters=2)),
    "controller_behind": (
        voters(NOW, NOW - BEHIND_MS - 1, NOW),
        voters(NOW, NOW - BEHIND_MS, NOW),
    ),
}


def names(cluster):
    return {danger.rule.name for danger in judge(cluster).found}


@pytest.mark.parametrize("rule", [rule.name for rule in RULES])
def test_a_rule_names_its_state_and_not_the_one_beside_it(rule):
    state, beside = STATES[rule]
    assert rule in names(state)
    assert rule not in names(beside)


def test_a_healthy_cluster_is_in_no_danger():
    cluster = told(topic("t", partition(0), partition(1)), topic("u", partition(), least="1"))
    assert judge(cluster).found == () == judge(cluster).not_judged


def test_a_rule_whose_state_was_not_told_says_so():
    whole = told(replace(topic("t", partition()), settings={}))
    silent = replace(whole, features=None, with_fenced=False, quorum=None, reassignments_told=False)
    unseen = {rule.name for rule, _ in judge(silent).not_judged}
    assert {rule.name for rule in RULES if rule.needs} == unseen | {"single_controller"} | {
        "controller_behind"  # who has no features may have no quorum
    }
    without = {rule.name: why for rule, why in judge(replace(whole, quorum=None)).not_judged}
    assert without["single_controller"] == "the quorum"
    assert judge(replace(whole, with_fenced=False)).not_judged


def test_every_finding_is_a_rule_or_has_a_place_to_look_at():
    seen = {bug for rule in RULES for bug in rule.bugs}
    unseen = [number for each in unseen_of(of_release("")) for number in each.findings]
    bugs = read_catalogue()
    assert {bug.finding for bug in bugs if bug.finding} == {
        *unseen, *(number for number in seen if len(number) == 4)
    }  # fmt: skip
    assert len(unseen) == len(set(unseen)) and not seen & set(unseen)
    assert {n for n in seen if len(n) < 4} <= {str(bug.number) for bug in bugs}


def test_what_the_cluster_has_not_got_is_not_to_be_watched():
    """Findings 0026 and 0027 begin with 3.9, and need `kraft.version` 1."""
    watched = []
    for line, level, kraft in (("3.7", 15, 0), ("4.3", 30, 0), ("4.3", 30, 1)):
        features = {"metadata.version": level, "kraft.version": kraft}
        unseen = unseen_of(replace(of_release(line), features=features))
        watched.append({number for each in unseen for number in each.findings})
    old, static, dynamic = watched
    assert dynamic - static == {"0022", "0026", "0027"}
    assert "0020" in static - old and "0001" in old & static
