"""The overviews of the stored counterexamples, by folder: what is explored for each table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from checker.experiments.cases import Choice, explored, overview, read_cases
from model.ladder import LADDER

_FENCES = ("wait_for_epoch", "fence_truncation", "fence_high_watermark", "fence_fetch")

_LADDER_CHOICES = (
    *(Choice(protocol.name) for protocol in LADDER),
    *(Choice("kip320", settings={fence: "false"}) for fence in _FENCES),
)
_ASYNC_BOUNDS = {"max_version": 3}
_ASYNC_CHOICES = (
    Choice("async_isr", bounds=_ASYNC_BOUNDS),
    Choice("async_isr", settings={"maximal_isr": "false"}, bounds=_ASYNC_BOUNDS),
)


def ladder_overview(folder: Path) -> str:
    """The page of the ladder's counterexamples."""
    cases = read_cases(folder)
    tables = [
        overview(cases, folder, {choice.arguments: explored(choice) for choice in choices})
        for choices in (_LADDER_CHOICES, _ASYNC_CHOICES)
    ]
    listed = "\n".join(f"- [{case.title}]({case.name}/): {case.source}" for case in cases)
    return f"""# Counterexamples of the ladder

Made by `highwater cases --write`. Each cell was explored to the end: *lost in N* links to the
shortest trace and its story, *holds* means that no reachable state violates the property.
Bounds are the defaults unless they are given: 3 replicas, log size 2, 2 records, epochs 0 to 2.

{tables[0]}
Asynchronous ISR updates (KIP-497) have their own state:

{tables[1]}
## Stories

{listed}
"""


def kafka_overview(folder: Path) -> str:
    """The page of the broker model's counterexamples, read off the stored traces."""
    lines = []
    for case in read_cases(folder):
        fix = case.fix.settings if case.fix is not None else {}
        changed = [f"`{k}={v}`" for k, v in fix.items() if case.broken.settings.get(k) != v]
        shown = f"[{case.title}]({case.name}/)", case.source, f"`{case.violates}`"
        depth = str(case.stored_trace().depth)
        lines.append(f"| {' | '.join((*shown, depth, ', '.join(changed)))} |")
    listed = "\n".join(lines)
    return f"""# Counterexamples of the broker model

Made by `highwater cases --write`: one for each bug of the [catalogue](../../docs/catalogue.md) that
the model reaches, and for what operators should know. Each trace is a shortest one. With the fix in
the last column the same search ends without a violation: a test says so.

| what happens | source | property | steps | no longer with |
|---|---|---|---:|---|
{listed}
"""


OVERVIEWS: Mapping[str, Callable[[Path], str]] = {
    "kafka": kafka_overview,
    "ladder": ladder_overview,
}
