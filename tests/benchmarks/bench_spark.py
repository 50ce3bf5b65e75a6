"""How fast the search on Spark is, level by level, and what its processes take.

Run by `make bench`; no time is asserted. By itself, with other sizes and numbers of partitions:
`python -m tests.benchmarks.bench_spark --size 3,3,3,3 --partitions 1 2 4 8`; 3,3,3,4 takes some
twenty minutes, and 15 GB of disk under TMPDIR. Processor seconds say more than the clock where
other work runs beside.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import psutil

BOUNDS = ("replicas", "log_size", "max_records", "max_leader_epoch")
STATES = {
    "3,2,2,2": 737_794,
    "3,3,3,2": 4_093_531,
    "3,3,3,3": 64_739_578,
    "3,3,3,4": 824_574_349,
}
QUICK = list(STATES)[:2]
MASTER = "local[2]"


class Meter:
    """Samples the memory and processor time of the driver, the JVM and the Python workers."""

    def __init__(self) -> None:
        self.peak: Counter[str] = Counter()
        self._cpu: dict[int, tuple[str, float]] = {}
        self._driver = psutil.Process()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Meter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def cpu(self) -> dict[str, float]:
        """Processor seconds so far, by kind of process."""
        total: defaultdict[str, float] = defaultdict(float)
        for kind, seconds in self._cpu.values():
            total[kind] += seconds
        return dict(total)

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            self.sample()

    def sample(self) -> None:
        """Look at all processes once."""
        held: Counter[str] = Counter()
        for process in [self._driver, *self._driver.children(recursive=True)]:
            try:
                kind = self._kind(process)
                times = process.cpu_times()
                self._cpu[process.pid] = kind, times.user + times.system
                held[kind] += process.memory_info().rss
            except psutil.Error:
                continue
        for kind, size in held.items():
            self.peak[kind] = max(self.peak[kind], size)

    def _kind(self, process: psutil.Process) -> str:
        if process.pid == self._driver.pid:
            return "driver"
        return "JVM" if "java" in process.name() else "workers"


def measure(
    spark: Any, size: str, partitions: int | None, show_levels: bool, is_kept: bool
) -> dict[str, Any]:
    """One search of KIP-320 with two properties: seconds, memory, bytes on disk."""
    from checker.core.search.explore import Options, Progress
    from checker.core.spark.distributed import Cluster, SparkExplorer
    from checker.core.stores.manifest import manifest_for
    from checker.core.stores.store import open_store
    from model.protocols import PROTOCOLS
    from properties import choose_properties

    model = PROTOCOLS["kip320"].model(dict(zip(BOUNDS, map(int, size.split(",")), strict=True)))
    properties = choose_properties(model.protocol, ("weak_isr", "strong_isr"))
    options = Options()
    with tempfile.TemporaryDirectory() as place, Meter() as meter:
        manifest = manifest_for(model, properties, options)
        store = open_store(str(Path(place, "s")), manifest, False, is_kept)
        meter.sample()
        before, last = meter.cpu, [time.perf_counter(), 0.0]

        def on_progress(progress: Progress) -> None:
            now = time.perf_counter()
            if show_levels and progress.expanded == progress.frontier:
                print(f"  level {progress.depth}: {store.levels[-1].size:,} {now - last[0]:.2f} s")
            last[0] = now

        started = time.perf_counter()
        cluster = Cluster(lambda _: spark, partitions)
        found = SparkExplorer(store, model, properties, cluster, None, options, on_progress).run()
        seconds = time.perf_counter() - started
        meter.sample()
        return {
            "states": found.distinct_states,
            "seconds": seconds,
            "cpu": {kind: round(s - before.get(kind, 0.0), 1) for kind, s in meter.cpu.items()},
            "peak MB": {kind: size // 10**6 for kind, size in meter.peak.items()},
            "bytes a state": round(store.bytes / store.states, 1),
        }


def bench(
    sizes: list[str],
    partitions: list[int | None],
    show_levels: bool = False,
    is_kept: bool = True,
) -> None:
    """Print a line a size and number of partitions, and check the number of states."""
    from checker.core.spark.session import start_context

    started = time.perf_counter()
    spark = start_context(MASTER)
    print(f"Spark is up after {time.perf_counter() - started:.1f} s")
    for size in sizes:
        for count in partitions:
            found = measure(spark, size, count, show_levels, is_kept)
            parts = f"{count or 'as many as cores'} partitions"
            print(f"kip320 {size} {MASTER} {parts} {found}", flush=True)
            assert found["states"] == STATES[size]


def test_speed_of_the_search_on_spark():
    print()
    bench(QUICK, [None])


def main() -> None:
    """Run alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", nargs="+", default=QUICK, choices=list(STATES))
    parser.add_argument("--partitions", type=int, nargs="+", default=[None])
    parser.add_argument("--scratch", action="store_true", help="as without --store")
    arguments = parser.parse_args()
    bench(arguments.size, arguments.partitions, True, not arguments.scratch)


if __name__ == "__main__":
    main()
