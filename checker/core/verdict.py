"""Verdicts, and what an exploration found: the words that every command and engine reports in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, astuple, dataclass, field, replace
from enum import StrEnum

from checker.core.amounts import counted
from model.language.fairness import Fairness
from model.language.protocol import Instance, Model
from properties import Liveness, Property, Sense


class Verdict(StrEnum):
    """What may be said of a property. `docs/architecture.md` explains each."""

    VIOLATED = "violated"  # a trace is given and replays on the reference engine
    EXHAUSTED = "exhausted"  # every reachable state within the bounds was visited; none violates
    BOUNDED = "bounded"  # all states up to a depth were visited; deeper ones were not
    PROVED = "proved"  # inductive: holds at any depth, within the bounds on sizes
    NOT_INDUCTIVE = "not_inductive"  # a counterexample to induction; it may be unreachable
    HELD_UP = "held_up"  # none violates, but for runs that only a bound keeps from going on
    SAMPLED = "sampled"  # random walks only
    UNKNOWN = "unknown"  # a limit was reached before the answer
    REACHED = "reached"  # a witness: some state or step makes it true
    UNREACHED = "unreached"  # a witness that no visited state or step provides


@dataclass(frozen=True)
class Agreement:
    """How much was compared, without a difference: `tried` steps, of which `taken` were enabled."""

    states: int
    tried: int
    taken: int
    claims: int

    @staticmethod
    def words(agreement: Agreement | None) -> str:
        """One line for people; `None` if nothing was compared."""
        if agreement is None:
            return "not checked against the reference engine"
        return (
            f"checked against the reference engine: {counted(agreement.states, 'state')}, "
            f"{counted(agreement.tried, 'step')} tried, {agreement.taken:,} taken, "
            f"{counted(agreement.claims, 'claim')}"
        )

    @staticmethod
    def data(agreement: Agreement | None) -> dict[str, int] | None:
        """The same as plain data."""
        return None if agreement is None else asdict(agreement)

    @staticmethod
    def total(agreements: Iterable[Agreement | None]) -> Agreement | None:
        """That of several models together; `None` if one was not compared."""
        parts = [None if one is None else astuple(one) for one in agreements]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return Agreement(*map(sum, zip(*known, strict=True)))


@dataclass(frozen=True)
class Violation:
    """A property that a state or step falsifies, with the steps that lead there from the start."""

    property: Property
    depth: int
    steps: tuple[Instance, ...]


@dataclass(frozen=True)
class Lasso:
    """A run for ever: `stem` from the initial state, then `loop` round and round.

    Without a step in `loop` the run stops: nothing fair is enabled there.
    """

    stem: tuple[Instance, ...]
    loop: tuple[Instance, ...]


@dataclass(frozen=True)
class Judgement:
    """A liveness property: its verdict, and the run that violates it.

    `member` is whose promise is broken, if it is one of members. `fairness` is what the run obeys.
    `held_up` counts states in which a run might wait for ever for what only a bound forbids: they
    are no violations. `owed` is false if no state makes the premise true: the property is vacuous.
    """

    property: Liveness
    verdict: Verdict
    fairness: tuple[Fairness, ...]
    member: str = ""
    lasso: Lasso | None = None
    held_up: int = 0
    owed: bool = True


def together(judgements: Sequence[Judgement], coverage: Verdict) -> Judgement:
    """Of the cases of one property, one judgement: the first violation of the shortest way."""
    violated = [j for j in judgements if j.lasso is not None]
    first = min(violated, key=lambda j: len(j.lasso.stem) if j.lasso else 0, default=judgements[0])
    held_up = sum(j.held_up for j in judgements)
    clean = Verdict.HELD_UP if held_up and coverage is Verdict.EXHAUSTED else coverage
    return replace(
        first,
        verdict=first.verdict if violated else clean,
        member=first.member if violated else "",
        held_up=held_up,
        owed=any(j.owed for j in judgements),
    )


@dataclass
class Enabled:
    """In how many visited states, or steps between them, an action was enabled."""

    enabled: int = 0


@dataclass
class ActionCount(Enabled):
    """And how many states it was the first to reach."""

    new: int = 0


@dataclass
class Inspection:
    """What was found in the states that were visited, by a search or by random walks.

    `stopped` says in words why it did not come to its end, if it did not.
    """

    model: Model
    properties: tuple[Property, ...]
    _: KW_ONLY
    actions: Mapping[str, Enabled] = field(default_factory=dict)
    violations: Sequence[Violation] = field(default_factory=list)
    reached: dict[str, int] = field(default_factory=dict)
    premises: set[str] = field(default_factory=set)
    agreement: Agreement | None = None
    stopped: str = ""
    seconds: float = 0.0

    @property
    def coverage(self) -> Verdict:
        """What may be said of a property that nothing visited violates."""
        raise NotImplementedError

    @property
    def violated(self) -> dict[str, Violation]:
        """The violations by the names of their properties."""
        return {violation.property.name: violation for violation in self.violations}

    @property
    def verdict(self) -> Verdict:
        """The verdict on all properties together."""
        return Verdict.VIOLATED if self.violations else self.coverage

    def verdict_on(self, prop: Property) -> Verdict:
        """The verdict on one property."""
        if prop.sense is Sense.SOMETIMES:
            return Verdict.REACHED if prop.name in self.reached else Verdict.UNREACHED
        return Verdict.VIOLATED if prop.name in self.violated else self.coverage

    def is_vacuous(self, prop: Property) -> bool:
        """The property has a premise, and no visited state made it true."""
        return prop.premise is not None and prop.name not in self.premises

    @property
    def unreached(self) -> list[str]:
        """The witnesses that no visited state or step provides."""
        return [p.name for p in self.properties if self.verdict_on(p) is Verdict.UNREACHED]

    @property
    def visits_all(self) -> bool:
        """What no visited state enabled is enabled in none: nothing is left out on purpose."""
        return True

    @property
    def switched_off(self) -> list[str]:
        """The actions that bounds and settings rule out, whatever the state."""
        return [name for name in self.actions if name not in self.model.possible_actions]

    @property
    def never_enabled(self) -> list[str]:
        """The actions that no visited state enabled, though bounds and settings allow them."""
        possible = self.model.possible_actions if self.visits_all else ()
        return [n for n, count in self.actions.items() if not count.enabled and n in possible]


@dataclass
class Exploration(Inspection):
    """The result of a search, whatever engine ran it.

    `levels[d]` is the number of states at depth d; `unfinished` how many of the next level were
    found before a limit stopped the search. `liveness` has the judgements on what was asked for.
    """

    engine: str
    symmetry: bool = False
    _: KW_ONLY
    reduced: bool = False
    levels: list[int] = field(default_factory=list)
    unfinished: int = 0
    transitions: int = 0
    frontier: int = 0
    actions: dict[str, ActionCount] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    deadlock: tuple[Instance, ...] | None = None
    liveness: list[Judgement] = field(default_factory=list)
    fingerprint_bits: int = 64
    collision_probability: float = 0.0
    peak_memory_bytes: int = 0
    disk_bytes: int = 0

    @property
    def visits_all(self) -> bool:
        """The search was not reduced to what its properties need."""
        return not self.reduced

    @property
    def unfulfilled(self) -> list[Judgement]:
        """The liveness properties that some fair run violates."""
        return [j for j in self.liveness if j.lasso is not None]

    @property
    def verdict(self) -> Verdict:
        """The verdict on all properties together."""
        if self.violations or self.unfulfilled:
            return Verdict.VIOLATED
        weakest = (Verdict.UNKNOWN, Verdict.HELD_UP)
        of_liveness = {judgement.verdict for judgement in self.liveness}
        known = [self.coverage, *(v for v in weakest if v in of_liveness)]
        return known[-1] if self.coverage is Verdict.EXHAUSTED else self.coverage

    @property
    def depth(self) -> int:
        """The greatest depth at which there is a state, as far as levels were finished."""
        return len(self.levels) - 1

    @property
    def distinct_states(self) -> int:
        """How many different states were found."""
        return sum(self.levels) + self.unfinished

    @property
    def coverage(self) -> Verdict:
        """What was visited: `EXHAUSTED`, `BOUNDED` or, if a limit stopped the search, `UNKNOWN`."""
        if self.stopped:
            return Verdict.UNKNOWN
        return Verdict.BOUNDED if self.frontier else Verdict.EXHAUSTED
