"""Which releases of Kafka there are, which rules each has, and whose rules these are.

All of it is read off the declarations of the settings, `model/kafka/settings`.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.kafka.settings import KafkaSettings
from model.kafka.settings.modes import variant_of
from model.kafka.settings.whose import Whose
from model.language.declare.history import History, Version, series_of, version_of
from model.language.declare.settings import describe, of_release

_SETTINGS = describe(KafkaSettings)

RULES: Mapping[str, History] = {n: info.history for n, info in _SETTINGS.items() if info.history}
"""The settings that releases differ in, or that Kafka has otherwise than the model by default."""

WHOSE: Mapping[str, Whose] = {
    name: whose for whose in Whose for name, info in _SETTINGS.items() if info.owner == whose
}
"""Of rules that releases differ in whose each is: the leader's first, then the follower's."""

WAITS_FOR_FEATURES = frozenset(name for name, info in _SETTINGS.items() if info.with_feature)
"""Those that stay as they are in new code, until the version of the protocol or a feature is raised

(`inter.broker.protocol.version`, `metadata.version`, `eligible.leader.replicas.version`).
"""

_SERIES = (
    "0.8.2 0.9.0 0.10.0 0.10.1 0.10.2 0.11.0 1.0 1.1 2.0 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 "
    "3.0 3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8 3.9 4.0 4.1 4.2 4.3 4.4"
)
SERIES = _SERIES.split()
"""The lines that there are, oldest first."""


def is_of_a_series(text: str) -> bool:
    """Whether a text is a version, and of a line that there is."""
    try:
        version = version_of(text)
    except ValueError:
        return False
    return "." in text and any(series_of(version) == series_of(version_of(s)) for s in SERIES)


def rules_of(version: Version, mode: str = "") -> dict[str, str]:
    """The settings of a release as it comes, with brokers of its own version throughout."""
    return of_release(KafkaSettings, version, variant_of(version, mode))
