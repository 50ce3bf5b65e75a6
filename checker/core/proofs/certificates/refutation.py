"""Certificates of a proof: each question that was refuted as clauses, with a proof of them.

A SAT solver that has no part in the answer refutes the clauses anew, and writes why in DRUP. That
is checked here before it is stored; any checker for DRAT can check the files once more.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from checker.core.files import write_whole
from checker.core.proofs.certificates.clauses import Clauses
from checker.core.proofs.certificates.drup import refutes
from checker.core.proofs.certificates.ground import over_bits
from checker.distribution import require
from model.language.errors import UsageError

_SOLVER = "glucose4"  # what it learns follows by propagation: its proofs need no more than DRUP


class Certificates:
    """The certificates of one proof, in an existing directory. `UsageError` if it has others.

    Questions are over bits; or `ground`, of which `over_bits` makes such.
    """

    def __init__(self, directory: Path, *, ground: bool = False) -> None:
        require("--certificate needs a SAT solver", "pysat")
        if any(directory.glob("*.cnf")):
            raise UsageError(
                f"{directory} has certificates of another proof: choose a new directory"
            )
        self.directory = directory
        self.written = 0
        self._ground = ground

    def add(
        self, conditions: Iterable[Any], name: str, said: Iterable[str], seconds: float | None
    ) -> str | None:
        """Write a certificate that the conditions cannot hold together, and check it: its name.

        `None` if the SAT solver has no answer after so many seconds. Raises `RuntimeError` if it
        finds a solution, or if what it writes is no proof. `said` is the head of the clauses.
        """
        question = Clauses(over_bits(conditions) if self._ground else conditions)
        answer, proof = _solved(question, seconds)
        if answer is None:
            return None
        if answer:
            raise RuntimeError(f"{name} was refuted, and its clauses have a solution")
        if not refutes(proof, question.clauses, question.variables):
            raise RuntimeError(f"{name}: what {_SOLVER} wrote is no proof")
        self.written += 1
        stem = f"{self.written:04}-{name}"
        head = "".join(f"c {line}\n" for line in said)
        self._write(f"{stem}.cnf", head + question.dimacs())
        self._write(f"{stem}.drup", "".join(f"{line}\n" for line in proof))
        return stem

    def list_obligations(self, certified: Mapping[tuple[str, ...], Iterable[str]]) -> None:
        """Write which certificates are of what, a line each, with tabs."""
        lines = ["\t".join((*what, *stems)) for what, stems in certified.items()]
        self._write("obligations.tsv", "".join(f"{line}\n" for line in lines))

    def _write(self, name: str, text: str) -> None:
        path = self.directory / name
        try:
            write_whole(path, text.encode())
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _solved(question: Clauses, seconds: float | None) -> tuple[bool | None, list[str]]:
    """Whether the clauses have a solution, if that is found in time; and the solver's proof."""
    from pysat.solvers import Solver

    found: list[bool | None] = []
    with Solver(_SOLVER, bootstrap_with=question.clauses, with_proof=True) as solver:
        # Beside this thread, which hears of Ctrl-C and of limits meanwhile.
        work = threading.Thread(
            target=lambda: found.append(solver.solve_limited(expect_interrupt=True))
        )
        work.start()
        try:
            work.join(seconds)
        finally:
            solver.interrupt()
            work.join()
        return found[0], solver.get_proof() or []
