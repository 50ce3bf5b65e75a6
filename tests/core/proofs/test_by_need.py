"""Instances by need: models are read as Z3 reads them, and nothing false is overlooked in them."""

from __future__ import annotations

import itertools

import pytest
import z3

from checker.core.engines.unbounded import UnboundedTerms
from checker.core.proofs.proof import ProofOutcome
from checker.core.proofs.unbounded import by_need, few_members, unbounded_proof
from checker.core.proofs.unbounded.by_need import ByNeed, Effort, Terms, split
from checker.core.proofs.unbounded.clauses import Clause, Clauses
from checker.core.proofs.unbounded.few_members import FewMembers
from checker.core.proofs.unbounded.instantiate import Strategy
from checker.core.proofs.unbounded.model_values import Code, Meaning, value_of
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from model.async_isr.protocol import ASYNC_ISR
from model.ladder.kip320 import KIP320
from model.language import graph
from model.language.capture import CapturedAction
from model.language.graph import INT, Kind
from model.language.lifted import Lifted
from properties import choose_properties, lemmas_of

MODEL = KIP320.model()
LIFTED = Lifted(MODEL.schema)
NOTHING = CapturedAction("", (), (), ())


def claims(*names: str) -> list[graph.Node]:
    return [
        LIFTED.now(MODEL.claim(lemma.claim))
        for lemma in lemmas_of(KIP320)
        if not names or lemma.name in names
    ]


def clauses_of(*formulas: graph.Node) -> list[Clause]:
    clauses = Clauses(LIFTED)
    found = [clause for formula in formulas for clause in clauses.of(formula)]
    return [*found, *clauses.definitions]


def open_question() -> tuple[ByNeed, Terms, UnboundedTerms, list[Clause]]:
    """What does not follow: epochs may decrease along a log, as far as other lemmas know."""
    (wrong,) = claims("epochs_in_logs")
    lower = UnboundedTerms(LIFTED)
    clauses = clauses_of(graph.negation(wrong), *claims("well_formed", "numbers_issued"))
    terms = Terms(LIFTED, NOTHING, {})
    return ByNeed(LIFTED, lower, terms, clauses[:3], clauses[3:]), terms, lower, clauses


def instances(clauses: list[Clause], terms: Terms) -> list[graph.Node]:
    return [
        graph.substitute(clause.body, dict(zip(clause.variables, values, strict=True)))
        for clause in clauses
        for values in itertools.product(*(terms.of(v.data[1]) for v in clause.variables))
    ]


def test_where_instances_do_not_suffice_no_clause_is_false_of_any_term():
    need, terms, lower, clauses = open_question()

    assert need.refute(Effort(), 10.0) == z3.sat

    found = instances(clauses, terms)
    assert len(found) > need.instances > 0
    assert need.used <= set(clauses)
    for instance in found:
        assert not z3.is_false(need.model.eval(lower(instance))), graph.nodes.show(instance)


def test_a_search_that_is_cut_short_does_not_say_that_instances_do_not_suffice(monkeypatch):
    monkeypatch.setattr(by_need, "MOST_STEPS", 0)
    need, *_ = open_question()

    assert need.refute(Effort(), 10.0) == z3.unknown


def test_where_there_would_be_too_many_parts_a_variable_of_one_literal_is_taken_apart(monkeypatch):
    """What is said of a member that two literals speak of stays together: else 16 parts."""
    monkeypatch.setattr(by_need, "SPLIT", 4)
    sort = graph.Sort(Kind.REF, "replicas")
    one, two, both = (graph.variable(name, sort, "replicas") for name in ("a", "b", "c"))

    def leads(member: graph.Node, name: str) -> graph.Node:
        return graph.read(name, (member,), graph.BOOL)

    literals = [
        graph.conjunction(*(leads(both, f"{at} {place}") for at in range(3)), leads(own, "own"))
        for place, own in enumerate((one, two))
    ]
    clause = Clause((one, two, both), graph.disjunction(*literals))

    parts = split(clause)

    assert sorted(len(part.variables) for part in parts) == [1, 2, 2, 2]


