"""Inference without templates: clauses over derived atoms, each asked for by what proofs lack.

Z3 finds a state in which all clauses so far hold, and from which a step leads out of them, or in
which a property is false. No run reaches that state, so some clause that holds in all reachable
states may be false in it: a short one that steps preserve becomes a lemma. When there is no such
state any more, the lemmas are inductive together and the properties follow. Where no clause
excludes a state, what it breaks is given up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import z3

from checker.core.engines.layout import Words
from checker.core.engines.reference import State
from checker.core.engines.symbolic import SymbolicStep
from checker.core.proofs.inference.atoms import atoms_of
from checker.core.proofs.inference.candidates import Candidate
from checker.core.proofs.inference.infer import Inferrer
from checker.core.proofs.inference.patterns import Patterns, altered

_CHOICES = 16  # short clauses that are compared
_ALTERED = 400  # states, most of them unreachable, that say which clause excludes more


class DerivingInferrer(Inferrer):
    """An inference from the schema, the actions and the properties alone."""

    def prepare(self, states: Words) -> None:
        """Derive `atoms`, and see which of them are true together in reachable states."""
        self.atoms = atoms_of(self.model, self.result.properties)
        self.patterns = Patterns(self.model, self.atoms, states)
        found = len(self.patterns.rows)
        self._say(f"{self.result.states:,} states, {found:,} patterns of {len(self.atoms.names)}")
        nearby = altered(self.model, states, self.patterns.layout, _ALTERED, seed=0)
        self._nearby = np.concatenate(self.patterns.of(nearby))
        self._alive: dict[Candidate, None] = {}

    def search(self) -> Iterable[Candidate]:
        """Exclude states until no property can be false, and no step leads out of the clauses.

        What no clause excludes takes with it the property that is false there, or the clauses that
        are broken from there. So this ends.
        """
        queries = self.queries
        self._open = {
            prop.name: queries.named(z3.Not(queries.engine.claim(prop)))
            for prop in self.result.properties
        }
        questions = itertools.cycle([None, *self._steps])
        settled = 0
        while settled <= len(self._steps):
            step = next(questions)
            changed = self._settle_properties() if step is None else self._settle_step(step)
            settled = 0 if changed else settled + 1
        return self._alive

    def _settle_properties(self) -> bool:
        """Exclude where properties are false; whether anything has changed."""
        changed = False
        for name, violation in list(self._open.items()):
            while self.queries.possible(self._alive, violation):
                changed = True
                if not self._exclude(self.queries.state(0)):
                    del self._open[name]
                    break
        return changed

    def _settle_step(self, step: SymbolicStep) -> bool:
        """Exclude from where a step breaks clauses; whether anything has changed."""
        queries, changed = self.queries, False
        if not z3.is_false(step.misfit):
            while queries.possible(self._alive, queries.misfit(step)):
                changed = True
                if not self._exclude(queries.state(0)):
                    action = step.ground.instance.action.name
                    raise z3.Z3Exception(f"{action} may assign values outside their domains")
        while self._alive and queries.possible(
            self._alive, queries.taken(step), queries.some_broken(self._alive)
        ):
            changed = True
            before, after = queries.state(0), queries.state(1)
            if not self._exclude(before):
                self._give_up(after)
        return changed

    def _exclude(self, state: State) -> bool:
        """Make a lemma of a clause that is false in a state which no run reaches, if there is one.

        The shortest is best, then what excludes most; but first come those that steps preserve.
        """
        choices = list(itertools.islice(self.patterns.excluding(state), _CHOICES))
        excludes = {c: int(self.patterns.falsified(c, self._nearby).sum()) for c in choices}
        choices.sort(key=lambda c: (len(c), -excludes[c]))
        best = next(filter(self._is_preserved, choices), choices[0] if choices else None)
        if best is not None:
            self._alive[best] = None
            self.result.candidates += 1
        self._say(f"{self.queries.count} queries, {len(self._alive):,} lemmas")
        return best is not None

    def _is_preserved(self, clause: Candidate) -> bool:
        """No step leads from where the lemmas and the clause hold to where the clause is false."""
        step, broken = self.queries.some_step(self._steps), self.queries.some_broken([clause])
        return not self.queries.possible([*self._alive, clause], step, broken)

    def _give_up(self, after: State) -> None:
        """Drop the clauses that are false after a step from a state that nothing excludes."""
        rows = self.patterns.add(after)
        for clause in list(self._alive):
            if self.patterns.falsified(clause, rows).any():
                del self._alive[clause]
