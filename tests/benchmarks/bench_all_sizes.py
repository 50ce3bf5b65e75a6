"""How stable a proof for all sizes is: the hard obligations by instances by need, for many seeds.

`python -m tests.benchmarks.bench_all_sizes --keep FILE --write docs/proving.md` writes a line to
FILE for each obligation and seed: whether it was settled, in how many instances and processor
seconds; and the table of all that FILE has. It goes on with what FILE has: also with another Z3,
that of the environment in which it runs, and with `--solver cvc5`, which has to refute those
of the instances that Z3 finds and needs; its seconds are of the clock. No time is asserted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import z3

from checker.core.proofs.proof import Obligation, ProofOutcome
from checker.core.proofs.solvers import Solver, Solvers
from checker.core.proofs.unbounded import unbounded_proof
from checker.core.proofs.unbounded.by_need import Effort
from checker.core.proofs.unbounded.instantiate import Strategy
from checker.telling.report.pages import with_part
from model.protocols import protocol_named
from properties import choose_properties, lemmas_of

FIX_36 = {"reset.follower.leo.every.epoch": "true"}
ACTIONS = (
    "producer_send",
    "follower_fetch_record",
    "follower_fetch_high_watermark",
    "leader_handle_fetch",
    "follower_truncate_on_fetch",
)
LEMMAS = (
    "what_may_be_exposed_is_held",
    "candidates_hold_what_was_exposed",
    "leaders_hold_what_was_exposed",
    "candidates_follow_holders",
    "high_watermarks_cover_what_was_exposed",
)
ENOUGH = 10.0
"""Processor seconds in which an obligation should be settled."""
BEGIN, END = "<!-- seeds: made by bench_all_sizes -->", "<!-- end of seeds -->"


class OnlyByNeed(unbounded_proof.UnboundedInduction):
    """One attempt at each hard obligation for each seed; what `known` has is not tried again."""

    def __init__(self, *args: Any, seeds: int, known: frozenset[str], **more: Any) -> None:
        super().__init__(*args, **more)
        self._seeds, self._done, self.seed = seeds, known, 0
        self.began = 0.0

    def used(self) -> float:
        """Processor seconds of this process, and what another solver took."""
        return time.process_time() + self.proof.solvers.seconds.get("cvc5", 0.0)

    def _try_all(self) -> None:
        for seed in range(self._seeds):
            self.seed, self._settled = seed, {}
            self._attempt((Strategy(by_need=Effort(seed=seed)),))

    def _prove(self, what: Obligation, *args: Any) -> None:
        hard = what.action in ACTIONS and what.lemma in LEMMAS
        if hard and f"{self.seed}\t{what.action}\t{what.lemma}" not in self._done:
            self.began = self.used()
            super()._prove(what, *args)


def main() -> None:
    """Write the lines, then the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="kafka-4.3")
    parser.add_argument("--property", default="exposed_records_survive")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--timeout", type=float, default=10.0)
    parser.add_argument("--solver", type=Solver, default=Solver.Z3)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    options = parser.parse_args()
    kafka = protocol_named("kafka")
    model = kafka.model({}, {**kafka.preset(options.preset), **FIX_36})
    version = f"Z3 {z3.get_version_string()}"
    name = version if options.solver is Solver.Z3 else f"{version}, {options.solver}"
    lines = options.keep.read_text().splitlines() if options.keep.exists() else []
    rows = [line.split("\t") for line in lines]
    known = frozenset("\t".join(row[1:4]) for row in rows if row[0] == name)
    with options.keep.open("a") as file, Solvers(options.solver) as solvers:

        def write(what: Obligation) -> None:
            parts = (proof.seed, what.action, what.lemma, what.outcome, what.instances)
            taken = proof.used() - proof.began
            print(name, *parts, f"{taken:.2f}", sep="\t", file=file, flush=True)

        proof = OnlyByNeed(
            model, choose_properties(kafka, [options.property]), lemmas_of(kafka),
            options.timeout, write,
            cross_check=False, solvers=solvers, seeds=options.seeds, known=known,
        )  # fmt: skip
        proof.run()
    lines = [*table(options.keep.read_text().splitlines())]
    print(*lines, sep="\n")
    if options.write:
        text = with_part(options.write.read_text(), BEGIN, END, "\n" + "\n".join(lines) + "\n\n")
        options.write.write_text(text)


def table(lines: list[str]) -> Iterator[str]:
    """A row for each obligation: with each solver, of how many seeds it was settled in time.

    And the median of the processor seconds.
    """
    rows = [line.split("\t") for line in lines]
    names = list(dict.fromkeys(row[0] for row in rows))
    yield f"| action | lemma | {' | '.join(names)} |"
    yield f"|---|---|{'---:|' * len(names)}"
    for action, lemma in dict.fromkeys((row[2], row[3]) for row in rows):
        cells = []
        for name in names:
            mine = [row for row in rows if (row[0], row[2], row[3]) == (name, action, lemma)]
            seconds = [float(row[6]) for row in mine]
            settled = sum(row[4] == ProofOutcome.PROVED and float(row[6]) <= ENOUGH for row in mine)
            cells.append(f"{settled} of {len(mine)}, {median(seconds):.1f} s" if mine else "–")
        yield f"| `{action}` | `{lemma}` | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
