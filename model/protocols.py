"""The protocols that can be named: this project's, and a user's own; where their rules come from.

The one place where a name becomes a protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from importlib import import_module

from model.kafka.releases import RULES, Rule
from model.language import Action, Protocol
from model.language.errors import UsageError, unknown_name
from model.own_protocols import FORMS, is_own, own_protocol, reference_to
from model.sources import Source

_DECLARED = {
    "truncate_to_high_watermark": "model.ladder.truncate_to_high_watermark",
    "kip101": "model.ladder.kip101",
    "kip279": "model.ladder.kip279",
    "kip320_first_try": "model.ladder.kip320_first_try",
    "kip320": "model.ladder.kip320",
    "async_isr": "model.async_isr.protocol",
    "kafka": "model.kafka.protocol",
    "kafka_producer": "model.kafka_producer.protocol",
    "kafka_group": "model.kafka_group.protocol",
}
"""The module of each protocol, where its name in capitals is the protocol."""


class _Protocols(MutableMapping[str, Protocol]):
    """Protocols by name, each imported when it is asked for: a run needs one of them."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules
        self._found: dict[str, Protocol | None] = dict.fromkeys(modules)

    def __getitem__(self, name: str) -> Protocol:
        found = self._found[name]
        if found is None:
            found = getattr(import_module(self._modules[name]), name.upper())
            self._found[name] = found
        return found

    def __setitem__(self, name: str, protocol: Protocol) -> None:
        self._found[name] = protocol

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


PROTOCOLS = _Protocols(_DECLARED)


@cache
def _sources() -> Mapping[Action, Source]:
    """Where all actions come from; of `async_isr`, operators and actions have the same names."""
    from model.kafka.sources import ACTION_SOURCES
    from model.kafka_group import sources as group_sources
    from model.kafka_producer import sources as producer_sources
    from model.ladder.sources import LADDER_SOURCES

    by_name = {
        "kafka": ACTION_SOURCES,
        "kafka_producer": producer_sources.ACTION_SOURCES,
        "kafka_group": group_sources.ACTION_SOURCES,
    }
    isr = {a: Source(f"AsyncIsr.{a.name.title().replace('_', '')}") for a in _actions("async_isr")}
    found = {a: table[a.name] for name, table in by_name.items() for a in _actions(name)}
    return {**LADDER_SOURCES, **isr, **found}


def _actions(name: str) -> tuple[Action, ...]:
    return PROTOCOLS[name].actions


@cache
def _setting_sources() -> Mapping[type, Mapping[str, Source]]:
    from model.kafka.sources import SETTING_SOURCES
    from model.kafka_group import sources as group_sources
    from model.kafka_producer import sources as producer_sources

    return {
        PROTOCOLS["kafka"].settings: SETTING_SOURCES,
        PROTOCOLS["kafka_producer"].settings: producer_sources.SETTING_SOURCES,
        PROTOCOLS["kafka_group"].settings: group_sources.SETTING_SOURCES,
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
    known = _sources()
    return {a.name: known[a] for a in protocol.actions if a in known}


def setting_sources(protocol: Protocol) -> Mapping[str, Source]:
    """Where the protocol's settings come from, by name; none for a specification's."""
    return _setting_sources().get(protocol.settings, {})


def releases_with(protocol: Protocol, setting: str, value: str) -> str | None:
    """Which releases of Kafka have a setting so, as `since 3.7.0`; empty: none; `None`: not known.

    Of a setting in which releases do not differ that is known only of what is on or off.
    """
    source = setting_sources(protocol).get(setting)
    rule = _rules().get((protocol.settings, setting))
    if rule is not None:
        return rule.releases_with(value)
    if source is None or value != "true":
        return None
    return f"since {source.since}" if source.since else ""


@cache
def _rules() -> Mapping[tuple[type, str], Rule]:
    return {(PROTOCOLS["kafka"].settings, rule.setting): rule for rule in RULES}
