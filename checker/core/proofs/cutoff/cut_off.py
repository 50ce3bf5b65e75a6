"""Induction for any number of members of one family: a part of them is enough to look at.

A counterexample with many members is a state in which all lemmas hold, a step, and a lemma that is
false after it. Keep who takes the step, whom the lemma is false of, and the witnesses of guards,
of what is assigned to what the lemma reads, and of the lemmas before: what is left is a smaller
counterexample (`witnesses.py`). So there is none at all if there is none of that size. How many
these are is counted from the captured graph, for each obligation; the largest is the cut-off.

A lemma that says of each member that there is another one has a witness for each. It is assumed of
the *core* alone, of who takes the step and whom the lemma after it is false of.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import z3

from checker.core.engines.interchangeable import members_named
from checker.core.engines.symbolic import SymbolicEngine, SymbolicStep, Term
from checker.core.proofs.cutoff.part import Part
from checker.core.proofs.cutoff.witnesses import (
    NOBODY,
    Need,
    RefusedError,
    Want,
    Witnesses,
    all_of,
    limited,
)
from checker.core.proofs.proof import FITS, FOLLOWS, INITIALLY, Obligation, Proof, ProofOutcome
from checker.core.proofs.solvers import Solvers
from checker.core.proofs.unbounded.relevance import Relevance
from model.language import graph
from model.language.capture import CapturedAction, Write
from model.language.declare.domains import Integers
from model.language.errors import LimitError, UsageError
from model.language.graph import Node, Op
from model.language.lifted import Lifted
from model.language.protocol import Model
from properties import Property

BEFORE, AFTER, STEP = "before", "after", "step"


@dataclass
class CutOff(Proof):
    """A proof for any number of members of `family` that is at least `members`.

    `refused` are lemmas that cannot be assumed, with why: no bounded number of members shows them.
    `sizes` are how many members each obligation was asked with.
    """

    family: str = ""
    bound: str = ""
    members: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    sizes: dict[tuple[str, str], int] = field(default_factory=dict)


def family_of(model: Model, bound: str) -> str:
    """The family whose size is the bound of that name, and nothing else's. Else `UsageError`."""
    families = {
        index_set.size.bound.name: name
        for name, index_set in model.schema.index_sets.items()
        if index_set.symmetric and index_set.size.bound is not None
    }
    if bound not in families:
        known = ", ".join(sorted(families)) or "there is none"
        raise UsageError(f"{bound} is no number of members: valid is {known}")
    family = families[bound]
    for name, index_set in model.schema.index_sets.items():
        if name != family and index_set.size.bound and index_set.size.bound.name == bound:
            raise UsageError(f"there are as many {name} as {family}: no cut-off of {bound}")
    domains = {variable.name: variable.domain for variable in model.schema.variables.values()}
    for action, parameters in model.protocol.parameters.items():
        domains |= {f"{action}({parameter.name})": parameter.domain for parameter in parameters}
    for name, domain in domains.items():
        limits = domain.limits if isinstance(domain, Integers) else ()
        if any(limit.bound is not None and limit.bound.name == bound for limit in limits):
            raise UsageError(f"the values of {name} depend on {bound}: no cut-off of {bound}")
    return family


