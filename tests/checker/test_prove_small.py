"""Protocols of a few lines on which a prover could go wrong, with the answers of plain search."""

from __future__ import annotations

import itertools
from enum import IntEnum

import pytest
import z3

from checker.engines.reference import ReferenceEngine
from checker.proofs.bounded import bounded_check, induction
from checker.proofs.bounded.bounded_check import BoundedChecker, lemmas_that_hold
from checker.proofs.bounded.induction import Induction, InductionOptions
from checker.proofs.bounded.precedence import Precedence
from checker.proofs.proof import ProofOutcome
from checker.proofs.unbounded import unbounded_proof
from checker.proofs.unbounded.instantiate import CHEAP
from checker.proofs.unbounded.unbounded_proof import UnboundedInduction
from checker.search.explore import Explorer
from checker.verdict import Verdict
from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    Protocol,
    Record,
    Sequence,
    State,
    action,
    all_of,
    any_of,
    choose,
    count,
    every,
    implies,
    integers,
    largest,
    members,
    not_,
    require,
    sequence,
    some,
)
from model.language.errors import UsageError
from model.language.lifted import Lifted
from properties import Property, Sense
from tests.support.proofs import contradict, diagram

MANY = Bound("many", default=3, minimum=1, words="members")
TOP = Bound("top", default=2, minimum=1, words="the greatest number")


class Pupil(Entity):
    """A member."""

    led: bool = False
    met: bool = False


class School(State):
    """Members, and numbers that actions may set."""

    pupils: Members[Pupil] = members(MANY)
    low: Annotated[int, integers(0, 9)] = 0
    high: Annotated[int, integers(0, 9)] = 1


@action("{a} meets {b}")
def meet(s: School, a: Pupil, b: Pupil) -> None:
    """Two members are named; a third of the instances can never be taken."""
    require(a != b)

    a.met = True
    b.met = True


@action("{m} leads")
def lead(s: School, m: Pupil) -> None:
    """Its instances come after those of `meet`."""
    m.led = True


@action("both rise by {number}")
def rise(s: School, number: Annotated[int, integers(0, 4)]) -> None:
    """Most instances can never be taken."""
    require(number > 1, number < 3, s.low < 6, s.high < 6)

    s.low = s.low + number
    s.high = s.high + number


@action("never")
def never(s: School, a: Pupil, b: Pupil) -> None:
    """No instance can be taken."""
    require(a == b, a != b)

    s.low = 0


def protocol(*actions, state=School, bounds=(MANY, TOP), **more) -> Protocol:
    return Protocol("small", "for tests", state, actions, bounds, **more)


def claim(function) -> Property:
    return Property(function.__name__, "", function)


@claim
def nobody_leads(s):
    return every(not_(m.led) for m in s.pupils)


@claim
def not_all_lead(s):
    return some(not_(m.led) for m in s.pupils)


@claim
def two_have_met(s):
    return count(m.met for m in s.pupils) < 2


@claim
def three_have_met(s):
    return count(m.met for m in s.pupils) < 3


@claim
def nobody_who_met_leads(s):
    return every(not_(all_of(m.led, m.met)) for m in s.pupils)


@claim
def low_is_below(s):
    return s.low < s.high


@claim
def high_is_low(s):
    return s.high < 5


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


@pytest.mark.parametrize("symmetry", [True, False])
def test_a_claim_about_steps_is_checked_at_its_depth(symmetry):
    found = BoundedChecker(protocol(rise, lead).model(), [LEAPS], symmetry=symmetry).run(4)

    assert (found.violated, [str(s) for s in found.steps]) == ("leaps", ["rise(number=2)"] * 2)


@pytest.fixture
def little_effort(monkeypatch):
    """No second attempts: what is false stays unknown at once."""
    monkeypatch.setattr(unbounded_proof, "DEAR", ())
    monkeypatch.setattr(unbounded_proof, "CHEAP", CHEAP[:3])


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


@action("more")
def more(s: School) -> None:
    """Too much, after a while."""
    s.high = s.high + 3


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
    """A proof that succeeds, as a function of how Z3 is asked; and the module that asks."""
    model = protocol(rise, lead).model()
    fine = Property("fine", "", lambda s: s.low < s.high + 1)
    if kind == "induction":
        return induction, lambda: Induction(model, [fine], [low_is_below, GROWS]).run().verdict
    if kind == "bounded":
        return bounded_check, lambda: BoundedChecker(model, [fine]).run(3).verdict
    return unbounded_proof, lambda: UnboundedInduction(model, [fine], [low_is_below]).run().verdict


@pytest.mark.usefixtures("little_effort")
@pytest.mark.parametrize("kind", ["induction", "bounded", "unbounded"])
def test_a_solver_that_gives_up_before_the_end_proves_nothing(kind, monkeypatch):
    module, attempt = attempts(kind)
    whole = GivesUp(10_000)
    monkeypatch.setattr(module, "ask", whole)
    assert attempt() in (Verdict.PROVED, Verdict.BOUNDED)

    for answers in range(whole.asked):
        monkeypatch.setattr(module, "ask", GivesUp(answers))
        assert attempt() is Verdict.UNKNOWN, answers


