"""Kafka versions as settings of producer and broker: their defaults, and which fixes each has.

Each is the first release of its series, as it comes, a producer with a broker of its own version;
`kafka-fixed` has what no release has. Where each line is from is said in `docs/clients.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.kafka_producer.settings import ProducerSettings
from model.language.declare.settings import presets

_NAMES = "0.8.2 0.9 0.10 0.11 1.0 2.1 2.4 2.6 2.8 3.0 3.2 3.3 4.0 4.3"

PRESETS: Mapping[str, Mapping[str, Any]] = presets(ProducerSettings, "kafka", _NAMES.split())
