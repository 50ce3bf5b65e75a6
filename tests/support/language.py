"""A few lines of the language: where a test module registers them, and what each must show."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.language.errors import CaptureError
from tests.support.lab import model_of
from tests.support.laws import check_engines_agree
from tests.support.variants import random_states

F = TypeVar("F", bound=Callable[..., Any])


def registering(functions: list[Any]) -> Callable[[F], F]:
    """A decorator that adds a function to those, for a parameter of a test."""

    def register(function: F) -> F:
        functions.append(pytest.param(function, id=function.__name__))
        return function

    return register


def refusing(mistakes: list[Any]) -> Callable[[str], Callable[[F], F]]:
    """The same of an action that cannot be captured, with words of the error that it gets."""

    def refused(words: str) -> Callable[[F], F]:
        def register(function: F) -> F:
            mistakes.append(pytest.param(function, words, id=function.__name__))
            return function

        return register

    return refused


def check_refused(function: Callable[..., None], words: str) -> None:
    """An action is refused in these words, at its line that ends in `# here`, if one does."""
    with pytest.raises(CaptureError) as caught:
        _ = model_of(function).captured
    message = str(caught.value)
    assert words in message
    lines, first = inspect.getsourcelines(function)
    marked = [first + k for k, line in enumerate(lines) if "# here" in line]
    placed = re.match(r"([\w.]+):(\d+): ", message)
    assert placed is not None and placed[1] == Path(inspect.getfile(function)).name
    assert int(placed[2]) in (marked or range(first, first + len(lines))), message
    assert "\n" not in message


def check_means_the_same(function: Callable[..., None], nodes: int, rows: int) -> None:
    """An action does the same on plain and on symbolic values, from random states."""
    model = model_of(function, nodes=nodes, rows=rows)
    steps, misfits = check_engines_agree(model, random_states(model, 400, seed=nodes))
    assert steps + misfits > 0 or nodes == 1


def after(function: Callable[..., None], **changes: int) -> dict[str, int] | None:
    """The state after the function's action from the initial state with some cells changed."""
    model = model_of(function)
    engine = ReferenceEngine(model)
    names = [cell.name for cell in model.cells]
    state = list(engine.initial())
    for name, value in changes.items():
        state[names.index(name.replace("__", ".").replace("_at_0", "[0]"))] = value
    found = engine.step(tuple(state), model.instances[0])
    return None if found is None else dict(zip(names, found, strict=True))
