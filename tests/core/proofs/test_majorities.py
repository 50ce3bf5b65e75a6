"""Majorities in proofs: what is assumed of them is true of real ones, and is enough for quorums."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
import z3

from checker.core.engines.symbolic import SymbolicEngine
from checker.core.proofs.unbounded import majorities
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from checker.core.verdict import Verdict
from model.kip595.protocol import KIP595
from model.language import (
    Bound,
    Entity,
    Members,
    Protocol,
    SetOf,
    State,
    action,
    any_of,
    every,
    everybody,
    graph,
    implies,
    is_majority,
    members,
    nobody,
    not_,
    require,
)
from model.language.graph import Kind, Op, Sort
from model.language.lifted import Lifted
from properties import Property, lemmas_of
from tests.support.proofs import Truth, contradict, random_states

VOTERS = Bound("voters", default=3, minimum=1, words="voters")


class Voter(Entity):
    """A member of the quorum."""

    _label = "v"


class Poll(State):
    """Two sets of voters, each with a part that may be a majority of it."""

    everyone: Members[Voter] = members(VOTERS)
    voters: SetOf[Voter] = everybody()
    yes: SetOf[Voter] = nobody()
    others: SetOf[Voter] = everybody()
    no: SetOf[Voter] = nobody()
    won: bool = False
    lost: bool = False


@action("{voter} says yes")
def says_yes(poll: Poll, voter: Voter) -> None:
    """A voter has one vote."""
    require(not_(poll.no.contains(voter)), poll.voters.contains(voter))
    poll.yes = poll.yes.with_member(voter)


@action("{voter} says no")
def says_no(poll: Poll, voter: Voter) -> None:
    """A voter has one vote."""
    require(not_(poll.yes.contains(voter)), poll.others.contains(voter))
    poll.no = poll.no.with_member(voter)


@action("{voter} votes among the others no more")
def leaves(poll: Poll, voter: Voter) -> None:
    """The voters change by one, once, before the others have won."""
    require(poll.others == poll.everyone.all(), not_(poll.lost))
    poll.others = poll.others.without_member(voter)


@action("the yes is counted")
def wins(poll: Poll) -> None:
    """More than half of the voters said yes."""
    require(is_majority(poll.yes, of=poll.voters))
    poll.won = True


@action("the no is counted")
def loses(poll: Poll) -> None:
    """More than half of the other voters said no."""
    require(is_majority(poll.no, of=poll.others))
    poll.lost = True


POLL = Protocol(
    name="poll",
    words="two counts of one vote",
    state=Poll,
    bounds=(VOTERS,),
    actions=(says_yes, says_no, leaves, wins, loses),
)
CLAIM = Property("one_result", "", lambda p: not_(p.won & p.lost))
LEMMAS = (
    Property("one_vote", "", lambda p: every(
        not_(p.yes.contains(v) & p.no.contains(v)) for v in p.everyone
    )),
    Property("counted", "", lambda p: implies(p.won, is_majority(p.yes, of=p.voters))
             & implies(p.lost, is_majority(p.no, of=p.others))),
    Property("all_vote", "", lambda p: every(p.voters.contains(v) for v in p.everyone)),
    Property("but_one", "", lambda p: every(
        any_of(p.others.contains(v), p.others.contains(w), v == w)
        for v in p.everyone for w in p.everyone
    )),
)  # fmt: skip
SETS = tuple(
    graph.read(name, (), graph.all_members("everyone").sort)
    for name in ("yes", "voters", "no", "others")
)
REF = Sort(Kind.REF, "everyone")
NOBODY = graph.no_members("everyone")
YES, NO = (graph.majority(group, of) for group, of in (SETS[:2], SETS[2:]))


def false_axioms():
    """The axioms about any two sets, and parts of them, that some sets do not satisfy."""
    found = set()
    for size in range(1, 6):
        engine = SymbolicEngine(replace(POLL.model({"voters": size}), narrow=False))
        yes, no = (majorities.Use(claim.args[0], claim.args[1], claim) for claim in (YES, NO))
        for use, other in ((yes, no), (yes, yes)):
            for number, (_, axiom) in enumerate(
                (*majorities.alone(use), *majorities.together(use, other))
            ):
                solver = z3.SolverFor("QF_BV")
                solver.add(z3.Not(engine._lower(engine.model._grounder.expression(axiom))))
                if solver.check() != z3.unsat:
                    found.add((size, number))
    return found


def test_what_is_assumed_of_majorities_is_true_of_one_to_five_members():
    assert not false_axioms()


@pytest.mark.parametrize("voters", [1, 2, 3, 4, 5])
def test_a_majority_is_more_than_half(voters):
    engine = SymbolicEngine(POLL.model({"voters": voters}))
    least = voters // 2 + 1
    claim = Property(
        "as_counted", "", lambda p: is_majority(p.yes, of=p.everyone.all()) == (p.yes.size >= least)
    )
    solver = z3.SolverFor("QF_BV")
    solver.add(z3.Not(engine.claim(claim)))
    assert solver.check() == z3.unsat


def test_two_majorities_of_neighbouring_sets_meet_at_all_sizes():
    proof = UnboundedInduction(POLL.model(), (CLAIM,), LEMMAS).run()
    assert proof.verdict is Verdict.PROVED, [o for o in proof.obligations if o.reason]
    assert not proof.never_enabled


def test_majorities_of_sets_that_differ_in_two_members_need_not_meet():
    lemmas = tuple(lemma for lemma in LEMMAS if lemma.name != "but_one")
    proof = UnboundedInduction(POLL.model(), (CLAIM,), lemmas, 1.0).run()
    assert proof.verdict is Verdict.UNKNOWN


def refuted(*formulas):
    return contradict(Lifted(POLL.model().schema), {}, formulas) == z3.unsat


def test_a_majority_grows_and_is_not_empty_and_a_whole_is_one():
    yes, voters, no, others = SETS
    same = graph.equal(voters, others)
    nobody_at_all = graph.equal(voters, NOBODY)
    more = graph.equal(graph.set_operation(Op.DIFFERENCE, yes, no), NOBODY)

    assert refuted(YES, graph.equal(yes, NOBODY))
    assert refuted(YES, same, more, graph.negation(NO))
    assert not refuted(YES, more, graph.negation(NO))
    assert refuted(graph.equal(yes, voters), graph.negation(YES), graph.negation(nobody_at_all))
    assert refuted(nobody_at_all, YES)
    assert not refuted(YES, NO)


def test_two_uses_with_the_same_variables_apart_are_two():
    _, voters, no, others = SETS
    x, y, m = (graph.variable(f"{name}%1", REF, "everyone") for name in "xym")
    either = graph.disjunction(graph.equal(m, x), graph.equal(m, y))
    two = graph.majority(graph.members_where(m, either), voters)

    def some_two(*conditions):
        body = graph.conjunction(two, *conditions)
        return graph.quantified(Op.EXISTS, x, graph.quantified(Op.EXISTS, y, body))

    known = (NO, graph.equal(voters, others))
    without_x, without_y = (graph.negation(graph.contains(no, v)) for v in (x, y))
    assert not refuted(*known, some_two(without_x))
    assert not refuted(*known, some_two(without_y))
    assert refuted(*known, some_two(without_x, without_y))


def test_a_use_is_its_shape_with_its_terms_put_in():
    model = KIP595.model({"voters": 2, "log_size": 2, "epochs": 1})
    lifted = Lifted.narrowed(model)
    captured = [lifted.total_action(action) for action in model.captured]
    claims = [model.claim(lemma.claim) for lemma in lemmas_of(KIP595)]
    uses = {
        (node, parameters)
        for action in captured
        for claim in claims
        for node in graph.below(lifted.after(claim, action))
        if node.op is Op.MAJORITY
        for parameters in (None, frozenset(action.parameters))
    }
    shapes = {use: majorities.shape(use[0], lifted, use[1]) for use in uses}
    assert len({shape.majority for shape in shapes.values()}) < len(uses) / 2
    truths = [Truth(model, state) for state in random_states(model, 6)]
    extents = model.extents | {"advance_high_watermark(end)": 3}
    for (node, _), shape in shapes.items():
        put = dict(zip(shape.parameters, shape.terms, strict=True))
        again = graph.substitute(shape.majority, put)
        free = sorted(node.free, key=lambda v: v.number)
        for numbers in itertools.product(*(range(extents[v.data[1]]) for v in free)):
            values = dict(zip(free, numbers, strict=True))
            for truth in truths:
                same = truth(node, values) is truth(again, values)
                assert same or not truth(shape.inside, values)
