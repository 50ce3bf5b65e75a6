"""Protocols of a few lines on which a prover could go wrong, with the answers of plain search."""

from __future__ import annotations

import itertools

import pytest
import z3

from checker.core.engines.reference import ReferenceEngine
from checker.core.proofs import solvers
from checker.core.proofs.bounded.bounded_check import BoundedChecker, lemmas_that_hold
from checker.core.proofs.bounded.induction import Induction, InductionOptions
from checker.core.proofs.bounded.precedence import Precedence
from checker.core.proofs.cutoff.cut_off import CutOffProof
from checker.core.proofs.proof import ProofOutcome
from checker.core.proofs.solvers import Solver, Solvers
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from checker.core.search.explore import Explorer
from checker.core.verdict import Verdict
from model.language import (
    Annotated,
    Members,
    Record,
    Sequence,
    State,
    action,
    every,
    implies,
    integers,
    members,
    not_,
    require,
    sequence,
)
from model.language.errors import LimitError, UsageError
from properties import Property, Sense
from tests.support.school import (
    MANY,
    Pupil,
    School,
    high_is_low,
    lead,
    low_is_below,
    meet,
    more,
    never,
    nobody_leads,
    nobody_who_met_leads,
    not_all_lead,
    protocol,
    rise,
    three_have_met,
    two_have_met,
)

# --- bounded checking finds what search finds ---------------------------------------------------

ORDERS = [
    (meet, lead),
    (lead, meet),
    (never, meet, lead, rise),
    (rise, meet, never, lead),
    (meet, rise, lead),
]
CLAIMS = [
    nobody_leads,
    not_all_lead,
    two_have_met,
    three_have_met,
    nobody_who_met_leads,
    high_is_low,
]


@pytest.mark.parametrize("actions", ORDERS, ids=lambda found: " ".join(a.name for a in found))
@pytest.mark.parametrize("many", [2, 3])
def test_instances_that_can_never_be_taken_do_not_shift_the_others(actions, many):
    model = protocol(*actions).model({"many": many})
    for prop in CLAIMS:
        violations = Explorer(model, [prop]).run().violations
        for symmetry in (False, True):
            found = BoundedChecker(model, [prop], symmetry=symmetry).run(4)
            depth = violations[0].depth if violations else 4
            assert (found.violated is not None) is bool(violations), (prop.name, symmetry)
            assert (len(found.steps) if found.violated else found.depth) == depth


def renamed(steps):
    """The run with members numbered as they appear."""
    numbers: dict[int, int] = {}
    return tuple(
        (step.action.name, *(numbers.setdefault(a, len(numbers)) for a in step.arguments))
        for step in steps
    )


@pytest.mark.parametrize("length", [1, 2, 3])
def test_one_run_of_each_class_is_searched_and_every_class_is(length):
    model = protocol(never, meet, lead).model()
    precedence = Precedence(model, "pupils")
    reference = ReferenceEngine(model)
    start = reference.initial()
    possible = [i for i in model.instances if reference.step(start, i) is not None]
    classes = {renamed(run) for run in itertools.product(possible, repeat=length)}

    searched = [renamed(run) for run in all_runs(model, precedence, possible, length)]

    assert sorted(searched) == sorted(classes)  # each once


def all_runs(model, precedence, possible, length):
    """Every run of the possible steps that is not left to a renaming of it."""
    selectors = [z3.BitVec(f"selector{frame}", 8) for frame in range(length)]
    solver = z3.Solver()
    for frame, selector in enumerate(selectors):
        solver.add(z3.Or([selector == step.number for step in possible]))
        solver.add(precedence.step(selector, frame))
    while solver.check() == z3.sat:
        numbers = [solver.model()[selector].as_long() for selector in selectors]
        yield [model.instances[number] for number in numbers]
        solver.add(z3.Or([s != n for s, n in zip(selectors, numbers, strict=True)]))


# --- what tells members apart -------------------------------------------------------------------


class Desk(Record):
    """Where nothing is, it is the first member's."""

    owner: Pupil = 0  # type: ignore[assignment]  # the first member


class Room(State):
    """A member is named only by what a read out of range gives."""

    pupils: Members[Pupil] = members(MANY)
    desks: Sequence[Desk] = sequence(1)
    place: Annotated[int, integers(0, 9)] = 5
    bad: bool = False


@action("{m} sits elsewhere")
def sit_elsewhere(s: Room, m: Pupil) -> None:
    """All but the first member can."""
    require(m != s.desks[s.place].owner)

    s.bad = True


@action("the place is moved")
def move_place(s: Room) -> None:
    """Both places are out of range."""
    s.place = 6


