"""The closing of every run: the cluster is made whole, read, stopped, and its disks are dumped.

A last record goes to every partition when all replicas are in sync; it is what each disk has to
show.
"""

from __future__ import annotations

from checker.kafka.cluster.errors import UndecidedError
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.steps.topics import all_in_sync
from checker.kafka.cluster.verdict import Evidence

WHOLE_LIMIT, ANSWER_LIMIT = 180.0, 60.0  # seconds


def gather(stage: Stage) -> Evidence:
    """What producers were told, what a consumer reads, and what is on the disks.

    `UndecidedError` if the cluster does not become whole again.
    """
    _make_whole(stage)
    stage.clients.ask("stop")
    acknowledged = frozenset(
        name for name, place in stage.clients.acknowledged.items() if not stage.is_deleted(place)
    )
    known = _send_last_records(stage)
    read = frozenset[str]().union(*map(stage.read, stage.written))
    stage.clients.end()
    stage.cluster.stop()
    disks, set_aside = stage.cluster.records(sorted(stage.written))
    shared = stage.clients.members.shared
    changed = {str(place): names for place, names in stage.readings.changed.items()}
    return Evidence(acknowledged, disks, read, known, set_aside, shared, changed)


def _make_whole(stage: Stage) -> None:
    for stall in stage.stalls.values():
        stall.end()
    stage.proxy.release_all()
    stage.cluster.resume_all()
    stage.cluster.make_whole()
    for topic in stage.written:
        if not stage.news.wait(all_in_sync(stage, topic), WHOLE_LIMIT):
            raise UndecidedError(f"in the end not all replicas of {topic} came in sync")


def _send_last_records(stage: Stage) -> dict[int, frozenset[str]]:
    """By broker, which records its disk has to show."""
    known: dict[int, frozenset[str]] = {}
    for topic in stage.written:
        for partition in stage.describe(topic):
            number = partition["partition"]
            name = f"last-{topic}-{number}"
            stage.clients.ask("write", topic=topic, partition=number, name=name)
            if not stage.news.wait(lambda n=name: n in stage.clients.acknowledged, ANSWER_LIMIT):  # type: ignore[misc]
                raise UndecidedError(f"in the end {name} was not acknowledged")
            for broker in partition["replicas"]:
                known[broker] = known.get(broker, frozenset()) | {name}
    return known
