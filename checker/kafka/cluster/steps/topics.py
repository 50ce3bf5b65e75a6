"""Sentences about topics: who leads and follows, who is in sync, and what an operator changes.

`t` is every partition of a topic, `t-1` its second one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.vocabulary import Test, act, condition


@act("make topic {topic:name} on {replicas:numbers}")
def make_topic(stage: Stage, topic: str, replicas: tuple[int, ...]) -> None:
    """With one partition, which the first leads."""
    make_topic_of_many(stage, topic, 1, replicas)


@act("make topic {topic:name} of {partitions:number} partitions on {replicas:numbers}")
def make_topic_of_many(
    stage: Stage, topic: str, partitions: int, replicas: tuple[int, ...]
) -> None:
    """All partitions have the same replicas; the first leads."""
    stage.clients.ask("create", topic=topic, partitions=partitions, replicas=replicas)
    stage.topics[topic] = partitions


@act("begin to make topic {topic:name} on {replicas:numbers}")
def begin_to_make_topic(stage: Stage, topic: str, replicas: tuple[int, ...]) -> None:
    """The same with one partition, without waiting."""
    stage.creations[topic] = stage.clients.begin(
        "create", topic=topic, partitions=1, replicas=replicas
    )


@condition("topic {topic:name} is made")
def is_made(stage: Stage, topic: str) -> Test:
    """As was last begun, and who asked was told so. No verdict where that fails."""
    if topic not in stage.creations.keys() | stage.topics.keys():
        raise UndecidedError(f"no step has begun to make topic {topic}")

    def test() -> bool:
        if (asked := stage.creations.get(topic)) is not None:
            if not stage.clients.has_answered(asked):
                return False
            stage.clients.answer(stage.creations.pop(topic), "create")
            stage.topics[topic] = 1
        return True

    return test


@act("delete topic {topic:name}")
def delete_topic(stage: Stage, topic: str) -> None:
    """Nothing may have been sent to it: its records would be missing on every disk."""
    if topic in stage.written:
        raise UndecidedError(f"records of {topic} are evidence")
    stage.clients.ask("delete", topic=topic)
    stage.topics.pop(topic, None)


@act("reassign {topic:name} to {replicas:numbers}")
def reassign(stage: Stage, topic: str, replicas: tuple[int, ...]) -> None:
    """Every partition; in another order only, this changes which one is preferred."""
    stage.clients.ask("reassign", **_of(stage, topic), replicas=replicas)


@act("cancel the reassignment of {topic:name}")
def cancel(stage: Stage, topic: str) -> None:
    """Every partition's."""
    stage.clients.ask("cancel", **_of(stage, topic))


@act("elect the preferred leader of {topic:name}")
def elect(stage: Stage, topic: str) -> None:
    """Of every partition."""
    stage.clients.ask("elect", **_of(stage, topic), unclean=False)


@act("elect a leader of {topic:name} uncleanly", fault="an unclean election")
def elect_uncleanly(stage: Stage, topic: str) -> None:
    """As an operator does who prefers any leader to none."""
    stage.clients.ask("elect", **_of(stage, topic), unclean=True)


@act("set {key:value} of topic {topic:name} to {value:value}")
def set_topic(stage: Stage, key: str, topic: str, value: str) -> None:
    """A setting of a topic."""
    stage.clients.ask("configure", kind="topic", name=topic, key=key, value=value)


@act("set feature {feature:value} to {level:number}")
def set_feature(stage: Stage, feature: str, level: int) -> None:
    """The level of a feature of the whole cluster goes up, as after an upgrade.

    That of `kraft.version` is refused until each voter has told the leader what it supports.
    """
    stage.insist("not all of the voters support it", "feature", name=feature, level=level)


@act("unregister broker {broker:number}")
def unregister(stage: Stage, broker: int) -> None:
    """The controller forgets a broker that is down, and is not to come back."""
    stage.cluster.wait_until_down(broker)
    stage.clients.ask("unregister", broker=broker)


@act("set {key:value} of broker {broker:number} to {value:value}")
def set_broker(stage: Stage, key: str, broker: int, value: str) -> None:
    """A setting of a broker that may change while it runs."""
    stage.clients.ask("configure", kind="broker", name=str(broker), key=key, value=value)


# --- as a broker's own log tells: what it does, not only what it has read ----------------------


@condition("{broker:number} leads {topic:name} in epoch {epoch:number}")
def leads(stage: Stage, broker: int, topic: str, epoch: int) -> Test:
    """Every partition."""
    return lambda: _role(stage, broker, topic) == {("leader", epoch)}


