"""How long proofs take, and how bounded checking compares with search. Run by `make bench`.

No time is asserted; what is proved and found is. By itself, with two minutes for every bounded
check: `python -m tests.benchmarks.bench_proofs --seconds 120`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

BOUNDS = ("replicas", "log_size", "max_records", "max_leader_epoch")
PROVED = ((3, 2, 2, 2), (3, 3, 4, 3), (4, 3, 3, 3), (3, 8, 8, 8))
FOUND = {"truncate_to_high_watermark": 8, "kip101": 10, "kip279": 10, "kip320_first_try": 12}


def _model(name: str, sizes: tuple[int, ...] = (3, 2, 2, 2)) -> Any:
    from model.protocols import protocol_named

    return protocol_named(name).model(dict(zip(BOUNDS, sizes, strict=True)))


def _isr(model: Any, *names: str) -> Any:
    from properties import choose_properties

    return choose_properties(model.protocol, names or ("strong_isr", "weak_isr"))


def proofs() -> Iterator[str]:
    """Induction within bounds and for all sizes: obligations and seconds."""
    from checker.core.proofs.bounded.induction import Induction
    from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
    from checker.core.verdict import Verdict
    from properties import lemmas_of

    for sizes in PROVED:
        model = _model("kip320", sizes)
        proof = Induction(model, _isr(model), lemmas_of(model.protocol)).run()
        assert proof.verdict is Verdict.PROVED
        yield f"prove {sizes}: {len(proof.obligations)} obligations, {proof.seconds:.1f} s"
    model = _model("kip320")
    proof = UnboundedInduction(model, _isr(model), lemmas_of(model.protocol)).run()
    assert proof.verdict is Verdict.PROVED
    yield f"prove all sizes: {len(proof.obligations)} obligations, {proof.seconds:.1f} s"


def bounded(name: str, depth: int, seconds: float) -> str:
    """One protocol: plain and strengthened bounded checking against the explorer."""
    from checker.core.proofs.bounded.bounded_check import BoundedChecker, lemmas_that_hold
    from checker.core.search.explore import Explorer
    from properties import lemmas_of

    model = _model(name)
    strong = _isr(model, "strong_isr")
    started = time.perf_counter()
    (violation,) = Explorer(model, strong).run().violations
    search = time.perf_counter() - started
    assert violation.depth == depth
    started = time.perf_counter()
    lemmas = lemmas_that_hold(model, lemmas_of(model.protocol))
    preparing = time.perf_counter() - started
    words = []
    for kind, chosen, before in (("plain", (), 0.0), ("strengthened", lemmas, preparing)):
        started = time.perf_counter()
        result = BoundedChecker(model, strong, chosen, timeout=seconds).run(depth)
        took = time.perf_counter() - started + before
        if result.violated is None:
            words.append(f"{kind} depth {result.depth} of {depth} in {seconds:.0f} s")
            continue
        assert len(result.steps) == depth
        words.append(f"{kind} {took:.1f} s ({took / search:.0f} times the search)")
    return f"{name}, depth {depth}: search {search:.2f} s; {'; '.join(words)}"


def inference(sizes: tuple[int, ...]) -> str:
    """Candidates, survivors, what is needed, queries and seconds."""
    from checker.core.proofs.inference.infer import Inferrer

    model = _model("kip320", sizes)
    result = Inferrer(model, _isr(model)).run()
    assert all(result.follows.values())
    return (
        f"infer {sizes}: {result.states:,} states, {result.candidates:,} candidates, "
        f"{len(result.survivors):,} inductive, {len(result.needed)} needed, "
        f"{result.queries} queries, {result.seconds:.1f} s"
    )


def report(seconds: float) -> Iterator[str]:
    """All lines, as they are measured."""
    yield from proofs()
    for name, depth in FOUND.items():
        yield bounded(name, depth, seconds)
    yield inference((3, 2, 2, 1))


def test_proofs() -> None:
    """Prints the figures of `docs/proving.md`; bounded checks have 20 seconds each."""
    for line in report(20.0):
        print(line, flush=True)


def main() -> None:
    """The same, with as long as one likes for bounded checks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    for line in report(parser.parse_args().seconds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
