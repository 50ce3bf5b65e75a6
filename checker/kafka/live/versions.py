"""Releases of Kafka by what an admin client sees of them: levels of `metadata.version`.

The levels are those of `MetadataVersion` in the jars of 3.9.1 and 4.4.0; `kafka-features describe`
prints them as names.
"""

from __future__ import annotations

from collections.abc import Mapping

METADATA_VERSION = "metadata.version"
_SINCE = {
    "3.0": 1, "3.1": 2, "3.2": 3, "3.3": 4, "3.4": 8, "3.5": 9, "3.6": 12, "3.7": 15, "3.8": 20,
    "3.9": 21, "4.0": 22, "4.1": 26, "4.2": 28, "4.3": 30, "4.4": 31,
}  # fmt: skip
"""The first level of each line, in rising order."""
_LAST = 33


def line_of(level: int) -> str:
    """The line that a level of `metadata.version` is of; empty for one that is not known."""
    known = [line for line, since in _SINCE.items() if since <= level <= _LAST]
    return known[-1] if known else ""


def name_of(level: int) -> str:
    """A level as it is called: 27 is `4.1-IV1`; empty for one that is not known."""
    line = line_of(level)
    return f"{line}-IV{level - _SINCE[line] + (line == '3.0')}" if line else ""


def level_name(features: Mapping[str, int] | None) -> str:
    """The `metadata.version` among the levels of features, as it is called; empty for none."""
    return name_of((features or {}).get(METADATA_VERSION, 0))
