"""What the whole state graph says of a loss, gathered as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from checker.core.engines.reference import ReferenceEngine
from checker.core.graphs.built import Built
from checker.core.graphs.losses import Losses, Risk
from checker.core.graphs.tables import SHOWN, Tables
from checker.core.graphs.views import differences
from checker.core.graphs.ways import Ways
from checker.core.traces.trace import Trace, build_trace
from model.language.errors import DisagreementError, UsageError
from model.language.naming import instance_words

MOST_TOLD = 20
"""Points of no return and gates that are told by what differs in them from the first state."""


def account_of(
    losses: Losses, seen: Tables | None = None, trace: Trace | None = None
) -> dict[str, Any]:
    """How large the graph is, how its states stand to a loss, the ways there, what settles one.

    `seen` is the quotient or the part of the graph that was asked for. The shortest way is replayed
    on the reference engine first; `DisagreementError` if that does not show a loss.
    """
    built = losses.built
    found: dict[str, Any] = {
        **built.model.identity,
        "states": built.states,
        "steps": built.steps,
        "complete": built.graph.is_complete,
        "stopped": built.stopped or None,
        "properties": [prop.name for prop in losses.properties],
        "risk": {SHOWN[risk]: int((losses.risk == risk).sum()) for risk in Risk},
        "losing_steps": int(losses.losing.sum()),
        "ways": _ways(losses) if losses.is_possible else None,
        "settling": _settling(losses),
    }
    if seen is not None:
        found["seen"] = {"nodes": len(seen.ids), "arrows": len(seen.begin), **seen.about}
    if trace is not None:
        found["trace"] = along(losses, trace)
    return found


def _ways(losses: Losses) -> dict[str, Any]:
    ways = Ways(losses)
    first = next(iter(ways.shortest()))
    _replay(losses, first)
    found: dict[str, Any] = {
        "length": ways.length,
        "shortest": ways.count,
        "first": [instance_words(losses.built.model, _instance(losses, n)) for n in first],
        "up_to_order": None,
        "up_to_names": None,
        "bridges": ways.bridges(),
        "gates": None,
        "left_out": [],
    }
    try:
        essential = ways.essential()
        found |= {"up_to_order": essential.up_to_order, "up_to_names": essential.up_to_names}
    except UsageError as error:
        found["left_out"].append(str(error))
    try:
        found["gates"] = _told(losses.built, ways.gates())
    except UsageError as error:
        found["left_out"].append(str(error))
    return found


def _instance(losses: Losses, number: int) -> Any:
    return losses.built.model.instances[number]


def _replay(losses: Losses, way: Sequence[int]) -> None:
    """The functions themselves come to a loss by this way."""
    model = losses.built.model
    trace = build_trace(model, [_instance(losses, number) for number in way])
    engine = ReferenceEngine(model)
    for prop in losses.properties:
        evidence = trace.states[-prop.frames :]
        if len(evidence) == prop.frames and not engine.holds(prop.claim, *evidence):
            return
    raise DisagreementError("the shortest way to a loss is none on the reference engine")


def _told(built: Built, states: Sequence[int]) -> list[dict[str, Any]]:
    first = built.state(0)
    return [
        {
            "state": int(number),
            "depth": int(built.depths[number]),
            "differs": differences(built.model, first, built.state(int(number)))
            if place < MOST_TOLD
            else None,
        }
        for place, number in enumerate(states)
    ]


def _settling(losses: Losses) -> dict[str, Any]:
    built = losses.built
    actions = Counter(built.instance(step).action.name for step in losses.settling.tolist())
    points = losses.points_of_no_return.tolist()
    nearest = sorted(points, key=lambda state: (int(built.depths[state]), state))
    return {
        "steps": len(losses.settling),
        "by_action": dict(sorted(actions.items(), key=lambda one: (-one[1], one[0]))),
        "points": len(points),
        "nearest": _told(built, nearest[:MOST_TOLD]),
    }


def places(losses: Losses, trace: Trace) -> list[int]:
    """The numbers of a trace's states; `UsageError` if one is not in the graph."""
    numbers = losses.built.numbers_of(trace.states)
    if -1 in numbers:
        raise UsageError(
            f"state {numbers.index(-1)} of the trace is not in the graph, which was searched to "
            f"depth {int(losses.built.depths[-1])}: allow more depth, states or time"
        )
    return numbers


def along(losses: Losses, trace: Trace) -> dict[str, Any]:
    """How each state of a trace stands to a loss, and the last step before a loss was settled.

    `last_safe` is the number of steps after which some fair run still stays clear of losses, and
    after one more none does: -1 if that never was so, and none if the trace settles nothing.
    """
    numbers = places(losses, trace)
    settled = None
    rows = []
    for place, number in enumerate(numbers):
        step = trace.steps[place - 1] if place else None
        loses = step is not None and _loses(losses, numbers[place - 1], step.number)
        if settled is None and (losses.certain[number] or loses):
            settled = place
        rows.append({
            "state": number,
            "step": None if step is None else instance_words(trace.model, step),
            "risk": "lost" if loses else SHOWN[Risk(int(losses.risk[number]))],
            "to_loss": int(losses.distance[number]) if losses.distance[number] >= 0 else None,
        })  # fmt: skip
    return {"states": rows, "last_safe": None if settled is None else settled - 1}


def _loses(losses: Losses, state: int, instance: int) -> bool:
    """The step by this instance from a state is a loss by itself."""
    graph = losses.built.graph
    if state >= graph.expanded:
        return False
    begin = int(graph.offsets[state])
    steps = [step for step, _ in graph.steps(state)]
    return instance in steps and bool(losses.losing[begin + steps.index(instance)])
