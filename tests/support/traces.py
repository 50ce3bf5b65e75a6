"""Traces for tests, found on the reference engine, and protocols unlike those of the project."""

from __future__ import annotations

import random
from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from typing import Any

from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import Trace, build_trace
from model.ladder import LADDER
from model.ladder.kip279 import KIP279
from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    Model,
    PerMember,
    Protocol,
    Record,
    Sequence,
    SetOf,
    State,
    Table,
    action,
    choose,
    for_each,
    integers,
    members,
    nobody,
    not_,
    require,
    sequence,
    table,
)
from model.language.protocol import Instance
from model.protocols import PROTOCOLS
from model.replicated_log import (
    LOG_SIZE,
    MAX_LEADER_EPOCH,
    MAX_RECORDS,
    NO_EPOCH,
    TELLING,
    LeaderEpochOrNone,
    Log,
    Offset,
)
from properties import Property, choose_properties

WORKERS = Bound("workers", default=2, minimum=1, words="workers")
BROKERS = Bound("brokers", default=2, minimum=1, words="brokers")
JOBS = Bound("jobs", default=2, minimum=1, words="jobs")


class Worker(Entity):
    """Takes jobs. Its family has no label of its own."""

    busy: bool = False


class Job(Entity):
    """A row of a table."""

    _label = "job "

    offered: PerMember[Worker, bool] = for_each(False)
    refused_by: SetOf[Worker] = nobody()


class Ticket(Record):
    """An entry of a queue that has no epoch."""

    urgent: bool = False
    job: Annotated[int, integers(0, JOBS)] = 0


class Desk(Record):
    """A part of the root, with the number of a row and a reference to a member."""

    current: Annotated[int, integers(-1, JOBS, none=-1)] = -1
    holder: Worker | None = None


class Office(State):
    """The whole state: nothing in it is replicated."""

    workers: Members[Worker] = members(WORKERS)
    jobs: Table[Job] = table(JOBS)
    desk: Desk = Desk.part()
    queue: Sequence[Ticket] = sequence(JOBS)
    next_job: Annotated[int, integers(0, JOBS)] = 0


@action("a ticket is drawn")
def draw_ticket(office: Office) -> None:
    """Queue the next job."""
    require(office.next_job < office.bound("jobs"))
    require(not_(office.queue.is_full))

    office.queue.append(urgent=office.next_job > 0, job=office.next_job)
    office.next_job = office.next_job + 1


@action("{worker} takes {job}")
def take_job(office: Office, worker: Worker, job: Job) -> None:
    """Sit down at the desk."""
    require(not_(worker.busy))
    require(job.number < office.next_job)

    worker.busy = True
    job.offered[worker] = True
    office.desk.holder = worker
    office.desk.current = job.number


@action("{worker} refuses {job}; <b>#1</b> | *loudly*")
def refuse_job(office: Office, worker: Worker, job: Job) -> None:
    """Leave a job, in words that every output format must escape."""
    require(worker.busy)

    worker.busy = False
    job.refused_by = job.refused_by.with_member(worker)
    office.desk.holder = None
    office.desk.current = -1


@action("the queue is cut to {end}")
def cut_queue(office: Office, end: Annotated[int, integers(0, JOBS)]) -> None:
    """Truncate."""
    require(end < office.queue.end)

    office.queue.truncate_to(end)


OFFICE = Protocol(
    name="office",
    words="workers take jobs",
    state=Office,
    bounds=(WORKERS, JOBS),
    actions=(draw_ticket, take_job, refuse_job, cut_queue),
)


class Stored(Record):
    """What a broker keeps on disk."""

    log: Log = sequence(LOG_SIZE)


class Broker(Entity):
    """A broker whose log and high watermark are in parts of it."""

    _label = "b"

    up: bool = True
    fenced: bool = False
    disk: Stored = Stored.part()
    leader_epoch: LeaderEpochOrNone = NO_EPOCH
    leader: Broker | None = None
    high_watermark: Offset = 0


class Controller(Record):
    """Who leads in truth."""

    leader: Broker | None = None
    leader_epoch: LeaderEpochOrNone = NO_EPOCH


class Topic(State):
    """Brokers that can be down."""

    brokers: Members[Broker] = members(BROKERS)
    controller: Controller = Controller.part()


@action("controller elects {broker}")
def elect(topic: Topic, broker: Broker) -> None:
    """Elect, and tell the broker at once."""
    require(topic.controller.leader_epoch < topic.bound("max_leader_epoch"))

    topic.controller.leader = broker
    topic.controller.leader_epoch = topic.controller.leader_epoch + 1
    broker.leader = broker
    broker.leader_epoch = topic.controller.leader_epoch


@action("{broker} appends")
def append(topic: Topic, broker: Broker) -> None:
    """Append, as leader or not."""
    require(broker.up, not_(broker.disk.log.is_full), broker.leader_epoch >= 0)

    broker.disk.log.append(id=0, epoch=broker.leader_epoch)


@action("{broker} crashes")
def crash(topic: Topic, broker: Broker) -> None:
    """Go down."""
    require(broker.up)

    broker.up = False
    broker.fenced = True


TOPIC = Protocol(
    name="topic",
    words="brokers append and crash",
    state=Topic,
    bounds=(BROKERS, LOG_SIZE, MAX_RECORDS, MAX_LEADER_EPOCH),
    telling=TELLING,
    actions=(elect, append, crash),
)


class Season(IntEnum):
    """An enumeration of which no member is 0."""

    SUMMER = 1
    WINTER = 2


