"""Which of many cases run in every test run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow_but(quick: Iterable[str], names: Iterable[str]) -> list[Any]:
    """`names` as parameters, all but the `quick` ones marked slow."""
    kept = set(quick)
    return [name if name in kept else pytest.param(name, marks=pytest.mark.slow) for name in names]
