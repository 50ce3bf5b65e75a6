"""What several commands print: findings, values, errors."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from checker.commands.outputs.shapes import Count, Keyword, Positive


class Held(TypedDict):
    """What somebody holds in a state."""

    owner: str
    name: str
    value: str


class Told(TypedDict):
    """A conjunct that is false, by which values."""

    members: list[str]
    values: list[Held]
    expression: str


class Link(TypedDict):
    """An earlier step, and what it left that was needed."""

    step: Positive
    left: list[Held]


class Finding(TypedDict):
    """A trace to a violation."""

    property: str | None
    depth: Count
    loop: NotRequired[int]
    trace: str | None
    steps: list[str]
    explanation: str


class Error(TypedDict):
    """A command that failed."""

    command: str | None
    error: Annotated[str, Keyword("minLength", 1)]
    status: Literal[1, 2, 20, 23, 130]
