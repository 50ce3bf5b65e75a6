"""Schemas of records that kafka-python has none of, in its own terms."""

from __future__ import annotations

import base64
from typing import Any


def field(name: str, of: str | list[dict[str, Any]], type_: str = "") -> dict[str, Any]:
    """A field of every version: of a plain type, or a structure or array of these fields."""
    if isinstance(of, str):
        return {"name": name, "type": of, "versions": "0+"}
    return {"name": name, "type": type_ or name, "versions": "0+", "fields": of}


def printed_id(identity: bytes) -> str:
    """A Uuid as Kafka prints it."""
    return base64.urlsafe_b64encode(identity).rstrip(b"=").decode()
