"""Which faults may be asked about: the budgets of the broker model, apart from its sizes."""

from __future__ import annotations

from collections.abc import Mapping

from model.kafka.bounds import BOUNDS, FAULTS

SIZES = tuple(bound.name for bound in BOUNDS if bound not in FAULTS)
BUDGETS: Mapping[str, str] = {fault.name: fault.words for fault in FAULTS if fault.asked}
"""What may be asked to happen so many times."""
