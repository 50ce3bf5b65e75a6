"""What templates are: atoms about a few things at once, and which clauses of them to try."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from model.language import Model

Literals = tuple[tuple[str, bool], ...]
"""Atoms by their words, and whether they are asserted."""

Place = tuple[int, ...]
"""What the variables of the atoms stand for, by number: members, rows, positions."""


@dataclass(frozen=True)
class Family:
    """Longer candidates: `head`, or else one of up to `conditions` literals of `body` is false."""

    head: Literals
    body: Literals
    conditions: int = 4


@dataclass(frozen=True)
class Templates:
    """Atoms by their words, and families of candidates beyond the short ones.

    An atom is a claim about the state and about what its variables stand for. `places` says what
    that may be in a model; `at` gives it in a state. A candidate is claimed at every place.
    """

    atoms: Mapping[str, Callable[..., bool]]
    places: Callable[[Model], Iterable[Place]]
    at: Callable[[Any, Place], tuple[Any, ...]]
    families: tuple[Family, ...] = ()
