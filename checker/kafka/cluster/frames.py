"""The head of Kafka's frames, as far as a proxy needs it: who asks whom for what.

A frame is a size of four bytes and a body. A request's body begins with API key, version and
correlation id, then the client id (request header 1 and newer; ControlledShutdown 0, which no KRaft
broker sends, has none). An answer's begins with the correlation id. No more is read: what a
request says inside is told by the broker that gets it.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from enum import StrEnum

FETCH, WRITE_TXN_MARKERS, VOTE, ALTER_PARTITION = 1, 27, 52, 56
CONSUMER_GROUP_HEARTBEAT, CONTROLLER_REGISTRATION = 68, 70
CONTROLLER = 100  # the node id of the controller
CLIENTS = -1  # stands for our clients where a node id does for a node
LARGEST = 1 << 28  # bytes; a size beyond is no frame of Kafka's

_REQUEST = struct.Struct(">hhih")
_CORRELATION = struct.Struct(">i")


class Way(StrEnum):
    """Which of the two a frame is."""

    REQUEST = "request"
    ANSWER = "answer"


@dataclass(frozen=True)
class Head:
    """What is known of a frame: the node that serves the connection, who asked, and for what."""

    server: int
    client: str
    api: int
    way: Way


@dataclass(frozen=True)
class Frames:
    """Some of the frames: those of a server and clients, of all APIs or some, one way or both.

    `between`: from which node to which goes what they are about.
    """

    words: str
    server: int
    client: str
    between: tuple[int, int]
    apis: frozenset[int] | None = None
    way: Way | None = None

    def match(self, head: Head) -> bool:
        """Whether a frame is one of these; `client` is a regular expression."""
        return (
            head.server == self.server
            and self.way in (None, head.way)
            and (self.apis is None or head.api in self.apis)
            and re.fullmatch(self.client, head.client) is not None
        )


def request_head(server: int, body: bytes) -> tuple[Head, int]:
    """A request's head and its correlation id. `ValueError` if the body is too short for one."""
    try:
        api, _, correlation, length = _REQUEST.unpack_from(body)
    except struct.error as error:
        raise ValueError(f"a request of {len(body)} bytes has no header") from error
    end = _REQUEST.size + max(length, 0)
    if end > len(body):
        raise ValueError("a request ends within its client id")
    client = body[_REQUEST.size : end].decode("utf-8", "replace")
    return Head(server, client, api, Way.REQUEST), correlation


def answer_correlation(body: bytes) -> int:
    """An answer's correlation id. `ValueError` if the body is too short for one."""
    try:
        correlation: int = _CORRELATION.unpack_from(body)[0]
    except struct.error as error:
        raise ValueError(f"an answer of {len(body)} bytes has no header") from error
    return correlation


def fetches(follower: int, leader: int) -> Frames:
    """A follower's requests for its leader's records."""
    words = f"the fetches of {follower} from {leader}"
    return _fetching(words, leader, follower, (follower, leader), Way.REQUEST)


def answers(follower: int, leader: int) -> Frames:
    """What the leader answers to them."""
    words = f"the answers to {follower} from {leader}"
    return _fetching(words, leader, follower, (leader, follower), Way.ANSWER)


def _fetching(
    words: str, leader: int, follower: int, between: tuple[int, int], way: Way
) -> Frames:  # fmt: skip
    client = rf"broker-{follower}-fetcher-\d+"
    return Frames(words, leader, client, between, frozenset({FETCH}), way)


def metadata(broker: int) -> Frames:
    """A broker's reading of the metadata log, both ways; its heartbeats are other frames."""
    words, between = f"the metadata of {broker}", (CONTROLLER, broker)
    return Frames(words, CONTROLLER, rf"raft-client-{broker}", between)


def asked_of(asker: int, server: int) -> Frames:
    """All that a node asks of another about metadata, and the answers."""
    words = f"the requests of {asker} to {server}"
    return Frames(words, server, rf"(raft-client-)?{asker}", (asker, server))


def votes(candidate: int, voter: int) -> Frames:
    """What a controller asks of another to be elected, or to learn whether it may be."""
    words = f"the vote requests of {candidate} to {voter}"
    client, apis = f"raft-client-{candidate}", frozenset({VOTE})
    return Frames(words, voter, client, (candidate, voter), apis, Way.REQUEST)


def registrations(controller: int, leader: int) -> Frames:
    """What a controller that has started tells the one that leads, which writes a record of it."""
    words, apis = (
        f"the registration of {controller} at {leader}",
        frozenset({CONTROLLER_REGISTRATION}),
    )
    return Frames(words, leader, str(controller), (controller, leader), apis, Way.REQUEST)


def isr_changes(broker: int) -> Frames:
    """A leader's AlterPartition requests."""
    apis = frozenset({ALTER_PARTITION})
    words, between = f"the ISR changes of {broker}", (broker, CONTROLLER)
    return Frames(words, CONTROLLER, str(broker), between, apis, Way.REQUEST)


def markers(coordinator: int, broker: int) -> Frames:
    """What a transaction coordinator has a broker write to the partitions that it leads."""
    words, between = f"the markers of {coordinator} to {broker}", (coordinator, broker)
    client, apis = f"broker-{coordinator}-txn-marker-sender", frozenset({WRITE_TXN_MARKERS})
    return Frames(words, broker, client, between, apis, Way.REQUEST)


def transacting(producer: int, broker: int) -> Frames:
    """All that a transactional producer asks of a broker; its client id is `producer-N`."""
    words, between = f"the requests of producer {producer} to {broker}", (CLIENTS, broker)
    return Frames(words, broker, f"producer-{producer}", between, None, Way.REQUEST)


def heartbeats(consumer: int, broker: int) -> Frames:
    """What a member of a group tells the coordinator; its client id is `consumer-N`."""
    words, between = f"the heartbeats of consumer {consumer} to {broker}", (CLIENTS, broker)
    return _beating(words, consumer, broker, between, Way.REQUEST)


def heartbeat_answers(consumer: int, broker: int) -> Frames:
    """What the coordinator answers to them."""
    words = f"the heartbeat answers to consumer {consumer} from {broker}"
    return _beating(words, consumer, broker, (broker, CLIENTS), Way.ANSWER)


def _beating(
    words: str, consumer: int, broker: int, between: tuple[int, int], way: Way
) -> Frames:  # fmt: skip
    apis = frozenset({CONSUMER_GROUP_HEARTBEAT})
    return Frames(words, broker, rf"consumer-{consumer}", between, apis, way)