def test_lemmas_that_the_solver_does_not_settle_do_not_count_as_holding(monkeypatch):
    model = protocol(rise, lead).model()
    assert lemmas_that_hold(model, [nobody_leads, low_is_below]) == (low_is_below,)

    monkeypatch.setattr(induction, "ask", GivesUp(0))
    assert lemmas_that_hold(model, [nobody_leads, low_is_below]) == ()


# --- proofs for all sizes -----------------------------------------------------------------------


def unbounded(model, *lemmas):
    return UnboundedInduction(model, (), lemmas, 1.0).run().outcome


@pytest.mark.usefixtures("little_effort")
def test_a_witness_for_each_is_not_one_for_all():
    """A Skolem term that forgets a variable would make all members one."""
    model = protocol(meet).model()
    everybody = Property(
        "everybody", "",
        lambda s: every(some(c == b for c in s.pupils) for a in s.pupils for b in s.pupils),
    )  # fmt: skip
    all_same = Property("all_same", "", lambda s: every(a == b for a in s.pupils for b in s.pupils))

    proof = UnboundedInduction(model, [all_same], [everybody], 1.0).run()

    assert proof.outcome is ProofOutcome.UNKNOWN


@pytest.mark.usefixtures("little_effort")
def test_values_have_to_fit_for_all_sizes():
    nothing = Property("nothing", "", lambda s: s.low >= 0)

    assert unbounded(protocol(more).model(), nothing) is ProofOutcome.UNKNOWN
    assert unbounded(protocol(rise).model(), nothing) is ProofOutcome.PROVED


@pytest.mark.usefixtures("little_effort")
def test_lemmas_have_to_hold_at_first_for_all_sizes():
    risen = Property("risen", "", lambda s: s.high > 1)

    assert unbounded(protocol(rise).model(), risen) is ProofOutcome.UNKNOWN
    assert unbounded(protocol(rise).model(), low_is_below) is ProofOutcome.PROVED


def choice_over_a_variable(kind):
    """Two members, one of which has met: by the choice or the extreme, they seem to agree."""
    if kind == "choice":
        return lambda s, a: choose(some(all_of(m == a, m.met) for m in s.pupils), 1, 0)
    return lambda s, a: largest(choose(all_of(m == a, m.met), 1, 0) for m in s.pupils)


@pytest.mark.parametrize("kind", ["choice", "extreme"])
def test_a_choice_for_each_is_not_one_for_all(kind):
    """A number that depends on a variable is not the same for all of its values."""
    model = protocol(meet).model({"many": 2})
    number = choice_over_a_variable(kind)
    equal = Property(
        "equal", "", lambda s: every(number(s, a) == choose(a.met, 1, 0) for a in s.pupils)
    )
    node = model.claim(equal.claim)
    for state in itertools.product([0, 1], [0, 1], [0, 1], [0, 1], [3], [4]):
        known = [*diagram(model, state), Lifted.of(model).now(node)]
        assert contradict(Lifted.of(model), model.bounds, known) == z3.sat


class Shelf(State):
    """A number."""

    x: Annotated[int, integers(0, 9)] = 0


@action("put {top}")
def put(s: Shelf, top: Annotated[int, integers(0, 3)]) -> None:
    """The parameter has the name of a bound, and is not that bound."""
    s.x = top


@pytest.mark.usefixtures("little_effort")
def test_a_parameter_is_not_the_bound_of_the_same_name():
    model = protocol(put, state=Shelf, bounds=(TOP,)).model()
    below = Property("below", "", lambda s: s.x <= s.bound("top"))
    few = Property("few", "", lambda s: s.x <= 3)
    assert Explorer(model, [below]).run().verdict is Verdict.VIOLATED

    outcomes = [unbounded(model, below), unbounded(model, few)]

    assert outcomes == [ProofOutcome.UNKNOWN, ProofOutcome.PROVED]


class Grade(IntEnum):
    """Two grades."""

    LOW = 0
    HIGH = 1


class Height(IntEnum):
    """Their names in other letters, with other numbers."""

    Low = 7
    High = 8


@action("weigh {p}")
def weigh(s: Shelf, p: Height) -> None:
    """Set a large number."""
    s.x = p


@action("mark {p}")
def mark(s: Shelf, p: Grade) -> None:
    """Set a small one."""
    s.x = p


@pytest.mark.usefixtures("little_effort")
@pytest.mark.parametrize("actions", [(weigh, mark), (mark, weigh)])
def test_enumerations_with_the_same_names_are_two_ranges(actions):
    model = protocol(*actions, state=Shelf, bounds=()).model()

    for limit, outcome in ((1, ProofOutcome.UNKNOWN), (8, ProofOutcome.PROVED)):
        small = Property("small", "", lambda s, limit=limit: s.x <= limit)
        assert unbounded(model, small) == outcome
    large = Property("large", "", lambda s: any_of(s.x <= 1, s.x >= 7))
    found = unbounded(model, large)
    assert found == ProofOutcome.PROVED


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
