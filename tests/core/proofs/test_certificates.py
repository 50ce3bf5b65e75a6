"""A certificate is of the question that was asked, and no proof is taken that is none."""

from __future__ import annotations

import itertools
import random

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from checker.core.proofs.bounded.induction import Induction, InductionOptions
from checker.core.proofs.certificates import refutation
from checker.core.proofs.certificates.clauses import Clauses
from checker.core.proofs.certificates.drup import refutes
from checker.core.proofs.certificates.refutation import Certificates
from checker.core.proofs.proof import ProofOutcome
from checker.core.proofs.solvers import Solver, Solvers
from model.language.errors import UsageError
from model.protocols import protocol_named
from properties import choose_properties, lemmas_of

VARIABLES = 5
PLACES = 4


# --- clauses ---------------------------------------------------------------------------------

X, Y, P = z3.BitVec("x", 3), z3.BitVec("y", 3), z3.Bool("p")
NUMBERS = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "not": lambda a, _: ~a,
    "if": lambda a, b: z3.If(P, a, b),
    "zero": lambda a, _: z3.ZeroExt(2, z3.Extract(1, 1, a)),
    "sign": lambda a, _: z3.SignExt(1, z3.Extract(2, 1, a)),
    "constant": lambda a, _: a + z3.BitVecVal(5, 3),
}
COMPARISONS = {
    "=": lambda a, b: a == b,
    "distinct": z3.Distinct,
    "ult": z3.ULT,
    "ule": z3.ULE,
    "ugt": z3.UGT,
    "uge": z3.UGE,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
}


def solutions(condition):
    """The values of x, y and p for which the clauses of a condition have a solution."""
    from pysat.solvers import Solver as SatSolver

    found = set()
    for x, y, p in itertools.product(range(8), range(8), (False, True)):
        asked = Clauses([condition, x == X, y == Y, p == P])
        with SatSolver("glucose4", bootstrap_with=asked.clauses) as solver:
            if solver.solve():
                found.add((x, y, p))
    return found


def given_values(x, y, p):
    return (X, z3.BitVecVal(x, 3)), (Y, z3.BitVecVal(y, 3)), (P, z3.BoolVal(p))


def values(condition):
    """The same by Z3's arithmetic on constants."""
    every = itertools.product(range(8), range(8), (False, True))
    return {
        chosen
        for chosen in every
        if z3.is_true(z3.simplify(z3.substitute(condition, *given_values(*chosen))))
    }


@pytest.mark.parametrize("compared", COMPARISONS)
def test_clauses_have_the_solutions_of_their_condition(compared):
    """Each comparison, of numbers by every operation, under every gate of truths."""
    draw = random.Random(compared)
    compare = COMPARISONS[compared]
    assert solutions(compare(X, Y)) == values(compare(X, Y))
    chosen = [NUMBERS[name](X, Y) for name in draw.sample(list(NUMBERS), 3)]
    left = compare(chosen[0], NUMBERS[draw.choice(list(NUMBERS))](chosen[1], Y))
    both = z3.Or(z3.And(left, P), z3.Not(z3.Implies(compare(Y, chosen[2]), z3.Xor(P, left))))
    assert solutions(both) == values(both)


@pytest.mark.parametrize("operation", NUMBERS)
def test_numbers_are_those_of_bit_vectors(operation):
    is_it = NUMBERS[operation](X, Y) == z3.BitVecVal(3, 3)
    assert solutions(is_it) == values(is_it)


def test_what_has_no_bits_is_refused():
    with pytest.raises(UsageError, match="a certificate is of truths and bits: n is not"):
        Clauses([z3.Int("n") == z3.Int("n")])


# --- proofs ----------------------------------------------------------------------------------


def solved(clauses):
    """Whether a SAT solver finds a solution, and its proof if not."""
    from pysat.solvers import Solver as SatSolver

    with SatSolver("glucose4", bootstrap_with=clauses, with_proof=True) as solver:
        return solver.solve(), solver.get_proof() or []


def pigeons(count):
    """That each of so many pigeons has a hole to itself, of which there is one less."""
    holes = range(count - 1)
    place = {(p, h): 1 + p * len(holes) + h for p in range(count) for h in holes}
    return [[place[p, h] for h in holes] for p in range(count)] + [
        [-place[p, h], -place[q, h]]
        for h in holes
        for p, q in itertools.combinations(range(count), 2)
    ]


