"""What a proof by induction rests on: for each claim, the lemmas by which every step preserves it.

People ask it of a proof before they trust it, and before they change a lemma. Within small bounds
Z3 says which lemmas it used, so the answer is a smallest set it found, not the only one there is.
"""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx

from checker.core.proofs.proof import FOLLOWS, Proof
from checker.core.proofs.unbounded.relevance import Relevance
from model.language.errors import UsageError


def rests_on(proof: Proof) -> nx.DiGraph[str]:
    """A node for each claim that the proof of its properties needs, an arrow to what it rests on.

    An arrow's `actions` are those whose step needs it, or `lemmas imply it`. A claim that a step
    has to preserve by itself alone has no arrow to itself. Claims about steps are left out. Raises
    `UsageError` if there is no such proof within small bounds.
    """
    try:
        return _arrows(proof, Relevance(proof.model, proof.invariants))
    except UsageError:
        if proof.unbounded:
            raise
        return _arrows(proof, Relevance(proof.model, proof.invariants, bounded=True))


def _arrows(proof: Proof, relevance: Relevance) -> nx.DiGraph[str]:
    actions = [action.name for action in proof.model.protocol.actions]
    found: nx.DiGraph[str] = nx.DiGraph()
    open_claims = [prop.name for prop in proof.properties if not prop.of_steps]
    follows = {p.name: p for p in proof.properties if p not in proof.invariants}
    while open_claims:
        name = open_claims.pop()
        found.add_node(name)
        for action in [FOLLOWS] if name in follows else actions:
            if action == FOLLOWS:
                core = relevance.of_property(follows[name])
            else:
                core = relevance.of_step(action, name)
            if core is None:
                raise UsageError(f"within small bounds {name} is not proved at {action}, so "
                                 "that nothing says what it rests on")  # fmt: skip
            _join(found, name, action, core, open_claims)
    return found


def _join(
    found: nx.DiGraph[str], name: str, action: str, core: Iterable[str], open_claims: list[str]
) -> None:
    """Add arrows for one obligation, and what has not been looked at yet to the open claims."""
    for other in sorted(core):
        if other == name:
            continue
        if other not in found:
            open_claims.append(other)
            found.add_node(other)
        if not found.has_edge(name, other):
            found.add_edge(name, other, actions=[])
        found.edges[name, other]["actions"].append(action)
