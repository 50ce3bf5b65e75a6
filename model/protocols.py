"""The protocols that can be named: this project's, and a user's own; where their rules come from.

The one place where a name becomes a protocol.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.async_isr.protocol import ASYNC_ISR
from model.kafka.protocol import KAFKA
from model.kafka.sources import ACTION_SOURCES, SETTING_SOURCES
from model.kafka_group import sources as group_sources
from model.kafka_group.protocol import KAFKA_GROUP
from model.kafka_producer import sources as producer_sources
from model.kafka_producer.protocol import KAFKA_PRODUCER
from model.ladder import LADDER
from model.ladder.sources import LADDER_SOURCES
from model.language import Action, Protocol
from model.language.errors import UsageError, unknown_name
from model.own_protocols import FORMS, is_own, own_protocol, reference_to
from model.sources import Source

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (*LADDER, ASYNC_ISR, KAFKA, KAFKA_PRODUCER, KAFKA_GROUP)
}

_ASYNC_ISR_SOURCES = {  # operators and actions have the same names
    action: Source(f"AsyncIsr.{action.name.title().replace('_', '')}")
    for action in ASYNC_ISR.actions
}
_KAFKA_SOURCES = {action: ACTION_SOURCES[action.name] for action in KAFKA.actions}
_PRODUCER_SOURCES = {
    action: producer_sources.ACTION_SOURCES[action.name] for action in KAFKA_PRODUCER.actions
}
_GROUP_SOURCES = {
    action: group_sources.ACTION_SOURCES[action.name] for action in KAFKA_GROUP.actions
}
_SOURCES: Mapping[Action, Source] = {
    **LADDER_SOURCES,
    **_ASYNC_ISR_SOURCES,
    **_KAFKA_SOURCES,
    **_PRODUCER_SOURCES,
    **_GROUP_SOURCES,
}
_SETTING_SOURCES: Mapping[type, Mapping[str, Source]] = {
    KAFKA.settings: SETTING_SOURCES,
    KAFKA_PRODUCER.settings: producer_sources.SETTING_SOURCES,
    KAFKA_GROUP.settings: group_sources.SETTING_SOURCES,
}


def protocol_named(name: str) -> Protocol:
    """The protocol called `name`: one of this project's, `FILE.py[:NAME]`, `module:NAME`, or what
    an installed package adds. `UsageError` with the valid names if there is none.
    """
    if name in PROTOCOLS:
        return PROTOCOLS[name]
    if not is_own(name):
        raise UsageError(f"{unknown_name('protocol', name, PROTOCOLS)}, {FORMS}")
    return own_protocol(name)


def reference_of(protocol: Protocol) -> str:
    """What `protocol_named` finds the protocol by, here and now; empty if there is no such name."""
    if PROTOCOLS.get(protocol.name) is protocol:
        return protocol.name
    return reference_to(protocol)


def action_sources(protocol: Protocol) -> dict[str, Source]:
    """Where the protocol's actions come from, by name and in order, as far as is known."""
    return {a.name: _SOURCES[a] for a in protocol.actions if a in _SOURCES}


def setting_sources(protocol: Protocol) -> Mapping[str, Source]:
    """Where the protocol's settings come from, by name; none for a specification's."""
    return _SETTING_SOURCES.get(protocol.settings, {})
