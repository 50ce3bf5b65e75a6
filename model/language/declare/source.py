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


def source_of(place: str, since: str, issues: str, settings: str = "") -> Source | None:
    """The source that is told, settings with commas between them; none, where nothing is."""
    if not any((place, since, issues, settings)):
        return None
    return Source(place, since, issues, tuple(filter(None, settings.split(", "))))
