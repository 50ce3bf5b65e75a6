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
from contextlib import suppress
from dataclasses import dataclass, replace

import z3

from checker.core.engines.interchangeable import members_named
from checker.core.engines.symbolic import SymbolicEngine, SymbolicStep, Term
from checker.core.proofs.cutoff.limited import limited
from checker.core.proofs.cutoff.need import NOBODY, Need, RefusedError, Want, all_of
from checker.core.proofs.cutoff.part import Part
from checker.core.proofs.cutoff.result import CutOff, family_of
from checker.core.proofs.cutoff.witnesses import Witnesses
from checker.core.proofs.proof import FITS, FOLLOWS, INITIALLY, Obligation, ProofOutcome
from checker.core.proofs.solvers import Solvers
from checker.core.proofs.unbounded.relevance import Relevance
from model.language import graph
from model.language.capture import CapturedAction
from model.language.declare.domains import Integers
from model.language.errors import UsageError
from model.language.graph import Node, Op
from model.language.lifted import Lifted
from model.language.protocol import Model
from properties import Property

BLANK, BEFORE, AFTER, STEP = "blank", "before", "after", "step"
"""Which state is spoken of. The blank one is what a protocol's beginning is made of."""


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
        on_size: Callable[[int], None] | None = None,
        cross_check: bool = True,
        solvers: Solvers | None = None,
    ) -> None:
        self.model = model
        self.family = family_of(model, bound)
        self.timeout = timeout
        self._on_obligation = on_obligation or (lambda _: None)
        self._on_size = on_size or (lambda _: None)
        self._cross_check = cross_check
        self.proof = CutOff(
            model, tuple(properties), tuple(lemmas), solvers=solvers or Solvers(), bound=bound
        )  # fmt: skip
        self.lifted = Lifted.narrowed(model)
        self.named = 1 + max(self._names(), default=-1)
        self.witnesses = Witnesses(model, self.family)
        self._asked: dict[int, _Asked] = {}
        self._again: list[_Question] = []

    def _names(self) -> Iterator[int]:
        """The numbers of members that actions, claims or the beginning name."""
        for found in members_named(self.model, self.proof.claims):
            if found.family == self.family:
                yield found.member
        for node in graph.below(*(node for w in self.model.start for node in (*w.index, w.value))):
            if graph.names_a_member(node) and node.sort.family == self.family:
                yield node.data

    def run(self) -> CutOff:
        """Work through the obligations; the first that fails, or a limit, ends the proof."""
        with self.proof.made(self._cross_check):
            self._choose_lemmas()
            self._conclusions()
            if self._initially() and self._consecution():
                self._smaller()
                self.proof.outcome = ProofOutcome.PROVED
        return self.proof

    def _smaller(self) -> None:
        """Go down from the cut-off, one number of members after the other, as far as all holds."""
        proof = self.proof
        proof.cut_off = proof.members = max(proof.sizes.values(), default=self.witnesses.least)
        while proof.members > self.model.extents[self.family]:
            members = proof.members - 1
            self._on_size(members)
            self._asked = {n: asked for n, asked in self._asked.items() if n <= members}
            larger = [again for again in self._again if proof.sizes[again.name] > members]
            if any(self._ask(again, members) is not ProofOutcome.PROVED for again in larger):
                return
            proof.members = members

    # --- what may be said --------------------------------------------------------------------

    def _choose_lemmas(self) -> None:
        """Which lemmas can be assumed and shown of a part, and which guards are kept there."""
        self.actions = {a.name: self.lifted.total_action(a) for a in self.model.captured}
        self.guards: dict[str, Need] = {}
        for name, action in list(self.actions.items()):
            if graph.FALSE in action.guards:
                continue
            self.guards[name], kept = NOBODY, []
            for guard in action.guards:
                try:
                    self.guards[name] += self.witnesses.guard(guard, BEFORE)
                    kept.append(guard)
                except RefusedError as error:  # without it there are only more steps
                    self.proof.refused.setdefault(name, str(error))
            self.actions[name] = CapturedAction(name, action.parameters, tuple(kept), action.writes)
        self.claims = {
            prop: self.lifted.now(self.model.claim(prop.claim, prop.frames))
            for prop in self.proof.claims
        }
        chosen = []
        for lemma in self.proof.lemmas:
            try:
                self._broken(lemma, AFTER)
                if not lemma.of_steps:
                    self._assumed(lemma, 1)
                chosen.append(lemma)
            except RefusedError as error:
                self.proof.refused[lemma.name] = str(error)
        self.proof.lemmas = tuple(chosen)
        self.invariants = [lemma for lemma in chosen if not lemma.of_steps]
        self._relevance: Relevance | None = None

    def _broken(self, prop: Property, at: str) -> Need:
        """Whom a claim is false of."""
        return self.witnesses.claim(self.claims[prop], Want.DOWN, STEP if prop.of_steps else at)

    def _assumed(self, prop: Property, core: int) -> tuple[Node, Need]:
        """What may be assumed of a claim that is true, of all members or of the core alone."""
        claim = self.claims[prop]
        try:
            return claim, self.witnesses.claim(claim, Want.UP, BEFORE)
        except RefusedError:
            ours = limited(claim, self.family, core)
            return ours, self.witnesses.claim(ours, Want.UP, BEFORE, core)

    # --- obligations -------------------------------------------------------------------------

    def _conclusions(self) -> None:
        """Which properties follow from the lemmas; the others must be inductive with them."""
        for prop in self.proof.properties:
            if prop.of_steps or prop in self.invariants:
                continue
            what = Obligation(FOLLOWS, prop.name)
            self._settle(what, prop)
            if what.outcome is not ProofOutcome.PROVED:
                what.outcome, what.reason = ProofOutcome.JOINED, ""
                self.proof.sizes.pop((FOLLOWS, prop.name), None)
                self.invariants.append(prop)
            self._report(what)
        self.proof.invariants = tuple(self.invariants)
        with suppress(UsageError):  # a claim within small bounds that names a member who is not
            self._relevance = Relevance(self.model, self.invariants, bounded=True)

    def _initially(self) -> bool:
        for prop in self.invariants:
            what = Obligation(INITIALLY, prop.name)
            self._settle(what, prop)
            if not self._report(what):
                return False
        return True

    def _consecution(self) -> bool:
        for action in self.actions.values():
            if graph.FALSE in action.guards:
                continue
            of_steps = [prop for prop in self.proof.claims if prop.of_steps]
            changed = [p for p in self.invariants if _is_written(action, self.claims[p])]
            for goal in (None, *changed, *of_steps):
                what = Obligation(action.name, FITS if goal is None else goal.name)
                self._settle(what, goal, action)
                if not self._report(what):
                    return False
        return True

    def _settle(
        self, what: Obligation, goal: Property | None, action: CapturedAction | None = None
    ) -> None:
        """Refute that the goal is false, or without one that a value does not fit.

        At first with the lemmas that seem to matter, then with those besides that nobody needs to
        show: whoever shows the others need not be there.
        """
        every = () if what.action == INITIALLY else tuple(filter(self._is_shown, self.invariants))
        core = None
        if self._relevance is not None and action is not None and (goal is None or goal in every):
            core = self._relevance.of_step(action.name, what.lemma)
        choices = [every]
        if core is not None:
            few = tuple(p for p in every if p.name in core)
            free = tuple(p for p in every if p in few or not self._assumed(p, 1)[1].count)
            choices = [few, free, every]
        for known in dict.fromkeys(choices):
            question = _Question(what, goal, action, known)
            try:
                members = self._members(question)
            except RefusedError as error:
                what.reason = str(error)
                return
            self.proof.sizes[question.name] = members
            what.outcome = self._ask(question, members)
            if what.outcome is ProofOutcome.PROVED:
                self._again.append(question)
                return

    def _is_shown(self, prop: Property) -> bool:
        try:
            return bool(self._assumed(prop, 1))
        except RefusedError:
            return False

    def _members(self, question: _Question) -> int:
        """How many members a counterexample has at most. `RefusedError` where there is no limit."""
        what, goal, action = question.what, question.goal, question.action
        need = self._falsified(question)
        core = self._core(question)
        need += all_of(self._assumed(prop, core)[1] for prop in question.known)
        if what.action == INITIALLY:
            need += all_of(self.witnesses.write(write, BLANK) for write in self.model.start)
        if action is not None:
            read = None if goal is None else self.claims[goal]
            need += self.guards[action.name] + self._assigned(action, read)
        taking = core - self._falsified(question).count
        return max(taking + need.count, self.witnesses.least)

    def _core(self, question: _Question) -> int:
        """How many members have a name, take the step, or are those whom the goal is false of."""
        action = question.action
        taking = 0 if action is None else sum(map(self._is_member, action.parameters))
        return self.named + taking + self._falsified(question).count

    def _falsified(self, question: _Question) -> Need:
        """Whom the goal is false of; without one, where a value does not fit: in loops."""
        if question.goal is not None:
            return self._broken(question.goal, BEFORE if question.action is None else AFTER)
        assert question.action is not None
        loops = [sum(map(self._is_member, w.binders)) for w in question.action.writes]
        return Need(more=max(loops, default=0))

    def _assigned(self, action: CapturedAction, claim: Node | None) -> Need:
        """Who shows what is assigned to what the claim reads; without one, that it fits."""
        needs = []
        for write in action.writes:
            if claim is None:
                is_number = isinstance(write.variable.domain, Integers)
                value = write.value if is_number else write.variable.blank  # any other fits
                needs.append(self.witnesses.write(replace(write, value=value), BEFORE))
            elif write.variable.name in _read(claim):
                needs.append(self.witnesses.write(write, BEFORE))
        return all_of(needs)

    def _is_member(self, variable: Node) -> bool:
        return bool(variable.data[1] == self.family)

    # --- questions ---------------------------------------------------------------------------

    def _ask(self, question: _Question, members: int) -> ProofOutcome:
        """Whether so many members are no counterexample."""
        if members not in self._asked:
            part = Part.of(self.model, members, self.family, self.named, self.actions)
            self._asked[members] = _Asked(part)
        asked, what, core = self._asked[members], question.what, min(self._core(question), members)
        claim = None
        if question.goal is not None:
            claim = asked.term(limited(self.claims[question.goal], self.family, core))
        if what.action == INITIALLY:
            return self._answer(what, [asked.engine.is_initial(), z3.Not(claim)])
        known = (self._assumed(prop, core)[0] for prop in question.known)
        before = [asked.engine.in_domain(), *map(asked.term, known)]
        if question.action is None:
            return self._answer(what, [*before, z3.Not(claim)])
        of_steps = question.goal is not None and question.goal.of_steps
        for step in asked.steps(what.action):
            after = asked.after(claim, of_steps, step)
            if not z3.is_true(after):
                answer = self._answer(what, [*before, step.guard, z3.Not(after)])
                if answer is not ProofOutcome.PROVED:
                    return answer
        return ProofOutcome.PROVED

    def _answer(self, what: Obligation, conditions: list[Term]) -> ProofOutcome:
        """Whether the conditions cannot hold together."""
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


