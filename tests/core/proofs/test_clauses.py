"""Clauses for all sizes: quantifiers, choices, sets and sizes in them mean what the graph says."""

from __future__ import annotations

import pytest
import z3

from checker.core.proofs.unbounded.clauses import Clauses
from checker.core.proofs.unbounded.parts import conjuncts
from model.ladder.kip320 import KIP320
from model.language import graph
from model.language.errors import UsageError
from model.language.graph import BOOL, INT, Kind, Node, Op
from model.language.lifted import Lifted
from tests.support.proofs import contradict


def refuted(*formulas: Node) -> bool:
    """Whether Z3 finds the formulas contradictory, by way of their clauses."""
    return bool(contradict(Lifted(KIP320.model().schema), {}, formulas) == z3.unsat)


POSITION = graph.variable("p%1", INT, "replicas.log.positions")
SIZE = graph.bound("log_size")
BELOW = graph.less(POSITION, SIZE)
ONE = graph.constant(1)


def test_quantifiers_keep_to_their_index_set():
    assert refuted(graph.negation(graph.quantified(Op.FORALL, POSITION, BELOW)))
    assert not refuted(graph.quantified(Op.FORALL, POSITION, BELOW))
    beyond = graph.at_most(SIZE, POSITION)
    assert refuted(graph.quantified(Op.EXISTS, POSITION, beyond))


def test_a_witness_for_each_is_not_one_for_all():
    """A Skolem term that forgets a variable would make all members one."""
    kind = graph.Sort(graph.Kind.REF, "replicas")
    one, other = (graph.variable(name, kind, "replicas") for name in ("r%7", "r%8"))
    same = graph.equal(one, other)
    isr = graph.read("quorum.isr", (), graph.all_members("replicas").sort)
    there_is_one = graph.quantified(Op.EXISTS, one, graph.contains(isr, one))
    another = graph.quantified(Op.EXISTS, other, graph.negation(same))
    each_has_another = graph.quantified(Op.FORALL, one, another)
    one_is_all = graph.quantified(Op.EXISTS, one, graph.quantified(Op.FORALL, other, same))
    assert not refuted(there_is_one, each_has_another)
    assert refuted(one_is_all, each_has_another)


def test_the_largest_is_attained_and_bounds_all():
    largest = graph.quantified(Op.LARGEST, POSITION, graph.add(POSITION, ONE))
    sizes = graph.at_most(ONE, SIZE)

    assert refuted(sizes, graph.less(SIZE, largest))
    assert refuted(sizes, graph.less(largest, ONE))
    assert not refuted(sizes, graph.equal(largest, ONE))
    smallest = graph.quantified(Op.SMALLEST, POSITION, POSITION)
    assert refuted(sizes, graph.less(smallest, graph.constant(0)))
    assert not refuted(sizes, graph.equal(smallest, graph.constant(0)))
    assert refuted(sizes, graph.less(graph.constant(0), smallest))


def test_sets_are_equal_when_their_members_are():
    everyone, nobody = graph.all_members("replicas"), graph.no_members("replicas")
    isr = graph.read("quorum.isr", (), everyone.sort)

    replica = graph.variable("r%9", graph.Sort(graph.Kind.REF, "replicas"), "replicas")
    in_isr = graph.contains(isr, replica)

    assert refuted(graph.equal(isr, nobody), graph.quantified(Op.EXISTS, replica, in_isr))
    outside = graph.quantified(Op.EXISTS, replica, graph.negation(in_isr))
    assert refuted(graph.equal(isr, everyone), outside)
    assert not refuted(graph.equal(isr, everyone))


def test_a_choice_with_a_quantifier_in_its_condition_is_either_one():
    condition = graph.quantified(Op.EXISTS, POSITION, graph.equal(POSITION, ONE))
    value = graph.choose(condition, graph.constant(5), graph.constant(7))

    assert refuted(graph.equal(value, graph.constant(6)))
    assert not refuted(graph.equal(value, graph.constant(5)))
    assert refuted(graph.at_most(SIZE, ONE), graph.equal(value, graph.constant(5)))


@pytest.mark.parametrize("op", [Op.FORALL, Op.EXISTS])
def test_equal_booleans_may_hold_quantifiers(op):
    flag = graph.variable("flag", BOOL, "")
    inner = graph.quantified(op, POSITION, graph.equal(POSITION, ONE))
    same = graph.equal(inner, flag)
    lifted_flag = graph.read("skolem!flag#0", (), BOOL)
    same = graph.substitute(same, {flag: lifted_flag})

    assert refuted(same, inner, graph.negation(lifted_flag))
    assert refuted(same, graph.negation(inner), lifted_flag)
    assert not refuted(same)
    differ = graph.negation(same)
    assert refuted(differ, inner, lifted_flag)
    assert refuted(differ, graph.negation(inner), graph.negation(lifted_flag))
    assert not refuted(differ, inner)


def test_a_formula_is_what_its_parts_say_together():
    here, there, other = (graph.read(f"skolem!flag#{k}", (), BOOL) for k in (1, 2, 3))
    formula = graph.disjunction(other, graph.conjunction(here, there))
    for named in (True, False):
        parts = list(conjuncts(formula, named=named))
        assert len(parts) == 2
        assert refuted(*parts, graph.negation(formula))
        assert all(refuted(formula, graph.negation(part)) for part in parts)


