"""What a running cluster told, as `ask` and `affected` print it."""

from __future__ import annotations

from typing import TypedDict

from checker.commands.outputs.shapes import Count


class ToldCluster(TypedDict):
    """What a running cluster told."""

    cluster: str
    taken: str
    release: str
    metadata_version: str
    elr: bool | None
    brokers: list[ToldBroker]
    voters: list[Count] | None
    topics: Count
    partitions: Count
    unread: list[ToldUnread]


class ToldBroker(TypedDict):
    """A registered broker."""

    id: Count
    rack: str | None
    fenced: bool | None
    release: str
    directories: list[ToldDirectory] | None


class ToldDirectory(TypedDict):
    """A log directory; `error` is empty where it is online."""

    path: str
    error: str


class ToldUnread(TypedDict):
    """What the cluster did not tell."""

    what: str
    why: str
