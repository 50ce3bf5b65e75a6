"""Which models the laws run on: every protocol, small, with its settings as they are and flipped.

A protocol that joins `PROTOCOLS` is found here without being named.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any

from checker.core.engines.reference import ReferenceEngine, State
from model.kafka_producer.protocol import KAFKA_PRODUCER
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.ladder import LADDER
from model.language import Budget, Protocol
from model.language.declare.settings import describe
from model.language.protocol import Model
from model.protocols import PROTOCOLS

_TINY = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
_SMALL = {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}

Pairs = tuple[tuple[str, Any], ...]

MOST = [name for name in PROTOCOLS if PROTOCOLS[name] not in LADDER[1:-1]]
"""Every protocol but the rungs between the first and the last: what they have, those two have."""

TINY: dict[str, dict[str, int]] = {protocol.name: _TINY for protocol in LADDER} | {
    "async_isr": {"replicas": 2, "max_offset": 2, "max_version": 2},
    "kafka_group": {"members": 2, "topic_partitions": 1, "generations": 2}
    | dict.fromkeys(("member_crashes", "session_timeouts"), 0),
    "kafka_producer": {"topic_partitions": 1, "log_size": 2, "broker_errors": 1},
    "kafka_streams": {"inputs": 1, "transaction_timeouts": 1},
    "kafka_tiered": {"log_size": 1, "copies": 1, "crashes": 0},
    "kafka_transactions": {"topic_partitions": 1, "transactions": 1} | {"coordinator_failovers": 1},
    "kip595": {"voters": 2, "log_size": 2, "epochs": 2},
    "kraft": {"nodes": 2, "log_size": 2},
}
"""Bounds at which a whole state graph has a few hundred states."""

SMALL: dict[str, dict[str, int]] = {protocol.name: _SMALL for protocol in LADDER} | {
    "async_isr": {"replicas": 3, "max_offset": 2, "max_version": 2},
    "kafka_producer": dict.fromkeys((bound.name for bound in KAFKA_PRODUCER.bounds), 1)
    | {"topic_partitions": 2, "keys": 2, "max_records": 2, "log_size": 3},
    "kafka_group": {"lost_commits": 1, "partition_additions": 1},
    "kafka_streams": {"rebalances": 2, "transaction_timeouts": 1, "aborts": 1},
    "kafka_tiered": dict.fromkeys(("refused_reads", "build_crashes", "expirations"), 2)
    | {"unclean_elections": 1, "crashes": 2},
    "kafka_transactions": {b.name: 1 for b in KAFKA_TRANSACTIONS.bounds if isinstance(b, Budget)}
    | {"topic_partitions": 1, "coordinator_failovers": 2},
    "kip595": {"voters": 3, "log_size": 2, "epochs": 2},
    "kraft": {"log_size": 4, "epochs": 2, "crashes": 1, "power_losses": 1, "resignations": 1},
}
"""Bounds that are large enough for every part of a protocol to matter."""


def at_minimum(protocol: Protocol) -> dict[str, int]:
    """The least bounds that a protocol takes, but two replicas where it counts replicas."""
    return {
        bound.name: max(bound.minimum, 2) if bound.name == "replicas" else bound.minimum
        for bound in protocol.bounds
    }


def tiny(name: str) -> Model:
    """The protocol at its least useful size."""
    return _model(name, TINY.get(name) or at_minimum(PROTOCOLS[name]), {})


def small(name: str, settings: Mapping[str, Any] | None = None) -> Model:
    """The protocol at a size for samples: by default its own default bounds."""
    return _model(name, SMALL.get(name, {}), settings or {})


def _model(name: str, bounds: Mapping[str, int], settings: Mapping[str, Any]) -> Model:
    return _known(name, tuple(bounds.items()), tuple(settings.items()))


@cache
def _known(name: str, bounds: Pairs, settings: Pairs) -> Model:
    """One model for all who ask, as it is captured and grounded once."""
    return PROTOCOLS[name].model(dict(bounds), dict(settings))


def flipped(protocol: Protocol) -> dict[str, Any]:
    """Every setting at another than its default value, where it has a list of them.

    But for what may not be with the others: brokers of two releases have tests of their own.
    """
    chosen: dict[str, Any] = {}
    for name, info in describe(protocol.settings).items():
        if info.type is bool:
            chosen[name] = not info.default
        elif name == "broker.rack":
            chosen[name] = "together"  # letters are for as many brokers as there are letters
        elif issubclass(info.type, StrEnum) and name != "upgrade.to":
            chosen[name] = next(value for value in reversed(info.type) if value != info.default)
    return chosen


def random_states(model: Model, count: int, seed: int) -> list[State]:
    """States with every cell drawn from its domain: mostly unreachable, and all must be handled."""
    draw = random.Random(seed)
    return [tuple(draw.randint(cell.low, cell.high) for cell in model.cells) for _ in range(count)]


def walked_states(model: Model, count: int, seed: int, depth: int = 30) -> list[State]:
    """States on random walks from the initial state: reachable, and deeper than a search gets."""
    draw = random.Random(seed)
    engine = ReferenceEngine(model)
    found: dict[State, None] = {}
    walks = 0
    while len(found) < count and walks < count:
        state: State | None = engine.initial()
        for _ in range(depth):
            assert state is not None
            found[state] = None
            instances = list(model.instances)
            draw.shuffle(instances)
            following = (engine.step(state, instance) for instance in instances)
            state = next((after for after in following if after is not None), None)
            if state is None:
                break
        walks += 1
    return list(found)[:count]
