"""Which fixes are missing: a search for a loss, again and again, with one more fix each time.

For each loss it is seen which of the missing fixes make its trace impossible; the first of them is
switched on, and the search runs again, until nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from checker.core.files import table
from checker.core.search.limits import Limits
from checker.core.search.question import Options
from checker.core.traces.trace import build_trace
from checker.core.verdict import Agreement, Exploration, Verdict, Violation
from checker.lab.experiments.choices import Choice, explored, is_symmetric, steps_named, texts
from model.language.declare.settings import as_text
from model.language.errors import HighwaterError, UsageError
from model.language.naming import instance_words


@dataclass(frozen=True)
class Fix:
    """Settings that mend something. They only do where the settings in `where` are as it says."""

    name: str
    settings: Mapping[str, str]
    where: Mapping[str, list[str]] = field(default_factory=dict)

    @staticmethod
    def of(data: Mapping[str, Any]) -> Fix:
        """The fix that a table of a TOML file describes."""
        where = {name: [str(value) for value in values] for name, values in
                 table(data, "where", {}).items()}  # fmt: skip
        return Fix(data["name"], texts(table(data, "settings")), where)

    def is_missing(self, choice: Choice) -> bool:
        """The fix would change the settings; `UsageError` if it names one that does not exist."""
        mended = as_text(choice.with_settings(self.settings).model.settings)
        settings = as_text(choice.model.settings)
        if unknown := set(self.where) - set(settings):
            raise UsageError(f"the fix {self.name!r} names no setting: {', '.join(unknown)}")
        fits = all(settings[name] in values for name, values in self.where.items())
        return fits and settings != mended


def missing_fixes(
    choice: Choice, properties: tuple[str, ...], limits: Limits, fixes: Iterable[Fix],
    cross_check: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """The losses of a choice, one after the other, with the fixes that prevent each."""
    said: list[str] = []
    states, seconds = 0, 0.0
    agreements = []
    while True:
        options = Options(symmetry=is_symmetric(choice, properties), cross_check=cross_check)
        result = explored(choice, properties, limits, options)
        agreements.append(result.agreement)
        states, seconds = states + result.distinct_states, seconds + result.seconds
        loss = result.violations[0] if result.violations else None
        missing = [] if loss is None else _preventing(loss, choice, fixes)
        said.append(_words(result, loss, missing))
        if not missing:
            break
        choice = choice.with_settings(missing[0].settings)
    verdict = Verdict.VIOLATED if loss is not None else result.coverage
    return {
        "words": ", then ".join(said), "verdict": str(verdict), "depth": result.depth,
        "states": states, "seconds": round(seconds, 2),
        "cross_check": Agreement.data(Agreement.total(agreements)),
    }  # fmt: skip


def _words(result: Exploration, loss: Violation | None, missing: list[Fix]) -> str:
    if loss is None:
        return f"nothing ({result.coverage}, {result.distinct_states:,} classes)"
    return f"**{' or '.join(fix.name for fix in missing) or 'no fix here'}** after {loss.depth}"


def _preventing(loss: Violation, choice: Choice, fixes: Iterable[Fix]) -> list[Fix]:
    """The missing fixes with which the trace of the loss is one no more."""
    steps = [instance_words(choice.model, step) for step in loss.steps]
    return [
        fix
        for fix in fixes
        if fix.is_missing(choice) and not _replays(choice.with_settings(fix.settings), steps, loss)
    ]


def _replays(choice: Choice, steps: list[str], loss: Violation) -> bool:
    try:
        build_trace(choice.model, steps_named(choice.model, steps), loss.property)
    except HighwaterError:
        return False
    return True
