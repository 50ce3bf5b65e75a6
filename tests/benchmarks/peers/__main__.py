"""Highwater beside other explicit-state model checkers on the same graphs: `make bench-peers`.

Each checker searches `kip320` with `weak_isr` and `strong_isr` and must count the same states: TLC
and Spin what `highwater export` writes, Stateright our own transcription in `src/main.rs`. A run is
a process of its own, what compiles is not counted, and the runs of one size alternate. TLC takes
part where TLC says how it is started, as in TLC="java -cp tla2tools.jar tlc2.TLC"; TLC_VERSION says
what it is, where it was compiled from source and prints no more than when.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PAGE = ROOT / "docs" / "peers.md"
BUILD = ROOT / "build" / "peers"
SIZES: dict[tuple[int, ...], int] = {(2, 2, 2): 737_794, (3, 3, 2): 4_093_531}
LARGE: dict[tuple[int, ...], int] = {(3, 3, 3): 64_739_578}
BOUNDS = ("log-size", "max-records", "max-leader-epoch")
PROPERTIES = ("--property", "weak_isr", "--property", "strong_isr")
HIGHWATER = (sys.executable, "-m", "highwater")


def paths(root: Path) -> str:
    """What `PYTHONPATH` is, so that Highwater is that of a checkout."""
    return os.pathsep.join(map(str, (root, root / "checker/public")))


ENVIRONMENT = {**os.environ, "PYTHONPATH": paths(ROOT)}


@dataclass(frozen=True)
class Run:
    """One run of a checker: states, wall and processor seconds, peak memory in MB."""

    states: int
    wall: float
    processor: float
    memory: float


@dataclass(frozen=True)
class Peer:
    """A checker: what it is called, its version, and the command for a size in a folder.

    It is not given graphs of more than `most` states.
    """

    name: str
    version: str
    command: Callable[[tuple[int, ...], Path], list[str]]
    states: Callable[[str], int]
    most: int = 10**9


def measured(command: list[str], folder: Path, states: Callable[[str], int]) -> Run:
    """Run a command to its end. The memory is that of its largest process."""
    with tempfile.TemporaryFile("w+") as out:
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, stdout=out, stderr=subprocess.STDOUT, env=ENVIRONMENT
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - began
        out.seek(0)
        text = out.read()
    if process.returncode != 0:
        raise SystemExit(f"{shlex.join(command)} ended with {process.returncode}:\n{text[-2000:]}")
    return Run(states(text), wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)


def bounds_of(sizes: tuple[int, ...]) -> list[str]:
    """A size as options of Highwater."""
    return [f"--{name}={value}" for name, value in zip(BOUNDS, sizes, strict=True)]


def exported(sizes: tuple[int, ...], language: str, path: Path) -> None:
    """Write the model of a size for another checker."""
    command = [*HIGHWATER, "export", "kip320", *bounds_of(sizes), *PROPERTIES]
    subprocess.run(
        [*command, "--to", language, "-o", str(path), "--quiet"], check=True, env=ENVIRONMENT
    )


def number(pattern: str) -> Callable[[str], int]:
    """Reads the number of states off what a checker prints; no violation may be among it."""

    def read(text: str) -> int:
        found = re.search(pattern, text)
        if found is None or re.search(r"violated(?! 0)(?!\": 0)(?!\": \[)", text):
            raise SystemExit(f"that is not what was expected:\n{text[-2000:]}")
        return int(found[1].replace(",", ""))

    return read


def highwater(workers: int, root: Path = ROOT) -> Peer:
    """Highwater as it is in a checkout, start-up and compilation included."""

    def command(sizes: tuple[int, ...], _: Path) -> list[str]:
        start = ["env", f"PYTHONPATH={paths(root)}", *HIGHWATER]
        options = ["--workers", str(workers), "--quiet", "--json"]
        return [*start, "explore", "kip320", *bounds_of(sizes), *PROPERTIES, *options]

    def states(text: str) -> int:
        found = json.loads(text)
        if found["violations"]:
            raise SystemExit(f"a property is violated: {text[:2000]}")
        return int(found["distinct_states"])

    version = subprocess.run(
        ["git", "describe", "--always"], cwd=root, capture_output=True, text=True, check=False
    ).stdout.strip()
    name = "Highwater" if root == ROOT else f"Highwater {version}"
    words = f"{name}, {workers} worker{'s' if workers > 1 else ''}"
    return Peer(words, f"{version}, Python {platform.python_version()}", command, states)


def stateright(threads: int) -> Peer:
    """Stateright, with what is written for it in Rust."""
    version = re.search(r'stateright = "=(.*)"', (HERE / "Cargo.toml").read_text())
    assert version is not None
    built = BUILD / "target" / "release" / "peers"

    def command(sizes: tuple[int, ...], _: Path) -> list[str]:
        return [str(built), *map(str, sizes), str(threads)]

    words = f"Stateright, {threads} thread{'s' if threads > 1 else ''}"
    rust = first_line("rustc", "--version").split()[1]
    return Peer(words, f"{version[1]}, Rust {rust}", command, number(r'"states": (\d+)'))


def spin() -> Peer:
    """Spin on exported Promela, depth first: what it does best."""

    def command(sizes: tuple[int, ...], folder: Path) -> list[str]:
        exported(sizes, "promela", folder / "model.pml")
        subprocess.run(["spin", "-a", "model.pml"], cwd=folder, check=True)
        options = ["-O3", "-march=native", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOFAIR"]
        subprocess.run(["gcc", *options, "-o", "pan", "pan.c"], cwd=folder, check=True)
        return ["./pan", "-w27" if sizes[2] > 2 else "-w24"]  # slots of its table, as a power

    version = first_line("spin", "-V").removeprefix("Spin Version ")
    gcc = first_line("gcc", "-dumpfullversion")
    return Peer("Spin, depth first", f"{version}, gcc {gcc}", command, number(r"(\d+) states, st"))


def tlc(start: list[str]) -> Peer:
    """TLC on exported TLA+, with one worker."""

    def command(sizes: tuple[int, ...], folder: Path) -> list[str]:
        exported(sizes, "tla", folder / "Kip320.tla")
        return [*start, "-workers", "1", "Kip320"]

    printed = re.search(r"Version ([\d.]+)", first_line(*start, "-help", lines=5))
    version = os.environ.get("TLC_VERSION") or (printed[1] if printed else "unknown")
    found = number(r"(\d[\d,]*) distinct states found, 0 states left")
    return Peer("TLC, 1 worker", version, command, found, 10**6)


def first_line(*command: str, lines: int = 1) -> str:
    """What a program says first."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "\n".join((done.stdout + done.stderr).strip().splitlines()[:lines])


