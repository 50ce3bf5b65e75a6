"""For all sizes: bits say what integers do, and a certificate rests on nothing but assumptions."""

from __future__ import annotations

import itertools
import random

import pytest
import z3

from checker.core.engines.unbounded import UnboundedTerms
from checker.core.proofs.certificates.clauses import Clauses as SatClauses
from checker.core.proofs.certificates.drup import refutes
from checker.core.proofs.certificates.ground import over_bits
from checker.core.proofs.certificates.refutation import Certificates
from checker.core.proofs.cvc5_process import Cvc5
from checker.core.proofs.proof import INITIALLY, ProofOutcome
from checker.core.proofs.solvers import Solver, Solvers
from checker.core.proofs.unbounded import unbounded_proof
from checker.core.proofs.unbounded.by_need import Effort, split
from checker.core.proofs.unbounded.clauses import Clause, Clauses
from checker.core.proofs.unbounded.instances import Assumed, Instance
from checker.core.proofs.unbounded.instantiate import Strategy
from checker.core.proofs.unbounded.owed import owed
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from model.async_isr.protocol import ASYNC_ISR
from model.ladder.kip320 import KIP320
from model.language import all_of, graph
from model.language.errors import UsageError
from model.language.graph import INT, Kind
from model.language.lifted import Lifted
from properties import choose_properties, lemmas_of
from properties.claims import always

CLAIM = choose_properties(ASYNC_ISR, ["valid_high_watermark"])

# --- integers, members and functions as bits -------------------------------------------------

SORT = z3.DeclareSort("member")
A, B, C = (z3.Const(name, SORT) for name in "abc")
X, Y = z3.Ints("x y")
END = z3.Function("end", SORT, z3.IntSort())
HOLDER = z3.Function("holder", z3.IntSort(), SORT)
HOLDS = z3.Function("holds", SORT, z3.IntSort(), z3.BoolSort())


def has_solution(conditions):
    from pysat.solvers import Solver as SatSolver

    with SatSolver("glucose4", bootstrap_with=SatClauses(conditions).clauses) as solver:
        return solver.solve()


def drawn_condition(draw):
    """Comparisons of integers a few steps apart, of members and of truths, put together."""

    def member(depth):
        return draw.choice([A, B, C] if depth else [A, B, C, HOLDER(integer(1)), HOLDER(X)])

    def integer(depth):
        found = [X, Y, z3.IntVal(draw.randint(-2, 2)), END(member(1))]
        if not depth:
            found += [integer(1) + draw.randint(-2, 2), z3.If(truth(1), integer(1), integer(1))]
            found += [integer(1) - draw.randint(0, 2), END(member(0))]
        return draw.choice(found)

    def truth(depth):
        a, b = integer(depth), integer(depth)
        found = [a < b, a <= b, a == b, a > b, member(depth) == member(depth)]
        found += [a >= b, HOLDS(member(1), integer(1)), z3.Distinct(A, B, member(depth))]
        if not depth:
            found += [z3.And(truth(1), truth(1)), z3.Or(truth(1), truth(1)), z3.Not(truth(1))]
        return draw.choice(found)

    return truth(0)


def test_bits_have_a_solution_where_integers_have_one():
    draw, counts = random.Random(1), {True: 0, False: 0}
    for _ in range(60):
        conditions = [drawn_condition(draw) for _ in range(draw.randint(3, 12))]
        solver = z3.Solver()
        solver.add(*conditions)
        expected = solver.check() == z3.sat
        assert has_solution(over_bits(conditions)) is expected, conditions
        counts[expected] += 1
    assert min(counts.values()) > 10


@pytest.mark.parametrize("apart", range(4))
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_there_is_room_for_integers_that_are_as_far_apart_as_can_be_said(count, apart):
    """Each is so much more than the one before, the first than 0; and the same downwards."""
    numbers = [z3.IntVal(0), *(z3.Int(f"x{place}") for place in range(count))]
    steps = [*itertools.pairwise(numbers)]
    assert has_solution(over_bits([low + apart < high - apart for low, high in steps]))
    assert has_solution(over_bits([low - apart > high + apart for low, high in steps]))


@pytest.mark.parametrize("count", range(1, 10))
def test_there_are_as_many_members_as_are_told_apart(count):
    members = [z3.Const(f"m{place}", SORT) for place in range(count)]
    assert has_solution(over_bits([z3.Distinct(*members)]))
    assert not has_solution(over_bits([z3.Distinct(*members), members[0] != members[0]]))


def test_functions_of_one_name_are_different_functions():
    other = z3.Function("end", z3.IntSort(), z3.IntSort())
    assert has_solution(over_bits([END(A) == 0, other(X) == 1, END(B) == 1, other(Y) == 0]))


