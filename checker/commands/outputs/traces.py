"""What is printed of traces, by `scenario`, `browse`, `replay`, `explain` and `report`."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from checker.commands.outputs.common import Held, Link, Told
from checker.commands.outputs.shapes import Count, Keyword, Share


class Scenario(TypedDict):
    """Stories that were replayed."""

    command: Literal["scenario"]
    runs: list[object]


class Browse(TypedDict):
    """Where the page of a walk is."""

    command: Literal["browse"]
    protocol: str
    bounds: dict[str, object]
    settings: dict[str, object]
    address: Annotated[str, Keyword("pattern", r"^http://127\.0\.0\.1:[0-9]+/[A-Za-z0-9_-]+/$")]


class Replay(TypedDict):
    """A trace that was replayed."""

    command: Literal["replay"]
    trace: str
    accepted: bool
    protocol: NotRequired[str]
    bounds: NotRequired[dict[str, object]]
    settings: NotRequired[dict[str, object]]
    property: NotRequired[str | None]
    verdict: NotRequired[str]
    depth: NotRequired[Count]
    steps: NotRequired[list[object]]
    explanation: NotRequired[str]
    version: NotRequired[str | None]
    source: NotRequired[str]
    digest: NotRequired[str]
    redefined: NotRequired[bool]
    error: NotRequired[str]
    loop: NotRequired[Count]


class Replays(TypedDict):
    """Several traces that were replayed."""

    command: Literal["replay"]
    accepted: Literal[True]
    traces: list[Replay]


class Explain(TypedDict):
    """Why a trace ends as it does."""

    command: Literal["explain"]
    trace: str
    protocol: str
    bounds: dict[str, object]
    settings: dict[str, object]
    property: str | None
    verdict: str
    depth: Count
    explanation: str
    instance_of: ExplainCase | None
    prevented_by: list[PreventedBy]
    without_effect: list[str]
    failed: list[Told] | None
    steps: list[ExplainStep]
    end: list[Link]
    judged: Judged | None
    decision: ExplainDecision | None
    version: str


class ExplainCase(TypedDict):
    """The stored counterexample that the trace is alike to."""

    change: str
    step: int | None
    case: str
    title: str
    source: str
    links: list[str]
    likeness: Share


class PreventedBy(TypedDict):
    """What would have prevented it."""

    change: str
    kind: Literal["fix", "choice", "protocol"]
    settings: dict[str, object]
    protocol: str
    source: SettingSource | None
    entries: list[PreventedEntry]
    step: int | None
    otherwise: Otherwise | None
    impossible: Impossible | None
    holds: bool
    search: PreventedSearch | None


class SettingSource(TypedDict):
    """Where a rule comes from."""

    place: str
    since: str
    issues: str
    settings: list[object]


class PreventedEntry(TypedDict):
    """A setting that prevents, or does not."""

    case: str
    title: str
    source: str
    links: list[str]
    likeness: Share


class Otherwise(TypedDict):
    """How the same ends without a step."""

    step: int
    values: list[Held]
    instead_of: list[Held]


class Impossible(TypedDict):
    """A step that is not possible any more."""

    step: int
    words: str
    file: str | None
    line: int | None
    false: list[Told]
    switched_off: bool


class PreventedSearch(TypedDict):
    """What a search found with a setting changed."""

    verdict: str
    depth: int
    states: int
    stopped: str
    vacuous: bool


class ExplainStep(TypedDict):
    """A step, and what made it possible."""

    number: int
    step: str
    words: str
    file: str | None
    line: int | None
    kafka: str | None
    needed: bool | None
    because: list[Link]


class Judged(TypedDict):
    """How the claim was judged."""

    file: str | None
    line: int | None
    kafka: str | None


class ExplainDecision(TypedDict):
    """The step that decided."""

    risks: list[Literal["safe", "possible", "certain", "lost", "unknown"]]
    to_loss: list[int | None]
    last_avoidable: int | None
    states: int
    left_out: str


class Report(TypedDict):
    """A trace in another form, or where that was written."""

    command: Literal["report"]
    trace: str
    format: str
    text: NotRequired[str]
    output: NotRequired[str]


class Reports(TypedDict):
    """Several traces in another form."""

    command: Literal["report"]
    format: str
    reports: list[OneReport]


class OneReport(TypedDict):
    """A trace that was reported."""

    trace: str
    text: NotRequired[str]
    output: NotRequired[str]
