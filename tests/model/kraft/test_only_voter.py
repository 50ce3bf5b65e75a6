"""An only voter wins as it stands: it leads before it handles anything else, in every release."""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.kraft.protocol import KRAFT
from model.kraft.state import CANDIDATE, LEADER
from tests.support.kafka import after

BOUNDS = {"nodes": 2, "epochs": 4, "appends": 0, "voter_changes": 0}
STARTS = ({"crashes": 1}, ("node_crash(node=n0)",), 2)
AFTER_2_8 = ("leader_resign(node=n0)", "resigned_stand(node=n0)")
AFTER_4_0 = (
    "leader_resign(node=n0)",
    "resigned_leave(node=n0)",
    "node_time_out_at_once(node=n0)",
)


@pytest.mark.parametrize(
    ("preset", "budget", "steps", "epoch"),
    [
        ("kafka-2.8", *STARTS),
        ("kafka-3.9", *STARTS),
        ("kafka-4.0", *STARTS),
        ("kafka-4.3", *STARTS),
        ("kafka-2.8", {"resignations": 1}, AFTER_2_8, 2),
        ("kafka-4.3", {"resignations": 1}, AFTER_4_0, 3),
        ("kafka-2.8", {"disk_losses": 1}, ("node_lose_disk(node=n0)",), 1),
    ],
)
def test_an_only_voter_leads_the_next_epoch_whatever_it_was(preset, budget, steps, epoch):
    """The other node is an observer that has heard of nobody: it hears nothing before that."""
    model = KRAFT.model(BOUNDS | budget, {**KRAFT.preset(preset), "observers": 1})
    engine = ReferenceEngine(model)
    state = after(model, *steps)
    node = engine.view(state).nodes[0]
    assert (node.role, node.leader, node.epoch) == (CANDIDATE, None, epoch)
    ((step, leads),) = engine.successors(state)
    assert step.action.name == "candidate_become_leader"
    node = engine.view(leads).nodes[0]
    assert (node.role, node.leader == node, node.epoch) == (LEADER, True, epoch)
