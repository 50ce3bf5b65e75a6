"""What a store belongs to: the model down to its definition, the properties, and the version.

Names and bounds do not tell an edited protocol from the one before; a digest of its ground actions
and claims does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from checker.store import Manifest
from checker.trace import highwater_version
from model.language.capture import capture_property
from model.language.graph import Node
from model.language.ground import Grounder, ground_actions, initial_cells
from model.language.protocol import Model
from properties import Property


def manifest_of(model: Model, properties: Iterable[Property], **options: bool) -> Manifest:
    """The manifest of a store of the model's states, with options that change what it holds."""
    chosen = tuple(properties)
    return Manifest(
        model.identity,
        definition_digest(model, chosen),
        tuple(prop.name for prop in chosen),
        options,
        highwater_version(),
    )


def definition_digest(model: Model, properties: Iterable[Property] = ()) -> str:
    """A digest of the ground actions, the initial state and the claims, the same in every run."""
    digest = _Digest()
    digest.add("cells", *((c.name, c.low, c.high) for c in model.cells), initial_cells(model))
    for action in ground_actions(model):
        digest.add(str(action.instance), digest.node(action.guard), digest.node(action.misfit))
        for position, node in action.assignments.items():
            digest.add(position, digest.node(node))
    grounder = Grounder(model)
    for prop in properties:
        claims = [prop.claim] if prop.premise is None else [prop.claim, prop.premise]
        for claim, frames in zip(claims, (prop.frames, 1), strict=False):
            captured = capture_property(prop.name, claim, model.schema, model.settings, frames)
            digest.add(prop.name, prop.sense, digest.node(grounder.expression(captured)))
    return digest.hexadecimal


class _Digest:
    """Numbers nodes in order of first use, and feeds what they are to a hash."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._numbers: dict[Node, int] = {}

    @property
    def hexadecimal(self) -> str:
        return self._hash.hexdigest()

    def add(self, *parts: object) -> None:
        self._hash.update((repr(parts) + "\n").encode())

    def node(self, root: Node) -> int:
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if node in self._numbers:
                continue
            if ready:
                arguments = tuple(self._numbers[arg] for arg in node.args)
                self.add(str(node.op), repr(node.data), arguments)
                self._numbers[node] = len(self._numbers)
            else:
                stack.append((node, True))
                stack.extend((arg, False) for arg in reversed(node.args))
        return self._numbers[root]