@pytest.mark.parametrize("symmetry", [True, False])
def test_a_blank_value_that_names_a_member_tells_it_apart(symmetry):
    model = protocol(sit_elsewhere, move_place, state=Room).model()
    fine = Property("fine", "", lambda s: not_(s.bad))
    beyond = Property("beyond", "", lambda s: s.place > 1)
    assert Explorer(model, [fine]).run().verdict is Verdict.VIOLATED

    proof = Induction(model, [fine, beyond], (), InductionOptions(symmetry=symmetry)).run()

    assert proof.verdict is Verdict.NOT_INDUCTIVE
    assert BoundedChecker(model, [fine], symmetry=symmetry).run(2).verdict is Verdict.VIOLATED


@action("{m} follows")
def follow(s: School, m: Pupil) -> None:
    """Only members that do not lead can."""
    require(not_(m.led))

    m.met = True


def the_first_leads(s: School) -> None:
    """A start that tells members apart."""
    s.pupils[0].led = True


@pytest.mark.parametrize("symmetry", [True, False])
def test_an_initial_state_that_tells_members_apart_is_not_renamed(symmetry):
    model = protocol(follow, start=the_first_leads).model()
    nobody_met = Property("nobody_met", "", lambda s: every(not_(m.met) for m in s.pupils))

    found = BoundedChecker(model, [nobody_met], symmetry=symmetry).run(2)

    assert (found.violated, len(found.steps)) == ("nobody_met", 1)


# --- claims about steps -------------------------------------------------------------------------

GROWS = Property("grows", "", lambda before, after: before.low <= after.low, of_steps=True)
LEAPS = Property(
    "leaps", "", lambda before, after: implies(before.low != after.low, after.low != 4),
    of_steps=True,
)  # fmt: skip


@pytest.mark.parametrize(("as_lemma", "needs"), [(True, True), (True, False), (False, True)])
def test_a_claim_about_steps_is_asked_of_every_step(as_lemma, needs):
    """`rise` by 2 from 0 passes 4: that needs no lemma to fail, and `grows` none to hold."""
    model = protocol(rise, lead).model()
    lemmas = [low_is_below] if needs else []

    for prop, outcome in ((GROWS, ProofOutcome.PROVED), (LEAPS, ProofOutcome.NOT_INDUCTIVE)):
        given = ([], [*lemmas, prop]) if as_lemma else ([prop], lemmas)
        proof = Induction(model, *given).run()
        assert proof.outcome is outcome, proof.counterexample
        if outcome is ProofOutcome.NOT_INDUCTIVE:
            assert proof.counterexample is not None
            assert proof.counterexample.lemma == "leaps"


@pytest.mark.parametrize(
    ("symmetry", "solver"), [(True, Solver.Z3), (False, Solver.Z3), (True, Solver.CVC5)]
)
def test_a_claim_about_steps_is_checked_at_its_depth(symmetry, solver):
    model = protocol(rise, lead).model()
    with Solvers(solver) as asked:
        found = BoundedChecker(model, [LEAPS], symmetry=symmetry, solvers=asked).run(4)

    assert (found.violated, [str(s) for s in found.steps]) == ("leaps", ["rise(number=2)"] * 2)


# --- what the solver is asked -------------------------------------------------------------------


@action("{a} greets {b}")
def greet(s: School, a: Pupil, b: Pupil) -> None:
    """Only a member that greets itself has not met."""
    b.met = a != b


@pytest.mark.parametrize("symmetry", [True, False])
def test_two_members_are_not_one_twice(symmetry):
    model = protocol(greet).model()
    nobody_met = Property("nobody_met", "", lambda s: every(not_(m.met) for m in s.pupils))

    proof = Induction(model, [nobody_met], (), InductionOptions(symmetry=symmetry)).run()

    assert proof.outcome is ProofOutcome.NOT_INDUCTIVE


@pytest.mark.parametrize("symmetry", [True, False])
def test_values_have_to_fit_in_every_run(symmetry):
    model = protocol(more).model()

    found = BoundedChecker(model, (), symmetry=symmetry).run(4)

    assert (found.violated, len(found.steps)) == ("values_fit", 2)
    assert Induction(model, (), ()).run().outcome is ProofOutcome.NOT_INDUCTIVE


def test_what_can_never_be_taken_is_said_and_nothing_else():
    proof = Induction(protocol(never, meet, rise).model(), (), [low_is_below]).run()

    assert proof.outcome is ProofOutcome.PROVED
    assert proof.never_enabled == ["never"]


# --- a solver that gives up ---------------------------------------------------------------------


