"""A producer's rules and those of Kafka's own classes give the same, on every small input; and what
the catalogue says that the newest release does, its own producer and broker checks do."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.kafka.conformance.producer_rules import answers, run_sender
from checker.lab.experiments.cases import stored_case
from model.kafka_producer.partitioner import turn_is_over
from model.kafka_producer.producer_append_info import Check, check, is_duplicate
from model.kafka_producer.protocol import KAFKA_PRODUCER
from tests.support.tiers import RELEASES, nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clients")]
VERSIONS = ["4.3.1", *(nightly(RELEASES, v) for v in ("3.5.2", "3.7.2", "3.9.1", "4.1.0"))]
BATCHES = [(epoch, first, size) for epoch in range(3) for first in range(3) for size in (1, 2)]
HISTORIES = [had for length in range(3) for had in itertools.product(BATCHES, repeat=length)]
MODEL = KAFKA_PRODUCER.model(
    {"topic_partitions": 1, "max_records": 6, "log_size": 3, "epoch_bumps": 2}
)


def _state(sizes, entries):
    """A state whose batches have these sizes, and whose log has these numbers of the first ones."""
    state = list(ReferenceEngine(MODEL).initial())
    place, names = MODEL.positions, ("batch", "epoch", "sequence")
    begins, numbers = 0, []
    for size in sizes:
        numbers.append(begins)
        for record in range(begins, begins + size):
            state[place["records.batch", (record,)]] = begins
        begins += size
    state[place["producer.next_record", ()]] = begins
    for position, (epoch, first, _) in enumerate(entries):
        for name, value in zip(names, (numbers[position], epoch, first), strict=True):
            state[place[f"partitions.log.{name}", (0, position)]] = value
    state[place["partitions.log.end", (0,)]] = len(entries)
    return tuple(state), numbers[-1]


def _by_the_model(had, comes):
    state, number = _state([size for *_, size in (*had, comes)], had)
    topic = ReferenceEngine(MODEL).view(state)
    partition, (epoch, first, _) = topic.partitions[0], comes
    if is_duplicate(topic, partition, topic.batches[number], 0, epoch, first):
        return "duplicate"
    return Check(check(topic, partition, 0, epoch, first)).name.lower()


def _word(batch):
    epoch, first, size = batch
    return f"{epoch}:{first}:{first + size - 1}"


@pytest.mark.parametrize("version", VERSIONS)
def test_brokers_judge_sequences_as_the_model_does(version):
    """Whatever two batches a log has of a producer, and whichever comes."""
    asked = [(had, comes) for had in HISTORIES for comes in BATCHES]
    lines = [f"sequence {''.join(_word(b) + ' ' for b in had)}? {_word(c)}" for had, c in asked]
    told = answers(version, lines)
    differ = [
        (line, by_kafka, by_model)
        for line, by_kafka, by_model in zip(
            lines, told, itertools.starmap(_by_the_model, asked), strict=True
        )
        if by_kafka != by_model
    ]
    assert differ == []
    assert set(told) == {"duplicate", "in_order", "out_of_order", "fenced"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_key_has_one_partition_and_any_other_once_there_are_more(version):
    """What the model leaves open of murmur2 is open: each pair of partitions is some key's."""
    keys = [list(map(int, told.split())) for told in answers(
        version, [f"keys 300 {count}" for count in (1, 2, 3, 2)]
    )]  # fmt: skip
    assert keys[1] == keys[3]
    assert set(keys[0]) == {0}
    assert set(zip(keys[1], keys[2], strict=True)) == set(itertools.product(range(2), range(3)))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_turn_ends_where_the_model_ends_it(version, size):
    """For every way in which batches may be full or not after each of seven records."""
    ways = list(itertools.product((False, True), repeat=7))
    lines = [f"turns {size} {' '.join(str(int(full)) for full in way)}" for way in ways]
    for way, told in zip(ways, answers(version, lines), strict=True):
        stint, expected = 0, []
        for full in way:
            stint += 1
            over = turn_is_over(stint, full, size)
            expected.append(str(int(over)))
            stint = 0 if over else stint
        assert told.split() == expected, way


# --- the newest release's own producer -----------------------------------------------------------

NEWEST = "4.3.1"
AS_STORED = {
    "68-a_lost_answer_makes_a_later_batch_appear_twice": """
        send, run, send, run, append 1, disconnect 0 1, run,
        run, append 2, answer 2 OUT_OF_ORDER_SEQUENCE_NUMBER, run,
        run, append 3, answer 3 NONE, run, run, append 4, log""",
    "69-a_refused_batch_makes_another_appear_twice": """
        send, run, append 0, send, run, answer 0 REQUEST_TIMED_OUT, answer 1 INVALID_RECORD, run,
        run, append 2, log""",
}


def _played(text):
    commands = [command.strip() for command in text.split(",")]
    return list(zip(commands, run_sender(NEWEST, commands), strict=True))


@pytest.mark.parametrize("name", AS_STORED)
def test_the_newest_release_leaves_the_log_of_the_stored_case(name):
    *_, (_, log) = _played(AS_STORED[name])
    case = stored_case(Path(name))
    assert case is not None
    trace = case.stored_trace()
    topic = ReferenceEngine(trace.model).view(trace.states[-1])
    entries = topic.partitions[0].log
    assert log.split() == [str(entries[place].batch) for place in range(entries.end)]
    assert len(set(log.split())) < len(log.split())


@pytest.mark.parametrize(
    ("cause", "instead"),
    [("append 1", "append 0, append 1"), ("answer 0 REQUEST_TIMED_OUT", "answer 0 NONE")],
)
def test_without_its_cause_it_leaves_no_duplicate(cause, instead):
    (text,) = [text for text in AS_STORED.values() if cause in text]
    start, _, _ = text.partition(cause)
    rest = ", disconnect 0 1, run, run, append 2, answer 2 NONE, run, run, append 3, log"
    rest = rest if cause == "append 1" else ", answer 1 INVALID_RECORD, run, run, log"
    *_, (_, log) = _played(start + instead + rest)
    assert log.split() in (["0", "1"], ["0"])


def test_the_newest_release_sends_a_batch_in_vain_again_and_again():
    """Number 68: the second batch is acknowledged, so the first is not the next in line."""
    again = ", run, append {}, answer {} OUT_OF_ORDER_SEQUENCE_NUMBER, run"
    played = _played(
        "send, run, send, run, append 1, answer 0 NOT_LEADER_OR_FOLLOWER, answer 1 NONE, run"
        + "".join(again.format(n, n) for n in range(2, 7))
        + ", log"
    )
    assert [told for command, told in played if command.startswith("append")] == [
        "appended", *["out_of_order"] * 5
    ]  # fmt: skip
    assert {told.split(":", 1)[1] for command, told in played[10:] if ":" in told} == {"0:0:0"}
    assert played[-1][1] == "1"