def test_a_denied_conjunction_denies_one_part_and_a_denied_choice_the_part_it_makes():
    here, there = (graph.read(f"skolem!flag#{k}", (), BOOL) for k in (1, 2))
    inner = graph.quantified(Op.EXISTS, POSITION, graph.equal(POSITION, ONE))
    not_both = graph.negation(graph.conjunction(inner, here))
    not_chosen = graph.negation(graph.choose(inner, here, there))
    by_flag = graph.negation(graph.choose(here, inner, there))

    assert refuted(not_both, inner, here)
    assert not refuted(not_both, inner)
    assert not refuted(not_both, here)
    assert refuted(not_chosen, inner, here)
    assert refuted(not_chosen, graph.negation(inner), there)
    assert not refuted(not_chosen, inner, there)
    assert not refuted(not_chosen, graph.negation(inner), here)
    assert refuted(by_flag, here, inner)
    assert refuted(by_flag, graph.negation(here), there)
    assert not refuted(by_flag, here, there)


def test_nobody_is_in_no_set():
    unknown = graph.read("quorum.leader", (), REPLICA)
    nobody = graph.constant(graph.NONE, REPLICA)
    for group in (graph.singleton(unknown), graph.all_members("replicas"), IN_ISR):
        inside = graph.contains(group, unknown)
        assert refuted(inside, graph.equal(unknown, nobody))
        assert not refuted(inside)


REPLICA = graph.Sort(Kind.REF, "replicas")
IN_ISR = graph.read("quorum.isr", (), graph.all_members("replicas").sort)
FIRST, SECOND = (graph.read(f"skolem!replicas#{k}", (), REPLICA) for k in (901, 902))
TWO_IN_ISR = (
    graph.contains(IN_ISR, FIRST),
    graph.contains(IN_ISR, SECOND),
    graph.negation(graph.equal(FIRST, SECOND)),
)
ONE_IN_ISR = (
    graph.equal(IN_ISR, graph.singleton(FIRST)),
    graph.negation(graph.equal(FIRST, graph.constant(graph.NONE, REPLICA))),
)


def compared(count):
    """Every comparison of the ISR's size with `count`, by sign."""
    size, other = graph.size(IN_ISR), graph.constant(count)
    return {
        "<": graph.less(size, other),
        "<=": graph.at_most(size, other),
        "=": graph.equal(size, other),
        ">=": graph.at_most(other, size),
        ">": graph.less(other, size),
    }


@pytest.mark.parametrize(
    ("known", "possible"),
    [
        (TWO_IN_ISR, {0: {">", ">="}, 1: {">", ">="}, 2: {">=", "=", ">", "<="}}),
        (ONE_IN_ISR, {0: {">", ">="}, 1: {">=", "=", "<="}, 2: {"<", "<="}}),
    ],
)
def test_sizes_compared_with_constants_are_claims_about_members(known, possible):
    for count, signs in possible.items():
        found = {sign for sign, claim in compared(count).items() if not refuted(*known, claim)}
        assert found == signs, count


def test_a_size_compared_with_no_more_than_there_are():
    """As for `min.insync.replicas`: it cannot ask for more than there are."""
    needed = graph.minimum(graph.bound("replicas"), graph.constant(2))
    enough = graph.at_most(needed, graph.size(IN_ISR))
    everyone = graph.equal(IN_ISR, graph.all_members("replicas"))

    assert refuted(everyone, graph.negation(enough))
    assert refuted(*TWO_IN_ISR, graph.negation(enough))
    assert not refuted(*ONE_IN_ISR, enough)  # there may be one replica only
    third = graph.negation(graph.contains(IN_ISR, SECOND))
    exists = graph.negation(graph.equal(SECOND, graph.constant(graph.NONE, REPLICA)))
    assert refuted(*ONE_IN_ISR, third, exists, enough)


def test_other_numbers_of_members_are_refused_in_one_line():
    lifted = Lifted(KIP320.model().schema)
    size = graph.size(IN_ISR)

    for claim in (graph.at_most(graph.add(size, ONE), SIZE), graph.at_most(size, SIZE)):
        with pytest.raises(UsageError, match="cannot count members"):
            Clauses(lifted).of(claim)


def test_sets_and_nobody_mean_what_they_do():
    """What is simplified is what the operations say of each member."""
    isr = graph.read("quorum.isr", (), graph.all_members("replicas").sort)
    nobody = graph.no_members("replicas")

    for a, b in ((isr, nobody), (nobody, isr), (nobody, nobody)):
        assert graph.set_operation(Op.UNION, a, b) is (a if b is nobody else b)
        assert graph.set_operation(Op.INTERSECTION, a, b) is nobody
        assert graph.set_operation(Op.DIFFERENCE, a, b) is a
    both = graph.set_operation(Op.DIFFERENCE, isr, graph.all_members("replicas"))
    assert graph.rebuild(both, (nobody, both.args[1])) is nobody
