"""Questions to the broker model, in few words; those about single states are for any model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from checker.core.engines.reference import ReferenceEngine, State
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.search.explore import Explorer, Options
from checker.core.verdict import Exploration
from checker.lab.experiments.choices import steps_named
from model.kafka.protocol import KAFKA
from model.language.protocol import Model
from properties import Property, promised_properties

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


def after(model: Model, *steps: str) -> State:
    """The state after these steps, as traces name them: a number for each cell."""
    engine = ReferenceEngine(model)
    state = engine.initial()
    for step in steps_named(model, steps):
        taken = engine.step(state, step)
        assert taken is not None, step
        state = taken
    return state


def value_after(model: Model, name: str, *steps: str) -> int:
    """The number in the cell of this name, such as `brokers.end[1]`, after these steps."""
    (cell,) = (cell for cell in model.cells if cell.name == name)
    return int(after(model, *steps)[cell.position])


def goes(model: Model, *steps: str) -> bool:
    """Whether the last step is enabled after the others."""
    *first, last = steps
    (wanted,) = steps_named(model, [last])
    return ReferenceEngine(model).step(after(model, *first), wanted) is not None


def explored(model: Model, *properties: str, symmetry: bool = False) -> Exploration:
    """All violations of the given properties, or of all that are promised."""
    return explored_for(promised_properties(model, properties), model, symmetry)


def explored_for(claims: Iterable[Property], model: Model, symmetry: bool = False) -> Exploration:
    """All violations of these claims.

    Without the comparison with the reference engine, which has tests of its own.
    """
    options = Options(keep_going=True, symmetry=symmetry, cross_check=False)
    return Explorer(model, claims, options=options).run()


def depths(result: Exploration) -> dict[str, int]:
    """The violated properties with the depths of their shortest traces."""
    return {violation.property.name: violation.depth for violation in result.violations}


def reachable(model: Model, *hidden: str) -> tuple[set[bytes], int]:
    """The reachable states without the variables whose names contain one of `hidden`, and how many
    there are with them. A state is its numbers in these cells, two bytes each."""
    engine = VectorisedEngine(model)
    kept = [c.position for c in model.cells if not any(h in c.variable.name for h in hidden)]
    seen = fresh = _rows(engine.layout.pack([model.initial_state]))
    while fresh:
        found = np.frombuffer(b"".join(fresh), np.uint64).reshape(len(fresh), -1)
        fresh = _rows(engine.expand(found.T.copy()).words) - seen
        seen = seen | fresh
    states = np.frombuffer(b"".join(seen), np.uint64).reshape(len(seen), -1).T
    columns = np.array([engine.layout.column(states, position) for position in kept])
    assert (columns == columns.astype(np.int16)).all()
    return _rows(columns.astype(np.int16)), len(seen)


def _rows(columns: npt.NDArray[Any]) -> set[bytes]:
    """What stands at each place of some columns, as bytes."""
    rows = np.ascontiguousarray(columns.T)
    whole: Any = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))
    return set(whole.ravel().tolist())
