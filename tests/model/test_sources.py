"""Every action and every setting says where it comes from, and the page shows what is said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.report.source_tables import with_source_tables
from model.kafka.protocol import KAFKA
from model.kafka.sources import ACTION_SOURCES, SETTING_SOURCES
from model.ladder.sources import LADDER_SOURCES
from model.language.capture import capture_action
from model.language.declare.settings import describe
from model.protocols import PROTOCOLS, action_sources, setting_sources

PAGE = Path(__file__).parents[2] / "docs" / "broker-model.md"


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda protocol: protocol.name)
def test_every_action_has_a_source(protocol):
    assert list(action_sources(protocol)) == [action.name for action in protocol.actions]
    places = [source.place for source in action_sources(protocol).values()]
    assert all(re.fullmatch(r"\w+\.\w+|the application", place) for place in places)


def test_no_source_is_for_what_does_not_exist():
    assert list(ACTION_SOURCES) == [action.name for action in KAFKA.actions]
    known = {action for protocol in PROTOCOLS.values() for action in protocol.actions}
    assert set(LADDER_SOURCES) <= known
    assert len({source.place for source in LADDER_SOURCES.values()}) == len(LADDER_SOURCES)


def test_every_setting_of_kafka_has_a_source():
    assert list(setting_sources(KAFKA)) == list(describe(KAFKA.settings))


def test_releases_and_issues_are_written_alike():
    for source in (*ACTION_SOURCES.values(), *SETTING_SOURCES.values()):
        assert re.fullmatch(r"(\d+(\.\d+){2,3})?", source.since)
        for issue in filter(None, source.issues.split(", ")):
            assert re.fullmatch(r"KAFKA-\d+|KIP-\d+|finding \d{4}", issue)


def test_the_fixed_preset_is_the_newest_release_with_every_fix_that_no_release_has():
    newest, fixed = KAFKA.preset("kafka-4.3"), KAFKA.preset("kafka-fixed")
    unreleased = {
        name for name, source in SETTING_SOURCES.items() if source.issues and not source.since
    }
    changed = {name for name in fixed if fixed[name] != newest.get(name)}
    assert changed == unreleased | {"reassignment.waits.for.all"}  # KAFKA-19975, gone in 4.3
    assert {fixed[name] for name in changed} == {"true"}


def _captured(action, settings):
    schema = KAFKA.schema
    chosen = KAFKA.model({}, settings).settings
    return capture_action(action.name, action.function, schema, chosen, action.parameters(schema))


def _values(name):
    info = describe(KAFKA.settings)[name]
    return ("1", "2") if info.type is int else info.choices.split(", ")


@pytest.mark.parametrize(
    "action", [a for a in KAFKA.actions if ACTION_SOURCES[a.name].settings], ids=lambda a: a.name
)
def test_the_settings_that_are_named_change_the_action(action):
    bases = [KAFKA.preset(name) for name in ("kafka-4.1", "kafka-3.5", "kafka-2.1")]
    bases += [{**bases[0], "replication.factor": "2"}]
    for name in ACTION_SOURCES[action.name].settings:
        values = _values(name)
        variants = [
            [_captured(action, {**base, name: value}) for value in values] for base in bases
        ]
        assert any(each != some[0] for some in variants for each in some), name


def test_the_page_shows_the_tables():
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_source_tables(page, KAFKA)


def test_a_table_that_is_not_current_would_be_noticed():
    page = PAGE.read_text(encoding="utf-8").replace("`Partition.makeLeader`", "`Partition.lead`")
    assert page != with_source_tables(page, KAFKA)
