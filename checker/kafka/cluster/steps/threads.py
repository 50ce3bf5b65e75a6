"""Sentences about single threads of a broker: one stalls, while all others go on."""

from __future__ import annotations

from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.stalls import Stalls
from checker.kafka.cluster.vocabulary import Test, act, condition


@act(
    "stall a thread of {broker:number} at call {call:number} of {method:value} by {caller:value}",
    held="a thread",
)
@act(
    "stall a thread of {broker:number} at {method:value} called by {caller:value}", held="a thread"
)
@act("stall a thread of {broker:number} at {method:value}", held="a thread")
def stall(stage: Stage, broker: int, method: str, caller: str = "", call: int = 1) -> None:
    """The first that comes there from now on, before it does anything in the method."""
    cluster = stage.cluster
    port = cluster.nodes[broker].debugger
    if port is None:
        raise UndecidedError(f"node {broker} waits for no debugger")
    if broker not in stage.stalls or stage.stalls[broker].has_ended:
        stage.stalls[broker] = Stalls(cluster.programs, cluster.processes, stage.news, port)
    stage.stalls[broker].add(method, caller, call)


@act("let the thread of {broker:number} at {method:value} go on")
def go_on_at(stage: Stage, broker: int, method: str) -> None:
    """The one that stalls there, or was to; others of this broker stay."""
    if broker not in stage.stalls:
        raise UndecidedError(f"no thread of {broker} stalls")
    stage.stalls[broker].let_go(method)


@act("let the thread of {broker:number} go on")
def go_on(stage: Stage, broker: int) -> None:
    """The one that stalls, or was to; all of them if several do."""
    if broker not in stage.stalls:
        raise UndecidedError(f"no thread of {broker} stalls")
    stage.stalls.pop(broker).end()


@condition("a thread of {broker:number} stalls")
def stalls(stage: Stage, broker: int) -> Test:
    """It has come to the method."""
    return lambda: broker in stage.stalls and stage.stalls[broker].thread()


@condition("a thread of {broker:number} stalls at {method:value}")
def stalls_at(stage: Stage, broker: int, method: str) -> Test:
    """It has come to this method."""
    return lambda: broker in stage.stalls and stage.stalls[broker].thread(method)
