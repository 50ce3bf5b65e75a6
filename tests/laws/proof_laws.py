"""The laws of proofs, held against generated protocols: no answer of Z3 is believed unseen.

Whatever a proof settles is looked up on the reference engine: in states that have all the lemmas,
at this size or, for a proof for all sizes, at others too.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from unittest.mock import patch

import z3

from checker.core.engines.reference import ReferenceEngine, State
from checker.core.proofs.bounded.bounded_check import BoundedChecker
from checker.core.proofs.bounded.induction import Induction, InductionOptions
from checker.core.proofs.proof import FITS, INITIALLY, Proof, ProofOutcome
from checker.core.proofs.unbounded import unbounded_proof
from checker.core.proofs.unbounded.instantiate import CHEAP
from model.language import any_of, choose, count, graph, is_none, largest, not_
from model.language.errors import DomainError, UsageError
from model.language.graph import Op
from model.language.lifted import Lifted
from model.language.protocol import Instance, Model
from properties import Property
from tests.laws.generator import Example
from tests.support.proofs import check_lifted_steps, contradict, diagram, states_on_walks
from tests.support.variants import random_states

_DEPTH = 3
_FEW = 30  # states of one depth
_SIZES = ((1, 1, 1), (2, 2, 1), (3, 1, 2))


def claims_of(example: Example) -> list[Property]:
    """The example's properties; those that are false at first, denied."""
    reference = ReferenceEngine(example.model)
    start = reference.initial()
    found = []
    for prop in example.properties:
        if prop.of_steps or reference.holds(prop.claim, start):
            found.append(prop)
        else:
            claim = prop.claim
            found.append(Property(prop.name, "", lambda s, claim=claim: not_(claim(s))))
    return found


# --- bounded checking ---------------------------------------------------------------------------


def bounded_checking_finds_what_there_is(example: Example) -> None:
    """With and without symmetry, the first depth with a violation is the one of plain search."""
    model = of_what_fits_at_first(example.model)
    of_steps = [prop for prop in example.properties if prop.of_steps]
    for claims in ([never_as_last(model)], of_steps):
        check_bounded(model, claims)


def check_bounded(model: Model, claims: list[Property]) -> None:
    """Bounded checking as deep as plain search gets finds what that finds."""
    depth, bad = first_violation(model, claims)
    for symmetry in (False, True):
        found = BoundedChecker(model, claims, symmetry=symmetry).run(depth)
        assert not found.stopped
        if not bad:
            assert (found.violated, found.depth) == (None, depth), f"symmetry {symmetry}"
        else:
            assert found.violated in bad, f"symmetry {symmetry}: {found.violated}, not {bad}"
            assert len(found.steps) == depth, f"symmetry {symmetry}"
            assert found.violated in _broken_at_the_end(model, claims, found.steps)


def of_what_fits_at_first(model: Model) -> Model:
    """The model without the actions that assign what does not fit in the initial state."""
    reference = ReferenceEngine(model)
    steps = list(_steps(reference, reference.initial()))
    bad = {instance.action for instance, after in steps if after is None}
    kept = tuple(action for action in model.protocol.actions if action not in bad)
    protocol = dataclasses.replace(model.protocol, actions=kept or model.protocol.actions)
    return dataclasses.replace(model, protocol=protocol)


_MEASURES: tuple[Callable[[Any], Any], ...] = (
    lambda s: s.n,
    lambda s: s.desk.m,
    lambda s: choose(s.flag, 1, 0),
    lambda s: s.group.size,
    lambda s: count(s.chosen == n for n in s.nodes),
    lambda s: count(n.flag for n in s.nodes),
    lambda s: count(n.x > 0 for n in s.nodes),
    lambda s: count(is_none(n.friend) for n in s.nodes),
    lambda s: count(n.group.is_empty for n in s.nodes),
    lambda s: largest(n.items.end for n in s.nodes),
    lambda s: count(w.mark for w in s.rows),
)
"""What can be said of a state without naming a member."""


def measured(model: Model, state: State) -> tuple[int, ...]:
    """What the measures are in a state."""
    found: list[int] = []

    def note(s: Any) -> bool:
        found.extend(int(measure(s)) for measure in _MEASURES)
        return True

    ReferenceEngine(model).holds(note, state)
    return tuple(found)


