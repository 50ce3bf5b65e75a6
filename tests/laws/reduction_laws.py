"""The law of reduced search: what it leaves out changes no verdict and no depth."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

from checker.core.search import independence
from checker.core.search.explore import Explorer, Limits, Options
from checker.core.search.reduced import ReducedExplorer
from checker.core.verdict import Exploration
from model.language.errors import DomainError
from model.language.protocol import Model
from properties import Property, Sense
from tests.laws.generator import Example
from tests.support.laws import check_ends_in_violation, numbers

_MOST = 400  # states


def reduced_search_is_full_search(example: Example) -> None:
    """Of each property alone, and of all together, verdicts and depths are the same."""
    first, second, of_step = example.properties
    asked = (
        first,
        replace(second, premise=first.claim),
        of_step,
        replace(second, name="witness", sense=Sense.SOMETIMES),
        replace(of_step, name="witness of a step", sense=Sense.SOMETIMES),
    )
    try:
        size = Explorer(example.model, (), Limits(states=_MOST), _PLAIN).run()
        limits = Limits(depth=size.depth) if size.stopped else Limits()
        full = Explorer(example.model, asked, limits, _PLAIN).run()
    except DomainError:
        return
    for some in (*((prop,) for prop in asked), asked):
        found = check_reduced(example.model, some, full, limits)
        assert found.distinct_states <= full.distinct_states or len(full.violations) == len(asked)


def check_reduced(
    model: Model, properties: tuple[Property, ...], full: Exploration, limits: Limits
) -> Exploration:
    """A reduced search finds of these properties what the full one found."""
    with patch.object(independence, "kept_code", _Nothing):
        found = ReducedExplorer(model, properties, limits, _PLAIN).run()
    names = {prop.name for prop in properties}
    depths = {v.property.name: v.depth for v in full.violations if v.property.name in names}
    assert {v.property.name: v.depth for v in found.violations} == depths, "verdicts differ"
    for violation in found.violations:
        assert len(violation.steps) == violation.depth
        check_ends_in_violation(model, violation.property, numbers(violation.steps))
    reached = {name: depth for name, depth in full.reached.items() if name in names}
    assert found.reached == reached, "witnesses differ"
    for prop in properties:
        assert found.is_vacuous(prop) == full.is_vacuous(prop), "premises differ"
    return found


class _Nothing:
    """Keeps no tables: a wrong checker must not be saved by those of the right one."""

    @staticmethod
    def load(key: str) -> None:
        """Nothing is there."""

    @staticmethod
    def store(key: str, code: bytes) -> None:
        """Nothing is kept."""


_PLAIN = Options(keep_going=True, cross_check=False, compile_after=None)
