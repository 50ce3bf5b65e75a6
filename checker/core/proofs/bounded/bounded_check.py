"""Bounded checking with Z3: is there a run of at most K steps that violates a property?

The runs of a given length are one formula: a selector a step says which action instance is taken,
by its number in the model, and chains of if-then-else over it say when that may be and what it
assigns. Lengths are tried one by one, so the first trace found is a shortest one. Lemmas that are
known to hold in every reachable state may be added to every state of the run; they rule out states
that no run can reach.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import z3

from checker.core.engines.symbolic import SymbolicEngine, Term
from checker.core.proofs.bounded.induction import Induction, InductionOptions
from checker.core.proofs.bounded.precedence import Precedence, interchangeable
from checker.core.proofs.proof import FITS, Attempt, ProofOutcome
from checker.core.proofs.solvers import Solvers
from checker.core.verdict import Verdict
from model.language.errors import LimitError
from model.language.protocol import Instance, Model
from properties import Property


@dataclass
class BoundedCheck(Attempt):
    """The result: no violation in `depth` steps or fewer, or the steps of a shortest one.

    `seconds[d]` is the time for depth d; the last one may be of a depth that was not finished.
    """

    depth: int = -1
    violated: str | None = None
    steps: tuple[Instance, ...] = ()
    stopped: str = ""
    seconds: list[float] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """`UNKNOWN` if the solver gave up before the depth that was asked for."""
        if self.violated is not None:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if self.stopped else Verdict.BOUNDED


class BoundedChecker:
    """Looks for violations depth by depth. `timeout` is in seconds, for all depths together."""

    def __init__(
        self,
        model: Model,
        properties: Iterable[Property],
        lemmas: Iterable[Property] = (),
        timeout: float | None = None,
        on_depth: Callable[[int, float], None] | None = None,
        symmetry: bool = True,
        cross_check: bool = True,
        solvers: Solvers | None = None,
    ) -> None:
        self.engine = SymbolicEngine(model)
        solvers = solvers or Solvers()
        self.result = BoundedCheck(model, tuple(properties), tuple(lemmas), solvers=solvers)
        self._timeout = timeout
        self._cross_check = cross_check
        self._on_depth = on_depth or (lambda _depth, _seconds: None)
        family = interchangeable(model, self.result.claims) if symmetry else None
        self._precedence = None if family is None else Precedence(model, family)
        self._claims = {p: self.engine.claim(p) for p in self.result.properties}
        self._lemmas = [self.engine.claim(p) for p in self.result.lemmas if not p.of_steps]
        self._misfit = z3.Or([z3.And(s.guard, s.misfit) for s in self.engine.steps])

    def run(self, depth: int) -> BoundedCheck:
        """Check all runs of at most `depth` steps; of fewer where a limit or Ctrl-C comes first."""
        started = time.perf_counter()
        if self._cross_check:
            self.result.compare()
        solver = z3.SolverFor("QF_FD")
        self._added: list[Term] = []
        self._add(solver, self.engine.is_initial())
        for current in range(depth + 1):
            begun = time.perf_counter()
            try:
                if current:
                    self._add_step(solver, current - 1)
                self._add(solver, *(self.engine.at_frame(p, current) for p in self._lemmas))
                clean = self._check(solver, current, started)
            except KeyboardInterrupt:
                self.result.stopped, clean = f"interrupted at depth {current}", False
            except LimitError as error:
                self.result.stopped, clean = f"{error.reason} came at depth {current}", False
            self.result.seconds.append(time.perf_counter() - begun)
            if not clean:
                break
            self.result.depth = current
            self._on_depth(current, self.result.seconds[-1])
        return self.result

    def _selector(self, frame: int) -> Term:
        return z3.BitVec(f"step@{frame}", len(self.result.model.instances).bit_length())

    def _add_step(self, solver: Any, frame: int) -> None:
        """From the state of `frame` to the next: what the selected instance demands and does."""
        engine, selector = self.engine, self._selector(frame)
        guard: Term = z3.BoolVal(False)
        values = dict(enumerate(engine.cells(0)))
        for step in engine.steps:
            chosen = selector == step.ground.instance.number
            guard = z3.If(chosen, step.guard, guard)
            for position, value in step.values.items():
                values[position] = z3.If(chosen, value, values[position])
        self._add(solver, engine.at_frame(guard, frame))
        if self._precedence is not None:
            self._add(solver, *self._precedence.step(selector, frame))
        for position, cell in enumerate(engine.cells(frame + 1)):
            self._add(solver, cell == engine.at_frame(values[position], frame))

    def _add(self, solver: Any, *conditions: Term) -> None:
        solver.add(*conditions)
        self._added += conditions

    def _check(self, solver: Any, depth: int, started: float) -> bool:
        """Whether the search may go on: nothing is violated at this depth, for certain."""
        left = None if self._timeout is None else self._timeout - (time.perf_counter() - started)
        if left is not None:
            if left <= 0:
                self.result.stopped = f"no time left for depth {depth}"
                return False
            solver.set("timeout", max(int(left * 1000), 1))
        bad = {FITS: self.engine.at_frame(self._misfit, depth)}
        for prop, claim in self._claims.items():
            first = depth + 1 - prop.frames
            if first >= 0:
                bad[prop.name] = z3.Not(self.engine.at_frame(claim, first, prop.frames))
        solver.push()
        violated = z3.Or(list(bad.values()))
        solver.add(violated)
        answer = self.result.solvers.ask(
            solver, left, f"{depth} steps", logic="QF_BV", added=[*self._added, violated]
        )
        if answer == z3.sat:
            self._note(solver.model(), bad, depth)
        elif answer == z3.unknown:
            self.result.stopped = f"{self.result.solvers.gave_up} (depth {depth})"
        solver.pop()
        return bool(answer == z3.unsat)

    def _note(self, solution: Any, bad: dict[str, Term], depth: int) -> None:
        self.result.violated = next(
            name for name, term in bad.items() if z3.is_true(solution.eval(term, True))
        )
        numbers = [solution.eval(self._selector(frame), True).as_long() for frame in range(depth)]
        self.result.steps = tuple(self.result.model.instances[n] for n in numbers)


def lemmas_that_hold(
    model: Model, candidates: Iterable[Property], options: InductionOptions | None = None
) -> tuple[Property, ...]:
    """The largest part of the candidates that is inductive by itself: all hold in every run.

    Houdini: a lemma that a step breaks is dropped, until none is. What Z3 cannot decide is dropped.
    Raises `LimitError` where a limit ends a proof: it says nothing of the lemmas.
    """
    kept = list(candidates)
    engine = SymbolicEngine(model)
    while kept:
        proof = Induction(model, (), kept, options, engine=engine).run()
        if proof.stopped:
            raise LimitError(
                f"stopped by {proof.stopped} before it was known which lemmas hold: "
                "choose smaller bounds, or a higher limit",
                proof.stopped,
            )
        if proof.outcome is ProofOutcome.PROVED:
            break
        broken = proof.counterexample.lemma if proof.counterexample is not None else ""
        left = [lemma for lemma in kept if lemma.name != broken]
        kept = left if len(left) < len(kept) else []
    return tuple(kept)
