"""Sentences about frames: what is held, let go, left unread, or slow."""

from __future__ import annotations

from checker.kafka.cluster.frames import Frames
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.vocabulary import Test, act, condition


@act("hold {frames:frames}", held="a request")
def hold(stage: Stage, frames: Frames) -> None:
    """From the next frame on."""
    stage.proxy.hold(frames)


@act("release {frames:frames}")
def release(stage: Stage, frames: Frames) -> None:
    """What is held first."""
    stage.proxy.release(frames)


@act("lose {frames:frames}", fault="a connection that breaks")
def lose(stage: Stage, frames: Frames) -> None:
    """What is held: its connections close, as when one breaks. Later ones pass."""
    stage.proxy.lose(frames)


@act("leave {frames:frames} unread", held="a response")
def leave(stage: Stage, frames: Frames) -> None:
    """The sender goes on with them when they are read: what no socket takes stays with it."""
    stage.proxy.leave(frames)


@act("read {frames:frames} again")
def take(stage: Stage, frames: Frames) -> None:
    """What was left unread, first."""
    stage.proxy.take(frames)


@act("delay {frames:frames} by {milliseconds:number} ms", fault="a slow link")
def delay(stage: Stage, frames: Frames, milliseconds: int) -> None:
    """From now to the end of the run."""
    stage.proxy.delay(frames, milliseconds / 1000)


@condition("one of {frames:frames} is held")
def one_is_held(stage: Stage, frames: Frames) -> Test:
    """Since they are held at all."""
    return lambda: stage.proxy.held(frames)


@condition("{count:number} of {frames:frames} are held")
def some_are_held(stage: Stage, count: int, frames: Frames) -> Test:
    """Since they are held at all, and whatever became of their connections."""
    return lambda: stage.proxy.held(frames) >= count


@condition("another of {frames:frames} has passed")
def another_has_passed(stage: Stage, frames: Frames) -> Test:
    """Since the wait began: a moment right after one of them."""
    return more_have_passed(stage, 1, frames)


@condition("{count:number} more of {frames:frames} have passed")
def more_have_passed(stage: Stage, count: int, frames: Frames) -> Test:
    """Since the wait began. A follower with nothing to fetch asks every 500 ms."""
    wanted = stage.proxy.passed(frames) + count
    return lambda: stage.proxy.passed(frames) >= wanted
