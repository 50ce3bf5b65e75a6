"""Which of many cases run in every test run, on every change, or only at night, with the reason.

What takes minutes and only repeats with other values what is run on every change is for the night.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

RELEASES = "Kafka's classes are brought and compiled for each release, a minute each"


def slow_but(quick: Iterable[Any], parameters: Iterable[Any]) -> list[Any]:
    """The parameters, values or tuples of them, all but the `quick` ones marked slow."""
    kept = list(quick)
    return [each if each in kept else _marked(each, pytest.mark.slow) for each in parameters]


def first_and_slow(*parameters: Any) -> list[Any]:
    """The first as it is; the others marked slow."""
    return slow_but(parameters[:1], parameters)


def nightly(reason: str, parameter: Any) -> Any:
    """One set of values, a tuple, or one value, for nightly tests."""
    return _marked(parameter, pytest.mark.nightly(reason))


def _marked(parameter: Any, mark: Any) -> Any:
    values = parameter if isinstance(parameter, tuple) else (parameter,)
    return pytest.param(*values, marks=mark)


def first_and_nightly(reason: str, *parameters: Any) -> list[Any]:
    """The first as it is; the others in nightly tests."""
    first, *others = parameters
    return [first, *(nightly(reason, other) for other in others)]
