"""What was captured is not captured again where the same would come out.

A capture runs a function on symbolic values: what comes out depends on the code that runs, and on
what the settings answer. So models that differ in a setting share all actions that do not ask for
it. Where a name means something else by now, or a class has another method, nothing is recalled.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from model.language.capture.captured import CapturedAction
from model.language.capture.constants import classes_of
from model.language.capture.lint import Watch, meaning
from model.language.capture.rounds import Held, are_same, contents_of
from model.language.declare.schema import Schema
from model.language.declare.settings import Noted

_MOST = 32
"""Captures of one action that are kept: the latest."""


@dataclass(frozen=True)
class _Capture:
    """What was captured, and all that it depended on."""

    captured: CapturedAction
    answers: dict[str, Any]
    codes: tuple[tuple[CodeType, dict[str, Any], tuple[Any, ...]], ...]
    held: Held
    named: dict[tuple[str, int], str]

    def would_be(self, settings: Any) -> bool:
        """Whether a capture with these settings would come to the same today."""
        for name, before in self.answers.items():
            answer = getattr(settings, name) if name else settings
            if type(answer) is not type(before) or answer != before:
                return False
        return next(self.held.changed(), None) is None and all(
            are_same(meaning(code, names), before) for code, names, before in self.codes
        )


def recalled(
    schema: Schema,
    key: Hashable,
    settings: Any,
    anew: Callable[[Noted], tuple[CapturedAction, Watch]],
) -> CapturedAction:
    """What `anew` makes of the settings, or made before of such as answer alike."""
    known: list[_Capture] = schema.kept.setdefault(__name__, {}).setdefault(key, [])
    found = next((each for each in known if each.would_be(settings)), None)
    if found is None:
        found = _captured(schema, settings, anew)
        known.insert(0, found)
        del known[_MOST:]
    for member, place in found.named.items():
        schema.named.setdefault(member, place)
    return found.captured


def _captured(
    schema: Schema, settings: Any, anew: Callable[[Noted], tuple[CapturedAction, Watch]]
) -> _Capture:
    around, schema.named = schema.named, {}
    noted = Noted(settings, {})
    try:
        captured, watch = anew(noted)
        named = schema.named
    finally:
        schema.named = around
    classes = {id(kind): kind for each in classes_of(schema.root) for kind in each.__mro__}
    held = (*watch.held.objects, *((kind, contents_of(kind) or ()) for kind in classes.values()))
    codes = tuple((code, names, meaning(code, names)) for code, names in watch.ran.values())
    return _Capture(captured, noted.read, codes, Held(held), named)
