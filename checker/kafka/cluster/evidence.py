"""The closing of every run: the cluster is made whole, read, stopped, and its disks are dumped.

A last record goes to every partition when all replicas are in sync; it is what each disk has to
show. Where there are several controllers, topics are evidence, too: each that was made is a record
of metadata that was acknowledged. A last topic is made, which each controller's disk has to show.
"""

from __future__ import annotations

from contextlib import suppress

from checker.kafka.cluster.errors import PromiseBrokenError, UndecidedError
from checker.kafka.cluster.quorum import topic_name
from checker.kafka.cluster.stage import Stage
from checker.kafka.cluster.steps.quorums import have_read_all
from checker.kafka.cluster.steps.topics import all_in_sync, is_made, make_topic
from checker.kafka.cluster.steps.transactions import is_not_open
from checker.kafka.cluster.transactions import torn
from checker.kafka.cluster.verdict import Evidence

WHOLE_LIMIT, ANSWER_LIMIT = 180.0, 60.0  # seconds
TAKEN_LIMIT = 60.0  # seconds, twice as many as a share group's member may hold a record
TRIES, MORE_LIMIT = 20, 3.0  # records that are sent until the group gets one; seconds for each
LAST_TOPIC = "last-topic"


def gather(stage: Stage) -> Evidence:
    """What producers were told, what a consumer reads, and what is on the disks.

    `UndecidedError` if the cluster does not become whole again.
    """
    made, written = _make_whole(stage)
    stage.clients.ask("stop")
    acknowledged = frozenset(
        name for name, place in stage.clients.acknowledged.items() if not stage.is_deleted(place)
    )
    known = _send_last_records(stage, written)
    read = frozenset[str]().union(*map(stage.read, written))
    halves = torn(stage.clients.transactions.all, acknowledged, _read_committed(stage, written))
    if stage.cluster.quorum.is_dynamic:
        acknowledged, read = acknowledged | made, read | _told_topics(stage)
        known |= _make_last_topic(stage)
    skipped = _skipped(stage)
    stage.clients.end()
    stage.cluster.stop()
    found = stage.cluster.records(sorted(stage.written))
    disks = found.on_disk
    if stage.cluster.quorum.is_dynamic:
        disks |= stage.cluster.made_topics()
    shared = stage.clients.members.shared
    changed = {str(place): names for place, names in stage.readings.changed.items()}
    refused = {
        name: str(place)
        for name, place in stage.clients.acknowledged.items()
        if name in acknowledged and place in stage.clients.refused
    }
    return Evidence(
        acknowledged, disks, read, known, found.set_aside, shared, changed, found.remote, refused,
        skipped & acknowledged, halves,
    )  # fmt: skip


def _make_whole(stage: Stage) -> tuple[frozenset[str], set[str]]:
    """Have everything go on.

    The names of the topics that are acknowledged; and the topics that were sent to and are there,
    of which one may have been made though who asked for it was not told so.
    """
    for stall in stage.stalls.values():
        stall.end()
    stage.proxy.release_all()
    stage.cluster.resume_all()
    stage.cluster.make_whole()
    if stage.cluster.quorum.is_dynamic:
        _wait_for_controllers(stage)
        _hear_what_is_made(stage)
    made, written = frozenset(map(topic_name, stage.topics)), set(stage.written)
    if stage.cluster.quorum.is_dynamic:
        told = _told_topics(stage)
        written = {topic for topic in written if topic_name(topic) in told}
        stage.topics |= dict.fromkeys(written - stage.topics.keys(), 1)
    for topic in written:
        if not stage.news.wait(all_in_sync(stage, topic), WHOLE_LIMIT):
            raise UndecidedError(f"in the end not all replicas of {topic} came in sync")
    return made, written


def _read_committed(stage: Stage, written: set[str]) -> frozenset[str]:
    """What readers of committed transactions get, once all of these are ended."""
    if not stage.clients.transactions.all:
        return frozenset()
    for topic in written:
        if not stage.news.wait(is_not_open(stage, topic), WHOLE_LIMIT):
            raise PromiseBrokenError("; ".join(stage.open_transactions(topic)))
    return frozenset[str]().union(*map(stage.read_committed, written))


def _wait_for_controllers(stage: Stage) -> None:
    first = stage.cluster.quorum.controllers[0]
    if not stage.news.wait(have_read_all(stage, first), WHOLE_LIMIT):
        raise UndecidedError("in the end not all controllers had read the metadata")


def _hear_what_is_made(stage: Stage) -> None:
    """Of topics that were begun, which are acknowledged: an answer may have come late, or not."""
    for topic in tuple(stage.creations):
        with suppress(UndecidedError):
            stage.news.wait(is_made(stage, topic), ANSWER_LIMIT)


def _told_topics(stage: Stage) -> frozenset[str]:
    """The topics that brokers tell of."""
    return frozenset(map(topic_name, stage.clients.ask("topics")))


def _make_last_topic(stage: Stage) -> dict[int, frozenset[str]]:
    """By controller, the last topic, which its disk has to show."""
    make_topic(stage, LAST_TOPIC, stage.cluster.brokers[:1])
    _wait_for_controllers(stage)
    return dict.fromkeys(stage.cluster.quorum.controllers, frozenset({topic_name(LAST_TOPIC)}))


def _skipped(stage: Stage) -> frozenset[str]:
    """What the share group was to get and does not, though it goes on in each partition."""
    shares = stage.clients.shares
    if not shares.has_members:
        return frozenset()
    stage.clients.ask("share", do="settle")
    for topic, partition in sorted(shares.begun):
        if not any(_gets_one_more(stage, topic, partition, number) for number in range(TRIES)):
            raise UndecidedError(f"in the end the share group got nothing of {topic}-{partition}")
    stage.news.wait(lambda: not shares.due(stage.clients.acknowledged), TAKEN_LIMIT)
    stage.clients.ask("share", do="leave")
    return shares.due(stage.clients.acknowledged)


def _gets_one_more(stage: Stage, topic: str, partition: int, number: int) -> bool:
    """A record that is sent now: where the group begins to go on is not known."""
    name = f"more-{topic}-{partition}-{number}"
    stage.clients.ask("write", topic=topic, partition=partition, name=name)
    return bool(stage.news.wait(lambda: name in stage.clients.shares.accepted, MORE_LIMIT))


def _is_acknowledged(stage: Stage, name: str) -> bool:
    """Wait until it is."""
    return bool(stage.news.wait(lambda: name in stage.clients.acknowledged, ANSWER_LIMIT))


def _send_last_records(stage: Stage, written: set[str]) -> dict[int, frozenset[str]]:
    """By broker, which records its disk has to show."""
    known: dict[int, frozenset[str]] = {}
    for topic in written:
        for partition in stage.describe(topic):
            number = partition["partition"]
            name = f"last-{topic}-{number}"
            stage.clients.ask("write", topic=topic, partition=number, name=name)
            if not _is_acknowledged(stage, name):
                raise UndecidedError(f"in the end {name} was not acknowledged")
            for broker in partition["replicas"]:
                known[broker] = known.get(broker, frozenset()) | {name}
    return known
