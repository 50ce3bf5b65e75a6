"""What tells members apart: an action, a claim or a blank value that names one of them.

Where nothing does, renaming members maps steps to steps, so that one can stand for many: in search
up to renaming, induction with one step of each kind, bounded checking of one run of each class. The
initial state may still single a member out; whoever starts there has to look at it as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from model.language import graph
from model.language.graph import Node
from model.language.protocol import Model
from properties import Property


class Named(NamedTuple):
    """A member that something names, and what does."""

    what: str
    family: str
    member: int


def members_named(model: Model, properties: Iterable[Property]) -> Iterator[Named]:
    """Every member that the model's actions and blank values, or the properties, name."""
    for captured in model.captured:
        yield from _named(f"the action {captured.name}", captured.nodes)
    for variable in model.schema.variables.values():
        yield from _named(f"the blank value of {variable.name}", [variable.blank])
    for prop in properties:
        claims = [(prop.claim, prop.frames)] + ([(prop.premise, 1)] if prop.premise else [])
        for claim, frames in claims:
            yield from _named(f"the property {prop.name}", [model.claim(claim, frames)])


def _named(what: str, nodes: Iterable[Node]) -> Iterator[Named]:
    for node in graph.below(*nodes):
        if graph.names_a_member(node):
            yield Named(what, node.sort.family, node.data)


def has_symmetry(model: Model, properties: Iterable[Property]) -> bool:
    """Whether renaming the members of any family changes neither steps nor claims."""
    return not any(members_named(model, properties))
