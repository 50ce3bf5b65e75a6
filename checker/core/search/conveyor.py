"""Work on things in order by several threads, with the results of one.

A thing is prepared first, at any time and in any order. Then each lane does its own part of the
work on it, and a lane takes things one by one, in their order. They leave in their order, when all
lanes are done with them. No thread has a role: who is free does what can be done for the oldest
thing, also who asks for the next one. So a thread waits only where there is nothing to do.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class _Lane(Generic[B]):
    """A part of the work on each thing; `turn` is the number of the thing that it takes next."""

    def __init__(self, work: Callable[[B], None]) -> None:
        self.work = work
        self.turn = 0
        self.busy = False


class _Thing(Generic[A, B]):
    """A thing under way: `left` lanes are not done with it. An error ends the work on it."""

    def __init__(self, number: int, given: A, left: int) -> None:
        self.number = number
        self.given = given
        self.left = left
        self.begun = False
        self.prepared: list[B] = []  # the one that is prepared, when it is
        self.error: Exception | None = None

    @property
    def is_over(self) -> bool:
        return self.error is not None or not self.left


_Job = tuple[_Thing[A, B], _Lane[B] | None]
"""Work of a lane on a thing, or without a lane preparing it."""


class Conveyor(Generic[A, B]):
    """Things from `source`, which says `None` when it has none for now; `ahead` are under way.

    An error in the work on a thing is raised where that thing would have been the next.
    """

    def __init__(
        self,
        source: Callable[[], A | None],
        prepare: Callable[[A], B],
        lanes: Sequence[Callable[[B], None]],
        ahead: int,
    ) -> None:
        self._source = source
        self._prepare = prepare
        self._lanes = [_Lane(work) for work in lanes]
        self._ahead = ahead
        self._things: deque[_Thing[A, B]] = deque()
        self._count = 0
        self._closed = False
        self._changed = threading.Condition()

    def next(self) -> B:
        """The next thing when all is done with it; `source` must have it."""
        self._work_until(lambda: bool(self._things) and self._things[0].is_over)
        with self._changed:
            thing = self._things.popleft()
            self._changed.notify_all()  # there is room for one more
        if thing.error is not None:
            raise thing.error
        return thing.prepared[0]

    def help(self) -> None:
        """Work until all is closed: what threads do beside the one that asks for things."""
        self._work_until(lambda: self._closed)

    def close(self) -> None:
        """Nothing more is begun by those who help."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _work_until(self, enough: Callable[[], bool]) -> None:
        while True:
            with self._changed:
                job = None
                while not enough() and (job := self._job()) is None:
                    self._changed.wait()
            if job is None:
                return
            self._do(*job)

    def _job(self) -> _Job[A, B] | None:
        """What can be done for the oldest thing, and is nobody else's from now on."""
        for thing in self._things:
            if thing.error is None and (job := self._job_for(thing)):
                return job
        if len(self._things) < self._ahead and (given := self._source()) is not None:
            thing = _Thing[A, B](self._count, given, len(self._lanes))
            self._things.append(thing)
            self._count += 1
            return self._job_for(thing)
        return None

    def _job_for(self, thing: _Thing[A, B]) -> _Job[A, B] | None:
        if not thing.begun:
            thing.begun = True
            return thing, None
        for lane in self._lanes:
            if thing.prepared and lane.turn == thing.number and not lane.busy:
                lane.busy = True
                return thing, lane
        return None

    def _do(self, thing: _Thing[A, B], lane: _Lane[B] | None) -> None:
        error = None
        try:
            if lane is None:
                prepared = self._prepare(thing.given)
            else:
                lane.work(thing.prepared[0])
        except Exception as raised:
            error = raised
        with self._changed:
            if error is not None:
                thing.error = error
            elif lane is None:
                thing.prepared.append(prepared)
            else:
                lane.busy, lane.turn = False, lane.turn + 1
                thing.left -= 1
            self._changed.notify_all()
