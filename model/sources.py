"""Where rules come from: what an action or a setting is in Kafka, or in the specification."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """The origin of one action or setting.

    `place` is a method of Kafka, or an operator of the specification. `since` is the first release
    with the rule, in whichever class it was then; empty for the specification, and for what no
    release has. `issues` are proposals, issues and findings about it. `settings` switch an action
    on and off, or choose between its variants.
    """

    place: str
    since: str = ""
    issues: str = ""
    settings: tuple[str, ...] = ()
