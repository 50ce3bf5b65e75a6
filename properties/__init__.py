"""What must hold: the properties of each protocol, by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from model.async_isr.protocol import Partition
from model.kafka.state import TopicPartition
from model.kafka_group.state import Group
from model.kafka_producer.state import Topic
from model.ladder.cluster import Cluster
from model.language import Model, Protocol
from model.language.errors import ProtocolError, UsageError, unknown_name
from model.language.protocol import Claim
from properties.async_isr.claims import ASYNC_ISR_PROPERTIES
from properties.async_isr.lemmas import ASYNC_ISR_LEMMAS
from properties.async_isr.templates import ASYNC_ISR_TEMPLATES
from properties.claims import Property, Sense
from properties.kafka.claims import KAFKA_PROPERTIES
from properties.kafka.lemmas import KAFKA_LEMMAS
from properties.kafka.liveness import KAFKA_LIVENESS
from properties.kafka_group.claims import KAFKA_GROUP_PROPERTIES
from properties.kafka_group.liveness import KAFKA_GROUP_LIVENESS
from properties.kafka_producer.claims import KAFKA_PRODUCER_PROPERTIES
from properties.kafka_producer.liveness import KAFKA_PRODUCER_LIVENESS
from properties.ladder.claims import LADDER_PROPERTIES
from properties.ladder.lemmas import KIP320_LEMMAS
from properties.ladder.liveness import LADDER_LIVENESS
from properties.ladder.templates import LADDER_TEMPLATES
from properties.liveness import Liveness
from properties.templates import Templates

_BY_STATE: dict[type, tuple[Property, ...]] = {
    Cluster: LADDER_PROPERTIES,
    Partition: ASYNC_ISR_PROPERTIES,
    TopicPartition: KAFKA_PROPERTIES,
    Group: KAFKA_GROUP_PROPERTIES,
    Topic: KAFKA_PRODUCER_PROPERTIES,
}

_LEMMAS: dict[type, tuple[Property, ...]] = {
    Cluster: KIP320_LEMMAS,
    Partition: ASYNC_ISR_LEMMAS,
    TopicPartition: KAFKA_LEMMAS,
}

_LIVENESS: dict[type, tuple[Liveness, ...]] = {
    Cluster: LADDER_LIVENESS,
    TopicPartition: KAFKA_LIVENESS,
    Group: KAFKA_GROUP_LIVENESS,
    Topic: KAFKA_PRODUCER_LIVENESS,
}

_TEMPLATES: dict[type, Templates] = {Cluster: LADDER_TEMPLATES, Partition: ASYNC_ISR_TEMPLATES}


def properties_of(protocol: Protocol) -> tuple[Property, ...]:
    """Every property that makes sense for the protocol, in order; it may bring its own."""
    return _own(protocol, "properties", protocol.properties) or _BY_STATE.get(protocol.state, ())


def _own(protocol: Protocol, what: str, claims: Iterable[Claim]) -> tuple[Property, ...]:
    """What a protocol brings itself; `ProtocolError` for what is no property."""
    found = []
    for claim in claims:
        if not isinstance(claim, Property):
            raise ProtocolError(
                f"{protocol.name}: {claim!r} is among its {what}, and is none: declare it with "
                "@always(...) or @sometimes(...)"
            )
        found.append(claim)
    return tuple(found)


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
    return _own(protocol, "lemmas", protocol.lemmas) or _LEMMAS.get(protocol.state, ())


def templates_of(protocol: Protocol) -> Templates | None:
    """The templates for inferring lemmas about the protocol, if there are any."""
    return protocol.templates or _TEMPLATES.get(protocol.state)


def liveness_of(protocol: Protocol) -> tuple[Liveness, ...]:
    """What must happen in the end under the protocol, in order; nothing for an unknown one."""
    return _LIVENESS.get(protocol.state, ())


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
    known = {prop.name: prop for prop in (*properties_of(protocol), *lemmas_of(protocol))}
    if alive := split_names(protocol, wanted)[1]:
        raise UsageError(
            f"{alive[0].name} is a liveness property: `highwater explore` checks those alone"
        )
    for name in wanted:
        if name not in known:
            raise unknown_name(f"property of {protocol.name}", name, known)
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
