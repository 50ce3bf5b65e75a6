"""A digest of what a model does and of what is claimed of it, the same in every run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from model.language.graph import COMMUTATIVE, Node
from model.language.protocol import Model
from properties import Property


def definition_digest(model: Model, properties: Iterable[Property] = ()) -> str:
    """A digest of the ground actions, the initial state and the claims."""
    digest = _Digest()
    digest.add("cells", *((c.name, c.low, c.high) for c in model.cells), model.initial_state)
    for action in model.ground_actions:
        digest.add(str(action.instance), digest.node(action.guard), digest.node(action.misfit))
        for position, node in sorted(action.assignments.items(), key=lambda one: one[0]):
            digest.add(position, digest.node(node))
    for prop in properties:
        claims = [prop.claim] if prop.premise is None else [prop.claim, prop.premise]
        for claim, frames in zip(claims, (prop.frames, 1), strict=False):
            digest.add(prop.name, prop.sense, digest.node(model.ground_claim(claim, frames)))
    return digest.hexadecimal


class _Digest:
    """Feeds a hash. A node is told by its operator and its arguments, whatever order is theirs."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._known: dict[Node, bytes] = {}

    @property
    def hexadecimal(self) -> str:
        return self._hash.hexdigest()

    def add(self, *parts: object) -> None:
        self._hash.update((repr(parts) + "\n").encode())

    def node(self, root: Node) -> bytes:
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if node in self._known:
                continue
            if ready:
                arguments = [self._known[arg] for arg in node.args]
                if node.op in COMMUTATIVE:
                    arguments.sort()  # they stand in order of creation, which is no definition
                said = repr((str(node.op), node.data, arguments)).encode()
                self._known[node] = hashlib.blake2b(said, digest_size=16).digest()
            else:
                stack.append((node, True))
                stack.extend((arg, False) for arg in reversed(node.args))
        return self._known[root]