class Weather(State):
    """Numbers below zero, of which one alone may be none."""

    season: Season = Season.SUMMER
    trend: Annotated[int, integers(-1, 1)] = 0
    degrees: Annotated[int, integers(-3, 3)] = -3
    record: Annotated[int, integers(-3, 3)] = -1
    day: Annotated[int, integers(-2, 1, none=-2)] = -2


@action("it is colder, in the other season")
def cool(weather: Weather) -> None:
    """The trend goes down and the season turns; the record stays, whatever is written to it."""
    require(weather.trend > -1)

    weather.trend -= 1
    weather.day += 1
    weather.season = choose(weather.season == Season.SUMMER, Season.WINTER, Season.SUMMER)


@action("it is warmer")
def warm(weather: Weather) -> None:
    """The other way round, until the day is none again."""
    require(weather.trend < 1)

    weather.trend += 1
    weather.degrees = choose(weather.trend == 1, 0, -3)
    weather.day = -2


WEATHER = Protocol(
    name="weather", words="numbers go below zero", state=Weather, actions=(cool, warm), bounds=()
)

EVERY_PROTOCOL = {
    **PROTOCOLS, OFFICE.name: OFFICE, TOPIC.name: TOPIC, WEATHER.name: WEATHER,
}  # fmt: skip


def property_named(model: Model, name: str) -> Property:
    """The model's property of that name."""
    return choose_properties(model.protocol, [name])[0]


def instance_of(model: Model, action_name: str, **arguments: int) -> Instance:
    """The instance of an action with the given arguments."""
    return next(
        instance
        for instance in model.instances
        if instance.action.name == action_name and instance.named_arguments == arguments
    )


def random_walk(model: Model, steps: int, seed: int) -> Trace:
    """A run of up to that many steps, each chosen at random from what is enabled."""
    engine, choose = ReferenceEngine(model), random.Random(seed)
    state, taken = engine.initial(), []
    for _ in range(steps):
        enabled = list(engine.successors(state))
        if not enabled:
            break
        instance, state = choose.choice(enabled)
        taken.append(instance)
    return build_trace(model, taken)


@cache
def short_walks() -> tuple[Trace, ...]:
    """A short run of every protocol, of the ladder's only the last one."""
    protocols = [each for each in EVERY_PROTOCOL.values() if each not in LADDER[:-1]]
    return tuple(random_walk(protocol.model(), 12, seed=5) for protocol in protocols)


def shortest_violation(protocol: str, prop: str, settings: dict[str, str], **bounds: int) -> Trace:
    """A shortest trace that falsifies a property of states, by breadth-first search."""
    model = PROTOCOLS[protocol].model(bounds, settings)
    claim = property_named(model, prop).claim
    engine = ReferenceEngine(model)
    paths: dict[tuple[int, ...], tuple[Instance, ...]] = {engine.initial(): ()}
    frontier = list(paths)
    while frontier:
        found = []
        for state in frontier:
            for instance, after in engine.successors(state):
                if after in paths:
                    continue
                paths[after] = (*paths[state], instance)
                if not engine.holds(claim, after):
                    return build_trace(model, paths[after], prop)
                found.append(after)
        frontier = found
    raise AssertionError(f"{prop} of {protocol} holds")


@cache
def golden_kip279() -> Trace:
    """KIP-279 loses a record: a follower truncates against a leader of an epoch before its own."""
    model = KIP279.model()
    return build_trace(
        model,
        [
            instance_of(model, "controller_elect_leader", leader=0),
            instance_of(model, "controller_elect_leader", leader=1),
            instance_of(model, "controller_elect_leader", leader=0),
            instance_of(model, "become_leader", leader=0, request=2),
            instance_of(model, "leader_write", leader=0),
            instance_of(model, "leader_shrink_isr", leader=0, follower=1),
            instance_of(model, "become_follower", follower=2, leader=0, request=0),
            instance_of(model, "follower_replicate", follower=2, leader=0),
            instance_of(model, "leader_advance_high_watermark", leader=0),
            instance_of(model, "become_follower", follower=2, leader=1, request=1),
        ],
        "strong_isr",
    )


@cache
def losing_truncation() -> Trace:
    """Truncation to the HW loses a record, at the smallest bounds where it does."""
    return shortest_violation(
        "truncate_to_high_watermark", "strong_isr", {}, replicas=2, log_size=1, max_records=1,
        max_leader_epoch=1,
    )  # fmt: skip


@cache
def unsafe_isr() -> Trace:
    """Asynchronous ISR updates that count only the committed ISR; the replicas have no logs."""
    return shortest_violation(
        "async_isr", "valid_high_watermark", {"maximal_isr": "false"}, replicas=3, max_offset=2,
        max_version=3,
    )  # fmt: skip


@cache
def witness() -> Trace:
    """A witness of a property of steps."""
    model = KIP279.model()
    steps = [
        instance_of(model, "controller_elect_leader", leader=0),
        instance_of(model, "controller_elect_leader", leader=1),
    ]
    return build_trace(model, steps, "the_leader_changes")


def verdicts() -> tuple[Trace, ...]:
    """A trace of each way to end."""
    return golden_kip279(), losing_truncation(), unsafe_isr(), witness()


def same(left: Trace, right: Trace) -> bool:
    """Two traces say the same, though of models that are different objects."""
    return _content(left) == _content(right)


def _content(trace: Trace) -> tuple[object, ...]:
    return (
        trace.model.identity, trace.property, str(trace.verdict), trace.states, trace.version,
        [(step.number, step.action.name, step.arguments) for step in trace.steps],
    )  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place in a JSON document: its path, and what stands there."""
    yield path, value
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in inner:
            yield from places(part, (*path, key))
