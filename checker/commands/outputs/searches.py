"""What is printed by `explore`, `liveness`, `simulate`, `growth`, `hunt` and `matrix`."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from checker.commands.outputs.common import Finding
from checker.commands.outputs.proofs import Kill
from checker.commands.outputs.shapes import Count
from checker.core.verdict import Verdict
from properties import Sense
from properties.liveness import Kind


class Explore(TypedDict):
    """A search."""

    command: Literal["explore"]
    protocol: str
    bounds: dict[str, int]
    settings: dict[str, str]
    engine: str
    symmetry: bool
    reduced: bool
    verdict: Verdict
    coverage: Verdict
    stopped: str | None
    depth: Count
    distinct_states: Count
    unfinished: Count
    transitions: Count
    levels: list[int]
    actions: dict[str, dict[str, int]]
    properties: dict[str, PropertyFound]
    violations: list[Finding]
    deadlock: Finding | None
    liveness: dict[str, LivenessFound]
    warnings: list[str]
    cross_check: dict[str, int] | None
    fingerprint_bits: Count
    collision_probability: float
    seconds: float
    states_per_second: Count
    peak_memory_bytes: Count
    disk_bytes: Count
    version: str


class PropertyFound(TypedDict):
    """What was found of one property; the depth is that of a violation, or of a witness."""

    verdict: Verdict
    sense: Sense
    vacuous: bool
    depth: int | None


class LivenessFound(TypedDict):
    """What was found of one liveness property; the lasso is a run that breaks it."""

    verdict: Verdict
    kind: Kind
    vacuous: bool
    member: str | None
    fairness: list[str]
    held_up: Count
    lasso: Finding | None


class PropertyVerdict(TypedDict):
    """What random walks found of one property."""

    verdict: Verdict


class Liveness(TypedDict):
    """The least fairness, preset by preset."""

    command: Literal["liveness"]
    rows: list[object]


class Growth(TypedDict):
    """States by depth."""

    command: Literal["growth"]
    title: str
    searches: list[GrowthSearch]


class GrowthSearch(TypedDict):
    """One of the searches, with its states by depth."""

    name: object
    sizes: object
    stopped: object
    states: object


class Simulate(TypedDict):
    """Random walks."""

    command: Literal["simulate"]
    protocol: str
    bounds: dict[str, object]
    settings: dict[str, object]
    engine: str
    verdict: Verdict
    seed: Count
    walks: Count
    steps: Count
    longest_walk: Count
    distinct_states: Count
    actions: dict[str, object]
    properties: dict[str, PropertyVerdict]
    violations: list[Walked]
    warnings: list[object]
    cross_check: dict[str, object] | None
    stopped: str | None
    seconds: float
    steps_per_second: Count
    version: str


class Walked(Finding):
    """A trace that walks found, which was made short; `walked` are the steps of the walk."""

    walked: Count
    walk: Count
    shortest: bool
    seconds_to_find: float
    seconds_to_minimise: float


class Hunt(TypedDict):
    """Models by lot."""

    command: Literal["hunt"]
    protocol: str
    given: str
    seed: int
    rounds: int
    exhausted: int
    distinct_states: int
    known: list[Kill]
    unknown: list[Kill]
    errors: list[HuntError]
    never_met: list[str]
    pairs: list[list[object]]
    together: list[Together]
    version: str


class Together(TypedDict):
    """How many pairs (size 2) or triples of what is drawn were tried, and would be."""

    size: int
    of: int
    tried: int
    added_by_an_hour: int


class HuntError(TypedDict):
    """A model that could not be searched."""

    error: object
    round: object


class Matrix(TypedDict):
    """Settings against faults."""

    command: Literal["matrix"]
    title: str
    complete: bool
    cells: NotRequired[list[object]]
    rows: NotRequired[list[object]]
