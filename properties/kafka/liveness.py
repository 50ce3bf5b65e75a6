"""What a partition should come to in the end, once faults are over and brokers fetch.

Budgets of faults run out, so "once they are over" needs no saying. Operators, clients and faults
are never fair; brokers and the controller are, as `model/kafka/fairness.py` has it.
"""

from __future__ import annotations

from properties.liveness import Liveness

KAFKA_LIVENESS: tuple[Liveness, ...] = ()
