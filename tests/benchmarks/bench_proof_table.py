"""The tables of docs/proofs.md: what is proved, by which solver, in how many processor seconds.

Each question of tests/support/proof_rows.toml is a process of its own, `highwater prove`. Run it as
`python -m tests.benchmarks.bench_proof_table --keep FILE --write docs/proofs.md`: it goes on with
what FILE has, and ends with status 1 if an answer is not the one that the rows say.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from checker.telling.report.pages import with_part
from tests.support.proof_rows import Row, falling, proved, table

SOLVERS = ("z3", "cvc5")
BEGIN, END = "<!-- proofs: made by bench_proof_table -->", "<!-- end of proofs -->"
LIMIT = "900"
"""Seconds that a question may take, on a machine that does other things besides."""


def questions() -> Iterator[tuple[Row, str, str]]:
    """Each row with its sizes and a solver; all that Z3 is asked first, as that is quicker."""
    for solver in SOLVERS:
        for row in (*proved(), *falling()):
            for sizes in row.sizes:
                yield row, sizes, solver


def measured(row: Row, sizes: str, solver: str) -> dict[str, Any]:
    """What `prove` says, and the processor seconds of the whole process."""
    arguments = [*row.command(sizes), "--solver", solver, "--max-seconds", LIMIT]
    command = [sys.executable, "-m", "highwater", *arguments]
    before = _processor_seconds()
    ended = subprocess.run(
        [*command, "--timeout", "60", "--no-cross-check", "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not ended.stdout:
        raise SystemExit(f"{' '.join(arguments)}: {ended.stderr.strip()}")
    said = json.loads(ended.stdout)
    bad = [o for o in said["obligations"] if o["outcome"] not in ("proved", "joined")]
    return {
        "asked": asked(row, sizes, solver),
        "verdict": said["verdict"],
        "action": bad[0]["action"] if bad else "",
        "lemma": bad[0]["lemma"] if bad else "",
        "seconds": round(_processor_seconds() - before, 1),
    }


def asked(row: Row, sizes: str, solver: str) -> str:
    """What a measurement is known by."""
    return " ".join([*row.command(sizes), "--solver", solver])


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def differs(row: Row, said: dict[str, Any]) -> bool:
    """The answer is not the one that the row says; a solver may leave it open."""
    if said["verdict"] == "unknown":
        return False
    if not row.action:
        return bool(said["verdict"] != "proved")
    falls = said["verdict"] == "not_inductive" and said["action"] == row.action
    return not falls or said["lemma"] not in row.lemmas


def tables(known: dict[str, dict[str, Any]]) -> str:
    """Both tables, and what their words stand for."""
    lines = [
        "| protocol | settings and faults | sizes | properties | in bounds: Z3 | cvc5 "
        "| all sizes: Z3 | cvc5 |",
        "|---|---|---|---|---:|---:|---:|---:|",
    ]
    for row in proved():
        cells = [_protocol(row), _about(row), _sizes(row), _properties(row), *_figures(row, known)]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *_key(), ""]
    lines += [
        "| what is off | falls at | by | Z3 | cvc5 |",
        "|---|---|---|---:|---:|",
    ]
    for row in falling():
        lines.append(f"| {' | '.join([*_falls(row, known)])} |")
    return "\n".join(lines) + "\n"


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


def _figures(row: Row, known: dict[str, dict[str, Any]]) -> Iterator[str]:
    for sizes in ("bounds", "all"):
        for solver in SOLVERS:
            said = known.get(asked(row, sizes, solver)) if sizes in row.sizes else None
            if said is None:
                yield "" if sizes not in row.sizes else "–"
            else:
                yield f"{said['seconds']} s" if said["verdict"] == "proved" else "open"


def _falls(row: Row, known: dict[str, dict[str, Any]]) -> Iterator[str]:
    choice = row.choice
    place = f"[{row.words}](../counterexamples/{row.case}/)" if row.case else (
        f"`{' '.join([choice.protocol, *(f'{n}={v}' for n, v in choice.settings.items())])}`: "
        f"{row.words}"
    )  # fmt: skip
    yield from (place, f"`{row.action}`")
    said = known.get(asked(row, "bounds", "z3"), {})
    yield f"`{said.get('lemma', '')}`"
    for solver in SOLVERS:
        here = known.get(asked(row, "bounds", solver))
        yield (
            "–"
            if here is None
            else "open"
            if here["verdict"] == "unknown"
            else f"{here['seconds']} s"
        )


def _key() -> Iterable[str]:
    for words, names in table()["groups"].items():
        yield f"- *{words}*: {', '.join(f'`{name}`' for name in names)}."
    for words, settings in table()["settings"].items():
        yield f"- *{words}*: {', '.join(f'`{name}={value}`' for name, value in settings.items())}."
    for words, names in table()["faults"].items():
        yield f"- *{words}*: {', '.join(name.replace('_', ' ') for name in names)}."


def main() -> None:
    """Measure what is not kept yet, print each, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, required=True, metavar="FILE")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    options = parser.parse_args()
    lines = options.keep.read_text().splitlines() if options.keep.exists() else []
    known = {said["asked"]: said for said in map(json.loads, lines)}
    wrong = []
    for row, sizes, solver in questions():
        if (key := asked(row, sizes, solver)) not in known:
            known[key] = measured(row, sizes, solver)
            with options.keep.open("a") as file:
                print(json.dumps(known[key]), file=file)
        said = known[key]
        wrong += [key] if differs(row, said) else []
        print(
            f"{said['verdict']} {said['action']} {said['lemma']} {said['seconds']} s: {key}",
            flush=True,
        )
    if options.write:
        page = options.write.read_text()
        options.write.write_text(with_part(page, BEGIN, END, f"\n{tables(known)}\n"))
    if wrong:
        sys.exit("not as the rows say:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
