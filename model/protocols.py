"""The protocols that this project knows, by name."""

from __future__ import annotations

from model.async_isr.protocol import ASYNC_ISR
from model.kafka.protocol import KAFKA
from model.ladder import LADDER
from model.language import Protocol
from model.language.errors import unknown_name

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (*LADDER, ASYNC_ISR, KAFKA)
}


def protocol_named(name: str) -> Protocol:
    """The protocol called `name`; `UsageError` with the valid names if there is none."""
    if name not in PROTOCOLS:
        raise unknown_name("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]
