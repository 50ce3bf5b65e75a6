"""Every action and every setting of Kafka says where it comes from, and `list` shows it."""

from __future__ import annotations

import re

import pytest

from model.kafka.protocol import KAFKA
from model.kafka_group.protocol import KAFKA_GROUP
from model.kafka_producer.protocol import KAFKA_PRODUCER
from model.kafka_streams.protocol import KAFKA_STREAMS
from model.kafka_tiered.protocol import KAFKA_TIERED
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.language.capture import capture_action
from model.language.declare.settings import describe
from model.protocols import PROTOCOLS, action_sources, setting_sources

OF_KAFKA = {
    protocol: (action_sources(protocol), setting_sources(protocol))
    for protocol in (
        KAFKA,
        KAFKA_PRODUCER,
        KAFKA_GROUP,
        KAFKA_TIERED,
        KAFKA_TRANSACTIONS,
        KAFKA_STREAMS,
    )
}
of_kafka = pytest.mark.parametrize("protocol", OF_KAFKA, ids=lambda protocol: protocol.name)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda protocol: protocol.name)
def test_every_action_has_a_source(protocol):
    assert list(action_sources(protocol)) == [action.name for action in protocol.actions]
    places = [source.place for source in action_sources(protocol).values()]
    assert all(re.fullmatch(r"\w+\.\w+|the application", place) for place in places)


def test_every_action_of_the_ladder_is_another_operator():
    ladder = {a for name in ("truncate_to_high_watermark", "kip101", "kip279", "kip320_first_try",
                             "kip320") for a in PROTOCOLS[name].actions}  # fmt: skip
    places = {action.source.place for action in ladder if action.source is not None}
    assert len(places) == len(ladder)


@of_kafka
def test_every_setting_of_kafka_has_a_source(protocol):
    assert list(setting_sources(protocol)) == list(describe(protocol.settings))


@of_kafka
def test_releases_and_issues_are_written_alike(protocol):
    actions, settings = OF_KAFKA[protocol]
    for source in (*actions.values(), *settings.values()):
        assert re.fullmatch(r"(\d+(\.\d+){2,3})?", source.since)
        for issue in filter(None, source.issues.split(", ")):
            assert re.fullmatch(r"KAFKA-\d+|KIP-\d+|finding \d{4}", issue)


NOT_IN_FIXED = {
    "refused.isr.change.moves.hw",  # decision 92
    "reset.follower.leo.after.skipped.epoch",  # implied by reset.follower.leo.every.epoch
}


def test_the_fixed_preset_is_the_newest_release_with_every_fix_but_two_that_no_release_has():
    newest, fixed = KAFKA.preset("kafka-4.3"), KAFKA.preset("kafka-fixed")
    unreleased = {
        name
        for name, source in setting_sources(KAFKA).items()
        if source.issues and not source.since
    }
    changed = {name for name in fixed if fixed[name] != newest.get(name)}
    assert unreleased >= NOT_IN_FIXED
    gone = {"reassignment.waits.for.all"}  # KAFKA-19975, in 4.3
    assert changed == unreleased - NOT_IN_FIXED | gone
    assert {fixed[name] for name in changed} == {"true"}


def _captured(protocol, action, settings):
    schema = protocol.schema
    chosen = protocol.model({}, settings).settings
    return capture_action(action.name, action.function, schema, chosen, action.parameters(schema))


def _changes(protocol, action, base, name):
    """Whether, over `base`, one value of the setting makes another action than its first."""
    first, *others = _values(protocol, name)
    before = _captured(protocol, action, {**base, name: first})
    return any(_captured(protocol, action, {**base, name: each}) != before for each in others)


def _values(protocol, name):
    info = describe(protocol.settings)[name]
    if name == "retries":
        return ("0", "1")
    if info.within is not None:
        return tuple(info.within(protocol.model().bounds))
    return ("1", "2") if info.type is int else info.choices.split(", ")


BASES = {
    KAFKA: [
        *(KAFKA.preset(name) for name in ("kafka-4.1", "kafka-3.5", "kafka-2.1")),
        {**KAFKA.preset("kafka-4.1"), "replication.factor": "2"},
        {**KAFKA.preset("kafka-4.1"), "epoch.cache": "kept"},
    ],
    KAFKA_PRODUCER: [
        KAFKA_PRODUCER.preset("kafka-4.3"),
        {"max.in.flight.requests.per.connection": "1"},
    ],
    KAFKA_GROUP: [
        *(KAFKA_GROUP.preset(name) for name in ("kafka-4.3", "kafka-4.3-consumer", "kafka-3.2")),
        {"partition.assignment.strategy": "sticky"},
    ],
    KAFKA_TIERED: [KAFKA_TIERED.preset("kafka-4.3")],
    KAFKA_TRANSACTIONS: [
        KAFKA_TRANSACTIONS.preset(name) for name in ("kafka-4.3", "kafka-3.9", "kafka-fixed")
    ],
    KAFKA_STREAMS: [
        KAFKA_STREAMS.preset(name) for name in ("kafka-0.11", "kafka-2.5", "kafka-4.0")
    ],
}


@pytest.mark.parametrize(
    ("protocol", "action"),
    [
        pytest.param(protocol, action, id=action.name)
        for protocol, (actions, _) in OF_KAFKA.items()
        for action in protocol.actions
        if actions[action.name].settings
    ],
)
def test_the_settings_that_are_named_change_the_action(protocol, action):
    for name in OF_KAFKA[protocol][0][action.name].settings:
        assert any(_changes(protocol, action, base, name) for base in BASES[protocol]), name