def test_values_in_a_model_are_those_that_z3_finds():
    need, terms, lower, clauses = open_question()
    need.refute(Effort(), 10.0)
    meaning, found = Meaning(need.model), set()
    value, code = value_of(LIFTED, meaning), Code(LIFTED)

    for instance in instances(clauses, terms):
        for literal in (instance, *instance.args):
            truth = need.model.eval(lower(literal))
            if z3.is_true(truth) or z3.is_false(truth):
                found.add((literal, z3.is_true(truth)))
                text = code.of(literal, {})
                assert value(literal) is z3.is_true(truth), graph.nodes.show(literal)
                assert eval(text, code.values(meaning)) is z3.is_true(truth), text
    assert {truth for _, truth in found} == {True, False}
    assert len(found) > 8


def test_numbers_in_a_model_are_those_that_z3_finds():
    one, two = (graph.read(name, (), INT) for name in ("one", "two"))
    lower, solver = UnboundedTerms(LIFTED), z3.Solver()
    solver.add(lower(one) == 3, lower(two) == 5)
    assert solver.check() == z3.sat
    meaning, code = Meaning(solver.model()), Code(LIFTED)
    less = graph.less(one, two)

    for node, expected in [
        (graph.add(one, two), 8),
        (graph.subtract(one, two), -2),
        (graph.minimum(one, two), 3),
        (graph.maximum(one, two), 5),
        (graph.choose(less, two, one), 5),
        (graph.at_most(two, one), False),
        (graph.conjunction(less, graph.equal(one, graph.constant(3))), True),
        (graph.disjunction(graph.equal(one, two), graph.less(two, one)), False),
    ]:
        assert value_of(LIFTED, meaning)(node) == expected
        assert eval(code.of(node, {}), code.values(meaning)) == expected


@pytest.mark.parametrize("most", [by_need.SPLIT, 3])
def test_a_clause_says_what_it_is_split_into(monkeypatch, most):
    monkeypatch.setattr(by_need, "SPLIT", most)
    lower, several = UnboundedTerms(LIFTED), 0
    for clause in clauses_of(*claims()):
        parts = split(clause)
        several += len(parts) > 1
        assert all(set(part.variables) <= set(clause.variables) for part in parts)
        solver = z3.Solver()
        solver.add(lower(clause.body) != z3.And(*(lower(part.body) for part in parts)))
        assert solver.check() == z3.unsat
    assert several > 0


def test_terms_are_closed_and_index_sets_of_as_many_share_them():
    sort = graph.Sort(Kind.REF, "replicas")
    member = graph.variable("r", sort, "replicas")
    other = graph.variable("r%1", sort, "replicas")
    action = CapturedAction("", (member,), (), ())
    leader = [graph.read("replicas.leader", (node,), sort) for node in (member, other)]
    terms = Terms(LIFTED, action, {})
    terms.note(graph.equal(*leader), 0)
    terms.note(graph.read("replicas.leader", (leader[0],), sort), 1)

    twice = graph.read("replicas.leader", (leader[0],), sort)
    assert terms.of("replicas") == {member: 0, leader[0]: 0, twice: 1}
    assert terms.kind("replicas.log.positions") == terms.kind("replicas.log.positions")
    assert terms.kind("replicas") != terms.kind("replicas.log.positions")


def _leaders(count):
    """A replica, its leader, the leader of that, so many times."""
    sort = graph.Sort(Kind.REF, "replicas")
    found = [graph.variable("r", sort, "replicas")]
    for _ in range(count):
        found.append(graph.read("replicas.leader", (found[-1],), sort))
    return found


