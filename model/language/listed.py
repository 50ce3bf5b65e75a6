"""What a protocol lists is declared as it should be, and is called by one name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from model.language.action import Action
from model.language.declare.domains import Bound
from model.language.errors import ProtocolError


class Claim:
    """What is claimed of a protocol; `properties.claims.Property` says how, and of what."""

    name: str
    claim: Callable[..., bool]


_CLAIM = 'declare it as a function with @always("name", "words") or the like above it'
_KINDS: dict[str, tuple[str, type, str]] = {
    "actions": ("action", Action, 'declare it as a function with @action("...") above it'),
    "bounds": ("bound", Bound, 'write NAME = Bound("name", ...)'),
    "properties": ("property", Claim, _CLAIM),
    "lemmas": ("lemma", Claim, _CLAIM),
}


def check_listed(protocol: str, lists: Mapping[str, Any]) -> None:
    """`ProtocolError` for a list that is no tuple, for what is not declared, and for twins."""
    for what, listed in lists.items():
        one, kind, how = _KINDS[what]
        if not isinstance(listed, tuple):
            raise ProtocolError(f"{protocol}: {what} is no tuple: write (..., ...) or (...,)")
        for each in listed:
            if not isinstance(each, kind):
                name = getattr(each, "__name__", repr(each))
                raise ProtocolError(
                    f"{protocol}: {name} is among its {what}, and is no {one}: {how}, and list it "
                    "without quotes"
                )
    _refuse_twins(protocol, "actions", lists["actions"])
    _refuse_twins(protocol, "properties", dict.fromkeys((*lists["properties"], *lists["lemmas"])))


def _refuse_twins(protocol: str, what: str, named: Iterable[Action | Claim]) -> None:
    names: set[str] = set()
    for each in named:
        if each.name in names:
            raise ProtocolError(f"{protocol}: two {what} are called {each.name}: rename one")
        names.add(each.name)
