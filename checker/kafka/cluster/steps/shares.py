"""Sentences about a share group: members that take records, hold them, and acknowledge them."""

from __future__ import annotations

from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.vocabulary import Test, act, condition

TRIES, PATIENCE = 60, 2.0  # records at most, and seconds to wait for each


@act("keep the state of share groups on {replicas:numbers}")
def keep_states(stage: Stage, replicas: tuple[int, ...]) -> None:
    """Make the topic of their state before anybody needs it: the first of these coordinates it."""
    topic = "__share_group_state"
    stage.clients.ask("create", topic=topic, partitions=1, replicas=replicas, settings={})


@act("set {key:value} of the share group to {value:value}")
def set_group(stage: Stage, key: str, value: str) -> None:
    """A setting of the one share group there is."""
    stage.clients.ask("configure", kind="group", name="shares", key=key, value=value)


@act("let share consumer {consumer:number} take {topic:name}")
def join(stage: Stage, consumer: int, topic: str) -> None:
    """It joins the one share group there is, and holds what a poll returns."""
    stage.clients.shares.has_members = True
    stage.clients.ask("share", do="join", consumer=consumer, topic=topic)


@act("let share consumer {consumer:number} acknowledge what it has")
def acknowledge(stage: Stage, consumer: int) -> None:
    """It accepts all that it holds, which the broker may refuse, and polls again."""
    if not stage.clients.shares.taken[consumer]:
        raise UndecidedError(f"share consumer {consumer} has taken nothing")
    stage.clients.ask("share", do="acknowledge", consumer=consumer)


@act("send records {record:name} to {topic:name} until share consumer {consumer:number} takes one")
def send_until_taken(stage: Stage, record: str, topic: str, consumer: int) -> None:
    """RECORD0, RECORD1 and so on, one at a time: from the first that is taken on, all are due."""
    stage.written.add(topic)
    taken = stage.clients.shares.taken[consumer]
    for number in range(TRIES):
        stage.clients.ask("write", topic=topic, name=f"{record}{number}")
        if stage.news.wait(lambda: bool(taken), PATIENCE):
            return
    raise UndecidedError(f"it took none of {TRIES}")


@condition("share consumer {consumer:number} has taken {record:name}")
def has_taken(stage: Stage, consumer: int, record: str) -> Test:
    """A poll has returned it."""
    return lambda: record in stage.clients.shares.taken[consumer]
