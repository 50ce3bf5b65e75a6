"""Questions to Z3 about candidates: one solver for all of them, which learns as it goes.

Every candidate and every step has literals of its own. A question assumes those that it is about,
so nothing is said to the solver twice, and what an answer rests on can be read off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import z3

from checker.core.engines.symbolic import Lowering, SymbolicEngine, SymbolicStep, Term
from checker.core.proofs.asking import ask
from checker.core.proofs.inference.candidates import Atoms, Candidate
from model.language.protocol import Model


class ClauseQueries:
    """What can be true before and after a step, if some candidates are. `timeout` is in seconds.

    Raises `z3.Z3Exception` if the solver gives up.
    """

    def __init__(self, model: Model, atoms: Atoms, timeout: float) -> None:
        self.engine = SymbolicEngine(model)
        self.count = 0
        self._atoms = atoms
        self._before, self._after = (self._lowering(frame) for frame in (0, 1))
        self._solver = z3.SolverFor("QF_FD")
        self._solver.set("timeout", max(int(timeout * 1000), 1))
        self._solver.add(self.engine.in_domain())
        self._selected: dict[Candidate, tuple[Term, Term]] = {}
        self._steps: dict[int, Term] = {}
        self._some_step: Term | None = None

    def _lowering(self, shift: int) -> Lowering:
        cells = self.engine.cells(shift)
        return Lowering(lambda _frame, position: cells[position])

    def possible(self, candidates: Iterable[Candidate], *conditions: Term) -> bool:
        """Whether a state with all candidates can meet the conditions, which are literals."""
        self.count += 1
        assumed = [self._selectors(candidate)[0] for candidate in sorted(candidates, key=sorted)]
        answer = ask(self._solver, *assumed, *conditions)
        if answer == z3.unknown:
            raise z3.Z3Exception(f"Z3 gave up: {self._solver.reason_unknown()}")
        return bool(answer == z3.sat)

    def state(self, frame: int) -> tuple[int, ...]:
        """The state before (0) or after (1) the step, in the last answer that was yes."""
        return self.engine.state(self._solver.model(), frame)

    def reasons(self, candidates: Sequence[Candidate], *conditions: Term) -> set[Candidate]:
        """A few candidates that suffice for the conditions to be impossible.

        They are impossible with all the candidates, as the caller knows.
        """
        self._solver.set("core.minimize", True)
        try:
            assert not self.possible(candidates, *conditions), "asked only of what is impossible"
            core = {term.get_id() for term in self._solver.unsat_core()}
        finally:
            self._solver.set("core.minimize", False)
        return {c for c in candidates if self._selectors(c)[0].get_id() in core}

    # --- conditions --------------------------------------------------------------------------

    def named(self, term: Term) -> Term:
        """A literal that implies the term."""
        literal = z3.FreshBool("named")
        self._solver.add(z3.Implies(literal, term))
        return literal

    def some_broken(self, candidates: Iterable[Candidate]) -> Term:
        """A literal: some candidate is false after the step, at some place."""
        broken = [self._selectors(candidate)[1] for candidate in sorted(candidates, key=sorted)]
        return self.named(z3.Or(broken))

    def taken(self, step: SymbolicStep) -> Term:
        """A literal: the step leads from the state before to the state after."""
        number = step.ground.instance.number
        literal = self._steps.get(number)
        if literal is None:
            cells = zip(self.engine.cells(0), self.engine.cells(1), strict=True)
            moves = [new == step.values.get(p, old) for p, (old, new) in enumerate(cells)]
            literal = self.named(z3.And(step.guard, z3.Not(step.misfit), *moves))
            self._steps[number] = literal
        return literal

    def some_step(self, steps: Sequence[SymbolicStep]) -> Term:
        """A literal: one of the steps, always the same ones, leads from before to after."""
        if self._some_step is None:
            self._some_step = self.named(z3.Or([self.taken(step) for step in steps]))
        return self._some_step

    def misfit(self, step: SymbolicStep) -> Term:
        """A literal: the step may be taken, and assigns a value outside its domain."""
        return self.named(z3.And(step.guard, step.misfit))

    def _selectors(self, candidate: Candidate) -> tuple[Term, Term]:
        """Literals: the candidate holds at all places before the step; not at all after it."""
        found = self._selected.get(candidate)
        if found is None:
            nodes = sorted(self._atoms.clause_nodes(candidate), key=lambda n: n.number)
            both = ([lower(n) for n in nodes] for lower in (self._before, self._after))
            before, after = (z3.And(terms) for terms in both)
            found = self.named(before), self.named(z3.Not(after))
            self._selected[candidate] = found
        return found


def rests_on(
    queries: ClauseQueries,
    steps: Sequence[SymbolicStep],
    candidates: Iterable[Candidate],
    violations: Iterable[Term],
    on_round: Callable[[int], None],
) -> tuple[Candidate, ...]:
    """A small inductive part of the candidates, which are inductive, without the violations.

    It starts from what rules out the violations and adds, until nothing is lacking, what is needed
    for the steps to preserve it.
    """
    ordered = sorted(candidates, key=lambda c: (len(c), sorted(c)))
    needed: set[Candidate] = set()
    for violation in violations:
        needed |= queries.reasons(ordered, violation)
    for step in steps:
        needed |= queries.reasons(ordered, queries.misfit(step))
    grown = True
    while grown:
        grown = False
        for step in steps:
            conditions = queries.taken(step), queries.some_broken(needed)
            if queries.possible(needed, *conditions):
                needed |= queries.reasons(ordered, *conditions)
                grown = True
        on_round(len(needed))
    return tuple(sorted(needed, key=lambda c: (len(c), sorted(c))))
