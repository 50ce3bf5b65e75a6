"""Which lemmas an obligation rests on, as far as small sizes can tell.

With sizes open, every hypothesis is instantiated with many terms, and most obligations need few
lemmas. Within small bounds Z3 decides at once, and says which it used. Those are tried first when
sizes are open; that they suffice there is proved, not assumed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import z3

from checker.core.engines.symbolic import SymbolicStep, Term
from checker.core.proofs.asking import ask
from checker.core.proofs.bounded.induction import Induction
from checker.core.proofs.proof import FITS
from model.language import graph
from model.language.graph import Op
from model.language.protocol import Model
from properties import Property

_SMALL = 2
_SECONDS = 5


def small(model: Model, bounded: bool = False) -> Model:
    """The model with every bound at its default, or at 2 where that is more; 0 stays 0.

    A bound of 0 switches something off, and lemmas may claim less where it is on. What is `bounded`
    claims something within the model's bounds alone, so that none is more than there.
    """
    bounds = {}
    for bound in model.protocol.bounds:
        given = model.bounds[bound.name]
        least = min(max(bound.default, _SMALL), bound.maximum)
        bounds[bound.name] = min(given, least) if bounded or not given else least
    return replace(model, bounds=bounds)


class Relevance:
    """The lemmas that each obligation of a proof by induction rests on within small bounds."""

    def __init__(self, model: Model, lemmas: Iterable[Property], bounded: bool = False) -> None:
        chosen = [lemma for lemma in lemmas if not lemma.of_steps]
        induction = Induction(small(model, bounded), (), chosen)
        self._engine = induction.engine
        self._terms = {lemma.name: self._engine.claim(lemma) for lemma in induction.lemmas}
        self._steps = dict(induction.representatives())
        self._solvers: dict[int, Any] = {}
        self._allowed = frozenset(self._terms)
        self._plain = frozenset(
            lemma.name
            for lemma in induction.lemmas
            if all(n.op is not Op.MAJORITY for n in graph.below(model.claim(lemma.claim)))
        )
        self._known: dict[tuple[str, str], frozenset[str] | None] = {}

    def of_property(self, prop: Property) -> frozenset[str] | None:
        """The lemmas that imply a property; `None` if they do not, or that is not known."""
        if ("", prop.name) not in self._known:
            violation = z3.Not(self._engine.claim(prop))
            self._known["", prop.name] = self._core(self._solver(None), violation)
        return self._known["", prop.name]

    def of_step(self, action: str, name: str) -> frozenset[str] | None:
        """The lemmas by which an action preserves the one called `name`, or assigns what fits."""
        if (action, name) not in self._known:
            self._known[action, name] = self._of_step(action, name)
        return self._known[action, name]

    def needed(self, properties: Iterable[Property]) -> tuple[str, ...] | None:
        """The lemmas that a proof of the properties needs, in order; `None` without one."""
        cores = [self.of_property(prop) for prop in properties]
        cores += [self.of_step(action, FITS) for action in self._steps]
        found: set[str] = set()
        while cores:
            core = cores.pop()
            if core is None:
                return None
            for name in sorted(core - found):
                found.add(name)
                cores += [self.of_step(action, name) for action in self._steps]
        return tuple(name for name in self._terms if name in found)

    @property
    def names(self) -> frozenset[str]:
        """The lemmas in use."""
        return self._allowed

    def do_without(self, names: Iterable[str], properties: Iterable[Property]) -> bool:
        """Use these lemmas no more, if a proof of the properties goes without."""
        allowed, known = self._allowed, self._known
        self._allowed = allowed - set(names)
        self._known = {k: core for k, core in known.items() if core and core <= self._allowed}
        if self.needed(properties) is None:
            self._allowed, self._known = allowed, known
            return False
        return True

    def _of_step(self, action: str, name: str) -> frozenset[str] | None:
        found: set[str] = set()
        for step in self._steps.get(action, []):
            if name == FITS:
                broken = step.misfit
            else:
                broken = z3.Not(self._engine.after(self._terms[name], step))
            core = self._core(self._solver(step), broken)
            if core is None:
                return None
            found |= core
        return frozenset(found)

    def never_enabled(self, action: str) -> bool:
        """No state with all lemmas enables the action, within small bounds."""
        return not any(self._can_happen(step) for step in self._steps.get(action, []))

    def _can_happen(self, step: SymbolicStep) -> bool:
        solver = self._solver(step)
        return bool(ask(solver, *map(z3.Bool, self._terms)) == z3.sat)

    def _solver(self, step: SymbolicStep | None) -> Any:
        key = -1 if step is None else step.ground.instance.number
        solver = self._solvers.get(key)
        if solver is None:
            solver = self._solvers[key] = z3.SolverFor("QF_FD")
            solver.set("timeout", _SECONDS * 1000)
            solver.set("core.minimize", True)
            solver.add(self._engine.in_domain())
            if step is not None:
                solver.add(step.guard)
            for name, term in self._terms.items():
                solver.add(z3.Implies(z3.Bool(name), term))
        return solver

    def _core(self, solver: Any, violation: Term) -> frozenset[str] | None:
        literal = z3.FreshBool("violation")
        solver.add(z3.Implies(literal, violation))
        # Without majorities, where that is enough: what is counted here is not with sizes open.
        for names in dict.fromkeys((self._allowed & self._plain, frozenset(self._allowed))):
            if ask(solver, *map(z3.Bool, sorted(names)), literal) == z3.unsat:
                return frozenset(map(str, solver.unsat_core())) & frozenset(self._terms)
        return None
