"""Which preset stands for a release of Kafka: `3.7.2` is `kafka-3.7`, in KRaft mode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from model.kafka.choices import ShrinkStartsEpoch
from model.kafka.protocol import KAFKA
from model.language.errors import UsageError


class Mode(StrEnum):
    """Where a cluster keeps its metadata."""

    ZOOKEEPER = "zookeeper"
    KRAFT = "kraft"


@dataclass(frozen=True)
class Release:
    """A release as it was asked for, the preset that stands for it, and its mode."""

    asked: str
    preset: str
    mode: Mode

    @property
    def series(self) -> str:
        """The release's series, such as `3.7`."""
        return self.preset.partition("-")[2]


def _series() -> dict[str, str]:
    """The presets that are releases, by their series, oldest first."""
    found = {name.partition("-")[2]: name for name in KAFKA.presets}
    return {series: name for series, name in found.items() if re.fullmatch(r"[\d.]+", series)}


SERIES: Mapping[str, str] = _series()


def mode_of(preset: str) -> Mode:
    """ZooKeeper where only the controller's own shrinks of the ISR start epochs, else KRaft."""
    shrinks = KAFKA.model({}, None, preset).settings.shrink_starts_epoch
    return Mode.ZOOKEEPER if shrinks == ShrinkStartsEpoch.BY_CONTROLLER else Mode.KRAFT


def release_named(text: str, mode: str | None = None) -> Release:
    """The release that a version names; `UsageError` for one that no preset stands for."""
    parts = text.strip().removeprefix("kafka-").split(".")
    series = next((s for s in SERIES if parts[: len(s.split("."))] == s.split(".")), None)
    if series is None or not all(part.isascii() and part.isdecimal() for part in parts):
        raise UsageError(f"there is no preset for Kafka {text}: valid are {', '.join(SERIES)}")
    found = Release(text.strip().removeprefix("kafka-"), SERIES[series], mode_of(SERIES[series]))
    if mode is not None and Mode(mode) is not found.mode:
        alike = [s for s, name in SERIES.items() if mode_of(name) is Mode(mode)]
        raise UsageError(
            f"Kafka {series} is modelled with {_NAMES[found.mode]} only: valid with "
            f"{_NAMES[Mode(mode)]} are {', '.join(alike)}"
        )
    return found


def later(release: Release) -> list[Release]:
    """The releases after one, oldest first."""
    names = list(SERIES)
    after = names[names.index(release.series) + 1 :]
    return [release_named(series) for series in after]


_NAMES = {Mode.ZOOKEEPER: "ZooKeeper", Mode.KRAFT: "KRaft"}


def mode_words(release: Release) -> str:
    """The mode as people write it."""
    return _NAMES[release.mode]
