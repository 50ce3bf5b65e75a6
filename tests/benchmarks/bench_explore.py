"""How fast the search is, and where its time goes. Run by `make bench`; no time is asserted.

Every row runs in a process of its own, so that peak memory is that row's. By itself, with the
largest size too: `python -m tests.benchmarks.bench_explore --large`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BOUNDS = ("replicas", "log_size", "max_records", "max_leader_epoch")
SIZES: dict[tuple[int, ...], int] = {(3, 2, 2, 2): 737_794, (3, 3, 3, 2): 4_093_531}
LARGE: dict[tuple[int, ...], int] = {(3, 3, 3, 3): 64_739_578}
CASES: list[dict[str, Any]] = [
    {"workers": 1},
    {"workers": 1, "properties": True},
    {"workers": 2},
    {"workers": 2, "properties": True},
    {"workers": 2, "properties": True, "exact": True},
    {"workers": 1, "compile_after": None},
]


def measure(sizes: tuple[int, ...], case: dict[str, Any]) -> dict[str, Any]:
    """One search of KIP-320 in this process: counts, seconds, memory, and seconds by part."""
    from checker.core.search.explore import Explorer, Options
    from model.protocols import PROTOCOLS
    from properties import properties_of

    options = dict(case)
    wanted = options.pop("properties", False)
    model = PROTOCOLS["kip320"].model(dict(zip(BOUNDS, sizes, strict=True)))
    explorer = Explorer(
        model, properties_of(model.protocol) if wanted else [], None, Options(**options)
    )
    with timed_parts() as parts:
        found = explorer.run()
    return {
        "states": found.distinct_states,
        "transitions": found.transitions,
        "seconds": found.seconds,
        "peak_mb": found.peak_memory_bytes / 1e6,
        "parts": parts,
    }


@contextmanager
def timed_parts() -> Iterator[dict[str, float]]:
    """Seconds spent in expanding, inserting and judging. With workers, expanding runs beside."""
    from checker.core.engines.compiled import CompiledExpansion
    from checker.core.engines.vectorised import VectorisedEngine
    from checker.core.search.visited_set import VisitedSet
    from checker.core.search.watch import Watch

    parts: dict[str, float] = {}
    places = [
        ("expand", VectorisedEngine, "expand"),
        ("expand", CompiledExpansion, "expand"),
        ("compile", CompiledExpansion, "__init__"),
        ("insert", VisitedSet, "add"),
        ("claims", Watch, "states"),
        ("claims", Watch, "steps"),
    ]
    kept = [(owner, name, getattr(owner, name)) for _, owner, name in places]
    for part, owner, name in places:
        setattr(owner, name, _timed(getattr(owner, name), parts, part))
    try:
        yield parts
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)


def _timed(function: Callable[..., Any], parts: dict[str, float], part: str) -> Callable[..., Any]:
    def timed(*args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            parts[part] = parts.get(part, 0.0) + time.perf_counter() - started

    return timed


def run_alone(sizes: tuple[int, ...], case: dict[str, Any]) -> dict[str, Any]:
    """The measurement in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_explore", "--one"]
    command.append(json.dumps([sizes, case]))
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def describe(case: dict[str, Any]) -> str:
    """A case in words."""
    words = [f"{case['workers']} worker" + ("s" if case["workers"] > 1 else "")]
    words += ["all properties"] if case.get("properties") else []
    words += ["exact"] if case.get("exact") else []
    words += ["not compiled"] if "compile_after" in case else []
    return ", ".join(words)


def row(sizes: tuple[int, ...], case: dict[str, Any], found: dict[str, Any]) -> str:
    """One line of the table."""
    parts = found["parts"]
    rest = found["seconds"] - sum(parts.values()) if case["workers"] == 1 else None
    shown = {**parts, **({"rest": rest} if rest is not None else {})}
    profile = " ".join(f"{name} {seconds:.2f}" for name, seconds in shown.items())
    rate = found["states"] / found["seconds"] / 1e6
    return (
        f"kip320 {';'.join(map(str, sizes))}  {describe(case):32} {found['states']:>11,} states "
        f"{found['seconds']:7.2f} s {rate:6.2f} M/s {found['peak_mb']:8,.0f} MB   {profile}"
    )


def bench(table: dict[tuple[int, ...], int]) -> None:
    """Print the table, and check that every row counts the states it should."""
    for sizes, states in table.items():
        for case in CASES:
            found = run_alone(sizes, case)
            print(row(sizes, case, found), flush=True)
            assert found["states"] == states


def test_speed_of_the_search():
    print()
    bench(SIZES)


def main() -> None:
    """Run alone: the whole table, or one row for `run_alone`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="the largest size too, about a minute")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        sizes, case = json.loads(arguments.one)
        print(json.dumps(measure(tuple(sizes), case)))
    else:
        bench(SIZES | (LARGE if arguments.large else {}))


if __name__ == "__main__":
    main()
