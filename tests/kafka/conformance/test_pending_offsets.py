"""What a group of 3.9 has committed, and pending, is what the model of a task says, however late.

The coordinator of groups up to 3.9; 4.0 has another, which has no such thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import pytest

from checker.core.engines.reference import ReferenceEngine, State
from checker.kafka.conformance.group_rules import pending_offsets
from model.kafka_streams.protocol import KAFKA_STREAMS
from model.kafka_streams.state import Decision
from model.language.protocol import Instance, Model

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clients")]

BOUNDS = {"inputs": 3, "rebalances": 0, "aborts": 2, "late_completions": 2}
SEND = "owner_send_offset"
LATE, FAILS = "group_complete_late", "group_fail_to_complete"
MARKER, EARLY = "offsets_get_marker", "offsets_get_marker_early"


def value(model: Model, state: State, name: str) -> int:
    """A variable of the only owner, or of the task."""
    place = model.positions
    return int(state[place[name, (0,)] if (name, (0,)) in place else place[name, ()]])


def runs(model: Model) -> Iterator[tuple[State, list[tuple[State, Instance]]]]:
    """Every reachable state, with a shortest run to it: each step, and what was so before."""
    engine = ReferenceEngine(model)
    first = engine.initial()
    queue = deque([first])
    known: dict[State, list[tuple[State, Instance]]] = {first: []}
    while queue:
        state = queue.popleft()
        yield state, known[state]
        for instance in model.instances:
            after = engine.step(state, instance)
            if after is not None and after not in known:
                known[after] = [*known[state], (state, instance)]
                queue.append(after)


def commands(model: Model, run: Sequence[tuple[State, Instance]]) -> str:
    """The run as the group's class is asked. A completion that fails comes before the append."""
    told = []
    for place, (state, step) in enumerate(run):
        name = step.action.name
        rest = [later.action.name for _, later in run[place + 1 :]]
        next_one = next((each for each in rest if each in (LATE, FAILS, MARKER, EARLY)), "")
        if name == SEND:
            told.append(f"prepare:{value(model, state, 'owners.at') + 1}")
            told += ["complete:commit"] if next_one == FAILS else []
            told.append("append")
        elif name in (LATE, MARKER):
            which = "owners.late" if name == LATE else "owners.decision"
            commits = value(model, state, which) == Decision.COMMIT
            told.append(f"complete:{'commit' if commits else 'abort'}")
    return " ".join(told)


def said(model: Model, state: State) -> str:
    """What the model says of the group after a run."""
    has_offset = value(model, state, "owners.offset") and not value(
        model, state, "owners.forgotten"
    )
    is_pending = has_offset or value(model, state, "owners.late") != Decision.NONE
    committed = value(model, state, "committed") or -1
    return f"{committed} {'pending' if is_pending else 'free'}"


@pytest.mark.parametrize(("version", "given"), [("3.9.0", "void"), ("3.9.1", "CompletableFuture")])
def test_a_group_has_what_the_model_says_in_every_state_and_since_3_9_1_its_answer_waits(
    version, given
):
    model = KAFKA_STREAMS.model(BOUNDS, {"completion.is.awaited": "false"})
    found = [(commands(model, run), said(model, state)) for state, run in runs(model)]
    asked = {run: answer for run, answer in found if run}
    assert all(asked[run] == answer for run, answer in found if run)
    assert len(asked) > 50 and any("complete:commit append" in run for run in asked)
    answers = pending_offsets(version, ["awaited", *asked])
    assert answers[0] == given
    assert dict(zip(asked, answers[1:], strict=True)) == asked