def peers(before: Path | None) -> list[Peer]:
    """Those that are here, and another checkout if there is one; what is missing is said."""
    found = [
        highwater(workers, root) for root in filter(None, (before, ROOT)) for workers in (1, 2)
    ]
    if shutil.which("cargo"):
        environment = {**os.environ, "CARGO_TARGET_DIR": str(BUILD / "target")}
        command = ["cargo", "build", "--release", "--quiet"]
        subprocess.run(command, cwd=HERE, env=environment, check=True)
        found += [stateright(1), stateright(2)]
    else:
        print("Stateright is left out: there is no cargo", file=sys.stderr)
    if shutil.which("spin") and shutil.which("gcc"):
        found.append(spin())
    else:
        print("Spin is left out: run scripts/ensure-spin", file=sys.stderr)
    start = shlex.split(os.environ.get("TLC", ""))
    if start:
        found.append(tlc(start))
    else:
        print("TLC is left out: say how it is started in TLC", file=sys.stderr)
    return found


def compare(
    sizes: dict[tuple[int, ...], int], runs: int, among: list[Peer]
) -> dict[tuple[tuple[int, ...], str], list[Run]]:
    """Every checker on every size, one run at a time; a count that differs ends it."""
    found: dict[tuple[tuple[int, ...], str], list[Run]] = {}
    with tempfile.TemporaryDirectory() as place:
        for size, states in sizes.items():
            commands = {}
            for peer in [peer for peer in among if states <= peer.most]:
                folder = Path(place) / re.sub(r"\W+", "-", f"{peer.name} {size}")
                folder.mkdir()
                commands[peer.name] = (peer, folder, peer.command(size, folder))
            for _ in range(runs):
                for peer, folder, command in commands.values():
                    run = measured(command, folder, peer.states)
                    if run.states != states:
                        raise SystemExit(f"{peer.name} counts {run.states:,}, not {states:,}")
                    found.setdefault((size, peer.name), []).append(run)
                    print(row(size, peer.name, [run]), flush=True)
    return found


