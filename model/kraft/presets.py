"""Kafka versions as settings of a KRaft quorum: which rules each has.

Each is the first release of its series. `kraft.version` is 1 from 3.9 on, where it can be; a
quorum that was upgraded, or formatted for static voters, has 0. `kafka-fixed` is the newest with
the fixes that no release has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.kraft.settings import KRaftSettings
from model.language.declare.settings import presets

_NAMES = "2.8 3.3 3.7 3.9 4.0 4.2 4.3"

PRESETS: Mapping[str, Mapping[str, Any]] = presets(KRaftSettings, "kafka", _NAMES.split())
