"""The state graph of a model as questions need it: with its reverse, and whom a step belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from checker.core.engines.reference import State
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.liveness.components import reach
from checker.core.liveness.graph import Flags, Numbers, Offsets, StateGraph, find_states
from checker.core.liveness.search import LivenessSearch
from checker.core.search.limits import INTERRUPTED, Limits, Progress
from checker.core.search.question import DEFAULT_CHUNK, Options
from model.language.errors import LimitError
from model.language.fairness import Fairness
from model.language.protocol import Instance, Model
from properties import Property


@dataclass(frozen=True)
class Built:
    """A state graph of a model. States are numbered as a search finds them, the first one is 0.

    `stopped` says in words which limit ended the search, if one did.
    """

    model: Model
    graph: StateGraph
    engine: VectorisedEngine
    stopped: str = ""

    @property
    def states(self) -> int:
        """How many states there are."""
        return self.graph.states

    @property
    def steps(self) -> int:
        """How many steps there are that change something, or are a loss if `find_losses` says."""
        return len(self.graph.targets)

    @cached_property
    def sources(self) -> Numbers:
        """The state that each step begins in, shape (steps,)."""
        return self.graph.sources()

    @cached_property
    def depths(self) -> Numbers:
        """The depth of each state, shape (states,)."""
        return self.graph.depths()

    @cached_property
    def action_of_step(self) -> npt.NDArray[np.int32]:
        """The number of each step's action, in the protocol's order, shape (steps,)."""
        actions = {action.name: n for n, action in enumerate(self.model.protocol.actions)}
        of_instance = np.array([actions[i.action.name] for i in self.model.instances], np.int32)
        found: npt.NDArray[np.int32] = of_instance[self.graph.instances]
        return found

    def instance(self, step: int) -> Instance:
        """The action instance of a step."""
        return self.model.instances[int(self.graph.instances[step])]

    def state(self, number: int) -> State:
        """One state as numbers, one a cell."""
        words = np.ascontiguousarray(self.graph.words[:, number : number + 1])
        return self.engine.layout.unpack(words)[0]

    def numbers_of(self, states: Sequence[State]) -> list[int]:
        """The numbers of states, -1 for those that are not in the graph."""
        found: list[int] = find_states(self.graph, self.engine.layout.pack(states)).tolist()
        return found

    def truth(self, prop: Property) -> Flags:
        """Where a property of states holds, shape (states,)."""
        (claims,) = [self.engine.claims([prop])]
        found = np.empty(self.states, np.bool_)
        for start in range(0, self.states, DEFAULT_CHUNK):
            part = slice(start, min(start + DEFAULT_CHUNK, self.states))
            (found[part],) = claims(np.ascontiguousarray(self.graph.words[:, part]))
        return found

    def truth_of_steps(self, prop: Property) -> Flags:
        """Where a property of steps holds, shape (steps,)."""
        return self._truth_between(prop, self.sources, self.graph.targets)

    def truth_of_idle(self, prop: Property) -> Flags:
        """Where a property of steps holds, of the steps that change nothing."""
        return self._truth_between(prop, self.graph.idle_states, self.graph.idle_states)

    def _truth_between(self, prop: Property, sources: Numbers, targets: Numbers) -> Flags:
        claims, words = self.engine.claims([prop]), self.graph.words
        found = np.empty(len(sources), np.bool_)
        for start in range(0, len(sources), DEFAULT_CHUNK):
            part = slice(start, start + DEFAULT_CHUNK)
            before = words.take(sources[part], axis=1)
            (found[part],) = claims(before, words.take(targets[part], axis=1))
        return found

    def reached(self, kept: Flags | None = None) -> Flags:
        """The states that the steps in `kept` (shape (steps,)) lead to from the first state."""
        far = self._far(self.sources, self.graph.targets, kept, np.zeros(1, np.int32), None)
        return np.asarray(far >= 0)

    def to(self, goals: Numbers, starts: Numbers, kept: Flags | None = None) -> Numbers:
        """The least number of steps in `kept` from each state to a goal; -1 where there is no way.

        A goal counts for as many steps as `starts`, in ascending order, says.
        """
        return self._far(self.graph.targets, self.sources, kept, goals, starts)

    def _far(
        self, begin: Numbers, end: Numbers, kept: Flags | None, sources: Numbers,
        starts: Numbers | None,
    ) -> Numbers:  # fmt: skip
        if kept is not None:
            begin, end = begin[kept], end[kept]
        offsets, ends = _by_beginning(begin, end, self.states)
        first = np.zeros(len(sources), np.int32) if starts is None else starts
        everywhere = np.ones(self.states, np.bool_)
        far, _ = reach(offsets, ends, sources.astype(np.int32), first, everywhere)
        return far


def _by_beginning(begin: Numbers, end: Numbers, states: int) -> tuple[Offsets, Numbers]:
    """Steps sorted by the state that they begin in, as offsets and ends."""
    order = np.argsort(begin, kind="stable")
    sizes = np.bincount(begin, minlength=states)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), end[order]


def build(
    model: Model,
    judged: Iterable[Property] = (),
    limits: Limits | None = None,
    options: Options | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    fairness: Iterable[Fairness] | None = None,
    stops: Callable[[Callable[[], None]], None] = lambda _: None,
) -> Built:
    """Search all states, within limits, whatever they violate, and keep the steps between them.

    `judged` are the properties that will be asked about, which are compared with their functions
    first. `stops` is handed what ends the search soon; that is a `KeyboardInterrupt`. `LimitError`
    if a limit leaves no graph.
    """
    search = LivenessSearch(model, (), (), fairness, limits, options, on_progress, judged)
    stops(search.request_stop)
    result = search.run()
    if result.stopped == INTERRUPTED:
        raise KeyboardInterrupt
    if search.graph is None:
        raise LimitError(f"{result.stopped} came before the state graph was there", result.stopped)
    return Built(model, search.graph, search.engine, result.stopped)
