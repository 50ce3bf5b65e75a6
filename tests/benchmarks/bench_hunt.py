"""How long walks and narrow searches take to find known bugs, each alone and by turns.

Each bug is `kafka-fixed` with one fix off. Processor seconds, each in a process of its own, walks
and narrow searches by turns: `python -m tests.benchmarks.bench_hunt [WORD...] [--seeds N]`. Run by
`make bench` with one bug; no time is asserted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SMALL = {"log_size": 2, "max_records": 2, "max_leader_epoch": 4}
LARGE = {"replicas": 4, "log_size": 3, "max_records": 3, "max_leader_epoch": 5}
METHODS = ("narrow", "walks", "both")


@dataclass(frozen=True)
class Bug:
    """A bug by its number in the catalogue: what is otherwise than in `kafka-fixed`, and faults."""

    number: str
    settings: dict[str, str]
    faults: dict[str, int]
    sizes: dict[str, int] = field(default_factory=lambda: SMALL)


KEPT = {"epoch.cache": "kept"}
BUGS = (
    Bug("36", {"reset.follower.leo.every.epoch": "false"}, {"preferred_elections": 2}),
    Bug(
        "37", {"pending.isr.survives.image": "false", "isr.answer.apart": "true"},
        {"preferred_elections": 2},
    ),
    Bug("41", {"fetch.noted.in.its.epoch": "false"}, {"stalled_fetches": 1}),
    Bug("48", {"truncation.matches.request.epoch": "false"}, {"stalled_truncations": 1}),
    Bug("82", {**KEPT, "isr.join.checks.log.start": "false"}, {"record_deletions": 1}),
    Bug("86", {**KEPT, "log.file": "unsynced"}, {"power_losses": 1, "crashes": 0}),
    Bug("89", {**KEPT, "log.start.file": "later"}, {"record_deletions": 1},
        SMALL | {"replicas": 2}),
    Bug("43", {"elr.of.replicas.only": "false", "replication.factor": "2"},
        {"replica_moves": 2, "shutdowns": 2, "crashes": 0}),
    Bug("44", {"registration.counts.directories": "false"},
        {"shutdowns": 2, "lost_directories": 1, "crashes": 0}),
    Bug("49", {"produce.matches.leader.epoch": "false"}, {"stalled_produces": 1}),
)  # fmt: skip
BUDGETS = {"preferred_elections": 3, "crashes": 1}


def measure(number: str, large: bool, method: str, seed: int, seconds: float) -> dict[str, Any]:
    """One hunt for a bug in this process: what was violated, seconds, and how much was seen."""
    from checker.core.search.narrow import Width
    from checker.lab.hunting.rounds import TURNS, hunt
    from model.protocols import protocol_named
    from properties import Sense, promised_properties

    bug = next(bug for bug in BUGS if bug.number == number)
    bounds = {**BUDGETS, **bug.faults, **(LARGE if large else bug.sizes)}
    settings = {"min.insync.replicas": "2", **bug.settings}
    model = protocol_named("kafka").model(bounds, settings, "kafka-fixed")
    promised = [p for p in promised_properties(model) if p.sense is Sense.ALWAYS]
    assert model.ground_actions
    turns = TURNS
    if method != "both":
        turns = tuple(turn for turn in TURNS if isinstance(turn, Width) is (method == "narrow"))
    started = time.process_time()
    found = hunt(model, promised, seconds, seed, cross_check=False, turns=turns)
    spent = time.process_time() - started
    return {"violated": [prop.name for prop, _ in found.violations], "seconds": spent}


def measured(*arguments: Any) -> dict[str, Any]:
    """The measurement in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_hunt", "--one", json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def rows(
    numbers: list[str], seeds: int, seconds: float, sizes: tuple[bool, ...] = (False, True),
    methods: tuple[str, ...] = METHODS,
) -> Iterator[str]:  # fmt: skip
    """A line for each bug, size and method: seconds of each seed, – where it was not found."""
    for bug in BUGS:
        if numbers and bug.number not in numbers:
            continue
        for large in sizes:
            taken: dict[str, list[dict[str, Any]]] = {method: [] for method in methods}
            for seed in range(seeds):
                for method in methods:
                    taken[method].append(measured(bug.number, large, method, seed, seconds))
            for method, results in taken.items():
                times = ", ".join(f"{r['seconds']:.1f}" if r["violated"] else "–" for r in results)
                size = "large" if large else "small"
                yield f"{bug.number} {size} {method:6} {times}"


def test_a_known_bug_is_found():
    print()
    for line in rows(["36"], 1, 20):
        print(line, flush=True)


def main() -> None:
    """Run alone: the whole table, or the bugs that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", nargs="*")
    parser.add_argument("--method", choices=METHODS, action="append", help="[default: each]")
    parser.add_argument("--size", choices=("small", "large"), help="[default: both]")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(*json.loads(arguments.one))))
        return
    sizes = (False, True) if arguments.size is None else (arguments.size == "large",)
    methods = tuple(arguments.method or METHODS)
    for line in rows(arguments.numbers, arguments.seeds, arguments.seconds, sizes, methods):
        print(line, flush=True)


if __name__ == "__main__":
    main()
