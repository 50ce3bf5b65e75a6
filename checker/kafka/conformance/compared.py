"""What differs between the protocols that are compared with Kafka's classes: a declaration each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checker.kafka.conformance import (
    brokers,
    plan,
    quorums,
    tiers,
    transactions,
    wrong_brokers,
    wrong_quorums,
    wrong_tiers,
    wrong_transactions,
)
from checker.kafka.conformance.controllers import Controllers
from checker.kafka.conformance.coordinators import TransactionCoordinators
from checker.kafka.conformance.harness import Harness
from checker.kafka.conformance.process import Runs
from checker.kafka.conformance.rows import Row, Wrong
from checker.kafka.conformance.tiered_brokers import TieredBrokers
from model.kafka.protocol import KAFKA
from model.kafka_tiered.protocol import KAFKA_TIERED
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.kraft.protocol import KRAFT
from model.language import Model, Protocol
from model.language.errors import unknown_name

Models = Callable[[str, Mapping[str, int], Mapping[str, Any], str | None], list[Model]]
"""By a release, bounds, settings and a preset, the models that it is compared with."""


@dataclass(frozen=True)
class Compared:
    """A protocol with Kafka's classes that take its steps.

    `rows`: what is compared of a model on a release. `passed_over`: whether Kafka passes over
    a state, and `at_once` the steps by which. `settings_of`: those of a release;
    `chosen` are kept as they are where a trace is taken on one, and `fitting` leaves out what it
    cannot have. `wrong`: settings that no release has, each to be noticed. `how_often`: how
    likely walks take an action next to others, 1 unless given.
    """

    protocol: Protocol
    classes: Callable[..., Runs]
    rows: Callable[[Model, str], Sequence[Row]]
    passed_over: Callable[[Any], bool]
    at_once: frozenset[str]
    models: Models
    covered_models: Models
    settings_of: Callable[[str], dict[str, Any]]
    chosen: Sequence[str]
    fitting: Callable[[Mapping[str, Any], str], dict[str, Any]]
    wrong: Mapping[str, Wrong]
    how_often: Mapping[str, float] = field(default_factory=dict)


BROKERS = Compared(
    protocol=KAFKA,
    classes=Harness,
    rows=brokers.rows,
    passed_over=brokers.passed_over,
    at_once=brokers.AT_ONCE,
    models=plan.models,
    covered_models=plan.covered_models,
    settings_of=plan.settings_of,
    chosen=plan.CHOSEN,
    fitting=plan.fitting,
    wrong=wrong_brokers.WRONG,
)

QUORUMS = Compared(
    protocol=KRAFT,
    classes=Controllers,
    rows=quorums.rows,
    passed_over=quorums.passed_over,
    at_once=quorums.AT_ONCE,
    models=quorums.models,
    covered_models=quorums.covered_models,
    settings_of=quorums.settings_of,
    chosen=quorums.CHOSEN,
    fitting=quorums.fitting,
    wrong=wrong_quorums.WRONG,
    how_often=quorums.HOW_OFTEN,
)

TRANSACTIONS = Compared(
    protocol=KAFKA_TRANSACTIONS,
    classes=TransactionCoordinators,
    rows=transactions.rows,
    passed_over=transactions.passed_over,
    at_once=transactions.AT_ONCE,
    models=transactions.models,
    covered_models=transactions.covered_models,
    settings_of=transactions.settings_of,
    chosen=transactions.CHOSEN,
    fitting=transactions.fitting,
    wrong=wrong_transactions.WRONG,
    how_often=transactions.HOW_OFTEN,
)

TIERS = Compared(
    protocol=KAFKA_TIERED,
    classes=TieredBrokers,
    rows=tiers.rows,
    passed_over=tiers.passed_over,
    at_once=frozenset(),
    models=tiers.models,
    covered_models=tiers.covered_models,
    settings_of=tiers.settings_of,
    chosen=tiers.CHOSEN,
    fitting=tiers.fitting,
    wrong=wrong_tiers.WRONG,
    how_often=tiers.HOW_OFTEN,
)

COMPARED = {each.protocol.name: each for each in (BROKERS, QUORUMS, TRANSACTIONS, TIERS)}


def compared_named(name: str) -> Compared:
    """The declaration of a protocol by its name. `UsageError` if it is compared with no classes."""
    if name not in COMPARED:
        raise unknown_name("protocol that is compared with Kafka's classes", name, COMPARED)
    return COMPARED[name]


def compared_with(model: Model) -> Compared:
    """The declaration of a model's protocol."""
    return COMPARED[model.protocol.name]
