"""Induction with sizes left open: for any number of members, and for every value of the bounds.

From the same captured actions and lemmas as the proof within bounds. A claim after an action is the
claim with its reads replaced by what the action leaves there, so it speaks of the state before. Its
negation and the hypotheses, instantiated with finitely many terms, go to Z3: `unsat` is a proof.
That guards can hold together with the lemmas is shown by a state within the model's bounds.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

import z3

from checker.core.engines.unbounded import UnboundedTerms
from checker.core.proofs.proof import FITS, FOLLOWS, INITIALLY, Obligation, Proof, ProofOutcome
from checker.core.proofs.solvers import Solvers
from checker.core.proofs.unbounded.by_need import ByNeed, Terms
from checker.core.proofs.unbounded.clauses import (
    Clause,
    Clauses,
    with_definitions,
)
from checker.core.proofs.unbounded.instances import Assumed
from checker.core.proofs.unbounded.instantiate import (
    CHEAP,
    DEAR,
    SHALLOW,
    Pools,
    Strategy,
    by_need_first,
    ground,
    roles,
)
from checker.core.proofs.unbounded.owed import may_break, owed
from checker.core.proofs.unbounded.parts import conjuncts
from checker.core.proofs.unbounded.refuting import Refuter
from checker.core.proofs.unbounded.relevance import Relevance
from checker.core.proofs.unbounded.told_apart import told_apart, written
from model.language import graph
from model.language.capture import CapturedAction
from model.language.errors import UsageError
from model.language.graph import Node, Op
from model.language.lifted import Lifted
from model.language.protocol import Model
from properties import Property

Choice = tuple[frozenset[str], list[Clause]]
"""Hypotheses, and the names of the lemmas among them."""


class UnboundedInduction:
    """One proof for all sizes: `run` returns it. `timeout` is in seconds, for each query.

    What a bound of 0 switches off in the model stays off; all other bounds are open.
    """

    def __init__(
        self,
        model: Model,
        properties: Iterable[Property],
        lemmas: Iterable[Property],
        timeout: float = 20.0,
        on_obligation: Callable[[Obligation], None] | None = None,
        *,
        cross_check: bool = True,
        solvers: Solvers | None = None,
    ) -> None:
        self.model = model
        self._cross_check = cross_check
        self.timeout = timeout
        self._on_obligation = on_obligation or (lambda _: None)
        self._settled: dict[tuple[str, str], tuple[Obligation, frozenset[str]]] = {}
        self.lifted = Lifted.narrowed(model)
        minima = {bound.name: bound.minimum for bound in model.protocol.bounds}
        self.terms = UnboundedTerms(self.lifted, minima)
        solvers = solvers or Solvers()
        self.proof = Proof(model, tuple(properties), tuple(lemmas), unbounded=True, solvers=solvers)
        self._refuter = Refuter(self.terms, solvers, timeout)
        for prop in self.proof.claims:
            if prop.of_steps:
                raise UsageError(
                    f"{prop.name} is about steps: proofs for all sizes are of claims about every "
                    "state; choose them with --property"
                )

    def run(self) -> Proof:
        """Work through all obligations. There are no counterexamples: what fails is unknown.

        At first with little effort. A lemma that resists is left out, if a proof within small
        bounds goes without it; else no effort is spared. What a limit leaves is unknown.
        """
        with self.proof.made(self._cross_check):
            self.relevance = Relevance(self.model, filter(self._can_be_said, self.proof.lemmas))
            joined = self._join()
            try:
                self._try_all()
            finally:
                settled = (what for what, _ in self._settled.values())
                self.proof.obligations = [*joined, *settled]
            if not self._resisting():
                self._list_certificates()
                self.proof.outcome = ProofOutcome.PROVED
        return self.proof

    def _join(self) -> list[Obligation]:
        """What does not follow from the lemmas has to be inductive with them, as within bounds."""
        open_ones = [
            prop
            for prop in self.proof.properties
            if prop not in self.proof.lemmas and self.relevance.of_property(prop) is None
        ]
        if open_ones:
            self.proof.lemmas = (*self.proof.lemmas, *open_ones)
            self.relevance = Relevance(self.model, filter(self._can_be_said, self.proof.lemmas))
        return [Obligation(FOLLOWS, prop.name, ProofOutcome.JOINED) for prop in open_ones]

    def _list_certificates(self) -> None:
        """Write what each certificate is of. `RuntimeError` if one is missing."""
        solvers = self.proof.solvers
        if solvers.certificates is None:
            return
        for what in owed(self.model, self.proof.properties, self.claims):
            if what not in solvers.certified:
                raise RuntimeError(f"{': '.join(what)} has no certificate")
        solvers.certificates.list_obligations(solvers.certified)

    def _try_all(self) -> None:
        cheap, dear = (*SHALLOW, *CHEAP), DEAR
        if self.proof.solvers.wants_few:
            cheap, dear = by_need_first(cheap), by_need_first(dear)
        if self.proof.solvers.certificates is not None:
            cheap, dear = ground(cheap), ground(dear)
        self._attempt(cheap)
        while self._resisting() and self._can_do_without(self._resisting()):
            self._attempt(cheap)
        if self._resisting():
            self._attempt(dear)

    def _attempt(self, strategies: tuple[Strategy, ...]) -> None:
        """Prove what is not settled yet, with the lemmas that are needed now."""
        self._strategies = strategies
        needed = self.relevance.needed(self.proof.properties) if self.proof.properties else None
        known = self.relevance.names if needed is None else needed
        self.proof.lemmas = tuple(lemma for lemma in self.proof.lemmas if lemma.name in known)
        self._before, self._settled = self._settled, {}
        self._prepare()
        self._conclusions()
        self._initially()
        for action in self.model.captured:
            self._consecution(self.lifted.total_action(action))

    def _resisting(self) -> set[str]:
        """The lemmas, and other claims, of which some obligation could not be proved."""
        settled = (obligation for obligation, _ in self._settled.values())
        return {o.lemma for o in settled if o.outcome is not ProofOutcome.PROVED}

    def _can_do_without(self, names: set[str]) -> bool:
        """Never where no property says what the lemmas are for: then all are to be proved."""
        if not self.proof.properties or not names <= self.relevance.names:
            return False
        return self.relevance.do_without(names, self.proof.properties)

    def _claim(self, prop: Property) -> Node:
        return self.model.claim(prop.claim, prop.frames)

    def _can_be_said(self, lemma: Property) -> bool:
        """The lemma does not count members, which is not possible with sizes open."""
        try:
            Clauses(self.lifted).of(self.lifted.now(self._claim(lemma)))
        except UsageError:
            return False
        return True

    def _prepare(self) -> None:
        """The hypotheses as clauses: domains, bounds, lemmas."""
        self.claims = {lemma: self._claim(lemma) for lemma in self.proof.lemmas}
        self.proof.invariants = tuple(self.claims)
        self.roles = roles(
            self.lifted, [self._claim(p) for p in self.proof.properties] + [*self.claims.values()]
        )
        sizes = [
            graph.at_most(graph.constant(b.minimum), graph.bound(b.name))
            for b in self.model.protocol.bounds
        ]
        sizes += [
            graph.equal(graph.bound(name), graph.constant(size))
            for name, size in self.proof.bounds.items()
        ]
        sizes += told_apart(self.lifted, [*self.claims.values(), *written(self.model.captured)])
        self.sizes = sizes
        self.base = Clauses(self.lifted)
        self.hypotheses: list[Clause] = []
        for node in (*sizes, *map(self.lifted.now, self.lifted.domains())):
            self.hypotheses += self.base.of(node)
        self.clauses = {
            lemma.name: [clause for part in self._parts(claim) for clause in self.base.of(part)]
            for lemma, claim in self.claims.items()
        }

    def _parts(self, claim: Node) -> Iterable[Node]:
        """What a lemma says before a step; if of majorities, in parts that are used by themselves.

        A use of a majority in one part need not lead to what another part says.
        """
        now = self.lifted.now(claim)
        is_split = any(node.op is Op.MAJORITY for node in graph.below(now))
        return conjuncts(now, named=False) if is_split else (now,)

    # --- obligations -------------------------------------------------------------------------

    def _conclusions(self) -> None:
        nothing = CapturedAction("", (), (), ())
        for prop in self.proof.properties:
            if prop in self.claims:
                continue
            what = Obligation(FOLLOWS, prop.name)
            goal = self.lifted.now(self._claim(prop))
            hypotheses = self._choices(self.relevance.of_property(prop))
            self._prove(what, nothing, self.base.extended(), hypotheses, goal)

    def _initially(self) -> None:
        nothing = CapturedAction("", (), (), ())
        sizes = [clause for node in self.sizes for clause in self.base.of(node)]
        goals = {FITS: graph.conjunction(*self.lifted.domains())}
        goals |= {prop.name: claim for prop, claim in self.claims.items()}
        for name, claim in goals.items():
            what = Obligation(INITIALLY, name)
            goal = self.lifted.initially(claim, self.model.start)
            self._prove(what, nothing, self.base.extended(), [(frozenset(), sizes)], goal)

    def _consecution(self, action: CapturedAction) -> None:
        clauses = self.base.extended(action.parameters)
        clauses.follow(action)
        enabled = [self.lifted.within(p, p.data[1]) for p in action.parameters]
        # What settings switch off is not said in full: it may count members.
        said = (graph.FALSE,) if graph.FALSE in action.guards else action.guards
        guards = [clause for node in (*enabled, *said) for clause in clauses.of(node)]
        misfit = graph.disjunction(*(self.lifted.misfits(w) for w in action.writes))
        goals = {FITS: graph.negation(misfit)}
        for prop, claim in self.claims.items():
            after = self.lifted.after(claim, action)
            # The action writes what the lemma reads; if what it writes is switched off, it is the
            # same as before, and that is worth a certificate but no question.
            is_certified = self.proof.solvers.certificates is not None
            if after is not self.lifted.now(claim) or (is_certified and may_break(action, claim)):
                goals[prop.name] = after
        never_enabled = self.relevance.never_enabled(action.name)
        for name, goal in goals.items():
            what = Obligation(action.name, name, vacuous=never_enabled)
            hypotheses = self._choices(self.relevance.of_step(action.name, name), guards)
            self._prove(what, action, clauses.extended(), hypotheses, goal)

    def _choices(
        self, relevant: frozenset[str] | None, guards: Iterable[Clause] = ()
    ) -> list[Choice]:
        """The hypotheses to try: with the lemmas that seem relevant, then with all."""
        given = [*self.hypotheses, *guards]
        names = [frozenset(self.clauses)]
        if relevant is not None:
            names.insert(0, relevant & names[0])
        return [
            (chosen, given + [clause for name in sorted(chosen) for clause in self.clauses[name]])
            for chosen in names
        ]

    def _prove(
        self,
        what: Obligation,
        action: CapturedAction,
        clauses: Clauses,
        choices: list[Choice],
        goal: Node,
    ) -> None:
        """Refute the goal's negation together with one of the choices of hypotheses."""
        key = what.action, what.lemma
        before, rested_on = self._before.get(key, (what, frozenset({""})))
        if before.outcome is ProofOutcome.PROVED and rested_on <= self.clauses.keys():
            self._settled[key] = before, rested_on
            return
        started, refuter = time.perf_counter(), self._refuter
        # Where nothing is of majorities, parts cost more than they save.
        parts = conjuncts(goal) if clauses.has_majorities else [goal]
        left = [clauses.of(graph.negation(part)) for part in parts]
        assumed = self._assumed(clauses, choices, left)
        pools: dict[tuple[int, frozenset[str]], Pools] = {}
        tried: set[tuple[Pools, Strategy]] = set()
        rested_on = frozenset()
        for strategy, (names, hypotheses) in itertools.product(self._strategies, choices):
            for negated in list(left):
                place = id(negated), names
                if place not in pools:
                    defined = with_definitions([*hypotheses, *negated], clauses.definitions)
                    given = [clause for clause in defined if clause not in negated]
                    pools[place] = Pools(self.lifted, action, self.roles, given, negated)
                rank = pools[place].rank
                this = replace(strategy, rank=min(strategy.rank, rank))
                if (pools[place], this) in tried or (strategy in SHALLOW and not rank):
                    continue
                tried.add((pools[place], this))
                used = names
                if this.by_need is None:
                    result, what.instances = refuter.of_terms(pools[place], this, what, assumed)
                elif names == choices[0][0] and not clauses.has_majorities:
                    every = with_definitions([*negated, *choices[-1][1]], clauses.definitions)
                    own = self.clauses[what.lemma] if what.lemma in choices[-1][0] else []
                    first = [*pools[place].clauses, *own]
                    need = self._need(action, first, every)
                    result, what.instances = refuter.by_need(need, this.by_need, what, assumed)
                    used = self._names(need.used)
                else:
                    continue
                what.queries += 1
                if result == z3.unsat:
                    left.remove(negated)
                    rested_on |= used
                elif result == z3.unknown:
                    what.reason = self.proof.solvers.gave_up or "too many instances"
                else:
                    what.reason = "the instances do not suffice"
            if not left:
                what.outcome, what.reason = ProofOutcome.PROVED, ""
                break
        what.seconds = time.perf_counter() - started
        self._settled[key] = what, rested_on
        self._on_obligation(what)

    def _assumed(
        self, clauses: Clauses, choices: list[Choice], negated: Iterable[list[Clause]]
    ) -> Assumed:
        """What may lead to a refutation of each part of the goal, negated."""
        every = itertools.chain(*negated, *(hypotheses for _, hypotheses in choices))
        return Assumed(self.terms, with_definitions([*every], clauses.definitions))

    def _need(self, action: CapturedAction, first: list[Clause], every: list[Clause]) -> ByNeed:
        """A refutation of every clause, of which some seem to matter."""
        values = {role.name: role.over for role in self.roles}
        first = list(dict.fromkeys(first))
        known = set(first)
        then = [clause for clause in every if clause not in known]
        return ByNeed(self.lifted, self.terms, Terms(self.lifted, action, values), first, then)

    def _names(self, used: set[Clause]) -> frozenset[str]:
        """The lemmas that clauses are of."""
        found = {name for name, clauses in self.clauses.items() if not used.isdisjoint(clauses)}
        return frozenset(found)
