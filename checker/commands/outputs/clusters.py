"""What is printed by `ask` about a running cluster."""

from __future__ import annotations

from typing import Literal, TypedDict

from checker.commands.outputs.kafka import AskAnswered
from checker.commands.outputs.shapes import Count, Positive, Share
from checker.commands.outputs.told import ToldCluster


class AskCluster(ToldCluster):
    """What a running cluster told, what is in danger now, and what its groups can lose."""

    command: Literal["ask"]
    dangers: list[AskDanger]
    not_judged: list[AskNotJudged]
    unseen: list[AskUnseen]
    groups: list[AskGroup]
    seconds: Share
    version: str


class AskDanger(TypedDict):
    """A state that is a step of a known loss, and where it is."""

    bugs: list[str]
    looks_at: str
    words: str
    now: str
    hits: list[AskHit]


class AskHit(TypedDict):
    """A place of a danger; of the whole cluster the topic is empty."""

    topic: str
    partition: Count | None
    seen: str


class AskNotJudged(TypedDict):
    """A danger that was not looked for everywhere."""

    bugs: list[str]
    looks_at: str
    without: str


class AskUnseen(TypedDict):
    """Findings that no admin client shows, and where to look."""

    findings: list[str]
    look: str


class AskGroup(TypedDict):
    """Partitions with the same settings and placement."""

    partitions: Positive
    topics: list[str]
    replicas: Positive
    racks: list[Count]
    first: Count | None
    settings: list[AskGroupSetting]
    refused: str
    asked: Count
    answers: list[AskAnswered]


class AskGroupSetting(TypedDict):
    """A setting that is not at its default, and where it comes from."""

    name: str
    value: str
    origin: str