@dataclass(frozen=True)
class _Question:
    """An obligation, with what is known before: a claim of a state, of a step, or that it fits."""

    what: Obligation
    goal: Property | None
    action: CapturedAction | None
    known: tuple[Property, ...]

    @property
    def name(self) -> tuple[str, str]:
        """The obligation's action and lemma."""
        return self.what.action, self.what.lemma


class _Asked:
    """What is asked of so many members."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.engine = SymbolicEngine(part)
        self._steps: dict[str, list[SymbolicStep]] = {}

    def steps(self, action: str) -> list[SymbolicStep]:
        """The steps of an action, one of each kind."""
        if action not in self._steps:
            self._steps[action] = [self.engine.step(ground) for ground in self.part.steps(action)]
        return self._steps[action]

    def term(self, node: Node) -> Term:
        """A claim as a term over the state before a step, and for a claim of steps after it."""
        return self.engine.term(self.part.ground_part(node, {}))

    def after(self, claim: Term, of_steps: bool, step: SymbolicStep) -> Term:
        """What is to be true of a step: the claim, or without one that all values fit."""
        if claim is None:
            return z3.Not(step.misfit)
        return self.engine.after_both(claim, step) if of_steps else self.engine.after(claim, step)


def _read(node: Node) -> set[str]:
    return {part.data[0] for part in graph.below(node) if part.op is Op.READ}


def _is_written(action: CapturedAction, claim: Node) -> bool:
    return not _read(claim).isdisjoint(write.variable.name for write in action.writes)
