"""How far the search is from what this memory takes in: its steps a second beside bare inserts.

A step of a search looks up a fingerprint, nearly always where no cache has it. `inserts.c` does
that alone: as many random keys, as often, in a table of eight bytes a slot, half full. By hand, on
a machine with nothing else to do, with gcc: `python -m tests.benchmarks.bench_memory [--runs N]`.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from tests.benchmarks.bench_explore import LARGE, run_alone

SOURCE = Path(__file__).with_name("inserts.c")


def inserts(program: Path, keys: int, operations: int, threads: int) -> float:
    """How many million of these operations a second so many threads do."""
    slots = 1 << (2 * keys - 1).bit_length()
    command = [str(program), *map(str, (slots, keys, operations, threads))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    added, seconds = done.stdout.split()
    assert keys - threads <= int(added) <= keys
    return operations / float(seconds) / 1e6


def main() -> None:
    """Print both, in turn, for one worker and for two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1, help="how often each is run")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "inserts"
        options = ["-O3", "-march=native", "-pthread"]
        subprocess.run(["gcc", *options, "-o", str(program), str(SOURCE)], check=True)
        for sizes, states in LARGE.items():
            for workers in (1, 2) * runs:
                found = run_alone(sizes, {"workers": workers})
                steps = found["transitions"]
                searched = steps / found["seconds"] / 1e6
                bare = inserts(program, states, steps, workers)
                print(
                    f"{workers} at work: the search {searched:.1f} million steps a second, "
                    f"memory {bare:.1f} million inserts: {searched / bare:.2f}", flush=True
                )  # fmt: skip


if __name__ == "__main__":
    main()
