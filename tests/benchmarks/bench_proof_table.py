"""The tables of docs/proofs.md: what is proved, by which solver, in how many processor seconds.

Each question of tests/support/proof_rows.toml is a process of its own, `highwater prove`. Run it as
`python -m tests.benchmarks.bench_proof_table docs/proofs.md`: the page says what was asked before,
the other cells are asked, and each answer is written to the page at once. With `--anew` all is
asked. It ends with status 1 if an answer is not the one that the rows say: that is not written.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker.telling.report.pages import part_of, with_part
from tests.support.proof_rows import Row, falling, proved, table

SOLVERS = ("z3", "cvc5")
BEGIN, END = "<!-- proofs: made by bench_proof_table -->", "<!-- end of proofs -->"
NOT_ASKED = "–"


@dataclass(frozen=True)
class Cell:
    """What a cell says: seconds, `open` or that it was not asked; and the lemma that falls."""

    said: str = NOT_ASKED
    lemma: str = ""


@dataclass(frozen=True)
class Question:
    """A cell of a table: a row with its sizes and a solver."""

    row: Row
    sizes: str
    solver: str

    @property
    def arguments(self) -> list[str]:
        """What `highwater` is called with."""
        return [*self.row.command(self.sizes), "--solver", self.solver]


Cells = Mapping[str, Cell]
"""By the arguments of their questions, with spaces between."""


def questions() -> Iterator[Question]:
    """All cells: those of Z3 first, as that is quicker."""
    for solver in SOLVERS:
        for row in (*proved(), *falling()):
            for sizes in row.sizes:
                yield Question(row, sizes, solver)


def to_ask(cells: Cells) -> list[Question]:
    """What was not asked: Z3 first, then what took Z3 least."""

    def effort(question: Question) -> tuple[int, float]:
        z3 = _cell(cells, question.row, question.sizes, SOLVERS[0]).said.split()[0]
        took = float(z3) if z3[0].isdigit() else float("inf")
        return SOLVERS.index(question.solver), took

    left = [q for q in questions() if cells[" ".join(q.arguments)].said == NOT_ASKED]
    return sorted(left, key=effort)


def told(page: str) -> dict[str, Cell]:
    """What the page says; `NOT_ASKED` where it has no such row."""
    lines = [
        [cell.strip() for cell in line[1:-1].split("|")]
        for line in part_of(page, BEGIN, END).splitlines()
        if line.startswith("|")
    ]
    cells = {" ".join(question.arguments): Cell() for question in questions()}
    for row in (*proved(), *falling()):
        title = [*_title(row)]
        for line in lines:
            if line[: len(title)] == title:
                figures = [said for said in line[len(title) :] if said]
                lemma = figures.pop(0).strip("`") if row.action else ""
                for place, said in zip(_places(row), figures, strict=True):
                    cells[" ".join(place.arguments)] = Cell(said, lemma)
    return cells


def measured(question: Question, limits: Iterable[str]) -> dict[str, Any]:
    """What `prove` says, and the processor seconds of the whole process."""
    before = _processor_seconds()
    ended = subprocess.run(
        [
            sys.executable, "-m", "highwater", *question.arguments,
            *limits, "--no-cross-check", "--json",
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not ended.stdout:
        raise SystemExit(f"{' '.join(question.arguments)}: {ended.stderr.strip()}")
    said = json.loads(ended.stdout)
    bad = [o for o in said["obligations"] if o["outcome"] not in ("proved", "joined")]
    return {
        "verdict": said["verdict"],
        "falls": [(o["action"], o["lemma"]) for o in bad],
        "seconds": round(_processor_seconds() - before, 1),
    }


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def differs(row: Row, said: Mapping[str, Any]) -> bool:
    """The answer is not the one that the row says; a solver may leave it open."""
    if said["verdict"] == "unknown":
        return False
    if not row.action:
        return bool(said["verdict"] != "proved")
    if said["verdict"] != "not_inductive":
        return True
    action, lemma = said["falls"][0]
    return bool(action != row.action or lemma not in row.lemmas)


def tables(cells: Cells) -> str:
    """Both tables, and what their words stand for."""
    lines = [
        "| protocol | settings and faults | sizes | properties | in bounds: Z3 | cvc5 "
        "| all sizes: Z3 | cvc5 |",
        "|---|---|---|---|---:|---:|---:|---:|",
    ]
    for row in proved():
        lines.append(f"| {' | '.join([*_title(row), *_figures(row, cells)])} |")
    lines += ["", *_key(), ""]
    lines += [
        "| what is off | falls at | by | Z3 | cvc5 |",
        "|---|---|---|---:|---:|",
    ]
    for row in falling():
        lemma = f"`{_cell(cells, row, 'bounds', 'z3').lemma}`"
        lines.append(f"| {' | '.join([*_title(row), lemma, *_figures(row, cells)])} |")
    return "\n".join(lines) + "\n"


def _title(row: Row) -> Iterator[str]:
    """What stands before the figures of a row, and tells it from others."""
    if not row.action:
        yield from (_protocol(row), _about(row), _sizes(row), _properties(row))
        return
    choice = row.choice
    settings = " ".join([choice.protocol, *(f"{n}={v}" for n, v in choice.settings.items())])
    case = f"[{row.words}](../counterexamples/{row.case}/)"
    yield from (case if row.case else f"`{settings}`: {row.words}", f"`{row.action}`")


def _protocol(row: Row) -> str:
    return " ".join(filter(None, [f"`{row.choice.protocol}`", row.choice.preset.partition("-")[2]]))


def _about(row: Row) -> str:
    return ", ".join([*row.about, *filter(None, [row.words])])


def _sizes(row: Row) -> str:
    """The bounds, but those of a group of faults, which `about` names."""
    groups = table()["faults"].items()
    told = {name for words, names in groups if words in " ".join(row.about) for name in names}
    bounds = row.choice.bounds.items()
    return "; ".join(f"{name.replace('_', ' ')} {n}" for name, n in bounds if name not in told)


def _properties(row: Row) -> str:
    for words, names in table()["groups"].items():
        if row.properties == tuple(names):
            return str(words)
    return ", ".join(f"`{name}`" for name in row.properties) or "all promised"


def _figures(row: Row, cells: Cells) -> Iterator[str]:
    for sizes in ("bounds",) if row.action else ("bounds", "all"):
        for solver in SOLVERS:
            yield _cell(cells, row, sizes, solver).said if sizes in row.sizes else ""


def _places(row: Row) -> list[Question]:
    """The cells of a row, from the left."""
    return [Question(row, sizes, solver) for sizes in row.sizes for solver in SOLVERS]


def _cell(cells: Cells, row: Row, sizes: str, solver: str) -> Cell:
    return cells[" ".join(Question(row, sizes, solver).arguments)]


def _key() -> Iterable[str]:
    for words, names in table()["groups"].items():
        yield f"- *{words}*: {', '.join(f'`{name}`' for name in names)}."
    for words, settings in table()["settings"].items():
        yield f"- *{words}*: {', '.join(f'`{name}={value}`' for name, value in settings.items())}."
    for words, names in table()["faults"].items():
        yield f"- *{words}*: {', '.join(name.replace('_', ' ') for name in names)}."


def main() -> None:
    """Ask what the page does not say, print each answer, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--anew", action="store_true", help="ask all: first empty all cells")
    parser.add_argument("--max-seconds", default="900", help="for each cell")
    parser.add_argument("--timeout", default="60", help="seconds, for each question of a cell")
    options = parser.parse_args()
    if options.anew:
        _write(options.page, {" ".join(question.arguments): Cell() for question in questions()})
    limits = ["--max-seconds", options.max_seconds, "--timeout", options.timeout]
    wrong = []
    for question in to_ask(told(options.page.read_text())):
        asked, said = " ".join(question.arguments), measured(question, limits)
        print(f"{said['verdict']} {said['seconds']} s: {asked}", *said["falls"], flush=True)
        if differs(question.row, said):
            wrong.append(asked)
            continue
        is_open = said["verdict"] == "unknown"
        lemma = said["falls"][0][1] if question.row.action and not is_open else ""
        cell = Cell("open" if is_open else f"{said['seconds']} s", lemma)
        _write(options.page, told(options.page.read_text()) | {asked: cell})
    if wrong:
        sys.exit("not as the rows say:\n" + "\n".join(wrong))


def _write(page: Path, cells: Cells) -> None:
    page.write_text(with_part(page.read_text(), BEGIN, END, f"\n{tables(cells)}\n"))


if __name__ == "__main__":
    main()
