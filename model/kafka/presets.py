"""Kafka versions as settings: what each release has, and `kafka-fixed` with every fix besides.

A preset is the first release of its line that differs from those before, as it comes, with brokers
of its own version throughout: the settings say what each has. From 3.3 on that is Kafka with KRaft;
those up to 3.9 with ZooKeeper are called so, `kafka-3.9.1-zookeeper`. `kafka-fixed` is the newest
with every fix that no release has: of findings, and of KAFKA-1148 and KAFKA-20961; but those of
findings 0017 and 0020 (decision 0092).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.kafka.releases import rules_of
from model.kafka.settings import KafkaSettings
from model.kafka.settings.modes import modes_of
from model.language.declare.history import Version, version_of
from model.language.declare.settings import presets

_NAMES = (
    "0.8.2 0.10 0.11 2.0 2.0.1 2.1 2.2 2.4.1 2.6.1 2.7 2.7.2 2.8 2.8.1 3.0 3.3 3.4.1 3.5 3.5.1 3.6 "
    "3.7 3.8 3.9 3.9.1 4.0 4.0.1 4.1 4.2 4.3 "
    "3.3-zookeeper 3.4.1-zookeeper 3.5.1-zookeeper 3.7-zookeeper 3.8-zookeeper 3.9.1-zookeeper"
)
_NAMED = _NAMES.split()

PRESETS: Mapping[str, Mapping[str, Any]] = presets(KafkaSettings, "kafka", _NAMED)


def of_preset(preset: str) -> tuple[str, str]:
    """The release that a preset begins with, and where that keeps its metadata: `3.9.1`."""
    _, version, *variant = preset.split("-")
    return version, variant[0] if variant else modes_of(version_of(version))[0]


def preset_of(version: Version, mode: str = "") -> str:
    """The preset that has a release's rules: the newest up to it, or the first after it."""
    rules = rules_of(version, mode)
    known = [(f"kafka-{name}", *of_preset(f"kafka-{name}")) for name in _NAMED]
    mode = mode or modes_of(version)[0]
    alike = [(name, since) for name, since, of in known if of == mode and PRESETS[name] == rules]
    upto = [name for name, since in alike if version_of(since) <= version]
    return upto[-1] if upto else alike[0][0]
