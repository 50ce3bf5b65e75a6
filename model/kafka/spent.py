"""How often each fault and each step of an operator has been: the budgets that are used up.

As they are state, a search says of everything within what budgets it was.
"""

from __future__ import annotations

from model.kafka.bounds import BOUNDS
from model.language import Budgets


class Spent(Budgets, of=BOUNDS):
    """How much of each budget for faults is used up."""