class CutOffProof:
    """One proof for any number of members: `run` returns it."""

    def __init__(
        self,
        model: Model,
        bound: str,
        properties: Iterable[Property],
        lemmas: Iterable[Property] = (),
        timeout: float = 60.0,
        on_obligation: Callable[[Obligation], None] | None = None,
        cross_check: bool = True,
        solvers: Solvers | None = None,
    ) -> None:
        self.model = model
        self.family = family_of(model, bound)
        self.timeout = timeout
        self._on_obligation = on_obligation or (lambda _: None)
        self._cross_check = cross_check
        self.proof = CutOff(
            model, tuple(properties), tuple(lemmas), solvers=solvers or Solvers(),
            family=self.family, bound=bound,
        )  # fmt: skip
        self.lifted = Lifted.narrowed(model)
        self.named = 1 + max(
            (n.member for n in members_named(model, self.proof.claims) if n.family == self.family),
            default=-1,
        )
        self.witnesses = Witnesses(model, self.family)
        self._engines: dict[int, _Asked] = {}

    def run(self) -> CutOff:
        """Work through the obligations; the first that fails, or a limit, ends the proof."""
        started = time.perf_counter()
        if self._cross_check:
            self.proof.compare()
        try:
            self._choose_lemmas()
            if self._conclusions() and self._initially() and self._consecution():
                self.proof.outcome = ProofOutcome.PROVED
        except LimitError as error:
            if not self.proof.obligations:
                raise
            self.proof.stopped = error.reason
        least = max(self.proof.sizes.values(), default=1)
        self.proof.members = max(least, self.witnesses.least)
        self.proof.seconds = time.perf_counter() - started
        return self.proof

    # --- what may be said --------------------------------------------------------------------

    def _choose_lemmas(self) -> None:
        """Which lemmas can be assumed and shown of a part, and which guards are kept there."""
        self.actions = {a.name: self._simplified(a) for a in self.model.captured}
        self.guards: dict[str, Need] = {}
        for name, action in list(self.actions.items()):
            self.guards[name], kept = NOBODY, []
            for guard in action.guards:
                try:
                    self.guards[name] += self.witnesses.guard(guard, BEFORE)
                    kept.append(guard)
                except RefusedError as error:  # without it there are more steps, so that is sound
                    self.proof.refused.setdefault(name, str(error))
            self.actions[name] = CapturedAction(name, action.parameters, tuple(kept), action.writes)
        self.claims = {
            prop: self.lifted.now(self.model.claim(prop.claim, prop.frames))
            for prop in self.proof.claims
        }
        chosen = []
        for lemma in self.proof.lemmas:
            try:
                self._broken(lemma)
                if not lemma.of_steps:
                    self._assumed(lemma, 1)
                chosen.append(lemma)
            except RefusedError as error:
                self.proof.refused[lemma.name] = str(error)
        self.proof.lemmas = tuple(chosen)
        self.invariants = [lemma for lemma in chosen if not lemma.of_steps]
        self._relevance: Relevance | None = None

    def _simplified(self, action: CapturedAction) -> CapturedAction:
        """The action without what stays blank."""
        total = self.lifted.total_action(action)
        writes = tuple(w for w in total.writes if w.variable.name not in self.lifted.blank)
        return CapturedAction(total.name, total.parameters, total.guards, writes)

    def _broken(self, prop: Property, time: str = AFTER) -> Need:
        """Whom a claim is false of."""
        return self.witnesses.claim(self.claims[prop], Want.DOWN, STEP if prop.of_steps else time)

    def _assumed(self, prop: Property, core: int) -> tuple[Node, Need]:
        """What may be assumed of a claim that is true, of all members or of the core alone."""
        claim = self.claims[prop]
        try:
            return claim, self.witnesses.claim(claim, Want.UP, BEFORE)
        except RefusedError:
            ours = limited(claim, self.family, core)
            return ours, self.witnesses.claim(ours, Want.UP, BEFORE, core)

    # --- obligations -------------------------------------------------------------------------

    def _conclusions(self) -> bool:
        """Which properties follow from the lemmas; the others must be inductive with them."""
        for prop in self.proof.properties:
            if prop.of_steps or prop in self.invariants:
                continue
            what = Obligation(FOLLOWS, prop.name)
            what.outcome = self._settle(what, prop, None, BEFORE)
            if what.outcome is not ProofOutcome.PROVED:
                what.outcome, what.reason = ProofOutcome.JOINED, ""
                self.invariants.append(prop)
            self._report(what)
        self.proof.invariants = tuple(self.invariants)
        self._relevance = self._relevant()
        return True

    def _initially(self) -> bool:
        for prop in self.invariants:
            what = Obligation(INITIALLY, prop.name)
            what.outcome = self._at_first(what, prop)
            if not self._report(what):
                return False
        return True

    def _consecution(self) -> bool:
        for action in self.actions.values():
            if graph.FALSE in action.guards:
                continue
            for goal in (None, *self._goals(action)):
                what = Obligation(action.name, FITS if goal is None else goal.name)
                what.outcome = self._settle(what, goal, action, AFTER)
                if not self._report(what):
                    return False
        return True

    def _goals(self, action: CapturedAction) -> Iterator[Property]:
        """The claims that the action may break: it writes what they read."""
        of_steps = [prop for prop in self.proof.claims if prop.of_steps]
        for prop in (*self.invariants, *of_steps):
            if _written(action, self.claims[prop]):
                yield prop

    def _relevant(self) -> Relevance | None:
        try:
            return Relevance(self.model, self.invariants, bounded=True)
        except UsageError:
            return None

    def _settle(
        self, what: Obligation, goal: Property | None, action: CapturedAction | None, time: str
    ) -> ProofOutcome:
        """Refute that the goal is false, or without one that a value does not fit.

        At first with the lemmas that seem to matter: whoever shows the others need not be there.
        """
        every = tuple(self.invariants)
        core = None
        if self._relevance is not None and action is not None and (goal is None or goal in every):
            core = self._relevance.of_step(action.name, what.lemma)
        few = every if core is None else tuple(prop for prop in every if prop.name in core)
        outcome = ProofOutcome.UNKNOWN
        for known in dict.fromkeys((few, every)):
            try:
                outcome = self._refute(what, goal, action, time, known)
            except RefusedError as error:
                what.reason = str(error)
                return ProofOutcome.UNKNOWN
            if outcome is ProofOutcome.PROVED:
                break
        return outcome

    def _refute(
        self,
        what: Obligation,
        goal: Property | None,
        action: CapturedAction | None,
        time: str,
        known: tuple[Property, ...],
    ) -> ProofOutcome:
        taking = 0 if action is None else sum(map(self._is_member, action.parameters))
        broken = self._misfit(action) if goal is None else self._broken(goal, time)
        core = self.named + taking + broken.count
        assumed = [self._assumed(prop, core) for prop in known]
        need = all_of([broken, *(need for _, need in assumed)])
        if action is not None:
            read = None if goal is None else self.claims[goal]
            need += self.guards[action.name] + self._assigned(action, read)
        members = max(self.named + taking + need.count, self.witnesses.least, 1)
        self.proof.sizes[what.action, what.lemma] = members
        asked = self._asked(members)
        before = [asked.engine.in_domain(), *(asked.term(node) for node, _ in assumed)]
        claim = None if goal is None else limited(self.claims[goal], self.family, core)
        if action is None:
            return self._ask(what, [*before, z3.Not(asked.term(claim))])
        for step in asked.steps.get(action.name, []):
            after = asked.after(claim, goal, step)
            if z3.is_true(after):
                continue
            answer = self._ask(what, [*before, step.guard, z3.Not(after)])
            if answer is not ProofOutcome.PROVED:
                return answer
        return ProofOutcome.PROVED

    def _misfit(self, action: CapturedAction | None) -> Need:
        """Where a value does not fit: at one place of each loop over members."""
        assert action is not None
        loops = [sum(map(self._is_member, write.binders)) for write in action.writes]
        return Need(more=max(loops, default=0))

    def _assigned(self, action: CapturedAction, claim: Node | None) -> Need:
        """Who shows what is assigned to what the claim reads; without one, that it fits."""
        needs = []
        for write in action.writes:
            if claim is None and not isinstance(write.variable.domain, Integers):
                write = Write(
                    write.variable, write.index, write.variable.blank, write.binders, write.when
                )
            elif claim is not None and write.variable.name not in _read(claim):
                continue
            needs.append(self.witnesses.write(write, BEFORE))
        return all_of(needs)

    def _at_first(self, what: Obligation, prop: Property) -> ProofOutcome:
        try:
            need = self._broken(prop, BEFORE)
            need += all_of(self.witnesses.write(write, AFTER) for write in self.model.start)
        except RefusedError as error:
            what.reason = str(error)
            return ProofOutcome.UNKNOWN
        members = max(self.named + need.count, self.witnesses.least, 1)
        self.proof.sizes[what.action, what.lemma] = members
        asked = self._asked(members)
        return self._ask(what, [asked.engine.is_initial(), z3.Not(asked.term(self.claims[prop]))])

    def _is_member(self, variable: Node) -> bool:
        return bool(variable.data[1] == self.family)

    # --- questions ---------------------------------------------------------------------------

    def _asked(self, members: int) -> _Asked:
        if members not in self._engines:
            part = Part.of(self.model, members, self.family, self.named, self.actions)
            self._engines[members] = _Asked(part)
        return self._engines[members]

    def _ask(self, what: Obligation, conditions: list[Term]) -> ProofOutcome:
        started = time.perf_counter()
        solver = z3.SolverFor("QF_BV")
        solver.set("timeout", max(int(self.timeout * 1000), 1))
        solver.add(*conditions)
        solvers = self.proof.solvers
        answer = solvers.ask(solver, self.timeout, what.action, what.lemma, logic="QF_BV")
        what.queries += 1
        what.seconds += time.perf_counter() - started
        if answer == z3.unknown:
            what.reason = solvers.gave_up
            return ProofOutcome.UNKNOWN
        return ProofOutcome.PROVED if answer == z3.unsat else ProofOutcome.NOT_INDUCTIVE

    def _report(self, what: Obligation) -> bool:
        """Keep what became of an obligation; whether the proof goes on."""
        self.proof.obligations.append(what)
        self._on_obligation(what)
        if what.outcome in (ProofOutcome.PROVED, ProofOutcome.JOINED):
            return True
        self.proof.outcome = what.outcome
        return False


class _Asked:
    """What is asked of so many members."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.engine = SymbolicEngine(part)

    @cached_property
    def steps(self) -> dict[str, list[SymbolicStep]]:
        """The steps of each action, one of each kind."""
        found: dict[str, list[SymbolicStep]] = {}
        for step in self.engine.steps:
            found.setdefault(step.ground.instance.action.name, []).append(step)
        return found

    def term(self, node: Node) -> Term:
        """A claim as a term over the state before a step, and for a claim of steps after it."""
        return self.engine.term(self.part.ground_part(node, {}))

    def after(self, claim: Node | None, goal: Property | None, step: SymbolicStep) -> Term:
        """What is to be true of a step."""
        if claim is None or goal is None:
            return z3.Not(step.misfit)
        term = self.term(claim)
        return (
            self.engine.after_both(term, step) if goal.of_steps else self.engine.after(term, step)
        )


def _read(node: Node) -> set[str]:
    return {part.data[0] for part in graph.below(node) if part.op is Op.READ}


def _written(action: CapturedAction, claim: Node) -> bool:
    return not _read(claim).isdisjoint(write.variable.name for write in action.writes)
