"""The question of who runs an application, from a script: `ask_application`.

As `asking`, for promises of its transactions, its producer and its group: see `docs/ask.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.core.search.allowance import Allowance

if TYPE_CHECKING:
    from checker.kafka.guarantees.application_answer import ApplicationAnswer


def ask_application(
    kafka: str,
    *files: str | Path,
    clients: str | None = None,
    settings: Mapping[str, Any] | None = None,
    faults: Mapping[str, int] | None = None,
    max_faults: int = 2,
    max_seconds: float | None = None,
    budget: Allowance | None = None,
    on_search: Callable[[str], None] = lambda _: None,
) -> ApplicationAnswer:
    """Which promises an application keeps, and the fewest faults that break each.

    `kafka` is the brokers' release, `clients` that of its clients; `files` are its properties.
    Without `faults`, such as `{"late_markers": 1}`, every set of up to `max_faults` is searched.
    Printed, the answer tells all; it is true where every promise is kept. `UsageError` for what
    cannot be asked; see `docs/ask.md`.
    """
    from checker.kafka.guarantees.application_answer import answer
    from checker.kafka.guarantees.applications import describe_application
    from checker.kafka.guarantees.verdicts import SECONDS, STATES

    given = {name: str(value) for name, value in (settings or {}).items()}
    application = describe_application(kafka, [Path(file) for file in files], given, clients)
    limit = budget or Allowance(SECONDS if max_seconds is None else max_seconds, STATES)
    return answer(application, faults or {}, max_faults, limit, on_search)
