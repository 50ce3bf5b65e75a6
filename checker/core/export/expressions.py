"""Ground expressions as text: what every language shares.

Expressions are a graph, and a tree of the same may be exponentially larger. A part that is used
more than once, and is no trifle, gets a name: `definitions` lists those parts, each over those
before it. What is written depends on the expressions alone, not on what was captured before them.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from model.language import graph
from model.language.declare.domains import Domain, Integers, Subset
from model.language.graph import BOOL, COMMUTATIVE, Node, Op
from model.language.protocol import Model

ATOM = 100  # as tight as anything binds
SOME_SET = Subset("")
"""A set of members of nobody knows which family: of one that no variable is a set of, say."""


class Expressions(ABC):
    """Writes expressions of one place, where named parts are seen: `roots` are all of them.

    A part that is used twice, or more often, has a name if it consists of more than `limit` others.
    """

    def __init__(self, model: Model, roots: Iterable[Node], limit: int) -> None:
        self.model = model
        self.definitions: list[tuple[str, str, bool]] = []
        """The parts that have names: name, text, and whether it is a condition."""
        self._roots = tuple(roots)
        self._order = graph.in_order(self._roots)
        self._limit = limit
        self._known: dict[tuple[Node, Domain | None], tuple[str, int]] = {}

    @cached_property
    def named(self) -> frozenset[Node]:
        """The parts that are to have names."""
        uses = Counter(self._roots)
        for node in self._order:
            for arg in node.args:
                uses[arg] += 2 if node.op in (Op.MIN, Op.MAX) else 1
        sizes: dict[Node, int] = {}
        found = set()
        for node in self._order:
            sizes[node] = 1 + sum(sizes.get(arg, 1) for arg in node.args)
            if node.args and uses[node] > 1 and sizes[node] > self._limit:
                found.add(node)
                sizes[node] = 1
        return frozenset(found)

    @cached_property
    def _keys(self) -> dict[Node, tuple[bool, int, str]]:
        """Something to order arguments by that is the same in every process: shorter first."""
        found: dict[Node, tuple[bool, int, str]] = {}
        sizes: dict[Node, int] = {}
        for node in self._order:
            args = [found.get(arg) or _key_of_constant(arg) for arg in node.args]
            if node.op in (Op.EQ, Op.MIN, Op.MAX):
                args.sort()
            text = f"{node.op}{node.data}{[key[2] for key in args]}"
            sizes[node] = 1 + sum(key[1] for key in args)
            cell = f"{node.data[0]}{node.data[1]:08}" if node.op is Op.CELL else ""
            found[node] = False, sizes[node], cell + hashlib.sha256(text.encode()).hexdigest()
        return found

    def arguments(self, node: Node) -> tuple[Node, ...]:
        """The arguments, those of a commutative operator of two in an order of their own."""
        if node.op not in COMMUTATIVE or node.op in (Op.AND, Op.OR):
            return node.args
        return tuple(sorted(node.args, key=lambda a: self._keys.get(a) or _key_of_constant(a)))

    def domain(self, node: Node) -> Domain | None:
        """What the numbers of an expression stand for, where they are no mere numbers."""
        return self._domains.get(node)

    @cached_property
    def _domains(self) -> dict[Node, Domain | None]:
        found: dict[Node, Domain | None] = {}
        for node in self._order:
            found[node] = self._domain(node, [found.get(arg) for arg in node.args])
        return found

    def _domain(self, node: Node, known: list[Domain | None]) -> Domain | None:
        if node.op is Op.CELL:
            domain = self.model.cells[node.data[1]].variable.domain
            return None if isinstance(domain, Integers) else domain
        if node.op is Op.ITE and node.sort is not BOOL:
            return joint(known[1:])
        if node.op in (Op.BITAND, Op.BITOR):
            return joint(known) or SOME_SET
        if node.op is Op.SUB:
            return next((domain for domain in known if isinstance(domain, Subset)), None)
        return None

    def text(self, node: Node, within: int = 0, domain: Domain | None = None) -> str:
        """The expression as an operand of something that binds as tightly as `within` says.

        `domain` says what its numbers stand for, where the place where it is used knows that.
        """
        words, tightness = self._written(node, domain)
        return f"({words})" if tightness <= within else words

    def _written(self, node: Node, domain: Domain | None) -> tuple[str, int]:
        if node.sort is BOOL:
            domain = None
        key = node, domain
        if key not in self._known:
            found = self.write(node, domain)
            if node in self.named:
                name = f"t{len(self.definitions) + 1}"
                self.definitions.append((name, found[0], node.sort is BOOL))
                found = name, ATOM
            self._known[key] = found
        return self._known[key]

    @abstractmethod
    def write(self, node: Node, domain: Domain | None) -> tuple[str, int]:
        """The text of an expression, and how tightly what holds it together binds."""


def joint(domains: Iterable[Domain | None]) -> Domain | None:
    """What several expressions of one kind stand for: what one of them says that says most."""
    found = None
    for domain in domains:
        found = domain if found in (None, SOME_SET) and domain is not None else found
    return found


def _key_of_constant(node: Node) -> tuple[bool, int, str]:
    return True, 1, str(node.data)
