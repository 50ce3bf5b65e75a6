"""Mutants of the checker itself: each is applied to a copy of the tree, where its test must fail.

A checker's tests are only worth something if a wrong checker fails them. `mutants.toml` lists wrong
checkers, each one line away from the right one, with the test that notices. Run all with
`make mutants`, or some with `python -m tests.mutants WORD...`, by words of what they say or name.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Self

from tests.support.passed import TREE, seconds_of, seconds_of_passed

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("mutants.toml")
# A mutant may make its test hang, which is noticed too: after so many seconds, and so many times
# what the test takes without it.
SECONDS, TIMES = 20, 10
SECONDS_OF_ONE = 300  # a test without any mutant
DURATION = re.compile(r"^([\d.]+)s (?:call|setup|teardown) ", re.MULTILINE)
FAILED = 1  # pytest's exit status where a test failed
# Wrong machine code may end the process before a test does, which is noticed too.
CRASHES = (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT)


@dataclass(frozen=True)
class Mutant:
    """A wrong checker: in `file`, `find` stands once and becomes `replace`; `test` must fail."""

    part: str
    words: str
    file: str
    find: str
    replace: str
    test: str

    @property
    def problem(self) -> str:
        """Why the mutant cannot be made, if it cannot."""
        count = (ROOT / self.file).read_text(encoding="utf-8").count(self.find)
        if self.find == self.replace:
            return "changes nothing"
        return "" if count == 1 else f"`{self.find}` stands {count} times in {self.file}, not once"


def read_mutants(*words: str) -> list[Mutant]:
    """The mutants of the table; with `words`, those that have one of them anywhere."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    mutants = [Mutant(part, **row) for part, rows in table.items() for row in rows]
    return [m for m in mutants if not words or any(word in repr(m) for word in words)]


class Copy:
    """A copy of the tree in which one mutant at a time is tried, by a process that is warm."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in TREE:
            source, target = ROOT / name, folder / name
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copy(source, target)

        path = os.pathsep.join(map(str, (folder, folder / "checker/public", Path(__file__).parent)))
        self._warm = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("warm.py"))],
            cwd=folder,
            env=os.environ | {"CI": "true", "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process that forks, and what it runs."""
        with self._warm as process:
            process.terminate()

    @contextmanager
    def prepared(self, mutants: Sequence[Mutant]) -> Iterator[None]:
        """While active, what their tests import and none of them changes is there already."""
        files = [mutant.test.partition("::")[0] for mutant in mutants]
        self._ask(files, [mutant.file for mutant in mutants])
        try:
            yield
        finally:
            self._ask()

    def run(self, *arguments: str, seconds: float) -> tuple[int | None, str]:
        """Pytest's exit status, `None` if it took too long, and what it printed.

        Only while mutants are `prepared`.
        """
        plugins = ("-p", "no:cacheprovider", "-p", "first_failure")
        output = self.folder / "output.txt"
        status = self._ask(["-x", "-q", *plugins, *arguments], seconds, str(output))
        if status is None:
            return None, f"not done after {seconds} s"
        return status, output.read_text(encoding="utf-8", errors="replace")

    def _ask(self, *asked: object) -> int | None:
        """What `warm.py` answers."""
        assert self._warm.stdin is not None
        assert self._warm.stdout is not None
        print(json.dumps(asked), file=self._warm.stdin, flush=True)
        answer: int | None = json.loads(self._warm.stdout.readline())
        return answer

    def seconds(self, test: str) -> float:
        """What a test takes, with all its parameters. `SystemExit` if it fails."""
        shown = ("--durations=0", "--durations-min=0", "-vv")
        status, output = self.run(*shown, test, seconds=SECONDS_OF_ONE)
        if status != 0:
            raise SystemExit(f"{test} fails without any mutant:\n{_end(output)}")
        return sum(float(seconds) for seconds in DURATION.findall(output))

    @contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """While active, the copy is the wrong checker."""
        path = self.folder / mutant.file
        text = path.read_text(encoding="utf-8")
        _write(path, text.replace(mutant.find, mutant.replace))
        try:
            yield
        finally:
            _write(path, text)


def _write(path: Path, text: str) -> None:
    """Write a module, and forget what was compiled from it: sizes and times may be the same."""
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()


def _end(output: str) -> str:
    return "\n".join(output.splitlines()[-15:])


def verdict(copy: Copy, mutant: Mutant, seconds: float) -> str:
    """Empty if the mutant's test fails, as it should; else what happened."""
    if mutant.problem:
        return mutant.problem
    with copy.mutated(mutant):
        status, output = copy.run(mutant.test, seconds=seconds)
    if status in (FAILED, None, *CRASHES):
        return ""
    return "SURVIVED" if status == 0 else f"pytest ended with {status}:\n{_end(output)}"


@contextmanager
def _one(copies: Queue[Copy]) -> Iterator[Copy]:
    """A copy that nobody else has meanwhile."""
    copy = copies.get()
    try:
        yield copy
    finally:
        copies.put(copy)


def _by_folder(mutants: list[Mutant]) -> list[list[Mutant]]:
    """Those that change files of one folder together; the most of them first."""
    folders: dict[Path, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        folders[Path(mutant.file).parent].append(mutant)
    return sorted(folders.values(), key=len, reverse=True)


def main(arguments: Sequence[str]) -> int:
    """Try the mutants; exit status 0 if all are killed, 1 if not, 2 if there are none to try."""
    parser = ArgumentParser(
        prog="python -m tests.mutants", description="Break the checker in many ways."
    )
    parser.add_argument("words", nargs="*", help="try those that have one of these words")
    parser.add_argument(
        "--begin-within", type=float, metavar="SECONDS", help="leave out what would begin later"
    )
    asked = parser.parse_args(arguments)
    until = time.monotonic() + (math.inf if asked.begin_within is None else asked.begin_within)
    mutants = read_mutants(*asked.words)
    if not mutants:
        print(f"no mutant has any of these words: {' '.join(asked.words)}", file=sys.stderr)
        return 2
    workers = min(len(mutants), os.cpu_count() or 1)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as open_copies:
        copies: Queue[Copy] = Queue()
        for number in range(workers):
            copies.put(open_copies.enter_context(Copy(Path(folder) / str(number))))
        passed = seconds_of_passed(ROOT)
        tests = {mutant.test: seconds_of(mutant.test, passed) for mutant in mutants}
        times = {test: seconds for test, seconds in tests.items() if seconds is not None}
        known = f"{len(times)} of {len(tests)} tests have passed on this tree"
        print(f"{known}; the others are run without a mutant first", flush=True)

        def try_all(group: list[Mutant]) -> Counter[str]:
            counts: Counter[str] = Counter()
            with _one(copies) as copy, copy.prepared(group):
                for mutant in group:
                    if time.monotonic() > until:
                        counts["left out"] += 1
                        continue
                    if mutant.test not in times:
                        times[mutant.test] = copy.seconds(mutant.test)
                    found = verdict(copy, mutant, SECONDS + TIMES * times[mutant.test])
                    counts["alive" if found else "killed"] += 1
                    told = "NOT KILLED" if found else "killed  "
                    of = f"{mutant.part}: {mutant.words}\n"
                    print(f"{told} {of}{found or f'         by {mutant.test}'}", flush=True)
            return counts

        with ThreadPoolExecutor(workers) as pool:
            counts = sum(pool.map(try_all, _by_folder(mutants)), Counter[str]())
    left = f", {counts['left out']} left out as no time was left" if counts["left out"] else ""
    print(f"{len(mutants)} mutants of the checker, {counts['killed']} killed{left}")
    return 1 if counts["alive"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
