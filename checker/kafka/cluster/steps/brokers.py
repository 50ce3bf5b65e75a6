"""Sentences about processes: brokers and the controller that start, stop, pause and die."""

from __future__ import annotations

import re

from checker.kafka.cluster.frames import CONTROLLER
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.vocabulary import Test, act, condition

LAG = ("kafka.server:type=broker-metadata-metrics", "last-applied-record-lag-ms")


@act("start {brokers:numbers}")
def start(stage: Stage, brokers: tuple[int, ...]) -> None:
    """Until they have started; what was asked to shut down is first waited for."""
    for broker in brokers:
        stage.cluster.wait_until_down(broker)
    stage.cluster.start(brokers)


@act("launch {broker:number}")
def launch(stage: Stage, broker: int) -> None:
    """Start it, and go on."""
    stage.cluster.wait_until_down(broker)
    stage.cluster.launch(broker)


@act("launch what is down")
def launch_what_is_down(stage: Stage) -> None:
    """Every node whose process has ended, as a supervisor does; and go on."""
    for node in stage.cluster.all_nodes:
        if not stage.cluster.is_up(node):
            launch(stage, node)


@act("ask {broker:number} to shut down")
def ask_to_shut_down(stage: Stage, broker: int) -> None:
    """A controlled shutdown begins; it goes on while the next steps are played."""
    stage.cluster.shut_down(broker)


@act("shut down {broker:number}")
def shut_down(stage: Stage, broker: int) -> None:
    """A controlled shutdown, to its end."""
    stage.cluster.shut_down(broker)
    stage.cluster.wait_until_down(broker)


@act("kill {broker:number}", fault="a crash")
def kill(stage: Stage, broker: int) -> None:
    """As a crash does."""
    stage.cluster.kill(broker)


@act("pause {broker:number}", fault="a pause of a process")
def pause(stage: Stage, broker: int) -> None:
    """As a long garbage collection does."""
    stage.cluster.pause(broker)


@act("resume {broker:number}")
def resume(stage: Stage, broker: int) -> None:
    """After a pause."""
    stage.cluster.resume(broker)


@act("restart the controller", fault="a crash of the controller")
def restart_the_controller(stage: Stage) -> None:
    """It is killed and started again."""
    stage.cluster.kill(CONTROLLER)
    stage.cluster.launch(CONTROLLER)


@condition("{broker:number} has started")
def has_started(stage: Stage, broker: int) -> Test:
    """Its process runs and says so: the broker has registered and is unfenced."""
    return lambda: stage.cluster.is_started(broker)


@condition("{broker:number} is down")
def is_down(stage: Stage, broker: int) -> Test:
    """Its process has ended."""
    return lambda: not stage.cluster.is_up(broker)


@condition("{brokers:numbers} are down")
def are_down(stage: Stage, brokers: tuple[int, ...]) -> Test:
    """All of these processes have ended."""
    return lambda: not any(map(stage.cluster.is_up, brokers))


@condition("the log of {broker:number} says {words:text}")
def log_says(stage: Stage, broker: int, words: str) -> Test:
    """Since the last step that acted; the words are a regular expression."""
    pattern = re.compile(words)
    return lambda: any(pattern.search(line) for line in stage.new_lines(broker))


@condition("the metadata of {broker:number} lag by {milliseconds:number} ms or more")
def metadata_lag(stage: Stage, broker: int, milliseconds: int) -> Test:
    """As its metric `last-applied-record-lag-ms` says, which findings tell operators to watch."""
    return lambda: stage.metric(broker, *LAG) >= milliseconds


@condition("the metadata of {broker:number} lag by less than {milliseconds:number} ms")
def metadata_are_read(stage: Stage, broker: int, milliseconds: int) -> Test:
    """As the same metric says."""
    return lambda: stage.metric(broker, *LAG) < milliseconds


@condition("the controller's log says {words:text}")
def controllers_log_says(stage: Stage, words: str) -> Test:
    """Since the last step that acted; the words are a regular expression."""
    return log_says(stage, CONTROLLER, words)
