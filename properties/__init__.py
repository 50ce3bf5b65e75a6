"""What must hold: the properties of each protocol, by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Any

from model.language import Model, Protocol
from model.language.errors import ProtocolError, UsageError, unknown_name
from properties.claims import Property, Sense, check_failure_attributes
from properties.liveness import Liveness
from properties.templates import Templates

_CLAIMS, _LEMMAS, _LIVENESS, _TEMPLATES = "claims", "lemmas", "liveness", "templates"
_DECLARED = {
    ("model.ladder.cluster", _CLAIMS): ("properties.ladder.claims", "LADDER_PROPERTIES"),
    ("model.ladder.cluster", _LEMMAS): ("properties.ladder.lemmas", "KIP320_LEMMAS"),
    ("model.ladder.cluster", _LIVENESS): ("properties.ladder.liveness", "LADDER_LIVENESS"),
    ("model.ladder.cluster", _TEMPLATES): ("properties.ladder.templates", "LADDER_TEMPLATES"),
    ("model.async_isr.protocol", _CLAIMS): ("properties.async_isr.claims", "ASYNC_ISR_PROPERTIES"),
    ("model.async_isr.protocol", _LEMMAS): ("properties.async_isr.lemmas", "ASYNC_ISR_LEMMAS"),
    ("model.async_isr.protocol", _TEMPLATES): (
        *("properties.async_isr.templates", "ASYNC_ISR_TEMPLATES"),
    ),
    ("model.kafka.state", _CLAIMS): ("properties.kafka.claims", "KAFKA_PROPERTIES"),
    ("model.kafka.state", _LEMMAS): ("properties.kafka.lemmas", "KAFKA_LEMMAS"),
    ("model.kafka.state", _LIVENESS): ("properties.kafka.liveness", "KAFKA_LIVENESS"),
    ("model.kafka_group.state", _CLAIMS): (
        *("properties.kafka_group.claims", "KAFKA_GROUP_PROPERTIES"),
    ),
    ("model.kafka_group.state", _LIVENESS): (
        *("properties.kafka_group.liveness", "KAFKA_GROUP_LIVENESS"),
    ),
    ("model.kafka_tiered.state", _CLAIMS): (
        *("properties.kafka_tiered.claims", "KAFKA_TIERED_PROPERTIES"),
    ),
    ("model.kafka_tiered.state", _LIVENESS): (
        *("properties.kafka_tiered.liveness", "KAFKA_TIERED_LIVENESS"),
    ),
    ("model.kip595.protocol", _CLAIMS): ("properties.kip595.claims", "KIP595_PROPERTIES"),
    ("model.kip595.protocol", _LEMMAS): ("properties.kip595.lemmas", "KIP595_LEMMAS"),
    ("model.kraft.state", _CLAIMS): ("properties.kraft.claims", "KRAFT_PROPERTIES"),
    ("model.kraft.state", _LIVENESS): ("properties.kraft.liveness", "KRAFT_LIVENESS"),
    ("model.kafka_transactions.state", _CLAIMS): (
        *("properties.kafka_transactions.claims", "KAFKA_TRANSACTIONS_PROPERTIES"),
    ),
    ("model.kafka_transactions.state", _LIVENESS): (
        *("properties.kafka_transactions.liveness", "KAFKA_TRANSACTIONS_LIVENESS"),
    ),
    ("model.kafka_streams.state", _LIVENESS): (
        *("properties.kafka_streams.liveness", "KAFKA_STREAMS_LIVENESS"),
    ),
    ("model.kafka_streams.state", _CLAIMS): (
        *("properties.kafka_streams.claims", "KAFKA_STREAMS_PROPERTIES"),
    ),
    ("model.kafka_producer.state", _CLAIMS): (
        *("properties.kafka_producer.claims", "KAFKA_PRODUCER_PROPERTIES"),
    ),
    ("model.kafka_producer.state", _LIVENESS): (
        *("properties.kafka_producer.liveness", "KAFKA_PRODUCER_LIVENESS"),
    ),
}
"""Where it stands what holds of a state: by the module that declares the state, and the kind."""

_STATES = {"Cluster", "Partition", "TopicPartition", "Group", "Topic", "Quorum", "Raft"} | {
    "Task",
    "TransactionalId",
    "Tiered",
}


def _declared(protocol: Protocol, kind: str, otherwise: Any) -> Any:
    """What this project declares of the protocol's state; imported when it is asked for."""
    state = protocol.state
    known = _DECLARED.get((state.__module__, kind)) if state.__qualname__ in _STATES else None
    return otherwise if known is None else getattr(import_module(known[0]), known[1])