def test_of_other_arguments_values_may_be_others():
    assert has_solution(over_bits([HOLDS(A, X), z3.Not(HOLDS(A, Y))]))
    assert has_solution(over_bits([HOLDS(A, X), z3.Not(HOLDS(B, X))]))


def test_of_equal_arguments_values_are_equal():
    moved = END(A) + 1
    for wrong in (
        [A == B, END(A) != END(B)],
        [X == Y, HOLDER(X) != HOLDER(Y)],
        [A == B, moved == X, HOLDS(A, X), z3.Not(HOLDS(B, END(B) + 1))],
    ):
        assert not has_solution(over_bits(wrong))
        for left_out in range(len(wrong)):
            assert has_solution(over_bits(wrong[:left_out] + wrong[left_out + 1 :]))


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (X + Y == 1, "moves integers by constants"),
        (X - Y == 1, "moves integers by constants"),
        (1 - X == Y, "moves integers by constants"),
        (X * 2 == Y, "moves integers by constants"),
        (z3.ForAll([X], X == Y), "has no quantifiers"),
        (z3.Xor(X == 1, Y == 1), "has no xor"),
        (z3.Real("z") == 1, "has no Real"),
    ],
)
def test_what_bits_cannot_say_is_refused(condition, why):
    with pytest.raises(UsageError, match=why):
        over_bits([condition])


# --- what a certificate rests on -------------------------------------------------------------


@always("nothing", "there is no state", failure="there is one", broken_by="anything")
def nothing(partition):
    return all_of(
        partition.leader_version < partition.controller_version,
        partition.controller_version < partition.leader_version,
    )


def test_what_nothing_satisfies_does_not_hold_initially(monkeypatch):
    monkeypatch.setattr(unbounded_proof, "CHEAP", (Strategy(by_need=Effort()),))
    monkeypatch.setattr(unbounded_proof, "DEAR", ())
    proof = UnboundedInduction(ASYNC_ISR.model(), (nothing,), ()).run()
    assert proof.outcome is ProofOutcome.UNKNOWN
    (first,) = (o for o in proof.obligations if (o.action, o.lemma) == (INITIALLY, "nothing"))
    assert first.outcome is ProofOutcome.UNKNOWN


def certified(directory, induction=UnboundedInduction):
    with Solvers(Solver.Z3, certificates=Certificates(directory, ground=True)) as solvers:
        return induction(
            ASYNC_ISR.model(), CLAIM, lemmas_of(ASYNC_ISR), cross_check=False, solvers=solvers
        ).run()


def test_each_obligation_for_all_sizes_has_a_certificate_that_any_checker_reads(tmp_path):
    proof = certified(tmp_path)

    assert proof.outcome is ProofOutcome.PROVED
    lines = (tmp_path / "obligations.tsv").read_text().splitlines()
    listed = {tuple(line.split("\t")[:2]): line.split("\t")[2:] for line in lines}
    assert listed.keys() == {(o.action, o.lemma) for o in proof.obligations}
    for stem in itertools.chain(*listed.values()):
        text = (tmp_path / f"{stem}.cnf").read_text().splitlines()
        lines = [line for line in text if line[0] != "c"]
        clauses = [list(map(int, line.split()))[:-1] for line in lines[1:]]
        proved = (tmp_path / f"{stem}.drup").read_text().splitlines()
        assert refutes(proved, clauses, int(lines[0].split()[2]))


def test_what_says_no_instances_has_no_certificate(tmp_path, monkeypatch):
    monkeypatch.setattr(unbounded_proof, "CHEAP", (Strategy(matching=400_000),))
    monkeypatch.setattr(unbounded_proof, "DEAR", ())
    assert certified(tmp_path).outcome is ProofOutcome.UNKNOWN
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("left_out", ["_initially", "_consecution"])
def test_an_obligation_that_is_left_out_is_noticed(tmp_path, left_out):
    class Forgetful(UnboundedInduction):
        pass

    setattr(Forgetful, left_out, lambda *_: None)
    with pytest.raises(RuntimeError, match="has no certificate"):
        certified(tmp_path, induction=Forgetful)
    assert not (tmp_path / "obligations.tsv").exists()


def ring():
    """Each of three versions is below the next one: clauses, and instances that clash."""
    lifted = Lifted(ASYNC_ISR.model().schema)
    numbers = [graph.read(f"number{place}", (), INT) for place in range(3)]
    sort = graph.Sort(Kind.REF, "replicas")
    member = graph.variable("m", sort, "replicas")
    ends = [graph.read("end", (member,), INT), *numbers]
    somebody = graph.read("somebody", (), sort)
    less = [graph.less(a, b) for a, b in itertools.pairwise([*numbers, ends[0]])]
    clauses = [Clause((), node) for node in less[:2]]
    clauses += [Clause((member,), less[2]), Clause((member,), graph.less(ends[0], numbers[0]))]
    values = [(), (), (somebody,), (somebody,)]
    return UnboundedTerms(lifted), clauses, [*map(Instance, clauses, values)]


