"""What a cluster loses, asked as `highwater ask` does, at small bounds."""

from __future__ import annotations

from functools import cache
from typing import Any

import highwater
from checker.core.search.allowance import Allowance
from checker.kafka.guarantees.cluster import describe_cluster
from checker.kafka.guarantees.faults import Faults, choice_of
from checker.kafka.guarantees.verdicts import STATES, judge_losses

TINY: dict[str, Any] = {"log_size": 1, "max_records": 1}
TWO = {"min.insync.replicas": "2"}
NO_LIMIT = 3_600.0


@cache
def asked(kafka, settings="", **numbers):
    """The answer that `ask` gives, once for all who ask the same."""
    given: dict[str, Any] = {"settings": dict(part.split("=") for part in settings.split())}
    return highwater.ask(kafka, max_seconds=NO_LIMIT, **given, **TINY, **numbers)


def losses(kafka, settings, min_isr_to=None, **faults):
    """What the cluster loses in the model as it is, without the finer one."""
    given = dict(part.split("=") for part in settings.split())
    asked_about = Faults(faults, min_isr_to=min_isr_to, sizes=TINY)
    choice = choice_of(describe_cluster(kafka, settings=given), asked_about)
    return judge_losses(choice, Allowance(NO_LIMIT, STATES), finer=False)
