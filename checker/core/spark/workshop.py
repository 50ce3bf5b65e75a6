"""The model in a worker, with its programs, built once from what the driver says of it."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from checker.core.engines.compiled import Expander
from checker.core.engines.compiled_claims import JudgedClaims
from checker.core.engines.layout import Words
from checker.core.engines.vectorised import Claims, VectorisedEngine
from checker.core.search.question import DEFAULT_COMPILE_AFTER
from checker.core.search.symmetry import Symmetry
from checker.core.search.watch import premise_claims
from checker.core.spark.parcels import LevelJob
from checker.core.spark.protocol_parcel import ProtocolParcel
from model.language.protocol import Model
from properties import Property, choose_properties


class Workshop:
    """A model with its programs, built once in a worker from the model's identity."""

    def __init__(
        self, parcel: ProtocolParcel, identity: dict[str, Any], names: tuple[str, ...],
        symmetry: bool,
    ) -> None:  # fmt: skip
        protocol = parcel.opened()
        self.model: Model = protocol.model(identity["bounds"], identity["settings"])
        self.engine = VectorisedEngine(self.model)
        self.expand = Expander(self.engine, None, DEFAULT_COMPILE_AFTER)
        self.properties = choose_properties(protocol, names) if names else ()
        self._symmetry = (
            Symmetry(self.model, self.properties, self.engine.layout) if symmetry else None
        )
        self._claims: dict[tuple[str, ...], JudgedClaims] = {}

    @property
    def words(self) -> int:
        """How many words a packed state has."""
        return self.engine.layout.words

    def canonical(self, words: Words) -> Words:
        """The states that stand for their classes under symmetry; without it, the same states."""
        return words if self._symmetry is None else self._symmetry.canonical(words)

    def claims(self, properties: list[Property]) -> JudgedClaims:
        """What judges the claims of some properties."""
        key = tuple(prop.name for prop in properties)
        return self._judged(key, lambda: self.engine.claims(properties))

    def premises(self, properties: list[Property]) -> JudgedClaims:
        """What judges the premises of some properties."""
        key = ("premises", *(prop.name for prop in properties))
        return self._judged(key, lambda: premise_claims(self.engine, properties))

    def _judged(self, key: tuple[str, ...], build: Callable[[], Claims]) -> JudgedClaims:
        if key not in self._claims:
            self._claims[key] = JudgedClaims(build(), None, DEFAULT_COMPILE_AFTER)
        return self._claims[key]


@lru_cache(maxsize=2)
def _workshop(
    parcel: ProtocolParcel, identity: str, names: tuple[str, ...], symmetry: bool
) -> Workshop:
    shop = Workshop(parcel, json.loads(identity), names, symmetry)
    # Spark's workers look for garbage after every task: not among all that stays. A process of
    # somebody else's keeps its own garbage collection, and libraries that report leaks at its end.
    if _is_sparks_worker():
        gc.freeze()
    return shop


def _is_sparks_worker() -> bool:
    tasks = sys.modules.get("pyspark.taskcontext")
    return tasks is not None and tasks.TaskContext.get() is not None


def workshop(job: LevelJob) -> Workshop:
    """The workshop for a job; the last ones are kept."""
    identity = json.dumps(job.identity, sort_keys=True)
    return _workshop(job.protocol, identity, job.properties, job.symmetry)