def row(size: tuple[int, ...], name: str, runs: list[Run], wall: bool = True) -> str:
    """A line of the table; of several runs the least and the greatest value."""

    def ranged(values: list[float], form: str) -> str:
        ends = list(dict.fromkeys(format(value, form) for value in (min(values), max(values))))
        return " to ".join(ends)

    columns = [name, ", ".join(map(str, size)), f"{runs[0].states:,}"]
    columns.append(ranged([run.processor for run in runs], ".1f"))
    columns += [ranged([run.wall for run in runs], ".1f")] if wall else []
    columns.append(ranged([run.memory / 1000 for run in runs], ".2f"))
    return f"| {' | '.join(columns)} |"


def page(
    found: dict[tuple[tuple[int, ...], str], list[Run]], among: list[Peer], runs: int, busy: bool
) -> str:
    """The table with what it was measured on, as Markdown; without the clock of a `busy` one."""
    processor = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if "model name" in line),
        platform.machine(),
    )
    memory = next((int(x.split()[1]) for x in _lines("/proc/meminfo") if "MemTotal" in x), 0)
    remark = (
        " Other work kept the machine busy, so the clock says nothing; processor seconds are those "
        "of all threads, and some more than on an idle machine."
    )
    remark = remark if busy else ""
    words = {1: "once", 2: "twice"}.get(runs, f"{runs} times")
    head = (HERE / "page.md").read_text(encoding="utf-8")
    versions = (f"{peer.name.partition(',')[0]} {peer.version}" for peer in among)
    lines = [
        head.rstrip(),
        "",
        "| checker | log, records, last epoch | states | processor seconds | "
        f"{'' if busy else 'wall seconds | '}peak memory, GB |",
        f"|---|---|---:|---:|---:|{'' if busy else '---:|'}",
        *(row(size, name, each, not busy) for (size, name), each in found.items()),
        "",
        f"Each was run {words}, alternately, on {os.cpu_count()} cores ({processor}) with "
        f"{memory / 2**20:.0f} GiB.{remark}",
        "",
        textwrap.fill(f"Versions: {'; '.join(dict.fromkeys(versions))}.", 100),
    ]
    return "\n".join(lines) + "\n"


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def main() -> None:
    """Measure, print, and with `--write` write docs/peers.md."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.peers", description=__doc__)
    parser.add_argument("--large", action="store_true", help="the largest size too, some minutes")
    parser.add_argument("--runs", type=int, default=1, help="how often each is run")
    parser.add_argument("--write", action="store_true", help="write docs/peers.md")
    parser.add_argument("--busy", action="store_true", help="other work runs: leave out the clock")
    parser.add_argument(
        "--before", type=Path, metavar="CHECKOUT", help="Highwater of another commit, too"
    )
    given = parser.parse_args()
    among = peers(given.before and given.before.resolve())
    found = compare(SIZES | (LARGE if given.large else {}), given.runs, among)
    if given.write:
        PAGE.write_text(page(found, among, given.runs, given.busy), encoding="utf-8")


if __name__ == "__main__":
    main()
