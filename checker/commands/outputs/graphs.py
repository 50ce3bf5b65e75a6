"""What is printed by `graph`, `export`, `query`, `certify` and `list`."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class List(TypedDict):
    """What there is."""

    command: Literal["list"]
    protocols: list[object]
    engines: dict[str, object]


class ListedBug(TypedDict):
    """A bug of the catalogue, and all that there is of it."""

    number: int
    finding: str | None
    model: str
    source: str
    words: str
    note: str | None
    releases: str | None
    likely: str | None
    today: str | None
    page: str | None
    cases: list[str]
    schedules: list[str]
    shown_by: str | None
    fixes: dict[str, str]


class ListOfBugs(TypedDict):
    """The bugs of a number."""

    command: Literal["list"]
    bugs: list[ListedBug]


class Graph(TypedDict):
    """What the state graph says of a loss."""

    command: Literal["graph"]
    protocol: str | dict[str, object]
    bounds: dict[str, int]
    settings: dict[str, str]
    states: int
    steps: int
    complete: bool
    stopped: str | None
    properties: list[str]
    risk: Risk
    losing_steps: int
    ways: Ways | None
    settling: Settling
    seen: NotRequired[GraphSeen]
    trace: NotRequired[GraphTrace]


class Risk(TypedDict):
    """How many states there are of each risk."""

    safe: int
    possible: int
    certain: int
    lost: int
    unknown: int


class Ways(TypedDict):
    """How the shortest ways to a loss differ, and what they share."""

    length: int
    shortest: int
    first: list[str]
    up_to_order: int | None
    up_to_names: int | None
    bridges: list[str]
    gates: list[Gate] | None
    left_out: list[str]


class Gate(TypedDict):
    """A step that every way to a loss takes."""

    state: int
    depth: int
    differs: str | None


class Settling(TypedDict):
    """Whether losses end in what lasts."""

    steps: int
    by_action: dict[str, int]
    points: int
    nearest: list[Gate] | None


class GraphSeen(TypedDict):
    """The quotient, or what lies around a trace."""

    nodes: object
    arrows: object


class GraphTrace(TypedDict):
    """A trace in the graph."""

    states: list[GraphTraceState]
    last_safe: int | None


class GraphTraceState(TypedDict):
    """A state of a trace, and its risk."""

    state: object
    step: object
    risk: object
    to_loss: object


class GraphWritten(TypedDict):
    """A graph that was written."""

    command: Literal["graph"]
    protocol: str | dict[str, object]
    bounds: dict[str, int]
    settings: dict[str, str]
    format: Literal["graphml", "dot", "json", "parquet"]
    nodes: int
    arrows: int
    text: NotRequired[str]
    output: NotRequired[str]


class Export(TypedDict):
    """A model written for another checker."""

    command: Literal["export"]
    protocol: str
    bounds: dict[str, int]
    settings: dict[str, str]
    to: Literal["promela", "tla"]
    states: int | None
    steps: int
    properties: list[str]
    text: NotRequired[list[str]]
    output: NotRequired[list[str]]


class Query(TypedDict):
    """Rows of a store."""

    command: Literal["query"]
    columns: list[object]
    rows: NotRequired[list[object]]
    is_cut: NotRequired[bool]


class Certify(TypedDict):
    """Whether a store shows what its search said. `wrong` is null if it does."""

    command: Literal["certify"]
    protocol: str
    bounds: dict[str, int]
    settings: dict[str, str]
    properties: list[str]
    stored: int
    states: int
    steps: int
    wrong: str | None
    version: str
