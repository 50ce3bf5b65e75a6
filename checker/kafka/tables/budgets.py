"""The table of the broker model's budgets, as Markdown for a page."""

from __future__ import annotations

from checker.telling.report.pages import with_part
from model.kafka.bounds import FAULTS

BEGIN, END = "<!-- budgets: made by `highwater cases --write` -->", "<!-- end of budgets -->"


def with_budget_table(page: str) -> str:
    """The page with its table between `BEGIN` and `END` made anew; `UsageError` without those."""
    rows = ["| option | default | how often |", "|---|---|---|"]
    rows += [f"| `--{f.name.replace('_', '-')}` | {f.default} | {f.words} |" for f in FAULTS]
    return with_part(page, BEGIN, END, "\n" + "\n".join(rows) + "\n\n")
