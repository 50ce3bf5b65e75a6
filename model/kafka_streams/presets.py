"""Kafka versions as settings of a task: the first release of each series that differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.kafka_streams.settings import StreamsSettings
from model.language.declare.settings import presets

PRESETS: Mapping[str, Mapping[str, Any]] = presets(
    StreamsSettings, "kafka", ["0.11", "2.0", "2.5", "4.0"]
)
