"""Models with few members: so that few clauses are false in them, and a refutation is short.

Left alone, Z3 makes each witness that an instance brings another member, and most clauses are false
for some of them, whatever the question is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import z3

from checker.core.engines.unbounded import UnboundedTerms
from checker.core.proofs.asking import ask
from checker.core.proofs.unbounded.clauses import skolem_over
from model.language import graph
from model.language.graph import Kind, Node, Op
from model.language.lifted import Lifted

WORK = 500_000
"""How much is spent on one such model; a million is about half a second."""


class FewMembers:
    """Asks `solver` for models in which each member is one that the question names, or none.

    That is assumed of one term at a time, and no more where it cannot be: what is refuted is so
    without assumptions.
    """

    def __init__(self, lifted: Lifted, lower: UnboundedTerms, solver: Any) -> None:
        self._lifted, self._lower, self._solver = lifted, lower, solver
        self._seen: set[Node] = set()
        self._assumed: list[Any] = []

    def ask(self, terms: Mapping[str, Mapping[Node, int]]) -> Any:
        """Z3's answer; `terms` are those that there are by now, by what they range over.

        Where an answer takes long, only the earlier half is assumed any more.
        """
        for over, found in terms.items():
            if self._lifted.is_symmetric(over):
                self._assume(over, found)
        while self._assumed:
            self._solver.set("rlimit", WORK)
            answer = ask(self._solver, *self._assumed)
            self._solver.set("rlimit", 0)
            if answer == z3.sat:
                return answer
            later = self._assumed[len(self._assumed) // 2 :]
            given_up = self._solver.unsat_core() if answer == z3.unsat else later
            if not given_up:
                return answer
            names = set(map(str, given_up))
            self._assumed = [it for it in self._assumed if str(it) not in names]
        return ask(self._solver)

    def _assume(self, over: str, terms: Mapping[Node, int]) -> None:
        none = graph.constant(graph.NONE, graph.Sort(Kind.REF, over))
        few = [self._lower(term) for term in (*filter(is_named, terms), none)]
        for term in terms:
            if term in self._seen or is_named(term):
                continue
            self._seen.add(term)
            this, assumed = self._lower(term), z3.FreshBool("one_of_few")
            self._solver.add(z3.Implies(assumed, z3.Or(*(this == it for it in few))))
            self._assumed.append(assumed)


def is_named(term: Node) -> bool:
    """A parameter of the action, or a witness of the question that depends on nothing."""
    return not term.args and (term.op is Op.VARIABLE or skolem_over(term) is not None)
