"""Kafka versions as settings of consumers and coordinator: which fixes each has.

Each is the first release of its series, as it comes, a consumer with a broker of its own version:
its assignor is `range` in all of them. `kafka-fixed` is the newest with what no release has. Where
each line is from is said in `docs/clients.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from model.kafka_group.settings import GroupProtocol, GroupSettings
from model.language.declare.settings import presets

_NAMES = "0.9 0.11 2.1 2.3 2.4 2.6 3.2 3.3 3.5 4.0 4.3"
_WITH_BOTH = {"kafka-4.0", "kafka-4.3", "kafka-fixed"}
"""Those whose consumers may use either protocol, so that there are two presets."""


def _by_protocol() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, rules in presets(GroupSettings, "kafka", _NAMES.split()).items():
        yield name, rules
        if name in _WITH_BOTH:
            yield f"{name}-consumer", rules | {"group.protocol": GroupProtocol.CONSUMER.value}


PRESETS: Mapping[str, Mapping[str, Any]] = dict(_by_protocol())