@pytest.mark.parametrize("others", range(3))
def test_a_model_has_few_members_but_as_many_as_it_takes(others):
    """One is named: so many more are in the model as are said to be others."""
    named, *_ = leaders = _leaders(3)
    lower, solver = UnboundedTerms(LIFTED), z3.SimpleSolver()
    few = FewMembers(LIFTED, lower, solver)
    ages = {"replicas": {node: age for age, node in enumerate(leaders)}}
    none = graph.constant(graph.NONE, named.sort)
    solver.add(z3.Distinct(lower(none), *map(lower, leaders[: others + 1])))

    assert few.ask(ages) == z3.sat

    value = value_of(LIFTED, Meaning(solver.model()))
    assert len({value(leader) for leader in leaders} - {value(none)}) == others + 1
    solver.add(lower(leaders[1]) == lower(named), lower(leaders[1]) != lower(named))
    assert few.ask(ages) == z3.unsat


def test_where_a_model_with_few_members_takes_long_half_as_much_is_assumed(monkeypatch):
    """Of the terms that there were first."""
    leaders = _leaders(4)
    lower, solver = UnboundedTerms(LIFTED), z3.SimpleSolver()
    asked = []

    def ask(_: z3.Solver, *assumed: z3.BoolRef) -> z3.CheckSatResult:
        asked.append(assumed)
        return z3.unknown if assumed else z3.sat

    monkeypatch.setattr(few_members, "ask", ask)

    ages = {"replicas": {node: age for age, node in enumerate(leaders)}}
    assert FewMembers(LIFTED, lower, solver).ask(ages) == z3.sat

    assert asked == [asked[0][:number] for number in (4, 2, 1, 0)]


def test_what_only_a_definition_names_comes_later():
    sort = graph.Sort(Kind.REF, "replicas")
    asked, defined = (graph.read(name, (), sort) for name in ("skolem!replicas#1", "value"))
    leads = [graph.equal(graph.read("replicas.leader", (it,), sort), it) for it in (asked, defined)]
    terms = Terms(LIFTED, NOTHING, {})
    definition = Clause((), graph.disjunction(*leads), defines=frozenset({"value"}))

    ByNeed(LIFTED, UnboundedTerms(LIFTED), terms, [definition, Clause((), leads[0])], [])

    found = terms.of("replicas")
    assert (found[asked], found[defined]) == (0, 1)


def test_a_witness_that_a_model_may_choose_is_looked_at_too():
    """Each log ends somewhere, this one nowhere: no instance would name an offset."""
    member, over = graph.Sort(Kind.REF, "replicas"), "replicas.log.positions"
    this = graph.read("skolem!replicas#1", (), member)
    anybody = graph.variable("r", member, "replicas")
    offset = graph.variable("o", INT, over)
    ends = [graph.read("replicas.log.end", (it,), INT) for it in (anybody, this)]
    somewhere = graph.equal(ends[0], graph.read(f"skolem!{over}#2", (anybody,), INT))
    nowhere = graph.negation(graph.equal(ends[1], offset))
    clauses = [Clause((anybody,), somewhere), Clause((offset,), nowhere)]

    need = ByNeed(LIFTED, UnboundedTerms(LIFTED), Terms(LIFTED, NOTHING, {}), clauses, [])

    assert need.refute(Effort(), 5.0) == z3.unsat


@pytest.mark.parametrize("maximal_isr", [True, False])
def test_instances_by_need_prove_by_themselves_what_is_true(monkeypatch, maximal_isr):
    monkeypatch.setattr(unbounded_proof, "CHEAP", (Strategy(by_need=Effort()),))
    monkeypatch.setattr(unbounded_proof, "DEAR", ())
    model = ASYNC_ISR.model({}, {"maximal_isr": maximal_isr})
    property_ = choose_properties(ASYNC_ISR, ["valid_high_watermark"])

    proof = UnboundedInduction(model, property_, lemmas_of(ASYNC_ISR)).run()

    failed = {o.lemma for o in proof.obligations if o.outcome is ProofOutcome.UNKNOWN}
    assert failed == (set() if maximal_isr else {"valid_high_watermark"})
