"""What a proof for all sizes has to show, told without making it: so that nothing is left out.

By names alone: a step can break a claim only if it writes a variable that the claim reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from checker.core.proofs.proof import FITS, FOLLOWS, INITIALLY
from model.language import graph
from model.language.capture import CapturedAction
from model.language.graph import Node, Op
from model.language.protocol import Model
from properties import Property


def owed(
    model: Model, properties: Sequence[Property], invariants: Mapping[Property, Node]
) -> Iterator[tuple[str, str]]:
    """Each action with each claim that it has to preserve; and what holds before all steps.

    `invariants` come with their claims, properties that are not among them have to follow.
    """
    for prop in properties:
        if prop not in invariants:
            yield FOLLOWS, prop.name
    yield INITIALLY, FITS
    for prop in invariants:
        yield INITIALLY, prop.name
    for action in model.captured:
        yield action.name, FITS
        for prop, claim in invariants.items():
            if may_break(action, claim):
                yield action.name, prop.name


def may_break(action: CapturedAction, claim: Node) -> bool:
    """The action writes a variable that the claim reads, whatever is switched off."""
    written = {write.variable.name for write in action.writes}
    read = {node.data[0] for node in graph.below(claim) if node.op is Op.READ}
    return bool(read & written)