@condition("{broker:number} follows in epoch {epoch:number} of {topic:name}")
def follows(stage: Stage, broker: int, topic: str, epoch: int) -> Test:
    """In every partition."""
    return lambda: _role(stage, broker, topic) == {("follower", epoch)}


@condition("{leader:number} has noted {follower:number} at {offset:number} in {topic:name}")
def has_noted(stage: Stage, leader: int, follower: int, offset: int, topic: str) -> Test:
    """The last position that a fetch has told the leader, since it took up its role."""
    return lambda: all(
        stage.replica(leader, p).positions.get(follower) == offset for p in _names(stage, topic)
    )


@condition("{follower:number} fetches {topic:name} from {leader:number}")
def fetches(stage: Stage, follower: int, topic: str, leader: int) -> Test:
    """Every partition, since the leader took up its role: the two logs do not differ any more."""
    return lambda: all(follower in stage.replica(leader, p).positions for p in _names(stage, topic))


@condition("{leader:number} has the answer that the ISR of {topic:name} is {members:numbers}")
def has_the_answer(stage: Stage, leader: int, topic: str, members: tuple[int, ...]) -> Test:
    """The answer to its own AlterPartition request, as it says since it took up its role."""
    return lambda: all(
        stage.replica(leader, p).answered == set(members) for p in _names(stage, topic)
    )


@condition("{leader:number} has read that the ISR of {topic:name} is {members:numbers}")
def has_read(stage: Stage, leader: int, topic: str, members: tuple[int, ...]) -> Test:
    """A leader that goes on in its epoch has read this in the metadata."""
    return lambda: all(stage.replica(leader, p).read == set(members) for p in _names(stage, topic))


# --- as the brokers tell who asks ----------------------------------------------------------------


@condition("{topic:name} is led by {broker:number}")
def is_led_by(stage: Stage, topic: str, broker: int) -> Test:
    """Every partition."""
    return _described(stage, topic, lambda p: p["leader"] == broker)


@condition("{topic:name} has no leader")
def has_no_leader(stage: Stage, topic: str) -> Test:
    """No partition has one."""
    return _described(stage, topic, lambda p: p["leader"] == -1)


@condition("{topic:name} has a leader")
def has_a_leader(stage: Stage, topic: str) -> Test:
    """Every partition has one."""
    return _described(stage, topic, lambda p: p["leader"] != -1)


@condition("the ISR of {topic:name} is {members:numbers}")
def isr_is(stage: Stage, topic: str, members: tuple[int, ...]) -> Test:
    """Every partition's, in any order."""
    return _described(stage, topic, lambda p: set(p["isr"]) == set(members))


@condition("the ELR of {topic:name} is {members:numbers}")
def elr_is(stage: Stage, topic: str, members: tuple[int, ...]) -> Test:
    """Every partition's, in any order."""
    return _described(stage, topic, lambda p: set(p["elr"]) == set(members))


@condition("the replicas of {topic:name} are {members:numbers}")
def replicas_are(stage: Stage, topic: str, members: tuple[int, ...]) -> Test:
    """Every partition's, in this order: a reassignment to them is complete, or cancelled."""
    return _described(stage, topic, lambda p: tuple(p["replicas"]) == members)


@condition("all replicas of {topic:name} are in sync")
def all_in_sync(stage: Stage, topic: str) -> Test:
    """Every partition has a leader, and its ISR is its replicas."""
    return _described(
        stage, topic, lambda p: p["leader"] != -1 and set(p["isr"]) == set(p["replicas"])
    )


def _described(stage: Stage, topic: str, holds: Callable[[dict[str, Any]], bool]) -> Test:
    """A test of all partitions; a cluster that cannot answer now may do so later."""
    of, numbers = stage.partitions(topic)

    def test() -> bool:
        try:
            return all(holds(each) for each in stage.describe(of) if each["partition"] in numbers)
        except UndecidedError:
            return False

    return test


def _of(stage: Stage, topic: str) -> dict[str, Any]:
    of, numbers = stage.partitions(topic)
    return {"topic": of, "numbers": numbers}


def _names(stage: Stage, topic: str) -> list[str]:
    of, numbers = stage.partitions(topic)
    return [f"{of}-{number}" for number in numbers]


def _role(stage: Stage, broker: int, topic: str) -> set[tuple[str, int]]:
    replicas = [stage.replica(broker, partition) for partition in _names(stage, topic)]
    return {(replica.role, replica.epoch) for replica in replicas}
