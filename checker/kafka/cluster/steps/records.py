"""Sentences about records: what producers send, and what they are told."""

from __future__ import annotations

from collections.abc import Collection

from checker.kafka.cluster.clients import ANSWER_LIMIT
from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.proxy import HOST
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.vocabulary import Test, act, condition


@act("send {record:name} to {topic:name}")
def send(stage: Stage, record: str, topic: str) -> None:
    """One record, to be acknowledged by all in sync; the answer comes when it comes."""
    stage.written.add(topic)
    stage.clients.ask("write", topic=topic, name=record)


@act("send {record:name} to {topic:name} once")
def send_once(stage: Stage, record: str, topic: str) -> None:
    """One record, by a producer that does not try again and is not idempotent."""
    stage.written.add(topic)
    stage.clients.ask("write", topic=topic, name=record, once=True)


@act("append {record:name} to {topic:name} at {broker:number}")
@act(
    "append {count:number} {record:name} of {bytes:number} bytes to {topic:name} at {broker:number}"
)
def append(
    stage: Stage, record: str, topic: str, broker: int, count: int = 1, bytes: int = 0
) -> None:
    """By a producer that asks this broker who leads, and waits for no other replica.

    It does not try again. What it is told is no promise that the record stays.
    """
    stage.written.add(topic)
    front = f"{HOST}:{stage.cluster.fronts[broker]}"
    stage.clients.ask("write", topic=topic, name=record, count=count, padding=bytes, servers=front)


@act("send {record:name} to partition {partition:number} of {topic:name}")
def send_to_partition(stage: Stage, record: str, partition: int, topic: str) -> None:
    """One record to one of several partitions."""
    stage.written.add(topic)
    stage.clients.ask("write", topic=topic, partition=partition, name=record)


@act("send {count:number} records {record:name} of {bytes:number} bytes to {topic:name}")
def send_many(stage: Stage, count: int, record: str, bytes: int, topic: str) -> None:
    """They are called RECORD0, RECORD1 and so on."""
    stage.written.add(topic)
    stage.clients.ask("write", topic=topic, name=record, count=count, padding=bytes)


@act(
    "send {rate:number} records a second from {producers:number} producers to {topic:name}",
    load="many producers",
)
def load(stage: Stage, rate: int, producers: int, topic: str) -> None:
    """To all partitions in turn, until the producers are stopped; they have default settings."""
    stage.written.add(topic)
    partitions = stage.topics[topic]
    stage.clients.ask("load", topic=topic, partitions=partitions, rate=rate, producers=producers)


@act("let the producers send no more")
def send_no_more(stage: Stage) -> None:
    """What they have sent they go on with."""
    stage.clients.ask("cease")


@act("read {topic:name}")
def read(stage: Stage, topic: str) -> None:
    """All that is committed, from the beginning, by a consumer without a group."""
    stage.read(topic)


@condition("a consumer that begins at the earliest offset of {topic:name} gets a record")
def gets_one(stage: Stage, topic: str) -> Test:
    """In 20 seconds, with `auto.offset.reset=earliest`: it goes there whenever it is refused."""
    of, numbers = stage.partitions(topic)
    return lambda: bool(stage.clients.ask("first", topic=of, numbers=numbers))


@act("delete the records of {topic:name}")
def delete_records(stage: Stage, topic: str) -> None:
    """All that are committed, as DeleteRecords does: until every live replica has done so."""
    begin_to_delete_records(stage, topic)
    _wait_for_deletion(stage, topic)


@act("delete all but the last of the records of {topic:name}")
def delete_all_but_the_last(stage: Stage, topic: str) -> None:
    """As DeleteRecords does up to the last one that is committed."""
    begin_to_delete_records(stage, topic, kept=1)
    _wait_for_deletion(stage, topic)


@act("begin to delete the records of {topic:name}")
def begin_to_delete_records(stage: Stage, topic: str, kept: int = 0) -> None:
    """All, without waiting: the leader's log starts there, and the others are yet to hear."""
    of, numbers = stage.partitions(topic)
    stage.deletions[topic] = stage.clients.begin("trim", topic=of, numbers=numbers, kept=kept)


def _wait_for_deletion(stage: Stage, topic: str) -> None:
    if not stage.news.wait(are_deleted(stage, topic), ANSWER_LIMIT):
        raise UndecidedError("no answer in time")


@condition("the records of {topic:name} are deleted")
def are_deleted(stage: Stage, topic: str) -> Test:
    """As was last begun: every live replica has done so. No verdict where that fails."""
    of, numbers = stage.partitions(topic)
    if topic not in stage.deletions:
        raise UndecidedError(f"no step has begun to delete the records of {topic}")

    def test() -> bool:
        if (asked := stage.deletions.get(topic)) is not None:
            if not stage.clients.has_answered(asked):
                return False
            starts = stage.clients.answer(stage.deletions.pop(topic), "trim")
            stage.log_starts |= {(of, n): at for n, at in zip(numbers, starts, strict=True)}
        return True

    return test


@condition("{record:name} is acknowledged")
def is_acknowledged(stage: Stage, record: str) -> Test:
    """The producer was told that all in sync have it."""

    return lambda: _is_told(stage, record, stage.clients.acknowledged)


@condition("{record:name} is appended")
def is_appended(stage: Stage, record: str) -> Test:
    """The leader told the producer so, and spoke for itself alone."""

    return lambda: _is_told(stage, record, stage.clients.appended)


@condition("{record:name} has failed")
def has_failed(stage: Stage, record: str) -> Test:
    """The producer was told so. The record may be there, and become committed."""
    return lambda: record in stage.clients.failed


@condition("all {count:number} records {record:name} are acknowledged")
def all_are_acknowledged(stage: Stage, count: int, record: str) -> Test:
    """Each of RECORD0, RECORD1 and so on."""
    names = [f"{record}{number}" for number in range(count)]
    return lambda: all(name in stage.clients.acknowledged for name in names)


@condition("{count:number} more records are acknowledged")
def more_are_acknowledged(stage: Stage, count: int) -> Test:
    """Since the last step that acted."""
    return lambda: len(stage.clients.acknowledged) >= stage.acknowledged_before + count


def _is_told(stage: Stage, record: str, told: Collection[str]) -> bool:
    """The producer has heard this of the record. No verdict if it has heard that it failed."""
    if record in stage.clients.failed:
        raise UndecidedError(f"{record} failed: {stage.clients.failed[record]}")
    return record in told
