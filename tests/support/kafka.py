"""Questions to the broker model, in few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checker.search.explore import Explorer, Options
from checker.verdict import Exploration
from model.kafka.protocol import KAFKA
from model.language.protocol import Model
from properties import promised_properties

DURABILITY = (
    "exposed_records_survive",
    "acknowledged_records_survive",
    "acknowledged_record_on_some_disk",
)
SAFE = {"min.insync.replicas": "2", "acks": "all", "unclean.leader.election.enable": "false"}
FIX_36 = {"reset.follower.leo.every.epoch": "true"}


def kafka_model(preset: str, settings: Mapping[str, Any] | None = None, **bounds: int) -> Model:
    """A preset with changed settings; budgets are 0 unless given."""
    sizes = {"crashes": 0, "preferred_elections": 0, "max_leader_epoch": 2} | bounds
    return KAFKA.model(sizes, {**KAFKA.preset(preset), **(settings or {})})


def explored(model: Model, *properties: str, symmetry: bool = False) -> Exploration:
    """All violations of the given properties, or of all that are promised."""
    chosen = promised_properties(model, properties)
    return Explorer(model, chosen, options=Options(keep_going=True, symmetry=symmetry)).run()


def depths(result: Exploration) -> dict[str, int]:
    """The violated properties with the depths of their shortest traces."""
    return {violation.property.name: violation.depth for violation in result.violations}
