"""The queues of the model's producer are those of Kafka's own accumulator, in every small run.

A run of the model is played on `RecordAccumulator`, `BuiltInPartitioner`, `TransactionManager` and
`Sender` of a release, step by step; what is queued and what may be sent is compared in every state.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.kafka.conformance.producer_rules import run_accumulator
from model.kafka_producer.protocol import KAFKA_PRODUCER
from model.kafka_producer.record_accumulator import has_room, may_be_sent
from model.kafka_producer.state import Answer, Status
from tests.support.tiers import RELEASES, nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clients")]
VERSIONS = ["4.3.1", *(nightly(RELEASES, v) for v in ("3.5.2", "3.7.2", "3.9.1", "4.1.0"))]
NEWEST = "kafka-4.3"


class _Producer:
    """The model's producer: a graph of states, each step taken once."""

    def __init__(self, settings, **bounds):
        none = {
            "lost_connections": 0,
            "broker_errors": 0,
            "log_size": bounds.get("max_records", 3) + 1,
        }
        self.model = KAFKA_PRODUCER.model(
            none | bounds, dict(KAFKA_PRODUCER.presets[NEWEST]) | settings
        )
        self.options = self.model.settings
        self.engine = ReferenceEngine(self.model)
        self.start = tuple(self.engine.initial())
        self._after = {}

    def view(self, state):
        return self.engine.view(state)

    def steps(self, state):
        """[(step, next state)] of all that may be taken."""
        if state not in self._after:
            taken = [(one, self.engine.step(state, one)) for one in self.model.instances]
            self._after[state] = [(one, after) for one, after in taken if after is not None]
        return self._after[state]

    def step(self, state, action, *arguments):
        """The state after one step, or None where it may not be taken."""
        for one, after in self.steps(state):
            if one.action.name == action and one.arguments[: len(arguments)] == arguments:
                return after
        return None

    @cache  # noqa: B019 (of one test)
    def batch(self, state, number):
        """A batch as `AccumulatorRun.java` says it: records, and numbers once it was sent."""
        topic = self.view(state)
        batch = topic.batches[number]
        records = [r.number for r in topic.records if topic.is_in(r, batch)]
        told = "+".join(map(str, records))
        numbered = topic.idempotent and batch.was_sent
        return f"{told}@{batch.epoch}:{batch.sequence}" if numbered else told

    @cache  # noqa: B019 (of one test)
    def queue(self, state, partition=0):
        """The batches that wait for a partition, whatever their order."""
        return sorted(
            self.batch(state, batch.number)
            for batch in self.view(state).batches
            if batch.status == Status.QUEUED and batch.partition == partition
        )

    @cache  # noqa: B019 (of one test)
    def sendable(self, state):
        """The numbers of the batches that the queue lets go."""
        topic = self.view(state)
        return [batch.number for batch in topic.batches if may_be_sent(topic, batch)]

    def passed(self, state):
        """A batch was sent again after another that is in flight: Kafka looks at the time of those
        that were sent before it first, and leaves it; in the model the oldest may always expire.
        """
        return any(batch.ahead for batch in self.view(state).batches)

    def words(self, size_slack=0, lingers=0):
        """What a line begins with."""
        flags = [
            self.model.bounds["topic_partitions"], self.options.batch_size, size_slack,
            int(self.view(self.start).idempotent), self.options.max_in_flight, lingers,
        ]  # fmt: skip
        return " ".join(map(str, flags))


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
    return _Producer(settings | instead, topic_partitions=1, **bounds), length


@pytest.mark.parametrize("name", SPACES)
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


# --- turns of records without a key --------------------------------------------------------------


def _follow(producer, state, event, queues):
    """The state after what Kafka made of an event, or None where the model has no such step."""
    if event == "d":
        for number in producer.sendable(state):
            state = producer.step(state, "sender_send_batch", number)
            state = producer.step(state, "producer_receive_answer", number)
        return state
    record = producer.view(state).producer.next_record
    (partition,) = [p for p, queue in enumerate(queues) if record in _records(queue)]
    if event[0] == "k":
        return producer.step(state, "application_send", int(event[1]), partition)
    return producer.step(state, "application_send_without_key", partition)


def _records(queue):
    return [int(number) for batch in queue for number in batch.split("+")]


