"""Kafka versions as settings of the producer, coordinator and brokers: which rules each has.

Each is the first release of its series, all of one version, with the transaction version that new
clusters have. `kafka-fixed` is the newest with the fixes that no release has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.kafka_transactions.settings import TransactionSettings
from model.language.declare.settings import presets

_NAMES = "0.11 1.0 2.5 3.6 3.9 4.0 4.2 4.3"

PRESETS: Mapping[str, Mapping[str, Any]] = presets(TransactionSettings, "kafka", _NAMES.split())
