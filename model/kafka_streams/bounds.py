"""The sizes of the model of a task, and its budgets."""

from __future__ import annotations

from model.language import Bound, bounds_in, budget

INPUTS = Bound("inputs", 2, 1, "records of the input partition", 3)

REBALANCES = budget("rebalances", "times that the input partition gets another owner", 1, maximum=3)
TIMEOUTS = budget("transaction_timeouts", "transactions that transaction.timeout.ms ends")
GIVE_UPS = budget("aborts", "transactions that an owner aborts because it wants to")
DEATHS = budget("deaths", "owners that die")
LATE = budget(
    "late_completions", "markers that the group has, and whose offset it takes over later"
)

BOUNDS = bounds_in(globals())