def properties_of(protocol: Protocol) -> tuple[Property, ...]:
    """Every property that makes sense for the protocol, in order; it may bring its own."""
    if not protocol.properties:
        found: tuple[Property, ...] = _declared(protocol, _CLAIMS, ())
        return found
    return _own_properties(protocol)


@lru_cache
def _own_properties(protocol: Protocol) -> tuple[Property, ...]:
    found = tuple(claim for claim in protocol.properties if isinstance(claim, Property))
    for prop in found:
        check_failure_attributes(prop, protocol)
    return found


def promised_properties(model: Model, names: Iterable[str] = ()) -> tuple[Property, ...]:
    """The properties with the given names; without names, all that the model promises."""
    chosen = choose_properties(model.protocol, names)
    return chosen if names else tuple(prop for prop in chosen if is_promised(prop, model))


def is_promised(prop: Property, model: Model) -> bool:
    """The model promises the property, and by all settings in it this is the same."""
    claims = [(prop.claim, prop.frames)] + ([(prop.premise, 1)] if prop.premise else [])
    return all(prop.promised(replace(model, settings=each)) for each in model.at_once) and all(
        model.is_one_claim(*claim) for claim in claims
    )


def lemmas_of(protocol: Protocol) -> tuple[Property, ...]:
    """The lemmas for proofs about the protocol, in order. Some are also properties."""
    own: list[Property] = []
    for claim in protocol.lemmas:
        if not isinstance(claim, Property):
            raise ProtocolError(
                f"{protocol.name}: {claim.name} says what must happen in the end, and is no lemma: "
                "list it among its properties"
            )
        own.append(claim)
    return tuple(own) or _declared(protocol, _LEMMAS, ())


def templates_of(protocol: Protocol) -> Templates | None:
    """The templates for inferring lemmas about the protocol, if there are any."""
    found: Templates | None = protocol.templates or _declared(protocol, _TEMPLATES, None)
    return found


def liveness_of(protocol: Protocol) -> tuple[Liveness, ...]:
    """What must happen in the end under the protocol, in order; nothing for an unknown one."""
    own = tuple(claim for claim in protocol.properties if isinstance(claim, Liveness))
    found: tuple[Liveness, ...] = own or _declared(protocol, _LIVENESS, ())
    return found


def split_names(
    protocol: Protocol, names: Iterable[str]
) -> tuple[tuple[str, ...], tuple[Liveness, ...]]:
    """The names that are not of liveness properties, and the liveness properties of the others."""
    known = {prop.name: prop for prop in liveness_of(protocol)}
    wanted = tuple(dict.fromkeys(names))
    return (
        tuple(name for name in wanted if name not in known),
        tuple(known[name] for name in wanted if name in known),
    )


def choose_liveness(protocol: Protocol, name: str) -> Liveness:
    """The liveness property with the given name; `UsageError` if there is none."""
    _, found = split_names(protocol, [name])
    if not found:
        known = [prop.name for prop in liveness_of(protocol)]
        raise unknown_name(f"liveness property of {protocol.name}", name, known)
    return found[0]


def choose_properties(protocol: Protocol, names: Iterable[str] = ()) -> tuple[Property, ...]:
    """The properties or lemmas with the given names; without names, all properties, no lemmas.

    `UsageError` for a name that is not valid.
    """
    wanted = tuple(names)
    if not wanted:
        return properties_of(protocol)
    known = {prop.name: prop for prop in properties_of(protocol)}
    if known.keys() >= set(wanted):
        return tuple(known[name] for name in dict.fromkeys(wanted))
    known |= {prop.name: prop for prop in lemmas_of(protocol)}
    if alive := split_names(protocol, wanted)[1]:
        raise UsageError(
            f"{alive[0].name} is a liveness property: `highwater explore` checks those alone"
        )
    for name in wanted:
        if name not in known:
            every = f"highwater list {protocol.name}"
            raise unknown_name(f"property of {protocol.name}", name, known, every)
    return tuple(known[name] for name in dict.fromkeys(wanted))


__all__ = [
    "Liveness",
    "Property",
    "Sense",
    "choose_liveness",
    "choose_properties",
    "lemmas_of",
    "liveness_of",
    "promised_properties",
    "properties_of",
    "split_names",
    "templates_of",
]