def never_as_last(model: Model) -> Property:
    """The claim that no state measures as the one that plain search meets last as a new one."""
    reference = ReferenceEngine(model)
    level = {reference.initial()}
    seen = {measured(model, state): None for state in level}
    for _ in range(_DEPTH):
        if len(level) <= _FEW:
            level = {after for s in level for _, after in _steps(reference, s) if after is not None}
            seen |= {measured(model, state): None for state in sorted(level)}
    pairs = tuple(zip(_MEASURES, list(seen)[-1], strict=True))
    return Property("never_as", "", lambda s: any_of(*(f(s) != value for f, value in pairs)))


def first_violation(model: Model, claims: Iterable[Property]) -> tuple[int, set[str]]:
    """The least depth at which something is broken, and what; or how deep nothing is."""
    reference = ReferenceEngine(model)
    level, of_steps = {reference.initial()}, set[str]()
    for depth in range(_DEPTH + 1):
        steps = [(s, *found) for s in level for found in _steps(reference, s)]
        bad = {FITS for *_, after in steps if after is None}
        bad |= {c.name for c in claims if not c.of_steps for s in level if not _holds(model, c, s)}
        bad |= of_steps
        if bad or depth == _DEPTH or len(steps) > _FEW:
            return depth, bad
        moves = [(before, after) for before, _, after in steps if after is not None]
        of_steps = {c.name for c in claims if c.of_steps for m in moves if not _holds(model, c, *m)}
        level = {after for _, after in moves}
    raise AssertionError("the last depth returns")


def _broken_at_the_end(
    model: Model, claims: Iterable[Property], run: Iterable[Instance]
) -> set[str]:
    """What is broken in the last state of a run, in its last step, or in a step from there."""
    reference = ReferenceEngine(model)
    states = [reference.initial()]
    for step in run:
        after = reference.step(states[-1], step)
        assert after is not None, f"{step} is not enabled"
        states.append(after)
    ends = [(c, states[-c.frames :]) for c in claims]
    broken = {c.name for c, end in ends if len(end) == c.frames and not _holds(model, c, *end)}
    misfit = any(after is None for _, after in _steps(reference, states[-1]))
    return broken | ({FITS} if misfit else set())


# --- induction ----------------------------------------------------------------------------------


def induction_settles_what_is_so(example: Example) -> None:
    """What is proved holds in all states with the lemmas; what is not has a counterexample."""
    claims = claims_of(example)
    outcomes = set()
    for symmetry in (False, True):
        options = InductionOptions(5.0, symmetry)
        proof = Induction(example.model, claims[1:], claims[:1], options).run()
        check_settled(proof, example.model)
        check_counterexample(proof)
        outcomes.add(proof.outcome)
    assert len(outcomes - {ProofOutcome.UNKNOWN}) <= 1, "symmetry changes the outcome"


def check_counterexample(proof: Proof) -> None:
    """The state has all that was to be preserved, and the step breaks what it is said to break."""
    found = proof.counterexample
    assert (found is not None) is (proof.outcome is ProofOutcome.NOT_INDUCTIVE)
    if found is None:
        return
    reference = ReferenceEngine(proof.model)
    (before,) = found.states
    by_name = {prop.name: prop for prop in (*proof.lemmas, *proof.properties)}
    if found.instance is None:
        assert before == reference.initial()
        assert not _holds(proof.model, by_name[found.lemma], before)
        return
    assert all(_holds(proof.model, prop, before) for prop in proof.invariants)
    try:
        after = reference.step(before, found.instance)
    except DomainError:
        assert found.lemma == FITS
        return
    assert after is not None, "the step is not enabled"
    prop = by_name[found.lemma]
    assert not _holds(proof.model, prop, *(before, after)[-prop.frames :])


