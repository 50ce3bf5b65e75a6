"""Which action instances get in each other's way, and which make a condition true: exactly.

Two instances are independent if in every state that enables both, either leaves the other enabled
and both orders end in the same state. Reads and writes decide most pairs; for the others the
captured graph says it to Z3. It is asked of all states within the domains, reachable or not, and
what it does not answer counts as dependent. Answers are kept with a digest of what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from checker.core.digest import node_digests, nodes_digest
from checker.core.native import kept_code
from checker.core.search.goals import After
from checker.core.search.relevance import cells_of
from checker.distribution import require
from model.language import graph
from model.language.graph import Node, Op
from model.language.ground import GroundAction, cell_node
from model.language.protocol import Model

Table = npt.NDArray[np.bool_]

_FORM = 1  # of what is kept
_TIMEOUT = 1_000  # milliseconds a question


class Relations:
    """What holds between the action instances of a model, numbered as in `ground_actions`.

    `dependent[t, u]`: t and u are; an instance is independent of itself. `digest` is one of them.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._actions = model.ground_actions
        self._after = [After(model, action.assignments) for action in self._actions]
        self._writes = [frozenset(action.assignments) for action in self._actions]
        self._reads = [cells_of(a.guard, *a.assignments.values()) for a in self._actions]
        self._solver: _Solver | None = None
        self.digest = int(nodes_digest(self._asked()), 16)
        count = len(self._actions)
        self.dependent = self._kept((), (count, count), self._ask_dependent)

    def enables(self, conditions: Sequence[Node]) -> Table:
        """Of each condition which instances may make it true."""
        found = node_digests(conditions)
        order = sorted(range(len(found)), key=found.__getitem__)  # whichever they come in
        ordered = [conditions[k] for k in order]
        shape = len(ordered), len(self._actions)
        table = np.empty(shape, np.bool_)
        digests = [int.from_bytes(found[k], "big") for k in order]
        table[order] = self._kept(digests, shape, lambda own: self._ask_enables(own, ordered))
        return table

    def _kept(
        self, conditions: Iterable[int], shape: tuple[int, int], ask: Callable[[Table], None]
    ) -> Table:
        """A table from an earlier run, or else from Z3, and kept: of conditions by digests."""
        key = f"independence-{nodes_digest((self.digest, *conditions))}-{_FORM}"
        table = np.zeros(shape, np.bool_)
        if not table.size:
            return table  # and keep none: of no conditions the key is that of dependence
        kept = kept_code.load(key)
        if kept is not None and len(kept) == (table.size + 7) // 8:
            bits = np.frombuffer(kept, np.uint8)
            return np.unpackbits(bits, count=table.size).reshape(shape).astype(np.bool_)
        ask(table)
        kept_code.store(key, np.packbits(table).tobytes())
        return table

    def _asked(self) -> Iterator[Node | int]:
        """All that answers about the actions depend on."""
        for action in self._actions:
            yield len(action.assignments)
            yield action.guard
            for position, node in sorted(action.assignments.items()):
                yield position
                yield node

    def _may_be(self, *conditions: Node) -> bool:
        if self._solver is None:
            self._solver = _Solver(self._model)
        return self._solver.may_be(*conditions)

    def _ask_enables(self, table: Table, conditions: Sequence[Node]) -> None:
        for number, condition in enumerate(conditions):
            read = cells_of(condition)
            for t, action in enumerate(self._actions):
                if read & self._writes[t]:
                    later = self._later(condition, t)
                    table[number, t] = self._may_be(action.guard, graph.negation(condition), later)

    def _ask_dependent(self, table: Table) -> None:
        for t in range(len(self._actions)):
            for u in range(t):
                table[t, u] = table[u, t] = self._clash(t, u)

    def _clash(self, t: int, u: int) -> bool:
        """Some state enables both, and they do not commute there."""
        one, other = self._actions[t], self._actions[u]
        touched = self._writes[t] & (self._reads[u] | self._writes[u])
        if not touched and not self._writes[u] & self._reads[t]:
            return False
        wrong = [graph.negation(self._later(other.guard, t))]
        wrong.append(graph.negation(self._later(one.guard, u)))
        for position in self._writes[t] | self._writes[u]:
            ends = self._end(other, position, t), self._end(one, position, u)
            wrong.append(graph.negation(graph.equal(*ends)))
        return self._may_be(one.guard, other.guard, graph.disjunction(*wrong))

    def _later(self, node: Node, t: int) -> Node:
        return self._after[t](node, of_state=True)

    def _end(self, action: GroundAction, position: int, after: int) -> Node:
        """What is in a cell when an action has followed another."""
        own = cell_node(0, self._model.cells[position])
        return self._later(action.assignments.get(position, own), after)


class _Solver:
    """Asks Z3 of all states whose cells are within their domains."""

    def __init__(self, model: Model) -> None:
        require("a reduced search needs Z3", "z3")
        import z3

        from checker.core.engines.symbolic import Lowering, SymbolicEngine

        engine = SymbolicEngine(model)
        self._no = z3.unsat
        self._term = Lowering(lambda frame, position: engine.cells(frame)[position])
        self._solver = z3.SolverFor("QF_FD")
        self._solver.set("timeout", _TIMEOUT)
        self._solver.add(engine.in_domain())

    def may_be(self, *conditions: Node) -> bool:
        """Unless no state makes all conditions true."""
        node = graph.conjunction(*conditions)
        if node.op is Op.CONST:
            return bool(node.data)
        self._solver.push()
        self._solver.add(self._term(node))
        answer = self._solver.check()
        self._solver.pop()
        return bool(answer != self._no)
