"""Sentences about the remote store of tiered topics, and what is left of them on brokers."""

from __future__ import annotations

from checker.kafka.cluster.dumps import segments
from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.tiers import Tier
from checker.kafka.cluster.vocabulary import Test, act, condition


@act("let the remote store refuse {broker:number}", fault="a remote store that refuses reads")
def refuse(stage: Stage, broker: int) -> None:
    """Whatever the broker wants to read, as a store does that throttles."""
    _tier(stage).refuse(broker)


@act("let the remote store serve {broker:number} again")
def serve(stage: Stage, broker: int) -> None:
    """It reads what it asks for from now on."""
    _tier(stage).serve(broker)


@act("let the remote store stall {broker:number}", fault="a remote store that stalls")
def stall(stage: Stage, broker: int) -> None:
    """Whatever the broker copies waits, and is given up only when the broker cancels it."""
    _tier(stage).stall(broker)


@act("let the remote store take what {broker:number} copies")
def take(stage: Stage, broker: int) -> None:
    """What waits, and what it copies from now on."""
    _tier(stage).take(broker)


@condition("the remote store has {count:number} segments of {topic:name}")
def store_has(stage: Stage, count: int, topic: str) -> Test:
    """Of all its partitions; what is being copied counts."""
    return lambda: len(_tier(stage).segments(topic)) == count


@condition("{broker:number} has {count:number} segments of {topic:name}")
def broker_has(stage: Stage, broker: int, count: int, topic: str) -> Test:
    """On its own disks, of all partitions; what is to be deleted does not count."""
    return lambda: len(segments(stage.cluster.log_dirs[broker], topic)) == count


@condition("{topic:name} begins at {offset:number}")
def begins_at(stage: Stage, topic: str, offset: int) -> Test:
    """The first offset of each partition that its leader tells consumers."""
    of, numbers = stage.partitions(topic)

    def test() -> bool:
        try:
            starts = stage.clients.ask("earliest", topic=of, numbers=numbers)
        except UndecidedError:
            return False
        return all(start == offset for start in starts)

    return test


def _tier(stage: Stage) -> Tier:
    if stage.cluster.tier is None:
        raise UndecidedError("the cluster has no remote store: the schedule says no tier = true")
    return stage.cluster.tier
