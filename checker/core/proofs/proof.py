"""What a proof is made of, and what it says: obligations, their outcomes, counterexamples."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum

from checker.core.engines.agreement import require_agreement
from checker.core.engines.reference import State
from checker.core.proofs.solvers import Solvers
from checker.core.verdict import Agreement, Verdict
from model.language.errors import LimitError, UsageError
from model.language.protocol import Instance, Model
from properties import Property, Sense

INITIALLY = "initially"
FOLLOWS = "lemmas imply it"
"""What an obligation is of that is no action."""
FITS = "values_fit"
"""What every engine takes for granted: no step assigns a value outside its variable's domain."""


class ProofOutcome(StrEnum):
    """What became of an obligation."""

    PROVED = "proved"
    NOT_INDUCTIVE = "not_inductive"
    UNKNOWN = "unknown"
    JOINED = "joined"  # it does not follow from the lemmas: it must be inductive with them


@dataclass
class Obligation:
    """Something to prove: that `action` preserves all lemmas, or what `action` says of one.

    `vacuous`: no state that satisfies the hypotheses enables the action. `seconds` is time in the
    solver.
    """

    action: str
    lemma: str
    outcome: ProofOutcome = ProofOutcome.UNKNOWN
    vacuous: bool = False
    queries: int = 0
    instances: int = 0
    seconds: float = 0.0
    reason: str = ""


def refuse_claims(*claims: Property) -> None:
    """`UsageError` for a witness, and for two claims of one name: a proof tells them by name."""
    known: dict[str, Property | None] = {FITS: None}
    for prop in claims:
        if prop.sense is Sense.SOMETIMES:
            raise UsageError(
                f"{prop.name} should sometimes hold, and proofs are of what always does: explore "
                "finds a witness"
            )
        if known.setdefault(prop.name, prop) != prop:
            raise UsageError(f"two claims are called {prop.name}: give one another name")


@dataclass(frozen=True)
class Counterexample:
    """A counterexample to induction: a state, perhaps unreachable, and a step that breaks a lemma.

    Without `instance` it is the initial state, which falsifies the lemma.
    """

    lemma: str
    instance: Instance | None
    states: tuple[State, ...]


@dataclass
class Attempt:
    """What is to be shown of a model, with which lemmas; and what was compared before.

    Raises `UsageError` for claims that cannot be proved, or told apart.
    """

    model: Model
    properties: tuple[Property, ...]
    lemmas: tuple[Property, ...] = ()
    _: KW_ONLY
    agreement: Agreement | None = None
    solvers: Solvers = field(default_factory=Solvers)

    def __post_init__(self) -> None:
        refuse_claims(*self.claims)

    @property
    def claims(self) -> tuple[Property, ...]:
        """The properties and the lemmas."""
        return (*self.properties, *self.lemmas)

    def compare(self) -> None:
        """Hold what is captured against the functions themselves, before anything is proved."""
        self.agreement = require_agreement(self.model, self.claims)


@dataclass
class Proof(Attempt):
    """The result of a proof by induction.

    `invariants` are what was shown to be preserved: the lemmas, and those properties that do not
    follow from them. `stopped` is the limit that came before all obligations were settled.
    """

    symmetry: bool = False
    unbounded: bool = False
    invariants: tuple[Property, ...] = ()
    obligations: list[Obligation] = field(default_factory=list)
    outcome: ProofOutcome = ProofOutcome.UNKNOWN
    counterexample: Counterexample | None = None
    seconds: float = 0.0
    stopped: str = ""

    @contextmanager
    def made(self, cross_check: bool) -> Iterator[None]:
        """While active, obligations are settled: how long that takes, and the limit that ends it.

        A limit that comes before the first of them goes on to whoever asked.
        """
        started = time.perf_counter()
        if cross_check:
            self.compare()
        try:
            yield
        except LimitError as error:
            if not self.obligations:
                raise
            self.stopped = error.reason
        self.seconds = time.perf_counter() - started

    @property
    def verdict(self) -> Verdict:
        """`VIOLATED` only if a property is false in the initial state, which is reachable."""
        found = self.counterexample
        names = {prop.name for prop in self.properties}
        if found is not None and found.instance is None and found.lemma in names:
            return Verdict.VIOLATED
        return {
            ProofOutcome.PROVED: Verdict.PROVED,
            ProofOutcome.NOT_INDUCTIVE: Verdict.NOT_INDUCTIVE,
        }.get(self.outcome, Verdict.UNKNOWN)

    @property
    def bounds(self) -> dict[str, int]:
        """The bounds that the proof is about: with sizes open, those alone that stay 0."""
        chosen = self.model.bounds
        return {n: size for n, size in chosen.items() if size == 0 or not self.unbounded}

    @property
    def never_enabled(self) -> list[str]:
        """The actions that no state with the lemmas enables: about them the proof says nothing."""
        return list(dict.fromkeys(o.action for o in self.obligations if o.vacuous))
