"""Whether a set of states shows that nothing is violated, checked without the search that made it.

A search packs states, hashes, renames and compiles them. Nothing of that is used here, and nothing
of it need be right: states are plain numbers, wherever they come from, and the functions of the
protocol are called on each. If the initial state is among them, if every step from one of them
leads to one of them, and if every claim holds there, no run violates a claim.
"""

from __future__ import annotations

import itertools
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from checker.core.children import begin_child, deaf_children
from checker.core.engines.reference import ReferenceEngine, State
from model.language.declare.domains import Reference, Subset
from model.language.errors import DomainError
from model.language.protocol import Model
from properties import Property, Sense

_SLICE = 100  # states that a worker checks before it reports, or ends with its command
_CODES = (("b", 7), ("h", 15), ("i", 31), ("q", 63))


@dataclass(frozen=True)
class Checked:
    """How many different states and steps were checked, and in words what is wrong, if anything."""

    states: int
    steps: int
    wrong: str = ""


class Certificate:
    """A set of states, and what it is to show of a model: that no run falsifies one of `claims`.

    `states` has one number a cell, in the order of `Model.declared`. With `renamed`, the name of a
    family of members, each stands for all its renamings, and all of them are checked: that members
    are interchangeable is not taken for granted. With `no_deadlock` every state has to have a step.
    """

    def __init__(
        self,
        model: Model,
        claims: Iterable[Property],
        states: Iterable[State],
        renamed: str | None = None,
        no_deadlock: bool = False,
    ) -> None:
        self.model = model
        self._claims = [claim for claim in claims if claim.sense is Sense.ALWAYS]
        self._no_deadlock = no_deadlock
        bits = max(max(-cell.low - 1, cell.high).bit_length() for cell in model.declared)
        self._code = next(code for code, most in _CODES if bits <= most)
        renamings = list(_renamings(model, renamed)) if renamed else []
        self._states = {
            self._key(same)
            for state in states
            for same in (state, *(rename(state) for rename in renamings))
        }
        self._engine = ReferenceEngine(model)

    def states(self) -> set[State]:
        """Every state that is checked."""
        return {self._state(key) for key in self._states}

    def _key(self, state: Sequence[int]) -> bytes:
        return array(self._code, state).tobytes()

    def _state(self, key: bytes) -> State:
        return tuple(array(self._code, key))

    def check(
        self, workers: int = 1, on_progress: Callable[[int, int], None] = lambda done, of: None
    ) -> Checked:
        """Check every state, up to the first thing that is wrong.

        `on_progress` is told how many states of how many are checked.
        """
        if self._key(self._engine.initial()) not in self._states:
            return Checked(0, 0, "the initial state is missing")
        keys = sorted(self._states)  # so that every run names the same fault first
        slices = [keys[first : first + _SLICE] for first in range(0, len(keys), _SLICE)]
        states = steps = 0
        for number, (taken, wrong) in enumerate(self._checked(slices, workers)):
            states, steps = states + len(slices[number]), steps + taken
            if wrong:
                return Checked(states, steps, wrong)
            on_progress(states, len(keys))
        return Checked(states, steps)

    def _checked(self, slices: list[list[bytes]], workers: int) -> Iterator[tuple[int, str]]:
        if workers == 1:
            yield from map(self._check, slices)
            return
        # Forked, so that all share the one set of states.
        given = (os.getpid(), self)
        with ProcessPoolExecutor(workers, get_context("fork"), _let_check, given) as pool:
            with deaf_children():
                checked = [pool.submit(_check, keys) for keys in slices]
            try:
                yield from (each.result() for each in checked)
            finally:  # a pool that nobody holds goes on with what is left
                pool.shutdown(cancel_futures=True)

    def _check(self, keys: list[bytes]) -> tuple[int, str]:
        """How many steps the states have, and what is wrong with the first that is not right."""
        steps = 0
        for key in keys:
            try:
                taken, wrong = self._check_state(self._state(key))
            except DomainError as error:
                taken, wrong = 0, f"a step does not fit the bounds: {error}"
            steps += taken
            if wrong:
                return steps, wrong
        return steps, ""

    def _check_state(self, state: State) -> tuple[int, str]:
        for claim in self._claims:
            if not claim.of_steps and not self._engine.holds(claim.claim, state):
                return 0, f"{claim.name} is false in a state"
        steps = 0
        for instance, after in self._engine.successors(state):
            steps += 1
            if self._key(after) not in self._states:
                step = self._engine.words(state, instance)
                return steps, f"a step leads to a state that is missing: {step}"
            for claim in self._claims:
                if claim.of_steps and not self._engine.holds(claim.claim, state, after):
                    step = self._engine.words(state, instance)
                    return steps, f"{claim.name} is false of a step: {step}"
        if self._no_deadlock and not steps:
            return 0, "a state has no step"
        return steps, ""


def _renamings(model: Model, family: str) -> Iterator[Callable[[State], list[int]]]:
    """A function for each renaming of a family's members, but for the one that changes nothing."""

    def moved(index: Sequence[int], sets: Sequence[str], new: Sequence[int]) -> tuple[int, ...]:
        pairs = zip(index, sets, strict=True)
        return tuple(new[k] if name == family else k for k, name in pairs)

    def renaming(new: Sequence[int]) -> Callable[[State], list[int]]:
        plan = []
        for cell in model.declared:
            sets = [each.name for each in cell.variable.index]
            place = model.positions[cell.variable.name, moved(cell.index, sets, new)]
            plan.append((place, cell.variable.domain))

        def rename(state: State) -> list[int]:
            after = list(state)
            for value, (place, domain) in zip(state, plan, strict=True):
                match domain:
                    case Reference(of) if of == family and value >= 0:
                        after[place] = new[value]
                    case Subset(of) if of == family:
                        after[place] = sum(1 << new[k] for k in range(len(new)) if value >> k & 1)
                    case _:
                        after[place] = value
            return after

        return rename

    orders = itertools.permutations(range(model.extents[family]))
    yield from map(renaming, itertools.islice(orders, 1, None))


_given: list[Certificate] = []
"""In a worker: what it checks."""


def _let_check(parent: int, certificate: Certificate) -> None:
    begin_child(parent)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what fails here is told by the parent
    _given.append(certificate)


def _check(keys: list[bytes]) -> tuple[int, str]:
    return _given[-1]._check(keys)
