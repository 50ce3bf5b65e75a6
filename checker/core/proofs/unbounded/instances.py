"""What a certificate rests on: instances of clauses that were assumed, made anew of these.

Who finds instances splits clauses, simplifies, and looks into models. None of that is to be
believed: it names clauses and values, and here the values are put into the clauses as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import z3

from checker.core.engines.unbounded import UnboundedTerms
from checker.core.proofs.asking import ask
from checker.core.proofs.unbounded.clauses import Clause
from model.language.graph import Node


@dataclass(frozen=True)
class Instance:
    """A clause with a value for each of its variables.

    `None` where any value will do: what is meant is a part of the clause without that variable.
    """

    clause: Clause
    values: tuple[Node | None, ...]


class Assumed:
    """The clauses that one obligation may rest on."""

    def __init__(self, lower: UnboundedTerms, clauses: Iterable[Clause]) -> None:
        self._lower = lower
        self._clauses = frozenset(clauses)

    def instance(self, instance: Instance) -> Any:
        """The instance as a term. Raises `RuntimeError` if its clause was not assumed."""
        clause = instance.clause
        if clause not in self._clauses:
            raise RuntimeError("a refutation rests on a clause that was not assumed")
        pairs = [
            (self._lower(variable), self._value(variable, value))
            for variable, value in zip(clause.variables, instance.values, strict=True)
        ]
        body = self._lower(clause.body)
        return z3.substitute(body, pairs) if pairs else body

    def needed(self, found: Iterable[Instance], seconds: float) -> list[Any]:
        """Those of the instances that Z3 needs to refute them; all if it cannot, in `seconds`.

        And with them that the members that are named are different.
        """
        terms = [self.instance(instance) for instance in dict.fromkeys(found)]
        apart = self._lower.distinct()
        solver = z3.SimpleSolver()
        solver.set("timeout", max(int(seconds * 1000), 1))
        solver.add(*apart)
        names = {f"instance {place}": term for place, term in enumerate(terms)}
        for name, term in names.items():
            solver.add(z3.Implies(z3.Bool(name), term))
        if ask(solver, *map(z3.Bool, names)) == z3.unsat:
            core = set(map(str, solver.unsat_core()))
            terms = [term for name, term in names.items() if name in core]
        return [*terms, *apart]

    def _value(self, variable: Node, value: Node | None) -> Any:
        if value is None:
            return z3.Const(f"{variable.data[1]}!any", self._lower.sort(variable.sort))
        return self._lower(value)