def _turns_compared(version, size, alphabet, length):
    """(runs, {state: where Kafka put a record without a key}, what differs); Kafka chooses, and the
    model follows. After a record is each partition's queue the same.
    """
    settings = {"batch.size": str(size), "enable.idempotence": "false"}
    bounds = {"topic_partitions": 2, "keys": 2, "max_records": length, "keyless_records": length}
    producer = _Producer(settings | {"max.in.flight.requests.per.connection": "1"}, **bounds)
    runs = list(itertools.product(alphabet, repeat=length))
    lines = [" ".join([producer.words(), *run]) for run in runs]
    differ: list[Any] = []
    chosen: dict[Any, set[int]] = {}
    for run, line, told in zip(runs, lines, run_accumulator(version, lines), strict=True):
        state = producer.start
        for event, answer in zip(run, told.split(" "), strict=True):
            queues = [[batch for batch in q.split(",") if batch] for q in answer.split("/")[1:]]
            after = _follow(producer, state, event, queues)
            if after is None or any(
                sorted(queue) != producer.queue(after, partition)
                for partition, queue in enumerate(queues)
            ):
                differ.append((line, event, answer))
                break
            if event[0] == "n":
                record = producer.view(state).producer.next_record
                places = [p for p, queue in enumerate(queues) if record in _records(queue)]
                chosen.setdefault(state, set()).update(places)
            state = after
    allowed = {
        state: {p for p in range(2) if producer.step(state, "application_send_without_key", p)}
        for state in chosen
    }
    return len(lines), chosen, allowed, differ


NO_KEYS, BOTH = ("n0", "n1", "d"), ("n0", "n1", "k0", "k1", "d")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("size", "alphabet", "length"),
    [(1, NO_KEYS, 5), (2, NO_KEYS, 6), (3, NO_KEYS, 7), (2, BOTH, 5)],
)
def test_records_without_a_key_go_where_kafka_puts_them(version, size, alphabet, length):
    """Whenever batches are sent, and others have filled them: a turn that an open batch has kept
    going ends where the next record comes and no batch is open. Kafka draws the partition, and the
    model allows it; where all have no key, each that the model allows is drawn in some run.
    """
    runs, chosen, allowed, differ = _turns_compared(version, size, alphabet, length)
    assert differ == []
    assert runs == len(alphabet) ** length
    assert alphabet == BOTH or chosen == allowed


# --- when a batch goes ---------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("size", "slack"), [(1, 0), (2, 0), (3, 0), (2, 500)])
def test_a_batch_that_the_model_lets_go_goes_once_linger_is_over_or_it_is_full(
    version, size, slack
):
    """No sooner, but for another batch behind it, a flush, and the end; so the model's batch may go
    at any moment. A batch with room for less than a record is not full, and takes none; one of a
    single record has such room, since its buffer is as long as the longest such record.
    """
    producer = _Producer(
        {"batch.size": str(size), "enable.idempotence": "false"}, topic_partitions=1, max_records=5
    )
    runs = [
        (*run, "c", "d", "d", "d") for run in itertools.product(("k0", "d", "p", "f"), repeat=5)
    ]
    lines = [" ".join([producer.words(slack, lingers=1), *run]) for run in runs]
    went, held = 0, 0
    for run, line, told in zip(runs, lines, run_accumulator(version, lines), strict=True):
        state, lingered, at_once = producer.start, set(), False
        for event, answer in zip(run, told.split(" "), strict=True):
            sent, queue = answer.split("/")
            if event == "k0":
                state = producer.step(state, "application_send", 0, 0)
            elif event == "p":
                lingered.update(producer.queue(state))
            elif event in "fc":
                at_once = True
            else:
                topic, waiting = producer.view(state), producer.queue(state)
                expected = ""
                for number in producer.sendable(state):
                    batch = producer.batch(state, number)
                    full = size > 1 and slack == 0 and not has_room(topic, topic.batches[number])
                    lingers = not lingered & _beginnings(batch)
                    if not lingers or full or at_once or len(waiting) > 1:
                        expected = batch
                        state = producer.step(state, "sender_send_batch", number)
                        state = producer.step(state, "producer_receive_answer", number)
                assert sent == expected, line
                went, held = went + bool(sent), held + bool(waiting and not sent)
            assert sorted(filter(None, queue.split(","))) == producer.queue(state), line
    assert went > 800 and held > 150


def _beginnings(batch):
    """The batch as it was with any number of its records."""
    records = batch.split("+")
    return {"+".join(records[:count]) for count in range(1, len(records) + 1)}


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
