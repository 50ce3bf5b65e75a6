"""The overviews of the stored counterexamples, by folder: what is explored for each table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from checker.cases import Choice, explored, overview, read_cases
from model.protocols import LADDER

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


OVERVIEWS: Mapping[str, Callable[[Path], str]] = {"ladder": ladder_overview}
