"""The loop of a run for ever in a file: where it starts, what it breaks, what fairness it obeys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checker.core.traces.itf_values import fields_of, list_of, show, text_of
from checker.core.traces.lasso import Rounds
from model.language import Model
from model.language.errors import UsageError
from model.language.fair_groups import groups_of
from model.language.fairness import Fairness, Strength
from properties import choose_liveness

ROUNDS_META = ("member", "fairness")

_MOST = 1_000  # declarations of fairness


def rounds_meta(rounds: Rounds | None) -> dict[str, Any]:
    """What a file says of a loop besides where it starts; nothing without one."""
    if rounds is None:
        return {}
    fairness = [
        {"strength": str(f.strength), "actions": list(f.actions), "by": f.by and list(f.by)}
        for f in rounds.fairness
    ]
    return dict(zip(ROUNDS_META, (rounds.member, fairness), strict=True))


def read_rounds(start: Any, meta: Mapping[str, Any], model: Model, steps: int) -> Rounds:
    """What a file says of its loop; `UsageError` if it cannot be so."""
    if not isinstance(start, int) or isinstance(start, bool) or not 0 <= start <= steps:
        raise UsageError(f"loop must be the number of a state, 0 to {steps}, not {show(start)}")
    promise = choose_liveness(model.protocol, text_of(meta["property"], "#meta.property"))
    entries = list_of(meta["fairness"], "#meta.fairness")
    if len(entries) > _MOST:
        raise UsageError(f"#meta.fairness has {len(entries)} entries: valid are up to {_MOST}")
    fairness = tuple(
        _fairness(entry, f"#meta.fairness[{number}]") for number, entry in enumerate(entries)
    )
    groups_of(model, fairness)  # says so if there is no such action
    return Rounds(start, promise, fairness, text_of(meta["member"], "#meta.member"))


def _fairness(entry: Any, where: str) -> Fairness:
    fields = fields_of(entry, where, ("strength", "actions", "by"))
    strength = text_of(fields["strength"], f"{where}.strength")
    if strength not in list(Strength):
        raise UsageError(f"{where}.strength must be weak or strong, not {show(strength)}")
    by = None if fields["by"] is None else _names(fields["by"], f"{where}.by")
    return Fairness(Strength(strength), _names(fields["actions"], f"{where}.actions"), by)


def _names(entries: Any, where: str) -> tuple[str, ...]:
    return tuple(text_of(entry, where) for entry in list_of(entries, where))
