"""Kafka versions as rules of the tiered model: which fixes each has.

Each is the first release of its series; `kafka-fixed` has what no release has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.kafka_tiered.settings import TieredSettings
from model.language.declare.settings import presets

_NAMES = "3.6 3.9 4.1 4.3"

PRESETS: Mapping[str, Mapping[str, Any]] = presets(TieredSettings, "kafka", _NAMES.split())
