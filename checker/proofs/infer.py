"""Inference of lemmas: the largest part of the candidates that is inductive (Houdini).

All candidates are assumed together, and a step that breaks some of them kills those. When none can
be broken any more, what is left holds in every reachable state. A killed clause is replaced by
those with a literal more. Whether the properties follow is asked last.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import z3

from checker.backends.reference import ReferenceEngine, State
from checker.backends.symbolic import Lowering, SymbolicEngine, SymbolicStep, Term
from checker.proofs.bounded_check import lemmas_that_hold
from checker.proofs.candidates import Candidate, Table, atoms_of, has_part, reachable_states
from checker.proofs.induction import Induction
from checker.verdict import Verdict
from model.language.errors import DomainError, UsageError
from model.language.protocol import Model
from properties import Property, lemmas_of
from properties.templates import Templates, templates_of

MAX_STATES = 2_000_000


@dataclass
class Inference:
    """What was inferred. `holding` and `fallen` are the known lemmas, proved or not."""

    model: Model
    properties: tuple[Property, ...]
    states: int = 0
    candidates: int = 0
    survivors: tuple[Candidate, ...] = ()
    words: tuple[str, ...] = ()
    queries: int = 0
    follows: dict[str, bool] = field(default_factory=dict)
    holding: tuple[Property, ...] = ()
    fallen: tuple[Property, ...] = ()
    stopped: str = ""
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """`PROVED` if every property follows from what survives."""
        if self.stopped:
            return Verdict.UNKNOWN
        return Verdict.PROVED if all(self.follows.values()) else Verdict.NOT_INDUCTIVE


class Inferrer:
    """One inference: `run` returns it. `timeout` is in seconds, for each query."""

    def __init__(
        self,
        model: Model,
        properties: Iterable[Property],
        timeout: float = 60.0,
        on_progress: Callable[[str], None] | None = None,
    ) -> None:
        templates = templates_of(model.protocol)
        if templates is None:
            raise UsageError(f"there are no templates for lemmas about {model.protocol.name}")
        self.model = model
        self.templates: Templates = templates
        self.timeout = timeout
        self.result = Inference(model, tuple(properties))
        self._say = on_progress or (lambda _: None)
        self.engine = SymbolicEngine(model)
        self._before = self._lowering(0)
        self._after = self._lowering(1)
        self._reference = ReferenceEngine(model)
        self._truths: dict[State, npt.NDArray[np.bool_]] = {}
        self._terms: dict[Candidate, tuple[Term, Term]] = {}

    def _lowering(self, shift: int) -> Lowering:
        cells = self.engine.cells(shift)
        return Lowering(lambda _frame, position: cells[position])

    def run(self) -> Inference:
        """Enumerate, filter, and kill until nothing more falls."""
        started, result = time.perf_counter(), self.result
        result.holding, result.fallen = self.known_lemmas()
        states = reachable_states(self.model, MAX_STATES)
        if states is None:
            raise UsageError(f"more than {MAX_STATES:,} reachable states: choose smaller bounds")
        result.states = states.shape[1]
        self.atoms = atoms_of(self.model, self.templates)
        self.table = Table(self.model, self.atoms, states)
        alive = self._first_candidates()
        try:
            alive = self._to_the_end(alive)
        except z3.Z3Exception as error:
            result.stopped = str(error)
        result.survivors = tuple(sorted(alive, key=lambda c: (len(c), sorted(c))))
        result.words = tuple(self.atoms.words(candidate) for candidate in result.survivors)
        result.seconds = time.perf_counter() - started
        return result

    def known_lemmas(self) -> tuple[tuple[Property, ...], tuple[Property, ...]]:
        """The known lemmas that are inductive together, and those that fall."""
        lemmas = lemmas_of(self.model.protocol)
        holding = lemmas_that_hold(self.model, lemmas)
        return holding, tuple(lemma for lemma in lemmas if lemma not in holding)

    def _first_candidates(self) -> set[Candidate]:
        short = self.table.shortest()
        alive = set(short) | set(self.table.longer(self.templates, set(short)))
        self.result.candidates = len(alive)
        self._say(f"{self.result.states:,} states, {len(alive):,} candidates hold in all of them")
        return alive

    def _to_the_end(self, alive: set[Candidate]) -> set[Candidate]:
        """Kill until what is left is inductive; what falls makes room for weaker ones at once.

        So at any time the candidates imply every weaker one that was not killed: the result is the
        same as if all had been candidates from the start.
        """
        steps = self._representatives()
        settled = place = 0
        while settled < len(steps):
            states = self._broken_by(alive, steps[place])
            if not states:
                settled, place = settled + 1, (place + 1) % len(steps)
                continue
            alive = self._replace(alive, states)
            settled = 0
            if self.result.queries % 25 == 0:
                self._say(f"{self.result.queries} queries, {len(alive):,} candidates left")
        self._conclude(alive)
        return alive

    def _replace(self, alive: set[Candidate], states: list[State]) -> set[Candidate]:
        """The candidates that hold in the states, and the weaker ones of those that do not."""
        falling = [c for c in alive if self._fails(c, states)]
        left = alive - set(falling)
        seen: set[Candidate] = set(falling)
        while falling:
            for weak in self.table.weaker(falling.pop(), self.templates):
                if weak in seen or has_part(weak, left):
                    continue
                seen.add(weak)
                if self._fails(weak, states):
                    falling.append(weak)
                else:
                    left.add(weak)
                    self.result.candidates += 1
        return left

    def _fails(self, candidate: Candidate, states: list[State]) -> bool:
        return any(self._is_false(candidate, state) for state in states)

    def _broken_by(self, alive: set[Candidate], step: SymbolicStep) -> list[State]:
        """States after a state with all candidates, of which some break some; none if none can."""
        solver = self._solver(alive)
        cells = list(zip(self.engine.cells(0), self.engine.cells(1), strict=True))
        solver.add(step.guard, z3.Not(step.misfit))
        solver.add(*(new == step.values.get(p, old) for p, (old, new) in enumerate(cells)))
        solver.add(z3.Or([z3.Not(self._term(c)[1]) for c in sorted(alive, key=sorted)]))
        if self._check(solver) == z3.unsat:
            return []
        after = self.engine.state(solver.model(), 1)
        return [after, *self._successors(self.engine.state(solver.model(), 0))]

    def _successors(self, state: State) -> list[State]:
        """Where else the steps from a state lead: they break more at the price of one query."""
        found = []
        for instance in self.model.instances:
            with contextlib.suppress(DomainError):
                after = self._reference.step(state, instance)
                if after is not None:
                    found.append(after)
        return found

    def _solver(self, alive: Iterable[Candidate]) -> Any:
        solver = z3.SolverFor("QF_FD")
        solver.set("timeout", max(int(self.timeout * 1000), 1))
        solver.add(self.engine.in_domain())
        for candidate in sorted(alive, key=sorted):
            solver.add(self._term(candidate)[0])
        return solver

    def _check(self, solver: Any) -> Any:
        self.result.queries += 1
        answer = solver.check()
        if answer == z3.unknown:
            raise z3.Z3Exception(f"Z3 gave up: {solver.reason_unknown()}")
        return answer

    def _term(self, candidate: Candidate) -> tuple[Term, Term]:
        """The candidate at all places, before a step and after it."""
        found = self._terms.get(candidate)
        if found is None:
            nodes = sorted(self.atoms.clause_nodes(candidate), key=lambda n: n.number)
            both = ([lower(n) for n in nodes] for lower in (self._before, self._after))
            before, after = (z3.And(terms) for terms in both)
            found = before, after
            self._terms[candidate] = found
        return found

    def _is_false(self, candidate: Candidate, state: State) -> bool:
        truth = self._truths.get(state)
        if truth is None:
            truth = self._truths[state] = self.table.truth(state)
        falsified = [truth[atom] != sign for atom, sign in candidate]
        return bool(np.logical_and.reduce(falsified).any())

    def _representatives(self) -> list[SymbolicStep]:
        chosen = Induction(self.model, (), (), engine=self.engine)
        return [step for _, steps in chosen._representatives() for step in steps]

    # --- conclusions -------------------------------------------------------------------------

    def _conclude(self, alive: set[Candidate]) -> None:
        """Whether values fit their domains, and which properties follow from an inductive set."""
        self.result.stopped = ""
        for step in self._representatives():
            solver = self._solver(alive)
            solver.add(step.guard, step.misfit)
            if self._check(solver) != z3.unsat:
                self.result.stopped = (
                    f"{step.ground.instance.action.name} may assign values outside their domains"
                )
                return
        for prop in self.result.properties:
            solver = self._solver(alive)
            solver.add(z3.Not(self.engine.claim(prop)))
            self.result.follows[prop.name] = self._check(solver) == z3.unsat
