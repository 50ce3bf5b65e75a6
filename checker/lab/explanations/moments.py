"""When a loss was decided: the last state from which some fair run stays clear of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from checker.core.graphs.account import along
from checker.core.graphs.built import build
from checker.core.graphs.losses import find_losses
from checker.core.search.allowance import Allowance
from checker.core.traces.trace import Trace
from checker.lab.explanations.searches import searchable
from model.language.errors import LimitError, UsageError


@dataclass(frozen=True)
class Decision:
    """How the states of a trace stand to the loss at its end, in the words of `graph`.

    `risks` has one word a state: safe, possible, certain or lost; `to_loss` the steps to the
    nearest loss from there. `last_avoidable` is the number of steps after which some fair run still
    stays clear of it, -1 if none ever did, none if even the end decides nothing. `left_out` says
    why it is not known; nothing else is there then.
    """

    risks: tuple[str, ...] = ()
    to_loss: tuple[int | None, ...] = ()
    last_avoidable: int | None = None
    states: int = 0
    left_out: str = ""


def decision(
    trace: Trace, budget: Allowance,
    stops: Callable[[Callable[[], None]], None] = lambda _: None,
) -> Decision:  # fmt: skip
    """When the loss at the end of a trace was decided, if its graph is small enough to tell.

    `stops` is handed what ends the search soon.
    """
    claim = searchable(trace)
    if claim is None:
        return Decision(left_out="the trace falsifies no property that should always hold")
    if not budget.left:
        return Decision(left_out="there was no time left")
    try:
        built = build(trace.model, [claim], budget.limits, stops=stops)
        if not built.graph.is_complete:
            return Decision(left_out=f"the graph is too large: {built.stopped} came first")
        found = along(find_losses(built, [claim], trace.model.protocol.fairness), trace)
    except KeyboardInterrupt:
        return Decision(left_out="the user ended it")
    except (UsageError, LimitError) as error:
        return Decision(left_out=f"the graph is too large: {error}")
    return Decision(
        tuple(row["risk"] for row in found["states"]),
        tuple(row["to_loss"] for row in found["states"]),
        found["last_safe"],
        built.states,
    )
