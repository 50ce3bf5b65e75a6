"""The state graph: every state that a search found, numbered in its order, and the steps between.

A search of states alone keeps no steps, and does not pay for this: states are kept by a journal,
and their steps are found in a second pass over them. That pass compares whole states, so a search
that took two states for one is noticed here, and the graph is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from checker.core.engines.layout import Words
from checker.core.engines.vectorised import Successors, VectorisedEngine
from checker.core.native.kernel import kernel
from checker.core.search.explore import Journal
from checker.core.search.findings import Findings
from checker.core.search.fingerprints import fingerprints
from checker.core.search.lineage import Lineage, StateRows
from checker.core.search.question import DEFAULT_CHUNK, Question
from model.language.errors import HighwaterError, UsageError

Numbers = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MOST_STATES = 2**31 - 1


def _no_instances() -> npt.NDArray[np.uint16]:
    return np.empty(0, np.uint16)


class KeptStates(Journal):
    """Keeps the states of a search as it finds them, level by level, all in order."""

    def __init__(self) -> None:
        self._pieces: list[Words] = []
        self.levels: list[int] = []

    def earlier(self, question: Question) -> tuple[Findings, Iterable[StateRows]] | None:
        """Nothing: each search begins anew."""
        return None

    def level(self, findings: Findings, pieces: list[Words], lineage: Lineage) -> None:
        """A level is whole: keep its states."""
        self._pieces += pieces
        self.levels.append(sum(piece.shape[1] for piece in pieces))

    def words(self) -> Words:
        """All states, in order; what was kept is handed over."""
        pieces, self._pieces = self._pieces, []
        return np.concatenate(pieces, axis=1)


@dataclass(frozen=True)
class StateGraph:
    """States 0 to n-1 in the order of a search, and the steps of the first `expanded` of them.

    The steps of state s are `targets[offsets[s]:offsets[s + 1]]`, by action instances in
    `instances`, in the order of instances. A step that changes nothing is *idle* and none of these:
    no run gets on by it, and fairness asks for none. It may be a loss all the same, so the idle
    ones are kept beside, those of state s by `idle_instances` where `idle_states` is s.
    `level_ends[d]` is the number of states at depth d or less. The states that are not expanded are
    those of the last level of a search that a limit has stopped: of their steps nothing is known.
    """

    words: Words
    level_ends: tuple[int, ...]
    expanded: int
    offsets: Offsets
    targets: Numbers
    instances: npt.NDArray[np.uint16]
    idle_states: Numbers = field(default_factory=lambda: np.empty(0, np.int32))
    idle_instances: npt.NDArray[np.uint16] = field(default_factory=_no_instances)

    @property
    def states(self) -> int:
        """How many states there are."""
        return int(self.words.shape[1])

    @property
    def is_complete(self) -> bool:
        """Every reachable state is in it, with all its steps."""
        return self.expanded == self.states

    @property
    def bytes(self) -> int:
        """The memory that states and steps take."""
        arrays = (
            self.words, self.offsets, self.targets, self.instances, self.idle_states,
            self.idle_instances,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays)

    def depths(self) -> Numbers:
        """The depth of each state."""
        sizes = np.diff([0, *self.level_ends])
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    def steps(self, state: int) -> list[tuple[int, int]]:
        """The steps of one state: instance and target."""
        part = slice(int(self.offsets[state]), int(self.offsets[state + 1]))
        return list(zip(self.instances[part].tolist(), self.targets[part].tolist(), strict=True))

    def sources(self) -> Numbers:
        """The state that each step begins in, shape (steps,)."""
        return np.repeat(np.arange(self.expanded, dtype=np.int32), np.diff(self.offsets))

    def with_idle(self, chosen: Flags) -> StateGraph:
        """The graph with some of the idle steps among its steps, each from a state to itself."""
        states = self.idle_states[chosen]
        sources = np.concatenate([self.sources(), states])
        instances = np.concatenate([self.instances, self.idle_instances[chosen]])
        order = np.lexsort((instances, sources))
        added = np.bincount(states, minlength=self.expanded)
        return replace(
            self,
            offsets=self.offsets + np.concatenate([[0], np.cumsum(added)]),
            targets=np.concatenate([self.targets, states])[order],
            instances=instances[order],
            idle_states=self.idle_states[~chosen],
            idle_instances=self.idle_instances[~chosen],
        )


def build_graph(
    engine: VectorisedEngine,
    kept: KeptStates,
    expand: Callable[[Words], Successors] | None = None,
    chunk: int = DEFAULT_CHUNK,
    check: Callable[[int], None] = lambda _: None,
) -> StateGraph:
    """The graph of the states that were kept; the last level is expanded if it is empty.

    `check` is told of the bytes that are about to be needed, and may raise. Raises `HighwaterError`
    if a step leads to a state that the search did not keep: it took two states for one.
    """
    levels = list(kept.levels)
    words = kept.words()
    count = words.shape[1]
    if count > MOST_STATES:
        raise UsageError(f"{count:,} states: a state graph has {MOST_STATES:,} at most")
    expanded = count - (levels[-1] if levels else 0)
    check(count * 16)
    table = _table(words)
    offsets = np.zeros(expanded + 1, np.int64)
    targets: list[Numbers] = []
    instances: list[npt.NDArray[np.uint16]] = []
    idle_states: list[Numbers] = []
    idle_instances: list[npt.NDArray[np.uint16]] = []
    step = expand or engine.expand
    for start in range(0, expanded, chunk):
        batch = np.ascontiguousarray(words[:, start : min(start + chunk, expanded)])
        steps = step(batch)
        found = np.empty(steps.count, np.int32)
        _find(table, words, np.ascontiguousarray(steps.words), fingerprints(steps.words), found)
        if (found < 0).any():
            raise HighwaterError(
                "the search took two states for one, by their fingerprints: say --exact"
            )
        changes = found != steps.rows + start
        changing, idle = np.flatnonzero(changes), np.flatnonzero(~changes)
        idle_states.append(found.take(idle))
        idle_instances.append(steps.instances.take(idle))
        targets.append(found.take(changing))
        instances.append(steps.instances.take(changing))
        rows = steps.rows.take(changing)
        offsets[start + 1 : start + batch.shape[1] + 1] = np.bincount(
            rows, minlength=batch.shape[1]
        )
        check(steps.count * 12)
    np.cumsum(offsets, out=offsets)
    ends = tuple(accumulate(size for size in levels if size))
    return StateGraph(
        words,
        ends,
        expanded,
        offsets,
        np.concatenate([np.empty(0, np.int32), *targets]),
        np.concatenate([_no_instances(), *instances]),
        np.concatenate([np.empty(0, np.int32), *idle_states]),
        np.concatenate([_no_instances(), *idle_instances]),
    )


def find_states(graph: StateGraph, wanted: Words) -> Numbers:
    """The number of each of the packed states, -1 for one that is not in the graph."""
    found = np.empty(wanted.shape[1], np.int32)
    _find(_table(graph.words), graph.words, wanted, fingerprints(wanted), found)
    return found


def _table(words: Words) -> Numbers:
    """Where each state is, by its fingerprint: open addressing, -1 where nothing is."""
    slots = 1 << max(int(words.shape[1] * 2 - 1).bit_length(), 4)
    table = np.full(slots, -1, np.int32)
    _fill(table, fingerprints(words))
    return table


@kernel
def _fill(table: Numbers, hashes: Words) -> None:
    mask = np.uint64(table.shape[0] - 1)
    for i in range(hashes.shape[0]):
        slot = hashes[i] & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = i


@kernel
def _find(table: Numbers, words: Words, wanted: Words, hashes: Words, out: Numbers) -> None:
    """The number of each wanted state, -1 if it is not there; whole states are compared."""
    mask = np.uint64(table.shape[0] - 1)
    for i in range(wanted.shape[1]):
        slot = hashes[i] & mask
        found = -1
        while table[slot] >= 0 and found < 0:
            at = table[slot]
            same = True
            for w in range(words.shape[0]):
                if words[w, at] != wanted[w, i]:
                    same = False
            if same:
                found = at
            slot = (slot + np.uint64(1)) & mask
        out[i] = found
