"""KRaft with every fix, at sizes that Spin, TLC and Spark are to count as the local search does."""

from __future__ import annotations

import csv
from pathlib import Path

from model.language.protocol import Model
from model.protocols import PROTOCOLS

_COUNTS = ("states", "transitions", "depth")
_GOLDEN = Path(__file__).parents[1] / "golden" / "kraft.csv"
ROWS = list(csv.DictReader(_GOLDEN.read_text(encoding="utf-8").splitlines()))


def name_of(row: dict[str, str]) -> str:
    """The bounds of a row, without those that are 0."""
    return " ".join(f"{key}={value}" for key, value in bounds_of(row).items() if value)


def bounds_of(row: dict[str, str]) -> dict[str, int]:
    """A row's bounds; all others are 0."""
    return {key: int(value) for key, value in row.items() if key not in _COUNTS}


def model_of_row(row: dict[str, str]) -> Model:
    """`kraft` with the preset `kafka-fixed` within a row's bounds."""
    kraft = PROTOCOLS["kraft"]
    return kraft.model(bounds_of(row), kraft.presets["kafka-fixed"])


def counts_of(row: dict[str, str]) -> tuple[int, int]:
    """States, and transitions with the initial state as one, as Spin and TLC count."""
    return int(row["states"]), int(row["transitions"]) + 1
