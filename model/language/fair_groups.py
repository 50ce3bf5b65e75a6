"""Which steps of a model fairness takes for one.

A *group* is what fairness asks for as a whole: it is enabled where some step of it is, and taken
when any of them is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from model.language.errors import unknown_name
from model.language.fairness import Fairness, Strength
from model.language.naming import member_name
from model.language.protocol import Instance, Model


@dataclass(frozen=True)
class Group:
    """Steps that fairness takes for one: the numbers of the action instances."""

    strength: Strength
    words: str
    instances: frozenset[int]


def groups_of(model: Model, fairness: Iterable[Fairness]) -> tuple[Group, ...]:
    """The groups of the model, in order of declaration, then of instances.

    Raises `UsageError` for an action or a parameter that the protocol does not have.
    """
    found: dict[Group, None] = {}
    for one in fairness:
        members: dict[tuple[str, ...], list[Instance]] = {}
        for name in one.actions:
            _check(model, name, one.by)
        for instance in model.instances:
            if instance.action.name in one.actions:
                members.setdefault(_key(model, instance, one.by), []).append(instance)
        for key, instances in members.items():
            words = key[0] if one.by is None else " | ".join(one.actions)
            shown = key[1:] if one.by is None else key
            words += f"({', '.join(shown)})" if shown else ""
            found[Group(one.strength, words, frozenset(i.number for i in instances))] = None
    return tuple(found)


def _check(model: Model, name: str, by: tuple[str, ...] | None) -> None:
    known = model.protocol.parameters
    if name not in known:
        raise unknown_name(f"action of {model.protocol.name}", name, known)
    parameters = [parameter.name for parameter in known[name]]
    for wanted in by or ():
        if wanted not in parameters:
            raise unknown_name(f"parameter of {name}", wanted, parameters)


def _key(model: Model, instance: Instance, by: tuple[str, ...] | None) -> tuple[str, ...]:
    arguments = {
        p.name: f"{p.name}={_shown(model, p.domain, a)}"
        for p, a in zip(instance.parameters, instance.arguments, strict=True)
    }
    if by is None:
        return (instance.action.name, *arguments.values())
    return tuple(arguments[name] for name in by)


def _shown(model: Model, domain: object, argument: int) -> str:
    family = getattr(domain, "family", None)
    return str(argument) if family is None else member_name(model, family, argument)
