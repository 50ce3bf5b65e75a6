"""One attempt at an obligation: instances, or clauses with quantifiers, that are to be refuted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import z3

from checker.core.engines.unbounded import UnboundedTerms
from checker.core.proofs.asking import ask
from checker.core.proofs.proof import Obligation
from checker.core.proofs.solvers import Solvers
from checker.core.proofs.unbounded import majorities
from checker.core.proofs.unbounded.by_need import ByNeed, Effort
from checker.core.proofs.unbounded.clauses import Clause
from checker.core.proofs.unbounded.instances import Assumed, Instance
from checker.core.proofs.unbounded.instantiate import Pools, Strategy


class Refuter:
    """Asks whether clauses can hold together. `timeout` is in seconds, for each query."""

    def __init__(self, terms: UnboundedTerms, solvers: Solvers, timeout: float) -> None:
        self.terms, self.solvers, self.timeout = terms, solvers, timeout

    def of_terms(
        self, pools: Pools, strategy: Strategy, what: Obligation, assumed: Assumed
    ) -> tuple[Any, int]:
        """The answer for the chosen instances, and how many there are."""
        if strategy.matching:
            return self._match(pools, strategy, what), 0
        chosen = pools.instances(strategy)
        if chosen is None:
            return z3.unknown, 0
        count = sum(math.prod(map(len, choices)) for _, choices in chosen)
        solver = z3.Solver()
        solver.set("timeout", max(int(self.timeout * 1000), 1))
        for clause, choices in chosen:
            body = self.terms(clause.body)
            variables = [self.terms(variable) for variable in clause.variables]
            terms = [[self.terms(node) for node in nodes] for nodes in choices]
            for values in itertools.product(*terms):
                pairs = list(zip(variables, values, strict=True))
                solver.add(z3.substitute(body, pairs) if pairs else body)
        solver.add(*self.terms.distinct())
        found = (Instance(clause, v) for clause, each in chosen for v in itertools.product(*each))
        return self._settle(solver, found, what, assumed), count

    def by_need(
        self, need: ByNeed, effort: Effort, what: Obligation, assumed: Assumed
    ) -> tuple[Any, int]:
        """The answer for the instances that models ask for, and how many there are.

        What is refuted is asked once more, of whoever is to answer.
        """
        answer = need.refute(effort, self.timeout)
        if answer == z3.unsat:
            solver = z3.Solver()
            solver.set("timeout", max(int(self.timeout * 1000), 1))
            solver.add(*need.assertions)
            answer = self._settle(solver, need.found, what, assumed)
        return answer, need.instances

    def _settle(
        self, solver: Any, found: Iterable[Instance], what: Obligation, assumed: Assumed
    ) -> Any:
        """The answer to what `solver` has, the instances that were found.

        What Z3 refutes is asked of others, and certified, by those among them that are needed, made
        of the clauses themselves.
        """
        if not self.solvers.wants_few:
            return self._ask(solver, what)
        if (answer := ask(solver)) != z3.unsat:
            return answer
        fewer = z3.Solver()
        fewer.set("timeout", max(int(self.timeout * 1000), 1))
        fewer.add(*assumed.needed(found, self.timeout))
        return self._ask(fewer, what)

    def _ask(self, solver: Any, what: Obligation) -> Any:
        return self.solvers.ask(solver, self.timeout, what.action, what.lemma, refuted=True)

    def _match(self, pools: Pools, strategy: Strategy, what: Obligation) -> Any:
        """Z3's answer when it instantiates by matching, within a fixed amount of work."""
        solver = z3.Solver()
        solver.set("timeout", max(int(self.timeout * 1000), 1))
        solver.set("rlimit", strategy.matching)
        solver.set("smt.mbqi", False)
        solver.set("smt.random_seed", strategy.seed)
        solver.set("smt.qi.eager_threshold", strategy.eager)
        solver.set("smt.qi.lazy_threshold", strategy.depth)
        for clause in pools.clauses:
            if clause.rank > strategy.rank:
                continue
            body = self.terms(clause.body)
            variables = [self.terms(variable) for variable in clause.variables]
            solver.add(self._for_all(clause, variables, body) if variables else body)
        solver.add(*self.terms.distinct())
        return self._ask(solver, what)

    def _for_all(self, clause: Clause, variables: list[Any], body: Any) -> Any:
        """The clause as Z3 takes it, with what is to lead to its instances."""
        by, never = majorities.triggers(clause.body, clause.defines)
        patterns = [z3.MultiPattern(*map(self.terms, together)) for together in by]
        never = [] if patterns else never
        return z3.ForAll(variables, body, patterns=patterns, no_patterns=[*map(self.terms, never)])
