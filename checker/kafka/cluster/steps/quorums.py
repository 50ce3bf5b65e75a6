"""Sentences about several controllers: who is cut off, who is added as a voter, and who leads."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from checker.kafka.cluster.frames import Frames, asked_of
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.vocabulary import Test, act, condition


@act("cut {nodes:numbers} off from {others:numbers}", fault="a network partition")
def cut(stage: Stage, nodes: tuple[int, ...], others: tuple[int, ...]) -> None:
    """Nothing about metadata passes between them, as when the network is parted."""
    for frames in between(nodes, others):
        stage.proxy.hold(frames)


@act("let {nodes:numbers} reach {others:numbers} again")
def heal(stage: Stage, nodes: tuple[int, ...], others: tuple[int, ...]) -> None:
    """What was under way is lost with its connections; later ones pass."""
    for frames in between(nodes, others):
        stage.proxy.lose(frames)


def between(nodes: Iterable[int], others: Iterable[int]) -> Iterator[Frames]:
    """All that some nodes and others ask of each other about metadata, and the answers."""
    for pair in ((node, other) for node in nodes for other in others):
        yield asked_of(*pair)
        yield asked_of(*reversed(pair))


@act("add controller {controller:number}")
def add(stage: Stage, controller: int) -> None:
    """As a voter, until that is committed; one that has not yet read all is refused at first."""
    cluster = stage.cluster
    stage.insist(
        "lagging", "add_voter", voter=controller, directory=cluster.directory_id(controller),
        address=cluster.address(controller),
    )  # fmt: skip


@act("begin to remove controller {voter:number} at {controller:number}")
def begin_to_remove(stage: Stage, voter: int, controller: int) -> None:
    """As a voter, without waiting; who asks does not try again."""
    stage.clients.begin(
        "remove_voter", servers=stage.cluster.address(controller), voter=voter,
        directory=stage.cluster.directory_id(voter),
    )  # fmt: skip


@act("write {count:number} records {record:name} of metadata at {controller:number}")
def write(stage: Stage, count: int, record: str, controller: int) -> None:
    """In one request, until they are committed: subscriptions of client metrics, which none has."""
    _write(stage, count, record, controller, waits=True)


@act("begin to write {count:number} records {record:name} of metadata at {controller:number}")
def begin_to_write(stage: Stage, count: int, record: str, controller: int) -> None:
    """The same without waiting; who asks does not try again."""
    _write(stage, count, record, controller, waits=False)


def _write(stage: Stage, count: int, record: str, controller: int, waits: bool) -> None:
    asked = stage.clients.ask if waits else stage.clients.begin
    asked("subscriptions", servers=stage.cluster.address(controller), count=count, name=record)


@condition("{controller:number} leads the quorum")
def leads_the_quorum(stage: Stage, controller: int) -> Test:
    """As it says itself; of two, one may have an earlier epoch."""
    return lambda: stage.cluster.nodes[controller].quorum_role == "Leader"


@condition("one of {controllers:numbers} leads the quorum")
def one_leads_the_quorum(stage: Stage, controllers: tuple[int, ...]) -> Test:
    """As it says itself."""
    return lambda: any(leads_the_quorum(stage, each)() for each in controllers)


@condition("{controller:number} has resigned")
def has_resigned(stage: Stage, controller: int) -> Test:
    """It led, has not heard of a majority for a while, and takes no more requests as the leader."""
    return lambda: stage.cluster.nodes[controller].quorum_role not in ("", "Leader")


@condition("{controller:number} has read that the voters are {voters:numbers}")
def has_read_voters(stage: Stage, controller: int, voters: tuple[int, ...]) -> Test:
    """The last set that it has read in the metadata, whether committed or not."""
    return lambda: stage.cluster.nodes[controller].voters == set(voters)


@condition("{controller:number} has {count:number} records of metadata that are not committed")
def has_uncommitted(stage: Stage, controller: int, count: int) -> Test:
    """It leads and has appended them, and no majority has them."""

    def test() -> bool:
        told = stage.quorum(controller)
        return told is not None and (
            told["leader"] == controller
            and told["ends"][str(controller)] - told["high_watermark"] >= count
        )

    return test


@condition("the metadata of {controller:number} has not grown for {seconds:number} s")
def has_not_grown(stage: Stage, controller: int, seconds: int) -> Test:
    """As it tells since the wait began: all have read all, and a broker's next fetch is parked."""
    last, since = None, time.monotonic()

    def test() -> bool:
        nonlocal last, since
        told = stage.quorum(controller)
        if told is None or told["ends"] != last:
            last, since = told and told["ends"], time.monotonic()
        return last is not None and time.monotonic() - since >= seconds

    return test


@condition("all controllers have read the metadata of {controller:number}")
def have_read_all(stage: Stage, controller: int) -> Test:
    """Who leads, as this one tells, knows all, and that they have read what is committed now."""
    wanted = set(map(str, stage.cluster.quorum.controllers))

    def test() -> bool:
        told = stage.quorum(controller)
        return told is not None and (
            wanted <= told["ends"].keys()
            and all(told["ends"][each] >= told["high_watermark"] for each in wanted)
        )

    return test
