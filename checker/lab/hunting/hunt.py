"""A hunt: rounds side by side, kept in a journal, and what they came to.

The journal is that of any sweep: a line a round, appended whole. So a hunt that was ended in
whatever way goes on where it was, and rounds of other sources of model and properties do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from checker.core.verdict import Verdict
from checker.lab.experiments.choices import Choice
from checker.lab.experiments.grid import Result, Sweep
from checker.lab.experiments.matrix import code_digest
from checker.lab.hunting.plan import Plan, Round
from checker.lab.hunting.rounds import run_round
from model.language.declare.settings import as_text
from model.language.errors import HighwaterError
from model.language.protocol import Model

_HOUR = 3600
_DRAWN = 1_000
"""So many rounds of the next hour are drawn at most: more are of models of a few states."""
_RENEWED_AFTER = 20
"""Rounds of a process: what was captured for one is of little use to the next."""


def sweep_of(
    given: Choice, plan: Plan, properties: tuple[str, ...], *, seed: int, rounds: int,
    seconds: float, workers: int = 1, store: Path | None = None, cross_check: bool = True,
) -> Sweep[Round]:  # fmt: skip
    """The rounds of a hunt, ready to run."""
    jobs = [Round(given, seed, number, properties) for number in range(rounds)]
    work = partial(_round, plan=plan, seconds=seconds, cross_check=cross_check)
    return Sweep(
        work, {job.name: job for job in jobs}, workers=workers, store=store, digest=code_digest(),
        renewed_after=_RENEWED_AFTER,
    )  # fmt: skip


def _round(this: Round, plan: Plan, seconds: float, cross_check: bool) -> Result:
    """A round; what goes wrong in it ends no hunt, and is told."""
    try:
        return run_round(this, plan, seconds, cross_check)
    except (HighwaterError, MemoryError) as error:
        return {"error": f"{type(error).__name__}: {error}", "round": this.number}


@dataclass(frozen=True)
class Kill:
    """Violations that are told as one: by the entry that they are instances of, else each alone.

    `first` is the one of the fewest steps.
    """

    first: Mapping[str, Any]
    times: int

    @property
    def entry(self) -> Mapping[str, Any] | None:
        """The entry of the catalogue."""
        found: Mapping[str, Any] | None = self.first["instance_of"]
        return found


@dataclass(frozen=True)
class Together:
    """How many rounds tried each pair (`size` 2) or triple of the plan, those of none too.

    An hour more of rounds would add so many that none has tried.
    """

    size: int
    times: Mapping[tuple[str, ...], int]
    added: int

    @property
    def tried(self) -> int:
        """How many were tried."""
        return sum(map(bool, self.times.values()))


@dataclass(frozen=True)
class Bag:
    """What the rounds of a hunt came to; `first` is the one that it began with."""

    plan: Plan
    results: tuple[Result, ...]
    first: Round

    @cached_property
    def done(self) -> list[Result]:
        """The rounds that came to an end."""
        return [result for result in self.results if "error" not in result]

    @cached_property
    def errors(self) -> list[Result]:
        """Those that did not."""
        return [result for result in self.results if "error" in result]

    @cached_property
    def known(self) -> list[Kill]:
        """What entries of the catalogue explain, the most frequent first."""
        return _together(v for v in self._violations if v["instance_of"])

    @cached_property
    def unknown(self) -> list[Kill]:
        """What nothing explains."""
        return _together(v for v in self._violations if not v["instance_of"])

    @property
    def _violations(self) -> Iterable[dict[str, Any]]:
        return (each for result in self.done for each in result["violations"])

    @property
    def states(self) -> int:
        """How many states were found, in all rounds."""
        return sum(result["states"] for result in self.done)

    @property
    def whole(self) -> int:
        """How many rounds saw every state of their model, and no violation."""
        return sum(1 for result in self.done if result["verdict"] == Verdict.EXHAUSTED)

    @property
    def never_met(self) -> list[str]:
        """The actions that some round could have met, and none did."""
        met = {name for result in self.done for name in result["met"]}
        return sorted({name for result in self.done for name in result["never_met"]} - met)

    @cached_property
    def together(self) -> tuple[Together, Together]:
        """What was tried of pairs, and of triples."""
        return self._together(2), self._together(3)

    def _together(self, size: int) -> Together:
        times = Counter(dict.fromkeys(self.plan.together(size), 0))
        for result in self.done:
            times.update(self.plan.tried(result["settings"], result["bounds"], size))
        untried = {some for some, rounds in times.items() if not rounds}
        new: set[tuple[str, ...]] = set()
        for model in self._next_hour if untried else ():
            new.update(self.plan.tried(as_text(model.settings), model.bounds, size))
        return Together(size, times, len(untried & new))

    @cached_property
    def _next_hour(self) -> list[Model]:
        """The models that the next rounds draw, as many as go into an hour."""
        seconds = sum(result["seconds"] for result in self.done)
        many = min(round(_HOUR * len(self.done) / seconds), _DRAWN) if seconds else 0
        models = []
        begin = len(self.results)
        for number in range(begin, begin + many):
            with suppress(HighwaterError):
                models.append(replace(self.first, number=number).draw(self.plan).model)
        return models


def _together(violations: Iterable[dict[str, Any]]) -> list[Kill]:
    by: dict[str, list[dict[str, Any]]] = {}
    for each in violations:
        entry = each["instance_of"]
        steps = " ".join(step.partition("(")[0] for step in each["steps"])
        by.setdefault(entry["case"] if entry else f"{each['property']} {steps}", []).append(each)
    kills = [Kill(min(some, key=lambda v: v["depth"]), len(some)) for some in by.values()]
    return sorted(kills, key=lambda kill: -kill.times)
