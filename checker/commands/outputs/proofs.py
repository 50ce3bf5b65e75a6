"""What is printed by `prove`, `infer` and `mutate`."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from checker.commands.outputs.shapes import Count
from checker.core.verdict import Verdict


class Kill(TypedDict):
    """A violation, and how often it was met."""

    times: int
    explored: str
    property: str
    depth: int
    found_at: int
    steps: list[str]
    instance_of: KnownCase | None


class KnownCase(TypedDict):
    """The stored counterexample that a violation is alike to."""

    case: object
    title: object
    source: object
    likeness: object
    change: object


class CutOffs(TypedDict):
    """From how many members on nothing new can happen: what was asked with so many, and why."""

    of: str
    members: Count
    holds_from: Count | None
    sizes: list[list[object]]
    left_out: dict[str, str]


class Prove(TypedDict):
    """A proof, or its counterexample."""

    command: Literal["prove"]
    protocol: str
    bounds: dict[str, object]
    settings: dict[str, object]
    properties: list[object]
    lemmas: list[object]
    verdict: Verdict
    cross_check: dict[str, object] | None
    solver: Literal["z3", "cvc5", "both"]
    solver_seconds: dict[str, float]
    questions_written: Count
    certificates: Count | None
    cut_off: NotRequired[CutOffs | None]
    unbounded: NotRequired[bool]
    symmetry: NotRequired[bool]
    obligations: NotRequired[list[object]]
    counterexample: NotRequired[dict[str, object] | None]
    seconds: float | list[object]
    version: str
    depth: NotRequired[Count]
    violated: NotRequired[str | None]
    steps: NotRequired[list[object]]
    stopped: NotRequired[str | None]
    trace: NotRequired[str | None]


class Infer(TypedDict):
    """Lemmas that were found."""

    command: Literal["infer"]
    protocol: str
    bounds: dict[str, object]
    settings: dict[str, object]
    verdict: str
    states: Count
    atoms: Count
    candidates: Count
    survivors: list[object]
    needed: list[object]
    queries: Count
    follows: dict[str, object]
    lemmas_holding: list[object]
    lemmas_found: list[object]
    lemmas_fallen: list[object]
    stopped: str | None
    cross_check: dict[str, object] | None
    seconds: float
    version: str


class Mutate(TypedDict):
    """The kill matrix."""

    command: Literal["mutate"]
    protocol: str
    bounds: dict[str, object]
    settings: dict[str, object]
    distinct_states: Count
    transitions: Count
    complete: bool
    mutants: list[object]
    cross_check: dict[str, object] | None
    unexplained: list[object]
    version: str


class MutateStored(TypedDict):
    """The page of a kill matrix."""

    command: Literal["mutate"]
    protocol: str
    page: str
    columns: list[object]
    rows: dict[str, object]
    survivors: list[object]
