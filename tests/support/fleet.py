"""A protocol whose runs never end, with as many brokers as one likes: for large pages."""

from __future__ import annotations

import random

from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import Trace, build_trace
from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    Protocol,
    Record,
    State,
    action,
    choose,
    integers,
    members,
    not_,
    require,
    sequence,
)
from model.language.protocol import Instance
from model.replicated_log import (
    LOG_SIZE,
    MAX_LEADER_EPOCH,
    MAX_RECORDS,
    TELLING,
    LeaderEpoch,
    Log,
    Offset,
)

BROKERS = Bound("brokers", default=7, minimum=2, words="brokers")


class Broker(Entity):
    """A broker with a log, which goes down and comes back."""

    _label = "b"

    up: bool = True
    log: Log = sequence(LOG_SIZE)
    high_watermark: Offset = 0
    leader_epoch: LeaderEpoch = 0
    leader: Broker | None = None


class Controller(Record):
    """Who leads."""

    leader: Broker | None = None
    leader_epoch: LeaderEpoch = 0


class Fleet(State):
    """The whole state; `marks` counts round and round."""

    brokers: Members[Broker] = members(BROKERS)
    controller: Controller = Controller.part()
    marks: Annotated[int, integers(0, 3)] = 0


@action("controller elects {broker}")
def elect(fleet: Fleet, broker: Broker) -> None:
    """Another leader, in the next epoch; after the last comes the first."""
    require(broker.up)
    epoch = fleet.controller.leader_epoch
    fleet.controller.leader = broker
    fleet.controller.leader_epoch = choose(epoch < fleet.bound("max_leader_epoch"), epoch + 1, 0)
    broker.leader = broker
    broker.leader_epoch = fleet.controller.leader_epoch


@action("{broker} reads who leads")
def follow(fleet: Fleet, broker: Broker) -> None:
    """Take what the controller says."""
    require(broker.up)
    broker.leader = fleet.controller.leader
    broker.leader_epoch = fleet.controller.leader_epoch


@action("the producer's next record is appended by {leader}")
def append(fleet: Fleet, leader: Broker) -> None:
    """Append a record."""
    require(leader.up)
    require(leader.leader == leader)
    require(not_(leader.log.is_full))
    leader.log.append(id=choose(fleet.marks > 1, 1, 0), epoch=leader.leader_epoch)
    fleet.marks = choose(fleet.marks < 3, fleet.marks + 1, 0)


@action("{follower} copies from {leader}")
def copy(fleet: Fleet, follower: Broker, leader: Broker) -> None:
    """Take the next entry, and the high watermark."""
    require(follower != leader)
    require(follower.up)
    require(leader.up)
    require(follower.leader == leader)
    require(follower.log.end < leader.log.end)
    offset = follower.log.end
    follower.log.append(id=leader.log[offset].id, epoch=leader.log[offset].epoch)
    leader.high_watermark = follower.log.end


@action("{broker} crashes")
def crash(fleet: Fleet, broker: Broker) -> None:
    """Lose the log."""
    require(broker.up)
    broker.up = False
    broker.leader = None
    broker.high_watermark = 0
    broker.log.truncate_to(0)


@action("{broker} starts again")
def restart(fleet: Fleet, broker: Broker) -> None:
    """Come back."""
    require(not_(broker.up))
    broker.up = True


FLEET = Protocol(
    "fleet", "brokers that come and go", Fleet, (elect, follow, append, copy, crash, restart),
    (BROKERS, LOG_SIZE, MAX_RECORDS, MAX_LEADER_EPOCH), telling=TELLING,
)  # fmt: skip


def long_run(steps: int, brokers: int) -> Trace:
    """So many steps, each the first enabled one of all in a random order; crashes are rare."""
    model = FLEET.model({"brokers": brokers, "log_size": 8, "max_records": 2})
    engine, draw = ReferenceEngine(model), random.Random(4)
    state = engine.initial()
    taken: list[Instance] = []
    while len(taken) < steps:
        instance = draw.choice(model.instances)
        if instance.action in (crash, elect) and draw.random() > 0.1:
            continue
        after = engine.step(state, instance)
        if after is not None:
            state = after
            taken.append(instance)
    return build_trace(model, taken)
