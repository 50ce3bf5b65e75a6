"""The protocols that this project knows, by name. Each module holds one, or one rule of one."""

from __future__ import annotations

from model.kafka.protocol import KAFKA
from model.language import Protocol
from model.language.errors import unknown_name
from model.protocols.async_isr import ASYNC_ISR
from model.protocols.kip101 import KIP101
from model.protocols.kip279 import KIP279
from model.protocols.kip320 import KIP320
from model.protocols.kip320_first_try import KIP320_FIRST_TRY
from model.protocols.truncate_to_high_watermark import TRUNCATE_TO_HIGH_WATERMARK

LADDER = (TRUNCATE_TO_HIGH_WATERMARK, KIP101, KIP279, KIP320_FIRST_TRY, KIP320)

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (*LADDER, ASYNC_ISR, KAFKA)
}


def protocol_named(name: str) -> Protocol:
    """The protocol called `name`; `UsageError` with the valid names if there is none."""
    if name not in PROTOCOLS:
        raise unknown_name("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]
