"""Which preset has the rules of a release of Kafka: `3.7.2` is `kafka-3.7`, with KRaft."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from model.kafka.presets import of_preset, preset_of
from model.kafka.protocol import KAFKA
from model.kafka.releases import SERIES as LINES
from model.kafka.releases import WAITS_FOR_FEATURES, is_of_a_series, rules_of
from model.kafka.settings import KafkaSettings
from model.kafka.settings.eligible_replicas import ELR
from model.kafka.settings.modes import modes_of
from model.language.declare.history import series_of, version_of
from model.language.declare.settings import as_text, sources
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
    def alike(self) -> str:
        """The first release with the same rules, by which the preset is called: `3.7`."""
        return of_preset(self.preset)[0]


RELEASES = tuple(
    Release((named := of_preset(preset))[0], preset, Mode(named[1]))
    for preset in KAFKA.presets
    if preset != f"{KAFKA.name}-fixed"
)
"""The presets that are releases: those of one mode, oldest first."""


def mode_of(preset: str) -> Mode:
    """Whether a release keeps its metadata in ZooKeeper or in a log of its own."""
    settings = KAFKA.model({}, None, preset).settings
    return Mode.ZOOKEEPER if settings.with_zookeeper else Mode.KRAFT


def release_named(text: str, mode: str | None = None) -> Release:
    """The release that a version names; `UsageError` for one that there is not.

    Where it supports both modes and none is asked for, it is taken to be with KRaft.
    """
    asked = text.strip().removeprefix("kafka-")
    if not is_of_a_series(asked):
        raise UsageError(
            f"there is no Kafka {text} here: valid are releases of {', '.join(LINES)}, "
            f"such as {LINES[-1]}.0"
        )
    valid = modes_of(version_of(asked))
    chosen = Mode(mode or valid[0])
    if chosen not in valid:
        lines = [line for line in LINES if chosen in modes_of(version_of(line))]
        raise UsageError(
            f"Kafka {asked} is modelled with {_NAMES[Mode(valid[0])]} only: valid with "
            f"{_NAMES[chosen]} are {lines[0]} to {lines[-1]}"
        )
    return Release(asked, preset_of(version_of(asked), chosen), chosen)


def rules_by_mode(release: Release) -> dict[str, str]:
    """The rules that a release has in its mode, and has not in the mode that it has by default."""
    version = version_of(release.asked)
    usual = rules_of(version)
    return {n: v for n, v in rules_of(version, release.mode).items() if v != usual[n]}


def target_named(text: str, release: Release) -> Release:
    """The release that brokers of another are upgraded to: in its mode, where it supports that."""
    target = release_named(text)
    same = release.mode in modes_of(version_of(target.asked))
    return release_named(text, release.mode) if same else target


def has_feature(release: Release, name: str) -> bool:
    """Whether a release has what a setting is about; of what is no feature, every one has it."""
    since = sources(KafkaSettings)[name].since
    return name != ELR or version_of(release.asked) >= version_of(since)


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
    if release.mode is Mode.ZOOKEEPER:
        raise UsageError(
            f"metadata.version {metadata_version} is of a cluster with KRaft, and this one is with "
            "ZooKeeper: ask with --mode kraft"
        )
    older = preset_of(then)
    if mode_of(older) is not release.mode:
        raise UsageError(
            f"metadata.version {metadata_version} is not modelled: valid are 3.3 to 4.4"
        )
    was, has = (as_text(KAFKA.model({}, None, each).settings) for each in (older, release.preset))
    return {name: was[name] for name in sorted(WAITS_FOR_FEATURES) if was[name] != has[name]}


def later(release: Release) -> list[Release]:
    """The releases after one with other rules, nearest first: of its mode, then with KRaft."""
    since = version_of(release.alike)
    same = [r for r in RELEASES if r.mode is release.mode and version_of(r.asked) > since]
    migrated = [r for r in RELEASES if r.mode is not release.mode and r.mode is Mode.KRAFT]
    return same + [r for r in migrated if version_of(r.asked) >= since]


_NAMES = {Mode.ZOOKEEPER: "ZooKeeper", Mode.KRAFT: "KRaft"}


def named_mode(mode: Mode) -> str:
    """The mode as people write it."""
    return _NAMES[mode]


def mode_words(release: Release) -> str:
    """The mode of a release as people write it."""
    return named_mode(release.mode)
