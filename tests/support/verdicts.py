"""The table of verdicts on the rules of transactions and of tasks: each off and on, twice.

At the bounds of its case a row is small enough for every engine. Beside the other fixes, with two
transactions, two partitions and two failovers, or two inputs and two rebalances, it is what the
rule is worth. Run as
`python -m tests.support.verdicts [CASE...]` it searches anew, each row in a process of its own, and
writes `tests/golden/transactions.csv` and the page.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from checker.core.search.explore import Explorer
from checker.core.search.limits import Limits, peak_memory_bytes
from checker.core.search.question import Options
from checker.core.verdict import Exploration, Verdict
from checker.lab.experiments.cases import Case, read_cases
from checker.telling.report.pages import with_part
from model.kafka_streams.protocol import KAFKA_STREAMS
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.language.declare.settings import as_text
from model.language.protocol import Model
from properties import choose_properties

ROOT = Path(__file__).parents[2]
CASES = {
    case.name: case
    for protocol in (KAFKA_TRANSACTIONS, KAFKA_STREAMS)
    for case in read_cases(ROOT / "counterexamples" / protocol.name)
}
TABLE = ROOT / "tests" / "golden" / "transactions.csv"
PAGE = ROOT / "docs" / "transaction-verdicts.md"
BEGIN = "<!-- verdicts: made by `python -m tests.support.verdicts` -->"
END = "<!-- end of verdicts -->"
LIMITS = Limits(seconds=300, memory=6_000_000_000)
WIDE = {
    KAFKA_TRANSACTIONS.name: {"transactions": 2, "topic_partitions": 2, "coordinator_failovers": 2},
    KAFKA_STREAMS.name: {"inputs": 2, "rebalances": 2, "transaction_timeouts": 1, "aborts": 1},
}
USUAL = {KAFKA_TRANSACTIONS.name: {"producer_epochs": 6}, KAFKA_STREAMS.name: {}}
"""Bounds of enough, which add no states."""

SHAPE = {
    KAFKA_TRANSACTIONS.name: (
        "transaction.version",
        "transaction.partition.verification.enable",
        "after.a.failed.record",
    ),
    KAFKA_STREAMS.name: (),
}
"""What a release or its operator chooses, and what a rule is about, beside the other fixes."""

NO_FAILOVER = ("141-a_late_record", "155-verified_and_then_aborted")
"""Of these version 0 is a part, where one failover is enough to break the same claim (173)."""

FENCED = "an_open_transaction_can_be_fenced"
Row = dict[str, str]


def rows() -> dict[str, Row]:
    """The stored table, by case."""
    found = csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines())
    return {row["case"]: row for row in found}


def faults(case: Case) -> dict[str, int]:
    """The wide bounds of a case: what it needs, and more of what every transaction has."""
    bounds, protocol = case.broken.bounds, case.broken.protocol
    wide = {name: max(bounds.get(name, 0), size) for name, size in WIDE[protocol].items()}
    if case.name in NO_FAILOVER:
        wide["coordinator_failovers"] = 0
    return {**USUAL[protocol], **bounds, **wide}


def changed(case: Case, on: bool) -> dict[str, str]:
    """The settings in which a case and its fix differ, as one or the other has them."""
    assert case.fix is not None
    broken, fixed = (as_text(choice.model.settings) for choice in (case.broken, case.fix))
    return {name: (fixed if on else broken)[name] for name in broken if broken[name] != fixed[name]}


@cache
def wide(name: str, on: bool) -> Model:
    """Every fix, and the rule of a case off or on, at the wide bounds."""
    case = CASES[name]
    protocol, usual = case.broken.model.protocol, as_text(case.broken.model.settings)
    chosen = dict(protocol.presets["kafka-fixed"])
    chosen |= {rule: usual[rule] for rule in SHAPE[protocol.name]}
    if case.violates == FENCED:  # which hides what brings that about
        chosen["fences.at.the.last.epoch"] = "false"
    return protocol.model(faults(case), {**chosen, **changed(case, on)})


def small(name: str, on: bool) -> Model:
    """The case, or its fix."""
    case = CASES[name]
    assert case.fix is not None
    return (case.fix if on else case.broken).model


def has_classes(name: str) -> bool:
    """Members are interchangeable: partitions are, owners and inputs have an order."""
    return CASES[name].broken.protocol == KAFKA_TRANSACTIONS.name


def searched(name: str, model: Model, *, symmetry: bool = False) -> Exploration:
    """A search of a model for the violation of a case's claim."""
    claims = choose_properties(model.protocol, [CASES[name].violates])
    options = Options(cross_check=False, symmetry=symmetry)
    return Explorer(model, claims, LIMITS, options).run()


