"""The law of reduced search: what it leaves out changes no verdict and no depth."""

from __future__ import annotations

import random
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar
from unittest.mock import patch

from checker.core.native import kept_code, object_code
from checker.core.search import independence, reduced
from checker.core.search.explore import Explorer, Limits, Options
from checker.core.search.reduced import ReducedExplorer
from checker.core.verdict import Exploration
from model.language import Annotated, Protocol, State, integers
from model.language.errors import DomainError
from model.language.protocol import Model
from properties import Property, Sense
from tests.laws.generator import Example, action_of, compiled
from tests.support.laws import check_ends_in_violation, numbers

_MOST = 400  # states
_FEW = 1  # with more states, witnesses are searched for with reduction, too
_CELLS = 4
_HIGH = 2


def little_example(seed: int) -> Example:
    """A model of some actions that each read and write a few of four numbers from 0 to 2.

    Unlike those of `examples`, many of their actions are independent, and claims are far to seek.
    """
    dice = random.Random(seed)

    def cell() -> str:
        return f"s.c{dice.randrange(_CELLS)}"

    def number() -> int:
        return dice.randrange(_HIGH + 1)

    def some(join: str, least: int, most: int) -> str:
        parts = [
            f"({cell()} {dice.choice(['==', '==', '==', '!='])} {number()})"
            for _ in range(dice.randint(least, most))
        ]
        return f"{join}({', '.join(parts)})"

    steps = []
    for _ in range(dice.randint(5, 8)):
        guard = some(dice.choice(["all_of", "all_of", "any_of"]), 1, 2)
        effects = []
        for target in dice.sample(range(_CELLS), dice.choice([1, 1, 2])):
            values = [str(number()), str(number()), f"minimum(s.c{target} + 1, {_HIGH})", cell()]
            effects.append(f"s.c{target} = {dice.choice(values)}")
        steps.append((guard, *effects))
    before, after = some("all_of", 1, 2), some("all_of", 1, 2).replace("s.", "t.")
    either = f"any_of({some('all_of', 2, 3)}, {some('all_of', 2, 3)})"
    breaches = {
        "claim0": ("s", some("all_of", 2, 3)),
        "claim1": ("s", either),
        "of_step": ("s, t", f"all_of({before}, {after})"),
    }
    return example_of(steps, breaches, [number() for _ in range(_CELLS)])


def example_of(
    steps: Iterable[Sequence[str]],
    breaches: Mapping[str, tuple[str, str]],
    start: Sequence[int],
    high: int = _HIGH,
) -> Example:
    """A model of cells `s.c0` and so on, 0 to `high`: steps by guard and effects, claims by their
    breaches.
    """
    texts, actions, properties = [], [], []
    for count, (guard, *effects) in enumerate(steps):
        lines = [f"def act{count}(s):", f"require({guard})", *effects]
        texts.append("\n    ".join(lines))
        actions.append(action_of(texts[-1], f"act{count}", {}))
    for name, (head, breach) in breaches.items():
        texts.append(f"def {name}({head}):\n    return not_({breach})")
        claim = compiled(texts[-1], name)
        properties.append(Property(name, "", claim, of_steps=head != "s"))
    names = {f"c{k}": first for k, first in enumerate(start)}
    body = {"__annotations__": dict.fromkeys(names, Annotated[int, integers(0, high)])}
    state = types.new_class(
        "Little", (State,), exec_body=lambda space: space.update(body, __module__=__name__, **names)
    )
    protocol = Protocol("little", "for tests", state, tuple(actions), ())
    return Example(protocol.model(), tuple(properties), "\n\n".join(texts))


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
        check_reduced(example.model, some, full, limits)


def check_reduced(
    model: Model, properties: tuple[Property, ...], full: Exploration, limits: Limits
) -> Exploration:
    """A reduced search finds of these properties what the full one found."""
    with (
        patch.object(independence, "kept_code", Memory),
        patch.object(object_code, "kept_code", Untouched),
        patch.object(reduced, "_WITHOUT_REDUCTION", _FEW),
    ):
        found = ReducedExplorer(model, properties, limits, _PLAIN).run()
    names = {prop.name for prop in properties}
    depths = {v.property.name: v.depth for v in full.violations if v.property.name in names}
    assert {v.property.name: v.depth for v in found.violations} == depths, "verdicts differ"
    for violation in found.violations:
        assert len(violation.steps) == violation.depth
        check_ends_in_violation(model, violation.property, numbers(violation.steps))
    reached = {name: depth for name, depth in full.reached.items() if name in names}
    assert found.reached == reached, "witnesses differ"
    early = bool(full.frontier) and full.depth != limits.depth  # all was settled before the end
    for prop in properties:
        if not (early and full.is_vacuous(prop)):
            assert found.is_vacuous(prop) == full.is_vacuous(prop), "premises differ"
    return found


class Untouched:
    """Has the machine code that was kept, and keeps no more: models here are too many."""

    load = staticmethod(kept_code.load)

    @staticmethod
    def store(key: str, code: bytes) -> None:
        """Nothing is kept."""


class Memory:
    """Keeps tables for this process alone: a wrong checker must not be saved by a right one's."""

    kept: ClassVar[dict[str, bytes]] = {}

    @classmethod
    def load(cls, key: str) -> bytes | None:
        """What is there."""
        return cls.kept.get(key)

    @classmethod
    def store(cls, key: str, code: bytes) -> None:
        """Keep it."""
        cls.kept[key] = code


_PLAIN = Options(keep_going=True, cross_check=False, compile_after=None)