class GivesUp:
    """Z3, which answers so many questions and then none."""

    def __init__(self, answers: int) -> None:
        self.left = answers
        self.asked = 0

    def __call__(self, solver, *assumptions):
        self.asked += 1
        answer = solver.check(*assumptions)
        self.left -= 1
        return answer if self.left >= 0 else z3.unknown


def attempts(kind):
    """A proof that succeeds."""
    model = protocol(rise, lead).model()
    fine = Property("fine", "", lambda s: s.low < s.high + 1)
    if kind == "induction":
        return lambda: Induction(model, [fine], [low_is_below, GROWS]).run()
    if kind == "bounded":
        return lambda: BoundedChecker(model, [fine]).run(3)
    if kind == "cut-off":
        return lambda: CutOffProof(model, "many", [fine], [low_is_below]).run()
    return lambda: UnboundedInduction(model, [fine], [low_is_below]).run()


@pytest.mark.usefixtures("little_effort")
@pytest.mark.parametrize("kind", ["induction", "bounded", "unbounded"])
def test_a_solver_that_gives_up_before_the_end_proves_nothing(kind, monkeypatch):
    attempt = attempts(kind)
    whole = GivesUp(10_000)
    monkeypatch.setattr(solvers, "ask", whole)
    assert attempt().verdict in (Verdict.PROVED, Verdict.BOUNDED)

    for answers in range(whole.asked):
        monkeypatch.setattr(solvers, "ask", GivesUp(answers))
        assert attempt().verdict is Verdict.UNKNOWN, answers


def test_lemmas_that_the_solver_does_not_settle_do_not_count_as_holding(monkeypatch):
    model = protocol(rise, lead).model()
    assert lemmas_that_hold(model, [nobody_leads, low_is_below]) == (low_is_below,)

    monkeypatch.setattr(solvers, "ask", GivesUp(0))
    assert lemmas_that_hold(model, [nobody_leads, low_is_below]) == ()


class Ends(GivesUp):
    """Z3, which answers so many questions, and then a limit comes."""

    def __call__(self, solver, *assumptions):
        if self.left == 0:
            raise LimitError("stopped by the limit of 0 seconds", "the limit of 0 seconds")
        return super().__call__(solver, *assumptions)


@pytest.mark.parametrize("kind", ["induction", "unbounded", "cut-off"])
def test_a_limit_ends_a_proof_with_what_was_settled_before(kind, monkeypatch):
    attempt = attempts(kind)
    whole = Ends(10_000)
    monkeypatch.setattr(solvers, "ask", whole)
    every_one = [(o.action, o.lemma) for o in attempt().obligations]

    told = []
    for answers in range(1, whole.asked):
        monkeypatch.setattr(solvers, "ask", Ends(answers))
        found = attempt()
        assert (found.verdict, found.stopped) == (Verdict.UNKNOWN, "the limit of 0 seconds")
        told.append([(o.action, o.lemma) for o in found.obligations])
    assert all(every_one[: len(some)] == some for some in told)
    assert 0 < len(told[0]) < len(told[-1]) < len(every_one)

    monkeypatch.setattr(solvers, "ask", Ends(0))
    with pytest.raises(LimitError):
        attempt()


def test_a_limit_says_nothing_of_the_lemmas_that_were_not_settled(monkeypatch):
    model = protocol(rise, lead).model()
    monkeypatch.setattr(solvers, "ask", Ends(1))  # a proof says how far it came
    with pytest.raises(LimitError, match="limit of 0 seconds before it was known which lemmas"):
        lemmas_that_hold(model, [low_is_below])


# --- claims that a proof cannot take ------------------------------------------------------------


@pytest.mark.parametrize("prover", [Induction, BoundedChecker, UnboundedInduction])
def test_two_claims_of_one_name_are_refused(prover):
    """A proof tells claims by name: the one would count as proved with the other."""
    model = protocol(rise).model()
    fine = Property("fine", "", lambda s: s.low <= 9)
    wrong = Property("fine", "", lambda s: s.low > 9)
    fits = Property("values_fit", "", lambda s: s.low > 9)
    witness = Property("risen", "", lambda s: s.low > 0, Sense.SOMETIMES)

    prover(model, [fine], [fine])
    for claims in (([fine, wrong], []), ([wrong], [fine]), ([], [fine, wrong]), ([fits], [])):
        with pytest.raises(UsageError, match="two claims are called"):
            prover(model, *claims)
    for claims in (([witness], []), ([], [witness])):
        with pytest.raises(UsageError, match="risen should sometimes hold"):
            prover(model, *claims)
