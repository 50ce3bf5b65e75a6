"""The queues of the model's producer are those of Kafka's own accumulator, in every small run.

A run of the model is played on `RecordAccumulator`, `BuiltInPartitioner`, `TransactionManager` and
`Sender` of a release, step by step; what is queued and what may be sent is compared in every state.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from checker.kafka.conformance.producer_rules import run_accumulator
from model.kafka_producer.state import Answer, Status
from tests.support.accumulator import VERSIONS, Producer
from tests.support.tiers import nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clients")]

# --- queues: every run of the model --------------------------------------------------------------

ERRORS = {
    Answer.APPENDED: "NONE",
    Answer.RETRIABLE: "NOT_ENOUGH_REPLICAS",
    Answer.OUT_OF_ORDER: "OUT_OF_ORDER_SEQUENCE_NUMBER",
    Answer.REFUSED: "INVALID_RECORD",
}
WORDS = {
    "application_send": "k0",
    "sender_resolve_sequences": "v",
    "sender_bump_epoch": "b",
    "broker_change_leader": "l",
    "producer_expire_batch": "x",
}


@dataclass
class _Run:
    """A run of the model as events of Kafka, each with the state after it and, where the model
    sends a batch, its number. `requests` is the batch of each request.
    """

    state: tuple[int, ...]
    events: list[Any] = field(default_factory=list)
    requests: tuple[int, ...] = ()

    def then(self, producer, step, after):
        """The run with one more step of the model, which is one or more events of Kafka."""
        name, topic = step.action.name, producer.view(self.state)
        events, requests = list(self.events), self.requests
        if name in WORDS:
            events.append((WORDS[name], self.state, after, None))
        elif name.startswith("sender_send"):
            number = step.arguments[0]
            events.append(("s", self.state, after, number))
            requests = (*requests, number)
        elif name == "producer_lose_connection":
            lost = [b.number for b in topic.batches if b.status == Status.IN_FLIGHT]
            lost = [n for n in lost if not topic.batches[n].to_old_leader]
            open_ones = sorted(map(self._request, lost))
            for place, request in enumerate(open_ones):
                last = place == len(open_ones) - 1
                events.append((f"a{request}:LOST", self.state, after if last else None, None))
        else:
            number = step.arguments[0]
            error = ERRORS[Answer(topic.batches[number].answer)]
            events.append((f"a{self._request(number)}:{error}", self.state, after, None))
        return _Run(after, events, requests)

    def _request(self, number):
        """The last request with the batch."""
        return len(self.requests) - 1 - self.requests[::-1].index(number)

    def asked(self, producer):
        """The events, and in each state that lets nothing go that nothing is sent."""
        for event, before, after, number in self.events:
            if number is None and after is not None and not producer.sendable(after):
                yield event, before, after, None
                yield "s", after, after, None
            else:
                yield event, before, after, number


def _runs(producer, length):
    """Every run of so many steps of the model, or that ends before."""
    waiting = [_Run(producer.start)]
    while waiting:
        run = waiting.pop()
        after = producer.steps(run.state)
        if not after or len(run.events) >= length:
            yield run
            continue
        sends = any(step.action.name.startswith("sender_send") for step, _ in after)
        if producer.sendable(run.state) and not sends:
            yield run  # the queue lets a batch go, and the model waits for a new epoch
        waiting.extend(
            run.then(producer, step, state)
            for step, state in after
            if not (step.action.name == "producer_expire_batch" and producer.passed(run.state))
        )


@dataclass
class _Compared:
    """How often each kind of event was compared, what differs, what Kafka sent in which state."""

    kinds: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    states: set[Any] = field(default_factory=set)
    differ: list[Any] = field(default_factory=list)
    sent: dict[Any, set[int]] = field(default_factory=dict)


def _queues_compared(version, producer, length):
    compared = _Compared()
    runs = [list(run.asked(producer)) for run in _runs(producer, length)]
    lines = [" ".join([producer.words(), *(one[0] for one in run)]) for run in runs]
    for line, run, told in zip(lines, runs, run_accumulator(version, lines), strict=True):
        compared.runs += 1
        for at, ((event, before, after, number), answer) in enumerate(
            zip(run, told.split(" "), strict=True)
        ):
            compared.kinds[event[0]] += 1
            sent, *queues = answer.split("/")
            expected = "" if number is None else producer.batch(after, number)
            if event == "s":
                allowed = producer.sendable(before)
                of_kafka = [n for n in allowed if _is_of(producer, before, n, sent)]
                compared.states.add(before)
                compared.sent.setdefault(before, set()).update(of_kafka)
                if number not in of_kafka and len(of_kafka) == 1:
                    break  # the model may also send another: that is no run of Kafka
            if sent != expected or (
                after is not None
                and sorted(filter(None, queues[0].split(","))) != producer.queue(after)
            ):
                compared.differ.append((line, at, event, answer, expected, producer.queue(after)))
                break
    return compared


def _is_of(producer, state, number, sent):
    """The batch that Kafka sent has the records of this one."""
    return bool(sent) and sent.partition("@")[0] == producer.batch(state, number).partition("@")[0]


FIGURES = {
    "errors and refusals": (4846, 63403),
    "batches of two": (3097, 41107),
    "connections and leaders": (2107, 29954),
    "expired batches": (3902, 48309),
    "no sequences, two in flight": (8396, 105643),
    "no sequences, one in flight": (3062, 44332),
}
"""Of each space, how many runs there are, and how many events are compared."""
SPACES = {
    "errors and refusals": (
        {"batch.size": "1"}, {"max_records": 3, "broker_errors": 1, "refused_batches": 1}, 12,
    ),
    "batches of two": ({"batch.size": "2"}, {"max_records": 4, "broker_errors": 1}, 12),
    "connections and leaders": (
        {"batch.size": "1"}, {"max_records": 3, "lost_connections": 1, "leader_changes": 1}, 14,
    ),
    "expired batches": (
        {"batch.size": "1"}, {"max_records": 3, "broker_errors": 1, "expired_batches": 1}, 11,
    ),
    "no sequences, two in flight": (
        {"enable.idempotence": "false", "max.in.flight.requests.per.connection": "2"},
        {"max_records": 3, "broker_errors": 2}, 12,
    ),
    "no sequences, one in flight": (
        {"enable.idempotence": "false", "max.in.flight.requests.per.connection": "1"},
        {"max_records": 3, "broker_errors": 2, "leader_changes": 1}, 12,
    ),
}  # fmt: skip


def _space(name, **instead):
    settings, bounds, length = SPACES[name]
    return Producer(settings | instead, topic_partitions=1, **bounds), length


LARGER = ("expired batches", "no sequences, one in flight")
EACH_TIME = [nightly("ten seconds and more", n) if n in LARGER else n for n in SPACES]


@pytest.mark.parametrize("name", EACH_TIME)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_queue_is_kafkas_in_every_run(version, name):
    """What is queued after each step, which batch goes and with which numbers, or that none does.

    Without sequences the model leaves open which batch that was put back goes first: each that it
    lets go is sent by Kafka in some run to that state, and nothing else is.
    """
    producer, length = _space(name)
    compared = _queues_compared(version, producer, length)
    assert compared.differ == []
    assert (compared.runs, sum(compared.kinds.values())) == FIGURES[name]
    for state in compared.states:
        assert compared.sent[state] == set(producer.sendable(state))


# --- a wrong model is noticed --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("errors and refusals", "epoch.bump", "after_all"),
        ("batches of two", "batch.size", "1"),
        ("no sequences, one in flight", "in.flight.mutes.partition", "false"),
        ("no sequences, two in flight", "max.in.flight.requests.per.connection", "3"),
        ("connections and leaders", "enable.idempotence", "false"),
    ],
)
def test_a_wrong_setting_of_the_model_is_noticed(name, setting, value):
    """Kafka is as it is in the comparison above; the model has one setting that is wrong."""
    right, length = _space(name)
    wrong, _ = _space(name, **{setting: value})
    wrong.words = right.words
    compared = _queues_compared("4.3.1", wrong, length - 4)
    unsent = [s for s in compared.states if compared.sent[s] != set(wrong.sendable(s))]
    assert compared.differ or unsent
