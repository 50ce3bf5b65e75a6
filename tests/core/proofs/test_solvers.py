"""What two solvers prove rests on the word of each, and its questions can be asked again."""

from __future__ import annotations

import pytest
import z3

from checker.core.proofs.bounded.induction import Induction, InductionOptions
from checker.core.proofs.cvc5_process import Cvc5
from checker.core.proofs.proof import ProofOutcome
from checker.core.proofs.solvers import Solver, Solvers
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from model.language.errors import UsageError
from model.protocols import protocol_named
from properties import choose_properties, lemmas_of
from tests.support.proofs import hard_query

ASYNC_ISR = protocol_named("async_isr")
SMALL = {"replicas": 2, "max_offset": 1, "max_version": 1}
CLAIM = choose_properties(ASYNC_ISR, ["valid_high_watermark"])
LEMMAS = lemmas_of(ASYNC_ISR)


def proof_by(solvers, lemmas=LEMMAS):
    options = InductionOptions(cross_check=False, solvers=solvers)
    return Induction(ASYNC_ISR.model(SMALL), CLAIM, lemmas, options).run()


@pytest.mark.parametrize("solver", list(Solver))
def test_each_solver_proves_it_and_its_questions_have_their_answers(solver, tmp_path):
    with Solvers(solver, tmp_path) as solvers:
        proof = proof_by(solvers)
    assert proof.outcome is ProofOutcome.PROVED
    questions = sorted(tmp_path.iterdir())
    assert len(questions) == sum(o.queries for o in proof.obligations) == solvers.written
    other = Cvc5()
    for question in questions:
        text = question.read_text()
        assert f"(set-info :status {other.ask(text, 30)[0]})" in text, question.name
    other.close()


@pytest.mark.parametrize("left_out", LEMMAS, ids=lambda lemma: lemma.name)
def test_without_a_lemma_cvc5_says_what_z3_says(left_out):
    lemmas = [lemma for lemma in LEMMAS if lemma is not left_out]
    with Solvers(Solver.CVC5) as solvers:
        found = proof_by(solvers, lemmas)
    known = proof_by(Solvers(), lemmas)
    assert (found.outcome, found.never_enabled) == (known.outcome, known.never_enabled)


@pytest.mark.usefixtures("little_effort")
def test_what_one_refutes_and_the_other_does_not_is_not_proved(monkeypatch):
    monkeypatch.setattr(Cvc5, "ask", lambda self, text, seconds: ("unknown", "tired"))
    bounded = proof_by(Solvers(Solver.BOTH))
    assert bounded.outcome is ProofOutcome.UNKNOWN
    assert bounded.obligations[-1].reason == "cvc5 gave up: tired"
    unbounded = UnboundedInduction(
        ASYNC_ISR.model(), CLAIM, LEMMAS, cross_check=False, solvers=Solvers(Solver.BOTH)
    )
    assert unbounded.run().outcome is ProofOutcome.UNKNOWN
    assert {o.outcome for o in unbounded.proof.obligations} == {ProofOutcome.UNKNOWN}


@pytest.mark.parametrize("solver", [Solver.BOTH, Solver.CVC5])
def test_two_answers_that_contradict_each_other_end_the_proof(solver, monkeypatch):
    monkeypatch.setattr(Cvc5, "ask", lambda self, text, seconds: ("sat", ""))
    with pytest.raises(RuntimeError, match="Z3 says unsat and cvc5 sat of"):
        proof_by(Solvers(solver))


def test_for_all_sizes_both_refute_every_obligation(tmp_path):
    with Solvers(Solver.BOTH, tmp_path) as solvers:
        proof = UnboundedInduction(
            ASYNC_ISR.model(), CLAIM, LEMMAS, cross_check=False, solvers=solvers
        ).run()
    assert proof.outcome is ProofOutcome.PROVED
    assert solvers.written >= len(proof.obligations)
    assert all("(set-info :status unsat)" in q.read_text() for q in tmp_path.iterdir())


def test_a_question_has_its_time_and_ends_with_its_process():
    with Solvers(Solver.CVC5) as solvers:
        assert solvers.ask(hard_query(), 0.2, "factors", logic="QF_BV") == z3.unknown
        assert solvers.gave_up == "cvc5 gave up: timeout"
        process = solvers._second._process
    assert process is not None
    assert process.poll() is not None


def test_a_process_that_has_ended_is_told():
    cvc5 = Cvc5()
    cvc5.ask("(set-logic QF_UF)(check-sat)", 5)
    assert cvc5._process is not None
    cvc5._process.kill()
    cvc5._process.wait()
    with pytest.raises(RuntimeError, match="cvc5 could not answer: it ended"):
        cvc5.ask("(check-sat)" * 20_000, 5)


def test_what_cvc5_cannot_read_is_told():
    with pytest.raises(RuntimeError, match="cvc5 could not answer: "):
        Cvc5().ask("(assert nobody)(check-sat)", 5)


def test_without_cvc5_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setattr("checker.distribution.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"needs cvc5: pip install 'highwater-kafka\[cvc5\]'"):
        Solvers(Solver.BOTH)
