"""A sample of what a model's functions do themselves: states, and steps tried in them.

The states are those that the reference engine reaches, breadth first and on random walks, some
beside them, where claims that always hold turn false, and one for each action that those do not
enable, where longer walks find one. Everything is drawn from a fixed seed and
bounded by counts, never by a clock: a model has one sample.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Iterable, Iterator

from checker.core.engines.reference import ReferenceEngine, State
from model.language.errors import DomainError, LimitError
from model.language.protocol import Model

REACHED = 100
BESIDE = 28
TRIES_A_STATE = 40
_MANY = 20  # cells
_WALK = 30  # steps
_WALKS = 64
_RARE = 0.5
_PATIENCE = 60  # tries of an action that was never enabled
_TRIES = 13_000
"""Tries at most. What is left of them goes to actions that no state has enabled."""
_SEED = 10
"""The first from 5 on with which samples of shipped protocols meet all but the rarest actions."""
_SELDOM = 4  # states, of which one tries an action that bounds or settings switch off

Outcome = State | str
"""What a try of an action comes to: the state after it, or in words why there is none."""

NOT_ENABLED = "it is not enabled"
MISFIT = "it assigns a value outside its variable's domain"


class Sample:
    """Steps of a model as its functions take them: `outcomes` by (row of the state, instance).

    `taken[row]` has the instances that are enabled in `states[row]`, with the states after them.
    """

    def __init__(self, model: Model) -> None:
        self._instances = model.instances
        self._varying = [cell for cell in model.cells if cell.low < cell.high]
        self._engine = ReferenceEngine(model)
        self._draw = random.Random(_SEED)
        self._kinds = _by_action(model)
        self._possible = model.possible_actions
        self._tried: Counter[str] = Counter()
        self._enabled: Counter[str] = Counter()
        self._walked: Counter[str] = Counter()
        self._rows: dict[State, int] = {}
        self.states: list[State] = []
        self.outcomes: dict[tuple[int, int], Outcome] = {}
        self.taken: list[dict[int, State]] = []
        self.initial = self._engine.initial()
        self._breadth_first()
        self._walk()
        self._go_beside()
        self._seek()
        del self._engine  # it holds on to the model

    def also(self, model: Model, tries: Iterable[tuple[int, int]]) -> None:
        """Try more instances: pairs of a row and an instance's number."""
        self._engine = ReferenceEngine(model)
        for row, number in tries:
            self._try(row, number)
        del self._engine

    def _breadth_first(self) -> None:
        """States near the initial one; of a small model all."""
        queue: deque[tuple[State, int | None]] = deque([(self.initial, None)])
        most = REACHED if self._tries_all else REACHED // 4
        while queue and len(self.states) < most:
            state, before = queue.popleft()
            if state not in self._rows:
                row = self._visit(state, before)
                queue.extend((after, row) for after in self.taken[row].values())
        self._exhausted = not queue and self._tries_all

    def _walk(self) -> None:
        """States on random walks."""
        for _ in range(0 if self._exhausted else _WALKS):
            state, row = self.initial, None
            for _ in range(_WALK):
                if len(self.states) >= REACHED:
                    return
                row = self._visit(state, row)
                steps = self.taken[row] or self._any_step(row)
                if not steps:
                    break
                state = steps[self._next(list(steps))]

    def _next(self, numbers: list[int]) -> int:
        """One of the enabled instances: any, or one of the action that walks took least often."""
        chosen = self._draw.choice(numbers)
        if self._draw.random() < _RARE:
            self._draw.shuffle(numbers)
            chosen = min(numbers, key=lambda number: self._walked[self._name(number)])
        self._walked[self._name(chosen)] += 1
        return chosen

    def _go_beside(self) -> None:
        """Reached states with a few cells drawn anew: most of them can never be reached."""
        reached = len(self.states)
        for _ in range(BESIDE):
            row = self._draw.randrange(reached)
            self._visit(self._beside(self.states[row], self._draw), row)

    def drawn(self, count: int, frames: int) -> list[tuple[State, ...]]:
        """States, or states before and after a step, with a few cells drawn anew: for claims.

        On a run a claim seldom turns false; near one, it does.
        """
        draw = random.Random(count)
        reached: list[tuple[State, ...]] = [(state,) for state in self.states]
        if frames == 2:
            reached = list(self.steps)
        return [
            (*place[:-1], self._beside(place[-1], draw, _MANY))
            for place in (draw.choice(reached) for _ in range(count if reached else 0))
        ]

    @property
    def steps(self) -> Iterator[tuple[State, State]]:
        """The states before and after each step."""
        for row, steps in enumerate(self.taken):
            for after in steps.values():
                yield self.states[row], after

    def _beside(self, state: State, draw: random.Random, most: int = 3) -> State:
        cells = list(state)
        for _ in range(draw.randint(1, most) if self._varying else 0):
            cell = draw.choice(self._varying)
            cells[cell.position] = draw.randint(cell.low, cell.high)
        return tuple(cells)

    def _seek(self) -> None:
        """A state for each action that none of the states enables, where walks soon find one."""
        kinds = [name for name in self._kinds if name in self._possible]
        unseen = {name for name in kinds if not self._enabled[name]}
        self._left = 0 if self._exhausted else _TRIES - len(self.outcomes)
        while unseen and self._left > 0:
            walk: list[tuple[State, int]] = []
            state = self.initial
            for _ in range(_WALK):
                for name in sorted(unseen):
                    found = self._first(state, [name])
                    if found is not None:
                        unseen.remove(name)
                        for before, number in (*walk, (state, found[0])):
                            self._try(self._row(before), number)
                        walk.clear()
                step = self._first(state, self._draw.sample(kinds, len(kinds)))
                if step is None:
                    break
                walk.append((state, step[0]))
                state = step[1]

    def _first(self, state: State, names: Iterable[str]) -> tuple[int, State] | None:
        """The first enabled instance of the first of some actions, and the state after it."""
        for name in names:
            for number in self._draw.sample(self._kinds[name], len(self._kinds[name])):
                self._left -= 1
                found = outcome_of(self._engine, state, number)
                if not isinstance(found, str):
                    return number, found
        return None

    @property
    def _tries_all(self) -> bool:
        return len(self._instances) <= TRIES_A_STATE

    def _name(self, number: int) -> str:
        return self._instances[number].action.name

    def _visit(self, state: State, before: int | None) -> int:
        """Try what was enabled in the state before, and some instances of every action; the row.

        What was enabled still is, or has just ceased to be: both say more than what never was.
        """
        row = self._row(state)
        if self.taken[row]:
            return row
        for number in list(self.taken[before]) if before is not None else ():
            self._try(row, number)
        for name, numbers in self._kinds.items():
            few = numbers
            if not self._tries_all:
                few = self._draw.sample(numbers, min(self._wanted(name), len(numbers)))
            for number in few:
                self._try(row, number)
        return row

    def _row(self, state: State) -> int:
        row = self._rows.setdefault(state, len(self.states))
        if row == len(self.states):
            self.states.append(state)
            self.taken.append({})
        return row

    def _wanted(self, action: str) -> int:
        """How many instances of an action to try in a state: more until one was enabled."""
        each = max(TRIES_A_STATE // len(self._kinds), 1)
        if action not in self._possible:
            return 0 if len(self.states) % _SELDOM else each
        patient = not self._enabled[action] and self._tried[action] < _PATIENCE
        return 3 * each if patient else each

    def _any_step(self, row: int) -> dict[int, State]:
        """The first step that can be taken at all, if there is one."""
        numbers = [k for name in self._kinds if name in self._possible for k in self._kinds[name]]
        self._draw.shuffle(numbers)
        for number in numbers:
            self._try(row, number)
            if self.taken[row]:
                break
        return self.taken[row]

    def _try(self, row: int, number: int) -> None:
        if (row, number) in self.outcomes:
            return
        found = outcome_of(self._engine, self.states[row], number)
        self.outcomes[row, number] = found
        self._tried[self._name(number)] += 1
        if found is not NOT_ENABLED:
            self._enabled[self._name(number)] += 1
        if not isinstance(found, str):
            self.taken[row][number] = found


def _by_action(model: Model) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for instance in model.instances:
        found.setdefault(instance.action.name, []).append(instance.number)
    return found


def outcome_of(engine: ReferenceEngine, state: State, number: int) -> Outcome:
    """What the function itself makes of an instance, by its number, in a state."""
    try:
        after = engine.step(state, engine.model.instances[number])
    except DomainError:
        return MISFIT
    except (LimitError, KeyboardInterrupt):  # of the command, not of the function
        raise
    except BaseException as error:
        return raised(error)
    return NOT_ENABLED if after is None else after


def raised(error: BaseException) -> str:
    """What a function did that ended with an error, in words."""
    return f"it raises {type(error).__name__}: {error}"
