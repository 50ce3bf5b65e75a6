"""cvc5 in a process of its own: it can be ended while it works, and what it keeps is given back.

Run as a module it is that process: a line with the length of a text and the milliseconds that it
may take, the text, and for each a line with the answer.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import weakref

_FOR_EVER = 0


class Cvc5:
    """Answers questions one after the other. The process starts with the first."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, text: str, seconds: float | None) -> tuple[str, str]:
        """`sat`, `unsat` or `unknown` of an SMT-LIB text with one question; and why it is unknown.

        Raises `RuntimeError` if cvc5 cannot read it. Whatever ends the wait, as Ctrl-C, ends the
        process as well.
        """
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        content = text.encode()
        limit = _FOR_EVER if seconds is None else max(int(seconds * 1000), 1)
        try:
            process.stdin.write(f"{len(content)} {limit}\n".encode() + content)
            process.stdin.flush()
            answer = process.stdout.readline().decode().strip()
        except BrokenPipeError:
            answer = ""
        except BaseException:
            self.close()
            raise
        found, _, why = answer.partition(" ")
        if found not in ("sat", "unsat", "unknown"):
            self.close()
            raise RuntimeError(f"cvc5 could not answer: {answer or 'it ended'}")
        return found, why.strip("()").lower()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        weakref.finalize(self, _end, process)
        self._process = process
        return process

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            _end(self._process)
        self._process = None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with contextlib.suppress(BrokenPipeError):
        process.communicate()


def _answer(text: str, milliseconds: int) -> str:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(milliseconds))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "question")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said += str(command.invoke(solver, parser.getSymbolManager()))
    return said.strip()


def _serve() -> None:
    while head := sys.stdin.buffer.readline():
        length, milliseconds = map(int, head.split())
        text = sys.stdin.buffer.read(length).decode()
        try:
            answer = _answer(text, milliseconds)
        except RuntimeError as error:
            answer = str(error)
        print(" ".join(answer.split()), flush=True)


if __name__ == "__main__":
    _serve()
