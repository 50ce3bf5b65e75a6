"""Who answers the questions of a proof, and where the questions are kept for others to answer.

Z3 builds the terms. A second solver reads the same question as SMT-LIB text, so that an answer need
not rest on Z3 alone, and everybody can give the files to a solver of their own.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import z3

from checker.core.files import write_whole
from checker.core.proofs.asking import ask
from checker.core.proofs.certificates.refutation import Certificates
from checker.core.proofs.cvc5_process import Cvc5
from checker.distribution import require
from model.language.errors import UsageError


class Solver(StrEnum):
    """Whose word is taken."""

    Z3 = "z3"
    CVC5 = "cvc5"
    BOTH = "both"  # only what both refute is refuted


@dataclass
class Solvers:
    """The solvers of one proof. `smtlib` is an existing directory for the questions, if any.

    `certificates` take whatever is refuted, if any, and what they have no proof of is not refuted.
    `said` is written at the top of each file; `seconds` are of each solver, all questions together.
    `UsageError` without the solver that is asked for.
    """

    solver: Solver = Solver.Z3
    smtlib: Path | None = None
    said: str = ""
    certificates: Certificates | None = None
    certified: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    """The names of the certificates of each question."""
    seconds: dict[str, float] = field(default_factory=dict)
    written: int = 0
    gave_up: str = ""
    """Who found no answer to the last question, and why; empty where it has one."""

    def __post_init__(self) -> None:
        if self.solver is not Solver.Z3:
            require(f"--solver {self.solver} needs cvc5", "cvc5")
        if self.smtlib is not None and any(self.smtlib.glob("*.smt2")):
            raise UsageError(
                f"{self.smtlib} has questions of another proof: choose a new directory"
            )
        self._second = Cvc5()

    @property
    def wants_few(self) -> bool:
        """Somebody else than Z3 has to refute what it refutes: better a short question."""
        return self.solver is not Solver.Z3 or self.certificates is not None

    def ask(
        self,
        solver: Any,
        seconds: float | None,
        *what: str,
        logic: str = "ALL",
        refuted: bool = False,
        added: Sequence[Any] | None = None,
    ) -> Any:
        """Whether what was added to `solver` can hold together: `z3.sat`, `unsat` or `unknown`.

        `seconds` is for each solver. `what` names the question, such as an action and a lemma. With
        `refuted` only what is refuted is written: anything else is one attempt of several. `added`
        is what was added to a solver that cannot tell: one for `QF_FD` tells something else. Where
        the answer is `sat`, `solver.model()` is a solution. Raises `RuntimeError` if one solver
        finds a solution of what the other refutes.
        """
        conditions = solver.assertions() if added is None else added
        is_read = self.smtlib is not None or self.solver is not Solver.Z3
        text = _text(conditions, logic) if is_read else ""
        answer = self._answer(solver, seconds, text, what)
        if answer == z3.unsat and not self._certify(conditions, seconds, what):
            answer = z3.unknown
        if answer == z3.unsat or not refuted:
            self._write(text, answer, what)
        return answer

    def _answer(self, solver: Any, seconds: float | None, text: str, what: tuple[str, ...]) -> Any:
        """What those who are asked say together."""
        self.gave_up, first = "", None
        if self.solver is not Solver.CVC5:
            first = self._ask_z3(solver)
        answer = first
        # A solution is checked elsewhere: steps are replayed. What is refuted has but their word.
        if self.solver is Solver.CVC5 or (self.solver is Solver.BOTH and first == z3.unsat):
            answer = self._ask_cvc5(text, seconds)
        if answer == z3.sat and first is None:
            first = self._ask_z3(solver)  # for the solution
        settled = z3.unknown not in (first, answer)
        if settled and first is not None and first != answer:
            raise RuntimeError(f"Z3 says {first} and cvc5 {answer} of {': '.join(what)}")
        return answer if settled else z3.unknown

    def _certify(
        self, conditions: Iterable[Any], seconds: float | None, what: tuple[str, ...]
    ) -> bool:
        """Whether there is a certificate of what was refuted, if one is asked for."""
        if self.certificates is None:
            return True
        started = time.perf_counter()
        found = self.certificates.add(conditions, _file_name(what), self._head(what), seconds)
        self._took("certificates", started)
        if found is None:
            self.gave_up = "the SAT solver had no time for a certificate"
            return False
        self.certified.setdefault(what, []).append(found)
        return True

    def _ask_z3(self, solver: Any) -> Any:
        started = time.perf_counter()
        answer = ask(solver)
        self._took("z3", started)
        if answer == z3.unknown:
            self.gave_up = f"Z3 gave up: {solver.reason_unknown()}"
        return answer

    def _ask_cvc5(self, text: str, seconds: float | None) -> Any:
        started = time.perf_counter()
        answer, why = self._second.ask(text, seconds)
        self._took("cvc5", started)
        if answer == "unknown":
            self.gave_up = f"cvc5 gave up: {why}"
        return {"sat": z3.sat, "unsat": z3.unsat}.get(answer, z3.unknown)

    def _took(self, solver: str, started: float) -> None:
        taken = time.perf_counter() - started
        self.seconds[solver] = self.seconds.get(solver, 0.0) + taken

    def _write(self, text: str, answer: Any, what: tuple[str, ...]) -> None:
        if self.smtlib is None:
            return
        self.written += 1
        head = [f"; {line}" for line in self._head(what)]
        status = f"(set-info :status {answer})"
        content = "\n".join([*head, status, text])
        path = self.smtlib / f"{self.written:04}-{_file_name(what)}.smt2"
        try:
            write_whole(path, content.encode())
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None

    def _head(self, what: tuple[str, ...]) -> list[str]:
        """What a file says of its question at the top."""
        return [*self.said.splitlines(), ": ".join(filter(None, what))]

    def __enter__(self) -> Solvers:
        return self

    def __exit__(self, *_: object) -> None:
        self._second.close()

    @property
    def words(self) -> str:
        """Who answered, and what was written."""
        who = {Solver.Z3: "Z3", Solver.CVC5: "cvc5", Solver.BOTH: "both Z3 and cvc5"}[self.solver]
        took = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.seconds.items())
        parts = [f"refuted by {who} ({took})" if took else f"refuted by {who}"]
        if self.smtlib is not None:
            parts.append(f"{self.written} questions are written")
        if self.certificates is not None:
            parts.append(f"{self.certificates.written} certificates are written and checked")
        return "; ".join(parts)


def _file_name(what: Iterable[str]) -> str:
    return "-".join(re.sub(r"\W+", "_", word) for word in what if word)[:100]


def _text(conditions: Sequence[Any], logic: str) -> str:
    """The question whether the conditions can hold together, as SMT-LIB 2.6."""
    solver = z3.Solver()
    solver.add(*conditions)
    lines = solver.to_smt2().splitlines()
    kept = [line for line in lines if line and not line.startswith(("; ", "(set-info :status"))]
    return "\n".join([f"(set-logic {logic})", *kept]) + "\n"
