"""Inference of lemmas: the largest part of the candidates that is inductive (Houdini).

All candidates are assumed together, and a step that breaks some of them kills those. When none can
be broken any more, what is left holds in every reachable state. A killed clause is replaced by
those with a literal more. Last, it is asked whether the properties follow, and from which of them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import z3

from checker.core.engines.agreement import require_agreement
from checker.core.engines.layout import Words
from checker.core.engines.reference import ReferenceEngine, State
from checker.core.engines.symbolic import SymbolicStep, Term
from checker.core.proofs.bounded.bounded_check import lemmas_that_hold
from checker.core.proofs.bounded.induction import Induction, InductionOptions
from checker.core.proofs.inference.candidates import (
    Atoms,
    Candidate,
    Table,
    atoms_of,
    has_part,
    reachable_states,
)
from checker.core.proofs.inference.clause_queries import ClauseQueries, rests_on
from checker.core.verdict import Agreement, Verdict
from model.language.errors import DomainError, LimitError, UsageError
from model.language.protocol import Model
from properties import Property, lemmas_of, templates_of
from properties.templates import Templates

MAX_STATES = 2_000_000


@dataclass
class Inference:
    """What was inferred.

    `survivors` are inductive together; `needed` is a small part of them that is so as well, and
    from which those properties follow that do. `holding` and `fallen` are the known lemmas, proved
    or not; `found` are those that follow from the survivors. `atoms` is how many there are.
    """

    model: Model
    properties: tuple[Property, ...]
    states: int = 0
    atoms: int = 0
    candidates: int = 0
    survivors: tuple[Candidate, ...] = ()
    needed: tuple[Candidate, ...] = ()
    words: Callable[[Candidate], str] = str
    queries: int = 0
    follows: dict[str, bool] = field(default_factory=dict)
    holding: tuple[Property, ...] = ()
    fallen: tuple[Property, ...] = ()
    found: tuple[Property, ...] = ()
    agreement: Agreement | None = None
    stopped: str = ""
    seconds: float = 0.0

    @property
    def missing(self) -> tuple[Property, ...]:
        """The known lemmas that hold, and do not follow from what was found."""
        return tuple(lemma for lemma in self.holding if lemma not in self.found)

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
        *,
        cross_check: bool = True,
    ) -> None:
        self.model = model
        self.result = Inference(model, tuple(p for p in properties if not p.of_steps))
        self._say = on_progress or (lambda _: None)
        self._timeout = timeout
        self._cross_check = cross_check
        self._steps: list[SymbolicStep] = []
        self._reference = ReferenceEngine(model)
        self._truths: dict[State, npt.NDArray[np.bool_]] = {}

    def run(self) -> Inference:
        """Enumerate, filter, and kill until nothing more falls."""
        result = self.result
        started = time.perf_counter()
        if self._cross_check:
            claims = (*result.properties, *lemmas_of(self.model.protocol))
            result.agreement = require_agreement(self.model, claims)
        result.holding, result.fallen = self.known_lemmas()
        states = reachable_states(self.model, MAX_STATES)
        if states is None:
            raise UsageError(f"more than {MAX_STATES:,} reachable states: choose smaller bounds")
        result.states = states.shape[1]
        try:
            self.prepare(states)
            result.atoms, result.words = len(self.atoms.names), self.atoms.words
            self.queries = ClauseQueries(self.model, self.atoms, self._timeout)
            self._steps = self._representatives()
            result.survivors = tuple(sorted(self.search(), key=lambda c: (len(c), sorted(c))))
            self._conclude()
        except z3.Z3Exception as error:
            result.stopped = str(error)
        except LimitError as error:
            result.stopped = f"stopped by {error.reason}"
        result.queries = self.queries.count if self._steps else 0
        result.seconds = time.perf_counter() - started
        return result

    def prepare(self, states: Words) -> None:
        """Make `atoms`, and see which of them are true in which reachable state."""
        templates = templates_of(self.model.protocol)
        if templates is None:
            raise UsageError(f"there are no templates for lemmas about {self.model.protocol.name}")
        self.templates: Templates = templates
        self.atoms: Atoms = atoms_of(self.model, templates)
        self.table = Table(self.model, self.atoms, states)

    def search(self) -> Iterable[Candidate]:
        """Clauses that hold in every reachable state, and are inductive together."""
        return self._to_the_end(self._first_candidates())

    def known_lemmas(self) -> tuple[tuple[Property, ...], tuple[Property, ...]]:
        """The known lemmas that are inductive together, and those that fall."""
        lemmas = lemmas_of(self.model.protocol)
        options = InductionOptions(cross_check=self._cross_check)
        holding = lemmas_that_hold(self.model, lemmas, options)
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
        settled = place = 0
        while settled < len(self._steps):
            states = self._broken_by(alive, self._steps[place])
            if self.queries.count % 25 == 0:
                self._say(f"{self.queries.count} queries, {len(alive):,} candidates left")
            if not states:
                settled, place = settled + 1, (place + 1) % len(self._steps)
                continue
            alive = self._replace(alive, states)
            settled = 0
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
        queries = self.queries
        if not queries.possible(alive, queries.taken(step), queries.some_broken(alive)):
            return []
        before, after = queries.state(0), queries.state(1)
        return [after, *self._successors(before)]

    def _successors(self, state: State) -> list[State]:
        """Where else the steps from a state lead: they break more at the price of one query."""
        found = []
        for instance in self.model.instances:
            with contextlib.suppress(DomainError):
                after = self._reference.step(state, instance)
                if after is not None:
                    found.append(after)
        return found

    def _is_false(self, candidate: Candidate, state: State) -> bool:
        truth = self._truths.get(state)
        if truth is None:
            truth = self._truths[state] = self.table.truth(state)
        falsified = [truth[atom] != sign for atom, sign in candidate]
        return bool(np.logical_and.reduce(falsified).any())

    def _representatives(self) -> list[SymbolicStep]:
        chosen = Induction(self.model, (), (), engine=self.queries.engine)
        return [step for _, steps in chosen.representatives() for step in steps]

    # --- conclusions -------------------------------------------------------------------------

    def _conclude(self) -> None:
        """Whether values fit their domains, which properties follow, and what that rests on."""
        result, queries = self.result, self.queries
        for step in self._steps:
            if queries.possible(result.survivors, queries.misfit(step)):
                action = step.ground.instance.action.name
                result.stopped = f"{action} may assign values outside their domains"
                return
        ruled_out: list[Term] = []
        for prop in result.properties:
            violation = queries.named(z3.Not(queries.engine.claim(prop)))
            result.follows[prop.name] = not queries.possible(result.survivors, violation)
            if result.follows[prop.name]:
                ruled_out.append(violation)
        result.found = tuple(lemma for lemma in result.holding if self._implied(lemma))
        if ruled_out:
            self._say(f"{len(result.survivors):,} survive; which of them are needed?")
            result.needed = rests_on(
                queries, self._steps, result.survivors, ruled_out,
                lambda count: self._say(f"{count} needed so far"),
            )  # fmt: skip

    def _implied(self, lemma: Property) -> bool:
        queries = self.queries
        broken = queries.named(z3.Not(queries.engine.claim(lemma)))
        return not queries.possible(self.result.survivors, broken)