def check_settled(proof: Proof, model: Model) -> None:
    """Each obligation that counts as proved is so in many states of `model`.

    With sizes open, of states in which blank is what stays so.
    """
    hypotheses = proof.invariants if not proof.unbounded else proof.lemmas
    blank = Lifted.narrowed(proof.model).blank if proof.unbounded else {}
    states = [
        tuple(
            cell.blank if cell.variable.name in blank else number
            for cell, number in zip(model.cells, state, strict=True)
        )
        for state in random_states(model, 40, 8)
    ]
    states += states_on_walks_that_fit(model)
    states = [s for s in states if all(_holds(model, prop, s) for prop in hypotheses)]
    claims = {prop.name: prop for prop in (*proof.lemmas, *proof.properties)}
    reference = ReferenceEngine(model)
    for what in proof.obligations:
        if what.outcome is not ProofOutcome.PROVED:
            continue
        if what.action == INITIALLY:
            holds = what.lemma == FITS or _holds(model, claims[what.lemma], reference.initial())
            assert holds, f"{what.lemma} is false initially"
        elif what.action == "lemmas imply it":
            lemmas = [s for s in states if all(_holds(model, p, s) for p in proof.lemmas)]
            assert all(_holds(model, claims[what.lemma], s) for s in lemmas), what
        else:
            names = {what.lemma} if what.lemma else {FITS, *(p.name for p in proof.invariants)}
            names |= set() if what.lemma else {p.name for p in claims.values() if p.of_steps}
            for state in states:
                for instance, after in _steps(reference, state):
                    if instance.action.name != what.action:
                        continue
                    assert not (what.vacuous and not proof.unbounded), f"{instance} is enabled"
                    broken = {FITS} if after is None else {
                        name for name in names - {FITS}
                        if not _holds(model, claims[name], *(state, after)[-claims[name].frames :])
                    }  # fmt: skip
                    assert not broken & names, f"{instance} in {state} breaks {broken & names}"


# --- proofs for all sizes -----------------------------------------------------------------------


def lifted_steps_are_steps(example: Example) -> None:
    """A lifted claim after an action is the claim in the state that the reference engine gives."""
    claims = [prop for prop in example.properties if not prop.of_steps]
    check_lifted_steps(example.model, random_states(example.model, 6, 9), claims)


def what_stays_blank_at_all_sizes_stays_blank(example: Example) -> None:
    """It does at this size; and what is simplified by it says the same of what is reachable."""
    model = dataclasses.replace(example.model, narrow=True)
    narrowed = Lifted.narrowed(model)
    claims = [prop for prop in example.properties if not prop.of_steps]
    assert narrowed.blank.keys() <= model.unchanging.keys()
    check_lifted_steps(model, states_on_walks_that_fit(model), claims, narrowed)


def clauses_say_what_is_so(example: Example) -> None:
    """Together with all that there is to say of a state, the clauses of a claim decide it.

    Of a claim about majorities they may leave it open.
    """
    model, lifted = example.model, Lifted.of(example.model)
    claims = [prop for prop in example.properties if not prop.of_steps]
    for state, prop in itertools.product(random_states(model, 2, 10), claims):
        known = list(diagram(model, state))
        holds = _holds(model, prop, state)
        captured = model.claim(prop.claim)
        claim = lifted.now(captured)
        for node, so in ((claim, holds), (graph.negation(claim), not holds)):
            try:
                answer = contradict(lifted, model.bounds, [*known, node])
            except UsageError:
                continue  # it counts members
            assert not so or answer != z3.unsat, f"{prop.name} in {state}"
            counts = any(part.op is Op.MAJORITY for part in graph.below(claim))
            assert so or counts or answer != z3.sat, f"{prop.name} in {state}"


def proofs_for_all_sizes_are_right(example: Example) -> None:
    """What is proved for all sizes holds at several, in all states with the lemmas."""
    lemmas = [prop for prop in claims_of(example) if not prop.of_steps]
    with patch.multiple(unbounded_proof, CHEAP=CHEAP[:2], DEAR=()):
        try:
            proof = unbounded_proof.UnboundedInduction(example.model, (), lemmas, 0.3).run()
        except UsageError:
            return  # a rule counts members
    for nodes, rows, size in _SIZES:
        bounds = {"nodes": nodes, "rows": rows, "size": size}
        check_settled(proof, dataclasses.replace(example.model, bounds=bounds))


# --- the reference engine -----------------------------------------------------------------------


def _holds(model: Model, prop: Property, *states: State) -> bool:
    return ReferenceEngine(model).holds(prop.claim, *states)


def _steps(reference: ReferenceEngine, state: State) -> Iterator[tuple[Instance, State | None]]:
    """Every enabled instance with the state after it; `None` where a value does not fit."""
    for instance in reference.model.instances:
        try:
            after = reference.step(state, instance)
        except DomainError:
            yield instance, None
            continue
        if after is not None:
            yield instance, after


def states_on_walks_that_fit(model: Model) -> list[State]:
    """States that a walk passes, as far as the values fit."""
    try:
        return states_on_walks(model, 8)
    except DomainError:
        return []


PROOF_LAWS = (
    bounded_checking_finds_what_there_is,
    induction_settles_what_is_so,
    lifted_steps_are_steps,
    what_stays_blank_at_all_sizes_stays_blank,
    clauses_say_what_is_so,
    proofs_for_all_sizes_are_right,
)
