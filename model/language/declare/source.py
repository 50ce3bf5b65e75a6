"""Sources: where what a protocol does, or lets one choose, comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """The origin of one action or setting.

    `place` is a method of the modelled system, or an operator of a specification. `since` is the
    first release with the rule, in whichever class it was then; empty for a specification, and for
    what no release has. `issues` are proposals, issues and findings about it. `settings` switch an
    action on and off, or choose between its variants.
    """

    place: str
    since: str = ""
    issues: str = ""
    settings: tuple[str, ...] = ()


def names_in(text: str) -> tuple[str, ...]:
    """The names that a text lists, with commas between them."""
    return tuple(filter(None, text.split(", ")))
