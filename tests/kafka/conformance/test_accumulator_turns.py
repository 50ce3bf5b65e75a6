"""Where records without a key go, and when a batch goes, are as in Kafka's own accumulator."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from checker.kafka.conformance.producer_rules import run_accumulator
from model.kafka_producer.record_accumulator import has_room
from tests.support.accumulator import VERSIONS, Producer

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clients")]


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
    producer = Producer(settings | {"max.in.flight.requests.per.connection": "1"}, **bounds)
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


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("size", "slack"), [(1, 0), (2, 0), (3, 0), (2, 500)])
def test_a_batch_that_the_model_lets_go_goes_once_linger_is_over_or_it_is_full(
    version, size, slack
):
    """No sooner, but for another batch behind it, a flush, and the end; so the model's batch may go
    at any moment. A batch with room for less than a record is not full, and takes none; one of a
    single record has such room, since its buffer is as long as the longest such record.
    """
    producer = Producer(
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
