"""Sentences about transactions: producers that stay, their coordinators, and readers of them.

A producer N has the transactional.id `producer-N`, and `transaction.timeout.ms=10000`.
"""

from __future__ import annotations

from typing import Any

from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.transactions import End
from checker.kafka.cluster.vocabulary import Test, act, condition

LOG = "__transaction_state"


@act("keep transactions on {replicas:numbers}")
def keep_transactions(stage: Stage, replicas: tuple[int, ...]) -> None:
    """Make the transaction log before anybody needs it: the first of these coordinates them all."""
    settings = {"cleanup.policy": "compact"}
    stage.clients.ask("create", topic=LOG, partitions=1, replicas=replicas, settings=settings)
    stage.topics[LOG] = 1


@act("let producer {producer:number} begin a transaction")
def begin(stage: Stage, producer: int) -> None:
    """The first time, or after it has died, it asks for an epoch before."""
    _do(stage, producer, "begin")
    stage.clients.transactions.begin(producer)


@act("let producer {producer:number} send {record:name} to {topic:name}")
def send(stage: Stage, producer: int, record: str, topic: str) -> None:
    """One record of its transaction; the answer comes when it comes."""
    stage.written.add(topic)
    stage.clients.transactions.last(producer).records.append(record)
    _do(stage, producer, "send", topic=topic, name=record)


@act("let producer {producer:number} commit")
def commit(stage: Stage, producer: int) -> None:
    """It asks for that, and the next step begins."""
    _ask(stage, producer, commits=True)


@act("let producer {producer:number} abort")
def abort(stage: Stage, producer: int) -> None:
    """It asks for that, and the next step begins."""
    _ask(stage, producer, commits=False)


@act("end producer {producer:number}", fault="a producer that dies")
def end(stage: Stage, producer: int) -> None:
    """As a crash does: it says nothing to its coordinator."""
    _do(stage, producer, "die")


@condition("producer {producer:number} is told that its transaction is committed")
def is_committed(stage: Stage, producer: int) -> Test:
    """No verdict if it is told something else."""
    told = stage.clients.transactions.last(producer)

    def test() -> bool:
        if told.error:
            raise UndecidedError(told.error)
        return told.end is End.COMMITTED

    return test


@condition("producer {producer:number} has heard of its transaction")
def has_heard(stage: Stage, producer: int) -> Test:
    """That it is ended, or an error."""
    told = stage.clients.transactions.last(producer)
    return lambda: told.is_answered


@condition("a transaction is open in {topic:name}")
def is_open(stage: Stage, topic: str) -> Test:
    """As the leaders tell of their producers."""
    return lambda: stage.has_open_transactions(topic)


@condition("no transaction is open in {topic:name}")
def is_not_open(stage: Stage, topic: str) -> Test:
    """As the leaders tell of their producers; so readers of what is committed come to the end."""
    return lambda: not stage.has_open_transactions(topic)


@act("read what is committed in {topic:name}")
def read_committed(stage: Stage, topic: str) -> None:
    """Up to the last stable offset, from the beginning, by a consumer without a group."""
    stage.read_committed(topic)


def _do(stage: Stage, producer: int, step: str, **data: Any) -> None:
    stage.clients.ask("transact", producer=producer, step=step, **data)


def _ask(stage: Stage, producer: int, commits: bool) -> None:
    stage.clients.transactions.ask(producer, commits)
    step = "commit" if commits else "abort"
    stage.clients.begin("transact", producer=producer, step=step)
