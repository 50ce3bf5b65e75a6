"""When a coordinator fences a producer, and when a producer hears of its epoch."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.kafka_transactions.state import EMPTY, PREPARE_ABORT, IdState, Kind, Phase

BOUNDS = {"topic_partitions": 1, "transactions": 1, "producer_epochs": 4}
FAULTS = {
    "transaction_timeouts": 1,
    "producer_restarts": 1,
    "lost_responses": 1,
    "late_produces": 1,
}


@dataclass(frozen=True)
class Seen:
    """Of a state: what the producer has and asks for, the coordinator's epoch, the log's end."""

    request: Kind
    phase: Phase
    epoch: int
    coordinator_epoch: int
    last: tuple[IdState, int]
    is_committed: bool


def _seen(txn):
    last = txn.log[txn.log.end - 1]
    return Seen(
        Kind(txn.producer.request),
        Phase(txn.producer.phase),
        txn.producer.epoch,
        txn.coordinators[0].epoch,
        (IdState(last.state), last.epoch),
        txn.high_watermark == txn.log.end,
    )


@pytest.fixture(scope="module", params=["0", "2"])
def version(request):
    return request.param


@pytest.fixture(scope="module")
def steps(version):
    """The steps of a graph: what is seen before and after each, and the action's name."""
    model = KAFKA_TRANSACTIONS.model({**BOUNDS, **FAULTS}, {"transaction.version": version})
    engine = ReferenceEngine(model)
    seen, queue, found = {engine.initial(): _seen(engine.view(engine.initial()))}, [], []
    queue.append(engine.initial())
    for state in queue:
        for instance in model.instances:
            after = engine.step(state, instance)
            if after is None:
                continue
            if after not in seen:
                seen[after] = _seen(engine.view(after))
                queue.append(after)
            found.append((seen[state], instance.action.name, seen[after]))
    return found


def test_up_to_version_1_who_is_fenced_is_so_before_that_is_committed(steps, version):
    timed_out = [(b, a) for b, name, a in steps if name == "coordinator_time_out"]
    for before, after in timed_out:
        assert after.last == (PREPARE_ABORT, before.coordinator_epoch + 1)
        assert not after.is_committed
        assert (after.coordinator_epoch == after.last[1]) is (version == "0")
    assert len(timed_out) > 10


def test_no_producer_hears_of_an_epoch_that_is_not_committed(steps):
    """Not if it asks again, either."""
    heard = [
        (name, after)
        for before, name, after in steps
        if before.request in (Kind.INIT, Kind.BUMP) and after.phase == Phase.READY
    ]
    for name, after in heard:
        assert (name, after.is_committed) == ("log_commit", True)
        assert after.last == (EMPTY, after.epoch)
    assert len(heard) > 10


def test_an_epoch_that_is_asked_for_again_is_given_once(steps, version):
    """The answer was lost: what gave it is appended again, with the same epoch."""
    asked = [
        (before, after)
        for before, name, after in steps
        if name == "coordinator_init" and before.request == Kind.BUMP
    ]
    for before, after in asked:
        assert after.last == (EMPTY, before.epoch + 1)
    again = [before for before, _ in asked if before.coordinator_epoch > before.epoch]
    assert bool(again) is (version == "0")