def _row(name: str) -> Row:
    before, after = (searched(name, small(name, on)) for on in (False, True))
    symmetric = searched(name, wide(name, True), symmetry=has_classes(name))
    began = time.perf_counter()
    off, on = (searched(name, wide(name, on)) for on in (False, True))
    seconds = time.perf_counter() - began
    for found in (after, symmetric, on):
        assert found.verdict is Verdict.EXHAUSTED, (name, found.verdict)
    counts = {
        "steps": before.violations[0].depth,
        "states": before.distinct_states,
        "states_with_the_fix": after.distinct_states,
        "wide_steps": off.violations[0].depth,
        "wide_states": off.distinct_states,
        "wide_states_with_the_fix": on.distinct_states,
        "wide_depth": len(on.levels) - 1,
        "classes": symmetric.distinct_states if has_classes(name) else "",
        "seconds": f"{seconds:.1f}",
        "megabytes": round(peak_memory_bytes() / 1e6),
    }
    return {"case": name} | {column: str(value) for column, value in counts.items()}


def _told(name: str, row: Row) -> Iterator[str]:
    case = CASES[name]
    protocol = case.broken.model.protocol
    rules = changed(case, on=False)
    usual = as_text(protocol.settings())
    number = name.partition("-")[0] if name[:3].isdigit() else name.replace("_", " ")
    yield f"[{number}](../counterexamples/{protocol.name}/{name}/)"
    told = [f"`{rule}={value}`" for rule, value in rules.items() if value != usual[rule]]
    yield ", ".join(told or [f"`{rule}={value}`" for rule, value in rules.items()])
    known = {**faults(case), **USUAL[protocol.name]}
    beside = {
        bound.name: known[bound.name]
        for bound in protocol.bounds
        if bound.name in known and bound.name not in USUAL[protocol.name]
    }
    usual_sizes = WIDE[protocol.name]
    yield ", ".join(
        f"{bound.replace('_', ' ')} {n}"
        for bound, n in beside.items()
        if usual_sizes.get(bound) != n
    )
    yield f"`{case.violates}`, {row['wide_steps']}"
    for column in ("wide_states", "wide_states_with_the_fix", "classes", "wide_depth"):
        yield f"{int(row[column]):,}" if row[column] else ""
    yield row["seconds"]
    yield row["megabytes"]


def with_table(page: str) -> str:
    """The page with its table made anew; `UsageError` without one."""
    heads = (
        "case; rule off; beside; broken after steps; states; rule on: states; classes; depth; s; MB"
    )
    lines = [f"| {' | '.join(heads.split('; '))} |", "|---|---|---|---|" + "---:|" * 6]
    lines += [f"| {' | '.join(_told(name, row))} |" for name, row in rows().items()]
    return with_part(page, BEGIN, END, "\n" + "\n".join(lines) + "\n\n")


def write(names: Sequence[str] = ()) -> None:
    """Search the named cases anew, or all, and write table and page."""
    found = rows()
    context = get_context("spawn")
    for name in names or CASES:
        with ProcessPoolExecutor(1, mp_context=context) as one:
            found[name] = one.submit(_row, name).result()
        print(*found[name].values())
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        columns = list(found[next(iter(names or CASES))])
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(found[name] for name in CASES)
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:])
