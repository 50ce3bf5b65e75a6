"""Which preset has the rules of a release of Kafka: `3.7.2` is `kafka-3.7`, in KRaft mode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from model.kafka.presets import preset_of
from model.kafka.protocol import KAFKA
from model.kafka.releases import SERIES as LINES
from model.kafka.releases import WAITS_FOR_FEATURES, is_of_a_series
from model.kafka.settings import KafkaSettings
from model.language.declare.history import series_of, version_of
from model.language.declare.settings import as_text, sources
from model.language.errors import UsageError


class Mode(StrEnum):
    """Where a cluster keeps its metadata."""

    ZOOKEEPER = "zookeeper"
    KRAFT = "kraft"


WITHOUT_ZOOKEEPER = version_of("4.0")
"""The first release without ZooKeeper; from 3.3 on Kafka supported both."""


@dataclass(frozen=True)
class Release:
    """A release as it was asked for, the preset that stands for it, and its mode."""

    asked: str
    preset: str
    mode: Mode

    @property
    def alike(self) -> str:
        """The first release with the same rules, by which the preset is called: `3.7`."""
        return self.preset.partition("-")[2]


SERIES: Mapping[str, str] = {
    name.partition("-")[2]: name
    for name in KAFKA.presets
    if re.fullmatch(r"[\d.]+", name.partition("-")[2])
}
"""The presets that are releases, by their versions, oldest first."""


def mode_of(preset: str) -> Mode:
    """Whether a release keeps its metadata in ZooKeeper or in a log of its own."""
    settings = KAFKA.model({}, None, preset).settings
    return Mode.ZOOKEEPER if settings.with_zookeeper else Mode.KRAFT


def release_named(text: str, mode: str | None = None) -> Release:
    """The release that a version names; `UsageError` for one that there is not."""
    asked = text.strip().removeprefix("kafka-")
    if not is_of_a_series(asked):
        raise UsageError(
            f"there is no Kafka {text} here: valid are releases of {', '.join(LINES)}, "
            f"such as {LINES[-1]}.0"
        )
    preset = preset_of(version_of(asked))
    found = Release(asked, preset, mode_of(preset))
    if mode is not None and Mode(mode) is not found.mode:
        alike = [line for line in LINES if release_named(line).mode is Mode(mode)]
        valid = f"valid with {_NAMES[Mode(mode)]} are {alike[0]} to {alike[-1]}"
        if Mode(mode) is Mode.ZOOKEEPER and version_of(asked) < WITHOUT_ZOOKEEPER:
            raise UsageError(
                f"Kafka {asked} with ZooKeeper is not modelled: from 3.3 on it lets only live "
                "brokers join the ISR, but knows no broker epochs there, and no preset has both; "
                f"{valid}"
            )
        raise UsageError(f"Kafka {asked} is modelled with {_NAMES[found.mode]} only: {valid}")
    return found


def has_feature(release: Release, name: str) -> bool:
    """Whether a release has what a setting is about; of what is no feature, every one has it."""
    since = sources(KafkaSettings)[name].since
    return name != ELR or version_of(release.asked) >= version_of(since)


ELR = "eligible.leader.replicas"


def rules_held_back(release: Release, metadata_version: str) -> dict[str, str]:
    """The settings of rules that an older `metadata.version`, such as `3.9-IV0`, holds back.

    `UsageError` for one that the release cannot have.
    """
    level = re.fullmatch(r"(\d+\.\d+)(-IV\d+)?", metadata_version)
    if level is None or not is_of_a_series(level[1]):
        raise UsageError(
            f"metadata.version cannot be {metadata_version!r}: valid is such as 4.1-IV1"
        )
    then, now = version_of(level[1]), version_of(release.asked)
    if series_of(then) > series_of(now):
        raise UsageError(f"metadata.version {metadata_version} is newer than Kafka {release.asked}")
    if series_of(then) == series_of(now):
        return {}
    older = preset_of(then)
    if mode_of(older) is not release.mode:
        raise UsageError(
            f"metadata.version {metadata_version} is not modelled: valid are 3.3 to 4.4"
        )
    was, has = (as_text(KAFKA.model({}, None, each).settings) for each in (older, release.preset))
    return {name: was[name] for name in sorted(WAITS_FOR_FEATURES) if was[name] != has[name]}


def later(release: Release) -> list[Release]:
    """The releases after one that differ from those before them, oldest first."""
    names = list(SERIES)
    after = names[names.index(release.alike) + 1 :]
    return [release_named(series) for series in after]


_NAMES = {Mode.ZOOKEEPER: "ZooKeeper", Mode.KRAFT: "KRaft"}


def mode_words(release: Release) -> str:
    """The mode as people write it."""
    return _NAMES[release.mode]
