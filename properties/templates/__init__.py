"""Templates for the inference of lemmas, by protocol."""

from __future__ import annotations

from model.language import Protocol
from model.protocols.async_isr import Partition
from model.protocols.ladder import Cluster
from properties.templates.async_isr import ASYNC_ISR_TEMPLATES
from properties.templates.forms import Family, Templates
from properties.templates.ladder import LADDER_TEMPLATES

_TEMPLATES: dict[type, Templates] = {
    Cluster: LADDER_TEMPLATES,
    Partition: ASYNC_ISR_TEMPLATES,
}


def templates_of(protocol: Protocol) -> Templates | None:
    """The templates for lemmas about the protocol, if there are any."""
    return _TEMPLATES.get(protocol.state)


__all__ = ["Family", "Templates", "templates_of"]
