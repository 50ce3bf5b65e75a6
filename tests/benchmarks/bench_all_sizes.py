"""How stable a proof for all sizes is: each obligation by instances by need alone, for many seeds.

`python -m tests.benchmarks.bench_all_sizes --keep FILE` writes a line for each obligation
and seed: whether it was settled, in how many instances and processor seconds. It goes on with what
FILE has. No time is asserted.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from checker.core.proofs.proof import Obligation, ProofOutcome
from checker.core.proofs.unbounded import unbounded_proof
from checker.core.proofs.unbounded.by_need import Effort
from checker.core.proofs.unbounded.instantiate import Strategy
from model.protocols import protocol_named
from properties import choose_properties, lemmas_of

FIX_36 = {"reset.follower.leo.every.epoch": "true"}


class OnlyByNeed(unbounded_proof.UnboundedInduction):
    """One attempt for one seed; what `known` has is not tried again."""

    def __init__(self, *args: Any, seed: int, known: frozenset[str], **more: Any) -> None:
        super().__init__(*args, **more)
        self._seed, self._done = seed, known

    def _try_all(self) -> None:
        self._attempt((Strategy(by_need=Effort(seed=self._seed)),))

    def _prove(self, what: Obligation, *args: Any) -> None:
        if f"{self._seed}\t{what.action}\t{what.lemma}" not in self._done:
            super()._prove(what, *args)


def main() -> None:
    """Write the lines, then how many obligations each seed settled, and the slowest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default="kafka-4.3")
    parser.add_argument("--property", default="exposed_records_survive")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--timeout", type=float, default=10.0)
    parser.add_argument("--keep", type=Path, required=True)
    options = parser.parse_args()
    kafka = protocol_named("kafka")
    model = kafka.model({}, {**kafka.preset(options.preset), **FIX_36})
    asked = choose_properties(kafka, [options.property])
    for seed in range(options.seeds):
        lines = options.keep.read_text().splitlines() if options.keep.exists() else []
        known = frozenset("\t".join(line.split("\t")[:3]) for line in lines)
        with options.keep.open("a") as file:
            started = [time.process_time()]

            def write(what: Obligation, seed: int = seed, file: Any = file,
                      started: list[float] = started) -> None:  # fmt: skip
                now = time.process_time()
                taken, started[0] = now - started[0], now
                parts = (
                    seed,
                    what.action,
                    what.lemma,
                    what.outcome,
                    what.instances,
                    f"{taken:.2f}",
                )
                print(*parts, sep="\t", file=file, flush=True)

            OnlyByNeed(
                model, asked, lemmas_of(kafka), options.timeout, write,
                cross_check=False, seed=seed, known=known,
            ).run()  # fmt: skip
    print(*summary(options.keep.read_text().splitlines()), sep="\n")


def summary(lines: list[str]) -> list[str]:
    """How many obligations of each seed were settled, and what took longest at any seed."""
    rows = [line.split("\t") for line in lines]
    said = []
    for seed in sorted({row[0] for row in rows}, key=int):
        mine = [row for row in rows if row[0] == seed]
        settled = [row for row in mine if row[3] == ProofOutcome.PROVED]
        seconds = sum(float(row[5]) for row in mine)
        said.append(f"seed {seed}: {len(settled)} of {len(mine)}, {seconds:.0f} s")
    slowest = sorted(rows, key=lambda row: float(row[5]), reverse=True)[:5]
    return said + [f"{row[1]}: {row[2]} (seed {row[0]}): {row[5]} s" for row in slowest]


if __name__ == "__main__":
    main()