literals = st.integers(1, VARIABLES).flatmap(lambda v: st.sampled_from([v, -v]))
some_clauses = st.lists(st.lists(literals, min_size=1, max_size=3), min_size=1, max_size=25)
some_lines = st.lists(st.lists(literals, max_size=2), max_size=6)


@given(some_clauses, some_lines)
def test_no_proof_refutes_clauses_that_have_a_solution(clauses, lines):
    has_one, proof = solved(clauses)
    written = [" ".join(map(str, [*line, 0])) for line in lines]
    if has_one:
        assert not refutes([*written, "0"], clauses, VARIABLES)
    else:
        assert refutes(proof, clauses, VARIABLES)


@pytest.mark.parametrize("count", [3, 4, 5, 6])
def test_a_proof_of_a_solver_is_taken_and_a_part_of_it_is_not(count):
    clauses = pigeons(count)
    variables = count * (count - 1)
    has_one, proof = solved(clauses)
    assert not has_one and refutes(proof, clauses, variables)
    assert not refutes(["0"], clauses, variables)
    for left_out in range(len(clauses)):
        fewer = clauses[:left_out] + clauses[left_out + 1 :]
        assert not refutes(proof, fewer, variables)


def test_a_line_that_is_no_clause_is_refused():
    for line in ("1 2", "1 7 0", "x 0", "0 1 0"):
        with pytest.raises(ValueError):
            refutes([line], [[1], [-1, 2]], 2)


# --- certificates of questions ---------------------------------------------------------------

ASYNC_ISR = protocol_named("async_isr")
SMALL = {"replicas": 2, "max_offset": 1, "max_version": 1}
CLAIM = choose_properties(ASYNC_ISR, ["valid_high_watermark"])


def proof_by(solvers):
    options = InductionOptions(cross_check=False, solvers=solvers)
    return Induction(ASYNC_ISR.model(SMALL), CLAIM, lemmas_of(ASYNC_ISR), options).run()


@pytest.mark.parametrize("solver", list(Solver))
def test_whatever_is_refuted_has_files_that_any_checker_reads(solver, tmp_path):
    certificates = Certificates(tmp_path)
    with Solvers(solver, certificates=certificates) as solvers:
        assert proof_by(solvers).outcome is ProofOutcome.PROVED
    questions = sorted(tmp_path.glob("*.cnf"))
    assert len(questions) == certificates.written > len(CLAIM)
    for question in questions:
        lines = [line for line in question.read_text().splitlines() if line[0] != "c"]
        *_, variables, count = lines[0].split()
        clauses = [list(map(int, line.split()))[:-1] for line in lines[1:]]
        assert len(clauses) == int(count)
        proof = question.with_suffix(".drup").read_text().splitlines()
        assert refutes(proof, clauses, int(variables))


def test_a_solver_that_refutes_what_has_a_solution_is_found_out(tmp_path, monkeypatch):
    solver = z3.SolverFor("QF_BV")
    solver.add(z3.ULT(X, Y))
    solvers = Solvers(certificates=Certificates(tmp_path))
    monkeypatch.setattr(solvers, "_ask_z3", lambda _: z3.unsat)
    with pytest.raises(RuntimeError, match="was refuted, and its clauses have a solution"):
        solvers.ask(solver, 10, "wrong")
    assert not list(tmp_path.iterdir())


def test_what_is_no_proof_is_not_stored(tmp_path, monkeypatch):
    monkeypatch.setattr(refutation, "_solved", lambda *_: (False, ["0"]))
    solver = z3.SolverFor("QF_BV")
    a, b, c = z3.BitVecs("a b c", 6)
    solver.add(a + b == c, c - b != a)
    with pytest.raises(RuntimeError, match="is no proof"):
        Solvers(certificates=Certificates(tmp_path)).ask(solver, 10, "hard")
    assert not list(tmp_path.iterdir())


def test_without_time_for_a_certificate_nothing_is_proved(tmp_path, monkeypatch):
    monkeypatch.setattr(refutation, "_solved", lambda *_: (None, []))
    found = proof_by(Solvers(certificates=Certificates(tmp_path)))
    assert found.outcome is ProofOutcome.UNKNOWN
    assert found.obligations[-1].reason == "the SAT solver had no time for a certificate"
