"""A fault, or a step of an operator, as the broker model declares it: once, with all that is said.

`bounds.py` has them all. What counts them, which of them commands ask about, which are compared
with a release of Kafka, and what proofs may use of them follow from the declarations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from model.language import Bound, Budget, Stops
from model.language.budgets import Pairs, in_pairs


@dataclass(frozen=True, eq=False)
class Fault(Budget):
    """A budget of the broker model.

    `elects`: an election may follow, though no broker stops. `asked`: an operator may ask what it
    costs (`ask`). `walked`: how often it may be in a random walk that is compared with Kafka.
    `covered`: with which others, and how often each, every step of a graph is compared with Kafka;
    `None` if it is in no graph of its own. `since`: the first release that it is compared with.
    """

    elects: bool = False
    asked: bool = True
    walked: int = 0
    covered: Pairs | None = None
    since: str = ""

    @property
    def leads_to_election(self) -> bool:
        """Another leader may be elected because of it."""
        return self.elects or self.stops is not Stops.NOBODY


def fault(name: str, words: str, default: int = 0, maximum: int = 16, **about: Any) -> Fault:
    """Declare one: `CRASHES = fault("crashes", "brokers whose process dies", default=1)`.

    `about` is what `Fault` has besides, with dictionaries for pairs.
    """
    return Fault(name, default, 0, words, maximum, **in_pairs(about))


def faults_in(bounds: Iterable[Bound]) -> tuple[Fault, ...]:
    """Those of the bounds that are faults."""
    return tuple(bound for bound in bounds if isinstance(bound, Fault))
