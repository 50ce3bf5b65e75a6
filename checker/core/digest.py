"""A digest of what a model does and of what is claimed of it, the same in every run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from model.language.capture.captured import Write
from model.language.errors import CaptureError
from model.language.graph import COMMUTATIVE, Node
from model.language.protocol import Model
from properties import Property

DIGITS = 32
"""Hexadecimal digits of a protocol's digest."""


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


def protocol_digest(model: Model, prop: Property | None = None) -> str:
    """A digest of the state, the start and the actions under these settings, for all bounds; of a
    property too if one is given. Names and domains count, words and places in files do not. Empty
    for what cannot be captured.
    """
    digest = _Digest()
    try:
        for variable in model.schema.variables.values():
            digest.add(variable.name, str(variable.domain), str(variable.initial))
        digest.writes("start", model.start)
        for action in model.captured:
            digest.add(action.name, *map(digest.node, (*action.parameters, *action.guards)))
            digest.writes(action.name, action.writes)
        if prop is not None:
            digest.add(prop.name, prop.sense, digest.node(model.claim(prop.claim, prop.frames)))
    except CaptureError:
        return ""
    return digest.hexadecimal[:DIGITS]


def nodes_digest(parts: Iterable[Node | int]) -> str:
    """A digest of expressions and numbers in their order."""
    digest = _Digest()
    for part in parts:
        digest.add(digest.node(part) if isinstance(part, Node) else part)
    return digest.hexadecimal[:DIGITS]


def node_digests(nodes: Iterable[Node]) -> list[bytes]:
    """A digest of each expression."""
    digest = _Digest()
    return [digest.node(node) for node in nodes]


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

    def writes(self, what: str, writes: Iterable[Write]) -> None:
        for write in writes:
            nodes = (*write.index, write.value, *write.binders, write.when)
            self.add(what, write.variable.name, *map(self.node, nodes))

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
