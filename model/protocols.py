"""The protocols that can be named: this project's, and a user's own; where their rules come from.

The one place where a name becomes a protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module

from model.language import Protocol
from model.language.declare.settings import describe, sources
from model.language.declare.source import Source
from model.language.errors import ProtocolError, UsageError, unknown_name
from model.own_protocols import FORMS, is_own, own_protocol, reference_to

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
    "kafka_tiered": "model.kafka_tiered.protocol",
    "kafka_transactions": "model.kafka_transactions.protocol",
    "kafka_streams": "model.kafka_streams.protocol",
    "kraft": "model.kraft.protocol",
    "kip595": "model.kip595.protocol",
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


def protocol_named(name: str) -> Protocol:
    """The protocol called `name`: one of this project's, `FILE.py[:NAME]`, `module:NAME`, or what
    an installed package adds. `UsageError` with the valid names if there is none.
    """
    if name in PROTOCOLS:
        return PROTOCOLS[name]
    if not is_own(name):
        raise UsageError(f"{unknown_name('protocol', name, PROTOCOLS)}, {FORMS}")
    own = own_protocol(name)
    if own.name in PROTOCOLS and PROTOCOLS[own.name] is not own:
        raise ProtocolError(f"{name}: {own.name} is a protocol of Highwater's: name it otherwise")
    return own


def reference_of(protocol: Protocol) -> str:
    """What `protocol_named` finds the protocol by, here and now; empty if there is no such name."""
    if PROTOCOLS.get(protocol.name) is protocol:
        return protocol.name
    return reference_to(protocol)


def action_sources(protocol: Protocol) -> dict[str, Source]:
    """Where the protocol's actions come from, by name and in order, as far as is known."""
    return {a.name: a.source for a in protocol.actions if a.source is not None}


def setting_sources(protocol: Protocol) -> dict[str, Source]:
    """Where the protocol's settings come from, by name, as far as is known."""
    return sources(protocol.settings)


def releases_with(protocol: Protocol, setting: str, value: str) -> str | None:
    """Which releases have a setting so, as `since 3.7.0`; empty: none; `None`: not known.

    Of a setting in which releases do not differ that is known only of what is on or off.
    """
    info = describe(protocol.settings)[setting]
    if info.history is not None:
        return info.history.releases_with(value)
    if info.source is None or value != "true":
        return None
    return f"since {info.source.since}" if info.source.since else ""
