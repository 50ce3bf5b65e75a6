"""Sentences about consumers: members of a group that join and begin, and some without a group."""

from __future__ import annotations

from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.vocabulary import Test, act, condition


@act("keep groups on {replicas:numbers}")
def keep_groups(stage: Stage, replicas: tuple[int, ...]) -> None:
    """Make the topic of groups before anybody needs it: the first of these coordinates them all."""
    settings = {"cleanup.policy": "compact"}
    topic = "__consumer_offsets"
    stage.clients.ask("create", topic=topic, partitions=1, replicas=replicas, settings=settings)


@act("let consumer {consumer:number} read {topic:name}")
def join(stage: Stage, consumer: int, topic: str) -> None:
    """It joins the one group there is, with Kafka's defaults, and commits what it has read."""
    stage.clients.ask("join", consumer=consumer, topic=topic, slow=False)


@act(
    "let consumer {consumer:number} read {topic:name}, slow to begin",
    load="a slow callback of a consumer",
)
def join_slowly(stage: Stage, consumer: int, topic: str) -> None:
    """The same, but its `onPartitionsAssigned` lasts until another step lets it begin."""
    stage.clients.ask("join", consumer=consumer, topic=topic, slow=True)


@act("let consumer {consumer:number} begin")
def begin(stage: Stage, consumer: int) -> None:
    """Its `onPartitionsAssigned` returns, and later ones do at once."""
    stage.clients.ask("begin", consumer=consumer)


@act("let consumer {consumer:number} read {topic:name} beside {broker:number}")
def read_beside(stage: Stage, consumer: int, topic: str, broker: int) -> None:
    """Without a group, from the beginning, in that broker's rack: from its replica (KIP-392)."""
    given = stage.cluster.given(broker)
    if "replica.selector.class" not in given or "broker.rack" not in given:
        raise UndecidedError("consumers read from leaders: no replica selector and racks are set")
    topic, numbers = stage.partitions(topic)
    rack = given["broker.rack"]
    stage.clients.ask("watch", consumer=consumer, topic=topic, numbers=numbers, rack=rack)


@condition("consumer {consumer:number} is about to begin with {numbers:numbers} of {topic:name}")
def is_about_to_begin(stage: Stage, consumer: int, numbers: tuple[int, ...], topic: str) -> Test:
    """It is in `onPartitionsAssigned` for all of these partitions, and knows where to begin."""
    wanted = {f"{topic}-{number}" for number in numbers}
    return lambda: wanted <= stage.clients.members.about[consumer]


@condition("consumer {consumer:number} has {numbers:numbers} of {topic:name}")
def has_partitions(stage: Stage, consumer: int, numbers: tuple[int, ...], topic: str) -> Test:
    """It has begun with these partitions and not given them up, and has no others."""
    wanted = {f"{topic}-{number}" for number in numbers}
    return lambda: wanted == stage.clients.members.has[consumer]


@condition("consumer {consumer:number} has read {record:name}")
def has_read_record(stage: Stage, consumer: int, record: str) -> Test:
    """A poll has returned it."""
    return lambda: record in stage.clients.members.read[consumer]
