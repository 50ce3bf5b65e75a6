"""Induction within bounds: lemmas that hold at first and that every step preserves, hold always.

Obligations: each lemma in the initial state; each lemma after each action, from any state in which
all of them hold; each property from the lemmas. One query an action asks for all lemmas at once; a
solution, if there is one, tells which lemma it breaks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from checker.core.engines.interchangeable import has_symmetry
from checker.core.engines.symbolic import SymbolicEngine, SymbolicStep, Term
from checker.core.proofs.proof import (
    FITS,
    FOLLOWS,
    INITIALLY,
    Counterexample,
    Obligation,
    Proof,
    ProofOutcome,
)
from checker.core.proofs.solvers import Solvers
from model.language.protocol import Instance, Model
from properties import Property


@dataclass(frozen=True)
class InductionOptions:
    """How hard to try. `timeout` is in seconds, for each query."""

    timeout: float = 60.0
    symmetry: bool = True
    seed: int = 0
    cross_check: bool = True
    solvers: Solvers = field(default_factory=Solvers)


class Induction:
    """One proof by induction: `run` returns it."""

    def __init__(
        self,
        model: Model,
        properties: Iterable[Property],
        lemmas: Iterable[Property] = (),
        options: InductionOptions | None = None,
        on_obligation: Callable[[Obligation], None] | None = None,
        engine: SymbolicEngine | None = None,
    ) -> None:
        self.model = model
        self.options = options or InductionOptions()
        self.properties = tuple(properties)
        self.lemmas = tuple(lemmas)
        self.proof = Proof(model, self.properties, self.lemmas, solvers=self.options.solvers)
        self.engine = engine or SymbolicEngine(model)
        self._on_obligation = on_obligation or (lambda _: None)
        self.symmetry = self.options.symmetry and has_symmetry(model, self.proof.claims)
        self.proof.symmetry = self.symmetry

    def run(self) -> Proof:
        """Work through the obligations; the first that fails, or a limit, ends the proof."""
        with self.proof.made(self.options.cross_check):
            self._conclusions()
            if self._initially() and self._consecution():
                self.proof.outcome = ProofOutcome.PROVED
        return self.proof

    # --- the three kinds of obligation -------------------------------------------------------

    def _conclusions(self) -> None:
        """Which properties follow from the lemmas; the others must be inductive with them."""
        self.invariants = [lemma for lemma in self.lemmas if not lemma.of_steps]
        self._terms = {prop: self.engine.claim(prop) for prop in self.invariants}
        known = {lemma.name for lemma in self.invariants}
        for prop in self.properties:
            if prop.of_steps or prop.name in known:
                continue
            term = self.engine.claim(prop)
            follows = False
            if self.lemmas:
                what = Obligation(FOLLOWS, prop.name)
                result, _ = self._ask(what, [*self._hypotheses(), z3.Not(term)])
                follows = result == z3.unsat
                what.outcome = ProofOutcome.PROVED if follows else ProofOutcome.JOINED
                self._report(what)
            if not follows:
                self.invariants.append(prop)
                self._terms[prop] = term
        self.proof.invariants = tuple(self.invariants)

    def _initially(self) -> bool:
        for prop in self.invariants:
            what = Obligation(INITIALLY, prop.name)
            conditions = [self.engine.is_initial(), z3.Not(self._terms[prop])]
            result, solution = self._ask(what, conditions)
            if not self._settle(what, result):
                if result == z3.sat:
                    state = self.engine.state(solution)
                    self.proof.counterexample = Counterexample(prop.name, None, (state,))
                return False
        return True

    def _consecution(self) -> bool:
        for action, steps in self.representatives():
            what = Obligation(action, "")
            enabled = False
            for step in steps:
                verdict, feasible = self._step(what, step)
                enabled |= feasible
                if verdict is not ProofOutcome.PROVED:
                    what.outcome = verdict
                    self._report(what)
                    return False
            what.outcome = ProofOutcome.PROVED
            what.vacuous = not enabled
            self._report(what)
        return True

    def _step(self, what: Obligation, step: SymbolicStep) -> tuple[ProofOutcome, bool]:
        """Whether an action instance preserves the invariants, and whether it can happen at all."""
        before = [*self._hypotheses(), step.guard]
        feasible, _ = self._ask(what, before)
        if feasible == z3.unsat:
            return ProofOutcome.PROVED, False
        goals = self._goals(step)
        if not goals:
            return ProofOutcome.PROVED, True
        result, solution = self._ask(what, [*before, z3.Not(z3.And([g for _, g in goals]))])
        if result == z3.unsat:
            return ProofOutcome.PROVED, True
        if result == z3.sat:
            broken = next(n for n, g in goals if z3.is_false(solution.eval(g, True)))
            self._note(what, step, broken, solution)
        return self._one_by_one(what, step, before, goals), True

    def _one_by_one(
        self,
        what: Obligation,
        step: SymbolicStep,
        before: list[Term],
        goals: list[tuple[str, Term]],
    ) -> ProofOutcome:
        """A query for each goal, where one for all was too hard or found some goal broken.

        The first goal that can be broken is the one that is named, whatever solution Z3 chose.
        """
        undecided = ""
        for name, goal in goals:
            result, solution = self._ask(what, [*before, z3.Not(goal)])
            if result == z3.sat:
                self._note(what, step, name, solution)
                return ProofOutcome.NOT_INDUCTIVE
            if result == z3.unknown:
                undecided = undecided or name
        if self.proof.counterexample is not None:
            return ProofOutcome.NOT_INDUCTIVE
        what.lemma = undecided
        return ProofOutcome.UNKNOWN if undecided else ProofOutcome.PROVED

    def _goals(self, step: SymbolicStep) -> list[tuple[str, Term]]:
        """What must hold after the step, without what the step does not touch."""
        goals = [(FITS, z3.Not(step.misfit))] if not z3.is_false(step.misfit) else []
        for prop in self.invariants:
            term = self._terms[prop]
            after = self.engine.after(term, step)
            if not after.eq(term):
                goals.append((prop.name, after))
        for prop in (*self.lemmas, *self.properties):
            if prop.of_steps:
                goals.append((prop.name, self.engine.after_both(self.engine.claim(prop), step)))
        return goals

    def never_enabled(self) -> list[str]:
        """The actions that no state with all lemmas enables, within these bounds."""
        self._terms = {prop: self.engine.claim(prop) for prop in self.lemmas if not prop.of_steps}
        found = []
        for action, steps in self.representatives():
            what = Obligation(action, "")
            answers = (self._ask(what, [*self._hypotheses(), s.guard])[0] for s in steps)
            if not any(answer == z3.sat for answer in answers):
                found.append(action)
        return found

    # --- queries -----------------------------------------------------------------------------

    def _hypotheses(self) -> list[Term]:
        return [self.engine.in_domain(), *self._terms.values()]

    def _ask(self, what: Obligation, conditions: Sequence[Term]) -> tuple[Any, Any]:
        """The answer to whether the conditions can hold together, and a solution."""
        started = time.perf_counter()
        solver = z3.SolverFor("QF_BV")
        solver.set("timeout", max(int(self.options.timeout * 1000), 1))
        solver.set("random_seed", self.options.seed)
        solver.add(*conditions)
        solvers, named = self.options.solvers, (what.action, what.lemma)
        result = solvers.ask(solver, self.options.timeout, *named, logic="QF_BV")
        what.queries += 1
        what.seconds += time.perf_counter() - started
        if result == z3.unknown:
            what.reason = solvers.gave_up
        return result, solver.model() if result == z3.sat else None

    def _settle(self, what: Obligation, result: Any) -> bool:
        if result == z3.unknown:
            what.outcome = ProofOutcome.UNKNOWN
        else:
            what.outcome = ProofOutcome.PROVED if result == z3.unsat else ProofOutcome.NOT_INDUCTIVE
        self._report(what)
        return what.outcome is ProofOutcome.PROVED

    def _report(self, what: Obligation) -> None:
        self.proof.obligations.append(what)
        if what.outcome in (ProofOutcome.NOT_INDUCTIVE, ProofOutcome.UNKNOWN):
            self.proof.outcome = what.outcome
        self._on_obligation(what)

    def _note(self, what: Obligation, step: SymbolicStep, broken: str, solution: Any) -> None:
        """Keep the state, the step and the goal that it breaks."""
        what.lemma = broken
        before = self.engine.state(solution)
        self.proof.counterexample = Counterexample(broken, step.ground.instance, (before,))

    # --- which steps -------------------------------------------------------------------------

    def representatives(self) -> Iterator[tuple[str, list[SymbolicStep]]]:
        """The instances of each action, with symmetry one for all that renaming makes equal."""
        for action in self.model.protocol.actions:
            chosen: dict[tuple[Any, ...], SymbolicStep] = {}
            for step in self.engine.steps:
                instance = step.ground.instance
                if instance.action is action:
                    key = self._pattern(instance) if self.symmetry else instance.arguments
                    chosen.setdefault(key, step)
            yield action.name, list(chosen.values())

    def _pattern(self, instance: Instance) -> tuple[Any, ...]:
        """The arguments with members of symmetric families renamed by order of appearance."""
        names: dict[tuple[str, int], int] = {}
        pattern = []
        for parameter, argument in zip(instance.parameters, instance.arguments, strict=True):
            family = getattr(parameter.domain, "family", None)
            if family is None or not self.model.schema.index_sets[family].symmetric:
                pattern.append(argument)
            elif argument < 0:
                pattern.append(-1)
            else:
                pattern.append(names.setdefault((family, argument), len(names)))
        return tuple(pattern)


def minimal_lemmas(
    model: Model,
    properties: Iterable[Property],
    lemmas: Iterable[Property],
    options: InductionOptions | None = None,
    on_lemma: Callable[[Property, bool], None] | None = None,
) -> tuple[Property, ...]:
    """A part of the lemmas that still proves the properties and of which none can be left out.

    Which one it is depends on the order: later lemmas are kept in preference to earlier ones.
    """
    kept = list(lemmas)
    engine = SymbolicEngine(model)
    for lemma in list(kept):
        without = [other for other in kept if other is not lemma]
        proof = Induction(model, properties, without, options, engine=engine).run()
        needed = proof.outcome is not ProofOutcome.PROVED
        if not needed:
            kept = without
        if on_lemma is not None:
            on_lemma(lemma, needed)
    return tuple(kept)
