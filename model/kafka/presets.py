"""Kafka versions as settings: what each release has, and `kafka-fixed` with every fix besides.

A preset is the first release of its line that differs from those before, as it comes, with brokers
of its own version throughout: the settings say what each has. `kafka-fixed` is the newest with
every fix that no release has: of findings, and of KAFKA-1148 and KAFKA-20961; but those of findings
0017 and 0020 (decision 0088).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.kafka.releases import rules_of
from model.kafka.settings import KafkaSettings
from model.language.declare.history import Version, version_of
from model.language.declare.settings import presets

_NAMES = (
    "0.8.2 0.10 0.11 2.0 2.0.1 2.1 2.2 2.4.1 2.6.1 2.7 2.7.2 2.8 2.8.1 3.0 3.3 3.4.1 3.5 3.5.1 3.6 "
    "3.7 3.8 3.9 3.9.1 4.0 4.0.1 4.1 4.2 4.3"
)
_NAMED = _NAMES.split()

PRESETS: Mapping[str, Mapping[str, Any]] = presets(KafkaSettings, "kafka", _NAMED)


def preset_of(version: Version) -> str:
    """The preset that has a release's rules: the newest up to it, or the first after it."""
    rules = rules_of(version)
    alike = [name for name in _NAMED if PRESETS[f"kafka-{name}"] == rules]
    upto = [name for name in alike if version_of(name) <= version]
    return f"kafka-{upto[-1] if upto else alike[0]}"
