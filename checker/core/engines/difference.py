"""Differences between engines in words: which function, in which state, and the two values."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

from checker.core.engines.reference import State
from checker.core.engines.sample import Outcome
from model.language.errors import DisagreementError
from model.language.naming import cell_path, instance_words, value_words
from model.language.protocol import Cell, Model

SHOWN = 12
"""Cells of a state that an error shows."""


class Differences:
    """Makes the errors of one model. A state is told by what is not as it is at first.

    `one` and `other` say how the two values came about.
    """

    def __init__(
        self, model: Model, initial: State, one: str = "run as Python", other: str = "as captured"
    ) -> None:
        self._model = model
        self._initial = initial
        self._sides = one, other

    def of_start(self, expected: State, found: State) -> DisagreementError:
        """The initial states differ."""
        start = self._model.protocol.start
        what = "the initial state" if start is None else _placed(f"start {start.__name__}", start)
        return self._error(what, "", *self._differing(expected, found))

    def of_step(
        self, number: int, before: State, expected: Outcome, found: Outcome
    ) -> DisagreementError:
        """An action instance, by its number, comes to different outcomes in the state `before`."""
        instance = self._model.instances[number]
        what = _placed(f"action {instance.action.name}", instance.action.function)
        where = f"{instance_words(self._model, instance)} {self._state(before)}"
        if isinstance(expected, str) or isinstance(found, str):
            return self._error(what, where, *(self._told(o, before) for o in (expected, found)))
        return self._error(what, where, *self._differing(expected, found))

    def of_claim(
        self,
        what: str,
        function: Callable[..., bool],
        place: tuple[State, ...],
        expected: str,
        found: str,
    ) -> DisagreementError:
        """A claim of a state, or of the two states of a step, differs."""
        where = ", then ".join(map(self._state, place))
        return self._error(_placed(what, function), where, expected, found)

    def _error(self, what: str, where: str, expected: str, found: str) -> DisagreementError:
        one, other = self._sides
        place = f"{where}: " if where else ""
        return DisagreementError(
            f"{what} does not mean the same to all engines: {place}{one}, {expected}; {other}, "
            f"{found}. No answer can be given"
        )

    def _told(self, outcome: Outcome, before: State) -> str:
        if isinstance(outcome, str):
            return outcome
        after = self._differing(outcome, before)[0]
        return f"it is enabled, and then {after}"

    def _state(self, state: State) -> str:
        if state == self._initial:
            return "in the initial state"
        return f"where {self._differing(state, self._initial)[0]}"

    def _differing(self, one: State, other: State) -> list[str]:
        """Two states, each told by the values in which they differ."""
        cells = [c for c in self._model.cells if one[c.position] != other[c.position]]
        return [self._values(cells, state) or "nothing changes" for state in (one, other)]

    def _values(self, cells: list[Cell], state: State) -> str:
        model, more = self._model, len(cells) - SHOWN
        parts = [
            f"{cell_path(model, cell)} is {value_words(model, cell, state[cell.position])}"
            for cell in cells[:SHOWN]
        ]
        return ", ".join([*parts, f"{more} more differ"] if more > 0 else parts)


def _placed(what: str, function: Callable[..., Any]) -> str:
    """The function's name with the place where it is written, if that is known."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return what
    near = os.path.relpath(code.co_filename)
    path = code.co_filename if near.startswith("..") else near
    return f"{what} ({path}:{code.co_firstlineno})"
