"""What the conveyor promises: order where it matters, whoever does the work, and no more of it."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from checker.core.search.conveyor import Conveyor

COUNT = 60


class Line:
    """A conveyor for the numbers below `COUNT`, which writes down who does what, and when."""

    def __init__(self, lanes, ahead, seed=0, fails=None):
        self.given = iter(range(COUNT))
        self.fails = fails
        self.random = random.Random(seed)
        self.prepared: list[int] = []
        self.done: list[list[int]] = [[] for _ in range(lanes)]
        self.under_way: list[int] = []
        self.most_under_way = 0
        self.in_lanes = [0] * lanes
        self.clashes: list[int] = []
        self.left = -1
        self.conveyor = Conveyor(
            self.take, self.prepare, [partial(self.lane, k) for k in range(lanes)], ahead
        )

    def take(self):
        number = next(self.given, None)
        if number is not None:
            self.under_way.append(number)
            self.most_under_way = max(self.most_under_way, len(self.under_way))
        return number

    def prepare(self, number):
        time.sleep(self.random.random() / 2_000)
        self.prepared.append(number)
        if (number, None) == self.fails:
            raise ValueError("prepared")
        return [number]

    def lane(self, lane, thing):
        self.in_lanes[lane] += 1
        if self.in_lanes[lane] > 1 or thing[0] not in self.prepared:
            self.clashes.append(lane)
        time.sleep(self.random.random() / 2_000)
        self.done[lane] += thing
        self.in_lanes[lane] -= 1
        if (thing[0], lane) == self.fails:
            raise ValueError(f"lane {lane}")

    def next(self):
        (number,) = self.conveyor.next()
        assert all(number in done for done in self.done), "a lane is not done with it"
        self.under_way.remove(number)
        return number


@pytest.mark.parametrize("lanes, ahead, helpers", [(1, 1, 0), (1, 4, 1), (4, 6, 1), (3, 9, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_things_leave_in_order_when_each_lane_has_taken_them_in_order(lanes, ahead, helpers, seed):
    line = Line(lanes, ahead, seed)
    with ThreadPoolExecutor(max(helpers, 1)) as pool:
        for _ in range(helpers):
            pool.submit(line.conveyor.help)
        assert [line.next() for _ in range(COUNT)] == list(range(COUNT))
        line.conveyor.close()
    assert line.done == [list(range(COUNT))] * lanes
    assert sorted(line.prepared) == list(range(COUNT)), "each is prepared once"
    assert not line.clashes, "a lane takes one thing at a time, and what is prepared"
    assert line.most_under_way <= ahead


def test_one_thread_alone_does_one_thing_after_the_other():
    line = Line(lanes=2, ahead=1)
    for number in range(COUNT):
        assert line.next() == number
        assert line.prepared == line.done[0] == line.done[1] == list(range(number + 1))


def test_who_helps_works_while_nobody_asks():
    line = Line(lanes=2, ahead=5)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(line.conveyor.help)
        until = time.perf_counter() + 30
        while len(line.done[1]) < 5 and time.perf_counter() < until:
            time.sleep(0.001)
        assert line.done == [list(range(5))] * 2
        line.conveyor.close()
    assert line.next() == 0


def test_what_is_slow_in_one_lane_holds_up_no_other():
    """As a part of the visited set that grows: the other thread goes on with other parts."""
    slow, others = threading.Event(), []

    def wait(_):
        assert slow.wait(30)

    def note(number):
        others.append(number)
        if number == 4:
            slow.set()  # only now the slow lane may go on with the first thing

    numbers = iter(range(5))
    conveyor = Conveyor(lambda: next(numbers, None), lambda number: number, [wait, note], 5)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(conveyor.help)
        assert [conveyor.next() for _ in range(5)] == others == list(range(5))
        conveyor.close()


@pytest.mark.parametrize("lane", [None, 0, 1])
@pytest.mark.parametrize("helpers", [0, 2])
def test_an_error_is_raised_where_its_thing_is_next_and_that_lane_goes_no_further(lane, helpers):
    line = Line(lanes=2, ahead=6, fails=(20, lane))
    with ThreadPoolExecutor(max(helpers, 1)) as pool:
        for _ in range(helpers):
            pool.submit(line.conveyor.help)
        assert [line.next() for _ in range(20)] == list(range(20))
        with pytest.raises(ValueError, match="prepared" if lane is None else f"lane {lane}"):
            line.next()
        line.conveyor.close()
    if lane is not None:
        assert line.done[lane] == list(range(21))
