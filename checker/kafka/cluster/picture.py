"""A schedule as a picture: who does what to whom, step by step, and who leads meanwhile.

What is drawn is read off each step's sentence: its arguments name brokers and frames, its function
says who goes up and down. Who leads is known as far as the schedule waits for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from checker.kafka.cluster.frames import Frames
from checker.kafka.cluster.schedule import Kind, Schedule, Step, Way
from checker.kafka.cluster.steps import groups, records, shares, topics
from checker.telling.pictures.lanes import Lanes, Mark, Passing, Row, Standing

CLIENTS = "clients"
_DOWN = ("kill", "shut_down", "ask_to_shut_down", "is_down", "are_down")
_UP = ("start", "launch", "resume", "has_started")
_UP_AGAIN = "launch_what_is_down"
_LEADER_IS_READ = ("has_the_answer", "has_read")
_HELD = ("hold", "lose", "leave", "one_is_held", "some_are_held")


def picture_of(schedule: Schedule, control: bool = False) -> Lanes:
    """The steps of a schedule, or of its control, ready to be drawn."""
    scene = _Scene(schedule)
    steps = schedule.steps(Way.CONTROL if control else Way.AS_IT_IS)
    rows = [scene.row(step) for step in steps]
    only = "in the control only" if control else "left out in the control"
    title = f"{schedule.finding} {schedule.name}{', its control' if control else ''}"
    return Lanes(
        f"{title}: {schedule.title}",
        " ".join(schedule.story.split()) + f" Control: {schedule.control}.",
        scene.names, rows, f"{only}: {schedule.control}",
        f"leads {scene.topic}, as far as the steps say",
    )  # fmt: skip


def _named(given: Mapping[str, Any]) -> tuple[int, ...]:
    """The nodes that a sentence is about, one or several."""
    for key in ("brokers", "nodes", "controllers"):
        if key in given:
            return tuple(given[key])
    return tuple(given[key] for key in ("broker", "controller") if key in given)


class _Scene:
    """Who is there, who is up, and who leads, as the steps go on."""

    def __init__(self, schedule: Schedule) -> None:
        controllers = sorted(schedule.quorum.controllers)
        self._nodes = {node: f"controller {node}" for node in controllers}
        if not schedule.quorum.is_dynamic:
            self._nodes = {controllers[0]: "controller"}
        self._nodes |= {number: f"broker {number}" for number in range(schedule.brokers)}
        self.names = [CLIENTS, *self._nodes.values()]
        self._down: set[int] = set()
        self._leader: int | None = None
        named = Counter(
            step.meaning.arguments["topic"]
            for step in schedule.every_step
            if "topic" in step.meaning.arguments
        )
        self.topic = named.most_common(1)[0][0] if named else ""

    def row(self, step: Step) -> Row:
        """The step as a row; what it changes is so below it."""
        function, arguments = step.meaning.sentence.function, step.meaning.arguments
        marks, arrow = self._touched(step, function.__module__, function.__name__, arguments)
        self._follow(function.__name__, arguments)
        return Row(step.words, marks, arrow, self._standing(), step.marks_control)

    def _touched(
        self, step: Step, module: str, name: str, given: Mapping[str, Any]
    ) -> tuple[tuple[tuple[str, Mark], ...], tuple[str, str, Passing] | None]:
        """What the step marks, and its arrow."""
        mark = Mark.ACT if step.kind is Kind.ACT else Mark.WAIT
        frames = given.get("frames")
        if isinstance(frames, Frames):
            start, end = (self._nodes.get(number, CLIENTS) for number in frames.between)
            slow = Passing.SLOW if name == "delay" else Passing.PASSES
            passing = Passing.STOPPED if name in _HELD else slow
            waits = ((start, mark),) if mark is Mark.WAIT else ()
            return waits, (start, end, passing)
        controller = next(iter(self._nodes.values()))
        if name in _LEADER_IS_READ:
            leader = self._nodes[given["leader"]]
            return ((leader, mark),), (controller, leader, Passing.PASSES)
        if "follower" in given:
            leader, follower = self._nodes[given["leader"]], self._nodes[given["follower"]]
            return ((leader, mark),), (follower, leader, Passing.PASSES)
        if module == records.__name__:
            leader = self._nodes[self._leader] if self._leader is not None else controller
            if mark is Mark.WAIT:
                return ((CLIENTS, mark),), (leader, CLIENTS, Passing.PASSES)
            ends = name == "send_no_more"
            return ((CLIENTS, mark),), None if ends else (CLIENTS, leader, Passing.PASSES)
        if module == topics.__name__ and mark is Mark.ACT:
            return ((CLIENTS, mark),), (CLIENTS, controller, Passing.PASSES)
        if module in (groups.__name__, shares.__name__):
            return ((CLIENTS, mark),), None
        shown = Mark.GONE if name in _DOWN and mark is Mark.ACT else mark
        named = sorted(self._down) if name == _UP_AGAIN else _named(given)
        touched = [self._nodes[number] for number in named] or [controller]
        return tuple((node, shown) for node in touched), None

    def _follow(self, name: str, given: Mapping[str, Any]) -> None:
        """What is so after the step."""
        brokers = set(_named(given))
        if name in _DOWN:
            self._down |= brokers
            self._leader = None if self._leader in brokers else self._leader
        elif name in _UP:
            self._down -= brokers
        elif name == _UP_AGAIN:
            self._down.clear()
        if given.get("topic") != self.topic:
            return
        if name in ("make_topic", "make_topic_of_many"):
            self._leader = given["replicas"][0]
        elif name in ("leads", "is_led_by"):
            self._leader = given["broker"]
        elif name == "has_no_leader":
            self._leader = None

    def _standing(self) -> tuple[Standing, ...]:
        return (
            Standing.UP,
            *(
                Standing.LEADS
                if node == self._leader
                else Standing.DOWN
                if node in self._down
                else Standing.UP
                for node in self._nodes
            ),
        )