def certificate_of(lower, clauses, instances, directory):
    needed = Assumed(lower, clauses).needed(instances, 10)
    return Certificates(directory, ground=True).add(needed, "ring", (), 10)


def test_an_instance_that_is_left_out_is_noticed(tmp_path):
    lower, clauses, instances = ring()
    for left_out in range(len(instances)):
        fewer = instances[:left_out] + instances[left_out + 1 :]
        with pytest.raises(RuntimeError, match="its clauses have a solution"):
            certificate_of(lower, clauses, fewer, tmp_path)
    assert not list(tmp_path.iterdir())
    assert certificate_of(lower, clauses, instances, tmp_path)


def test_instances_of_what_was_not_assumed_are_refused():
    lower, clauses, instances = ring()
    for left_out in range(len(clauses)):
        assumed = Assumed(lower, clauses[:left_out] + clauses[left_out + 1 :])
        with pytest.raises(RuntimeError, match="was not assumed"):
            assumed.needed(instances, 10)


def test_only_what_is_needed_is_kept():
    lower, clauses, instances = ring()
    idle = Clause((), graph.less(graph.constant(1), graph.read("number1", (), INT)))
    assumed = Assumed(lower, [*clauses, idle])
    assert len(assumed.needed([Instance(idle, ()), *instances], 10)) == len(instances)


def test_a_part_of_a_clause_follows_from_its_instance_with_any_value():
    """By need splits: whatever is put for the variables of other parts, this part is implied."""
    lifted = Lifted(KIP320.model().schema)
    lower, clauses, several = UnboundedTerms(lifted), Clauses(lifted), 0
    for lemma in lemmas_of(KIP320):
        for clause in clauses.of(lifted.now(KIP320.model().claim(lemma.claim))):
            for part in split(clause):
                kept = [v if v in part.variables else None for v in clause.variables]
                several += None in kept
                solver = z3.Solver()
                solver.add(Assumed(lower, [clause]).instance(Instance(clause, tuple(kept))))
                solver.add(z3.Not(lower(part.body)))
                assert solver.check() == z3.unsat
    assert several


def test_a_changed_file_is_no_certificate(tmp_path):
    """Any condition's clause that is left out or turned round; and a proof that goes too far."""
    lower, assumed, instances = ring()
    stem = certificate_of(lower, assumed, instances, tmp_path)
    question = (tmp_path / f"{stem}.cnf").read_text().splitlines()
    clauses = [list(map(int, line.split()))[:-1] for line in question[1:]]
    variables = int(question[0].split()[2])
    proof = (tmp_path / f"{stem}.drup").read_text().splitlines()
    assert refutes(proof, clauses, variables)
    assert not refutes(["0"], clauses, variables)
    noticed = sum(
        not refutes(proof, [*clauses[:place], *changed, *clauses[place + 1 :]], variables)
        for place, clause in enumerate(clauses)
        if len(clause) == 1
        for changed in ([], [[-clause[0]]])
    )
    assert noticed >= len(instances)


@pytest.mark.parametrize("protocol", [ASYNC_ISR, KIP320], ids=lambda protocol: protocol.name)
def test_what_is_owed_is_what_is_proved(protocol):
    class Listed(UnboundedInduction):
        def _prove(self, what, *_):
            self._settled[what.action, what.lemma] = what, frozenset()

        def _resisting(self):
            return set()

    lemmas = lemmas_of(protocol)
    proof = Listed(protocol.model(), lemmas[:1], lemmas, cross_check=False)
    found = {(o.action, o.lemma) for o in proof.run().obligations}
    assert set(owed(proof.model, proof.proof.properties, proof.claims)) == found


def test_cvc5_is_asked_of_few_instances_and_no_quantifiers(monkeypatch):
    asked = []

    def ask(_, text, _seconds):
        asked.append(text)
        return "unsat", ""

    monkeypatch.setattr(Cvc5, "ask", ask)
    with Solvers(Solver.CVC5) as solvers:
        proof = UnboundedInduction(
            ASYNC_ISR.model(), CLAIM, lemmas_of(ASYNC_ISR), cross_check=False, solvers=solvers
        ).run()
    assert proof.outcome is ProofOutcome.PROVED
    assert len(asked) == len(proof.obligations)
    assert "forall" not in "".join(asked)
