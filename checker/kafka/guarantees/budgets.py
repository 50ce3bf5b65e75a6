"""Which faults may be asked about: the budgets of the broker model, apart from its sizes."""

from __future__ import annotations

from collections.abc import Mapping

from model.kafka.protocol import KAFKA

SIZES = ("replicas", "log_size", "max_records", "max_leader_epoch")
PERMISSIONS = ("unclean_elections", "consumers", "upgrades", "controller_upgrades")
BUDGETS: Mapping[str, str] = {
    bound.name: bound.words for bound in KAFKA.bounds if bound.name not in (*SIZES, *PERMISSIONS)
}
"""What may be asked to happen so many times."""
