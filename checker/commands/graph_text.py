"""What the state graph says of a loss, as text in lines of a given width."""

from __future__ import annotations

import textwrap
from typing import Any

from checker.core.amounts import counted
from checker.core.search.limits import who_stopped

_MEANING = {
    "lost": "a property is false there",
    "certain": "every fair run from there comes to a loss",
    "possible": "some run from there does, and some fair run does not",
    "safe": "no run from there does",
    "unknown": "no run that is known does",
}


def render(account: dict[str, Any], width: int) -> str:
    """The account that `checker.core.graphs.account` gathers."""
    extent = "the whole graph"
    if not account["complete"]:
        extent = (
            "stopped by " + who_stopped(account["stopped"])
            if account["stopped"]
            else "cut at a depth"
        )
    lines = [
        f"{account['protocol']}: {counted(account['states'], 'state')}, "
        f"{counted(account['steps'], 'step')} that change something; {extent}",
    ]
    if account["properties"]:
        falsified = ", ".join(account["properties"])
        lines += [f"a loss is a state that violates {falsified}", "", *_risk(account)]
    if "seen" in account:
        seen = account["seen"]
        lines += ["", f"seen by {seen['view']}: {seen['nodes']:,} nodes, {seen['arrows']:,} arrows"]
    lines += ["", *_ways(account)] if account["properties"] else ["no property is promised"]
    if account["settling"]["steps"]:
        lines += ["", *_settling(account["settling"])]
    if "trace" in account:
        lines += ["", *_trace(account["trace"])]
    return "\n".join(folded for line in lines for folded in _folded(line, width)) + "\n"


def _folded(line: str, width: int) -> list[str]:
    """The line in lines of the width, further ones under the second column."""
    return textwrap.wrap(
        line, max(width, 40), subsequent_indent=" " * 16, break_long_words=False,
        break_on_hyphens=False, drop_whitespace=True,
    ) or [""]  # fmt: skip


def _risk(account: dict[str, Any]) -> list[str]:
    counts = {name: account["risk"][name] for name in _MEANING}
    wide = max(len(f"{count:,}") for count in counts.values())
    found = [
        f"  {name:<9} {count:>{wide},}  {_MEANING[name]}"
        for name, count in counts.items()
        if count or name not in ("unknown", "certain")
    ]
    if account["losing_steps"]:
        found.append(f"  and {account['losing_steps']:,} steps are losses by themselves")
    return found


def _ways(account: dict[str, Any]) -> list[str]:
    ways = account["ways"]
    if ways is None:
        known = "" if account["complete"] else " that is known"
        return [f"no run{known} comes to a loss"]
    differ = f"{ways['shortest']:,}"
    if ways["up_to_order"] is not None:
        differ += f"; {ways['up_to_order']:,} up to the order of steps"
    if ways["up_to_names"] is not None:
        differ += f", {ways['up_to_names']:,} up to names too"
    found = [
        "ways from the initial state to a loss",
        f"  shortest      {ways['length']} steps",
        f"  how many      {differ}",
        f"  bridges       {_listed(ways['bridges'], 'no action is taken on every way')}",
    ]
    if ways["gates"] is not None:
        told = [f"state {gate['state']} (depth {gate['depth']})" for gate in ways["gates"]]
        found.append(f"  gates         {_listed(told, 'no state between lies on every way')}")
    return found + [f"  left out      {words}" for words in ways["left_out"]]


def _listed(names: list[str], none: str) -> str:
    return ", ".join(names) or none


def _settling(settling: dict[str, Any]) -> list[str]:
    actions = ", ".join(f"{name} {count:,}" for name, count in settling["by_action"].items())
    return [
        f"{settling['steps']:,} steps settle a loss: before them some fair run avoids it, after "
        "them none does",
        f"  by            {actions}",
        f"  to            {settling['points']:,} points of no return",
    ]


def _trace(trace: dict[str, Any]) -> list[str]:
    found = ["along the trace"]
    for place, row in enumerate(trace["states"]):
        left = f", {row['to_loss']} to a loss" if row["to_loss"] > 0 else ""
        mark = "  <- still avoidable, for the last time" if place == trace["last_safe"] else ""
        found.append(f"  {place:>3} {row['risk']:<9} {row['step'] or 'initial state'}{left}{mark}")
    if trace["last_safe"] is None:
        found.append("  no step of it settles a loss")
    return found
