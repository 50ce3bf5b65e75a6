"""A billion states: searched to the end, with a run to the deepest, and counted in another way.

By hand, on a machine with nothing else to do: it takes minutes and some 11 GB.
`python -m tests.benchmarks.bench_billion`; with `--log-size`, `--records`, `--epoch` other sizes;
with `--by-classes` the states are added up from the classes of a search up to renaming instead;
with `--spill DIR --memory 12` the search goes on from disk beyond so many GiB.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence

from checker.core.beyond.explorer import BeyondMemory
from checker.core.engines.layout import Words
from checker.core.search.explore import Explorer, Journal, Limits, Options
from checker.core.search.findings import Findings
from checker.core.search.lineage import Lineage
from checker.core.search.symmetry import Symmetry
from checker.core.stores.manifest import manifest_for
from checker.core.stores.store import open_store
from checker.core.traces.trace import TraceVerdict, build_trace
from model.language.protocol import Model
from model.protocols import PROTOCOLS
from properties import choose_properties


class _Adding(Journal):
    """Tells of each level, and adds up its states: of classes, how many states they are of."""

    def __init__(self, symmetry: Symmetry | None) -> None:
        self._symmetry = symmetry
        self.states = 0

    def level(self, findings: Findings, pieces: list[Words], lineage: Lineage) -> None:
        for words in pieces:
            of = self._symmetry
            self.states += words.shape[1] if of is None else int(of.class_sizes(words).sum())
        found = sum(findings.levels)
        print(f"depth {findings.depth}: {found:,} found, {self.states:,} states", flush=True)


class _Telling(BeyondMemory):
    """A search from disk that tells of each level."""

    def _seal_level(self) -> None:
        super()._seal_level()
        held = self._visited.count
        print(
            f"depth {self.findings.depth}: {self._kept:,} states, {held:,} in memory, "
            f"{self._disk_bytes / 1e9:.1f} GB on disk, {self._elapsed():.0f} s",
            flush=True,
        )


def _from_disk(model: Model, workers: int, place: str, memory: float) -> None:
    properties = choose_properties(model.protocol, ("weak_isr", "strong_isr"))
    options = Options(workers=workers)
    store = open_store(place, manifest_for(model, properties, options, spill=True), resume=True)
    limits = Limits(memory=int(memory * 2**30))
    _tell(model, _Telling(store, model, properties, limits, options))


def _search(model: Model, workers: int, by_classes: bool) -> None:
    properties = choose_properties(model.protocol, ("weak_isr", "strong_isr"))
    explorer = Explorer(model, properties)
    layout = explorer.engine.layout
    symmetry = None
    if by_classes:
        symmetry = Symmetry(model, properties, layout, patience=0.0, fixing=model.initial_state)
    adding = _Adding(symmetry)
    options = Options(workers=workers, symmetry=by_classes)
    explorer = Explorer(model, properties, options=options, journal=adding)
    explorer._symmetry = symmetry
    _tell(model, explorer)
    print(f"{adding.states:,} states")


def _tell(model: Model, explorer: Explorer) -> None:
    """Search, and print what it took."""
    started = time.perf_counter()
    found = explorer.run()
    seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{found.verdict}: {found.distinct_states:,} found, depth {found.depth}")
    if found.stopped:
        print(f"stopped by {found.stopped}")
    print(f"{found.transitions:,} transitions, probability {found.collision_probability:.2g}")
    print(f"{seconds:.0f} s, processor {used.ru_utime:.0f} + {used.ru_stime:.0f} s")
    print(f"{found.peak_memory_bytes / 1e9:.2f} GB at most")
    started = time.perf_counter()
    trace = build_trace(model, explorer.deepest(), verdict=TraceVerdict.RUN)
    print(f"a run to the deepest state: {trace.depth} steps, {time.perf_counter() - started:.1f} s")


def main(arguments: Sequence[str] | None = None) -> None:
    """Search, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log-size", type=int, default=3)
    parser.add_argument("--records", type=int, default=3)
    parser.add_argument("--epoch", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--by-classes", action="store_true")
    parser.add_argument("--spill", metavar="DIR")
    parser.add_argument("--memory", type=float, default=12.0)
    chosen = parser.parse_args(arguments)
    bounds = {
        "log_size": chosen.log_size,
        "max_records": chosen.records,
        "max_leader_epoch": chosen.epoch,
    }
    model = PROTOCOLS["kip320"].model(bounds)
    if chosen.spill:
        _from_disk(model, chosen.workers, chosen.spill, chosen.memory)
    else:
        _search(model, chosen.workers, chosen.by_classes)


if __name__ == "__main__":
    main()
