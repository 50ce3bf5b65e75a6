"""Markers and EndTxn are judged as Kafka's own classes judge them, on every small input."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.kafka.conformance.transaction_rules import (
    coordinator_says,
    load_says,
    markers_are,
    partition_says,
)
from model.kafka_transactions.presets import PRESETS
from model.kafka_transactions.producer_append_info import takes_marker
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.kafka_transactions.state import ONGOING, Fate, IdState, Kind, Status
from model.kafka_transactions.transaction_coordinator import ends
from tests.support.tiers import RELEASES, first_and_slow, nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clients")]
BOUNDS = {"topic_partitions": 1, "transactions": 1, "coordinator_failovers": 2}
RULES = {"4.3.1": "kafka-4.3", "4.1.0": "kafka-4.0", "3.9.1": "kafka-3.9"}
VERSIONS = ["4.3.1", *(nightly(RELEASES, version) for version in ("4.1.0", "3.9.1"))]
NUMBERS = range(3)


def _txn(version, transaction_version, **values):
    """The view of a state with these values of variables that have one place."""
    rules = {**PRESETS[RULES[version]], "transaction.version": transaction_version}
    model = KAFKA_TRANSACTIONS.model(BOUNDS, rules)
    state = list(ReferenceEngine(model).initial())
    for (name, index), place in model.positions.items():
        if not any(index) and name in values:
            state[place] = values[name]
    return ReferenceEngine(model).view(tuple(state))


def _taken(version, has, comes):
    epoch, coordinator, is_open = has
    fate = Fate.OPEN if is_open else Fate.COMMITTED
    named = {"partitions.epoch": epoch, "partitions.coordinator_epoch": coordinator}
    txn = _txn(version, comes[2], **named, **{"transactions.fate": fate})
    return bool(takes_marker(txn, txn.partitions[0], *comes[:2]))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_partition_takes_the_markers_that_the_model_takes(version):
    """Whatever it has of the producer; before 4.2 a marker has no version to go by."""
    asked = list(
        itertools.product(
            itertools.product(NUMBERS, NUMBERS, (0, 1)),
            itertools.product(NUMBERS, NUMBERS, ("0", "2")),
        )
    )
    lines = [" ".join(map(str, (*has, "?", *comes))) for has, comes in asked]
    told = partition_says(version, lines)
    differ = [
        (line, answer)
        for (has, comes), line, answer in zip(asked, lines, told, strict=True)
        if (answer == "taken") != _taken(version, has, comes)
    ]
    assert differ == []
    assert set(told) == {"taken", "fenced", "coordinator_fenced"}


def _ended(state, epoch, kind, named, transaction_version):
    values = {"coordinators.state": state, "coordinators.epoch": epoch}
    txn = _txn("4.3.1", transaction_version, **values)
    decides, done, waits = ends(txn, txn.coordinators[0], kind, named)
    if decides:
        after = epoch + 1 if transaction_version == "2" else epoch
        return f"PREPARE_{kind.name} {after}"
    return "NONE" if done else "CONCURRENT_TRANSACTIONS" if waits else "refused"


def test_a_coordinator_ends_what_the_model_ends_by_its_cache_alone():
    """What it is asked to do and has done it answers without an append: it need not lead."""
    asked = list(itertools.product(
        IdState, NUMBERS, (Kind.COMMIT, Kind.ABORT), NUMBERS, ("0", "2")
    ))  # fmt: skip
    lines = [f"{s.name} {e} ? {k.name} {named} {v}" for s, e, k, named, v in asked]
    told = coordinator_says("4.3.1", lines)
    differ = []
    for question, line, answer in zip(asked, lines, told, strict=True):
        refused = answer in ("PRODUCER_FENCED", "INVALID_TXN_STATE")
        if _ended(*question) != ("refused" if refused else answer):
            differ.append((line, answer))
    assert differ == []
    assert {"NONE", "CONCURRENT_TRANSACTIONS", "PRODUCER_FENCED"} < set(told)


WITH_PARTITIONS = (ONGOING, IdState.PREPARE_COMMIT, IdState.PREPARE_ABORT)
STATES = (IdState.EMPTY, *WITH_PARTITIONS, IdState.COMPLETE_COMMIT)
LOADING = KAFKA_TRANSACTIONS.model(BOUNDS | {"load_failures": 1}, PRESETS["kafka-4.3"])
INSTANCES = {(one.action.name, one.arguments): one for one in LOADING.instances}
STEPS: dict[str, list[tuple[Any, ...]]] = {
    "whole": [("coordinator_load", 1)],
    "failed": [("coordinator_read_part", 1, None), ("coordinator_fail_to_load", 1)],
    "moved": [
        ("coordinator_read_part", 1, None),
        ("coordinator_fail_over", None),
        ("coordinator_publish_abandoned_load", 1),
    ],
}


def _loaded(log, mark, way, reads):
    """What coordinator 1 has in the model once its load has gone this way, and its markers."""
    engine, place = ReferenceEngine(LOADING), LOADING.positions
    state = list(engine.initial())
    for position, each in enumerate(log):
        state[place["log.state", (position,)]] = each
        state[place["log.partitions", (position,)]] = int(each in WITH_PARTITIONS)
    state[place["log.end", ()]] = len(log)
    state[place["high_watermark", ()]] = mark
    state[place["spent.coordinator_failovers", ()]] = 1
    state[place["coordinators.status", (1,)]] = Status.LOADING
    for name, *arguments in STEPS[way]:
        end = reads if name == "coordinator_read_part" else len(log)
        wanted = tuple(end if argument is None else argument for argument in arguments)
        after = engine.step(tuple(state), INSTANCES[name, wanted])
        assert after is not None, (name, log, mark, way, reads)
        state = list(after)
    coordinator = engine.view(tuple(state)).coordinators[1]
    if coordinator.status == Status.NONE:
        return None
    found = IdState(coordinator.state)
    sends = coordinator.sends_markers and not coordinator.partitions.is_empty
    return f"{found.name} {found.name.removeprefix('PREPARE_')}" if sends else found.name


@pytest.mark.parametrize("length", first_and_slow(2, 3))
def test_a_load_leaves_what_it_leaves_in_the_model_whole_or_not(length):
    """Above the high watermark, after the log is no longer its own, and after an error."""
    asked = [
        (log, mark, way, reads)
        for log in itertools.product(STATES, repeat=length)
        for mark in range(1, length + 1)
        for way in STEPS
        for reads in ([0] if way == "whole" else range(1, length))
    ]
    lines = [f"{' '.join(s.name for s in log)} ? {m} {w} {r}" for log, m, w, r in asked]
    told = load_says("4.3.1", lines)
    by_model = list(itertools.starmap(_loaded, asked))
    blank = sum(each is None for each in by_model)  # who was replaced and matters to nobody
    assert 0 < blank < len(asked) / 3
    differ = [
        (line, answer, ours)
        for line, answer, ours in zip(lines, told, by_model, strict=True)
        if ours is not None and ours != answer
    ]
    assert differ == []


KNOWN = {
    "NONE": "completed", "NOT_LEADER_OR_FOLLOWER": "again", "REQUEST_TIMED_OUT": "again",
    "KAFKA_STORAGE_ERROR": "again", "INVALID_PRODUCER_EPOCH": "cancelled",
    "TRANSACTION_COORDINATOR_FENCED": "cancelled", "UNSUPPORTED_VERSION": "completed",
}  # fmt: skip
UNEXPECTED = ("UNKNOWN_SERVER_ERROR", "CLUSTER_AUTHORIZATION_FAILED", "CORRUPT_MESSAGE")


def test_an_error_that_a_coordinator_does_not_expect_ends_what_it_makes_of_the_ids_after_it():
    """A suspect: their markers are neither written nor sent again. The ids before it are safe."""
    told = {**KNOWN, **dict.fromkeys(UNEXPECTED, "forgotten")}
    pairs = [(first, second) for first in told for second in told]
    expected = [
        f"{told[first]} {told[second] if first in KNOWN else 'forgotten'}"
        for first, second in pairs
    ]
    assert markers_are("4.3.1", [" ".join(pair) for pair in pairs]) == expected
