"""For which disk a vote is: a candidate that lost its disk asks again in the epoch."""

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.kraft.protocol import KRAFT

STATIC = {"kraft.version": "0", "pre.vote": "false"}
BOUNDS = {"nodes": 2, "epochs": 2, "appends": 0, "voter_changes": 0, "crashes": 1}
VOTED = [("node_time_out_at_once", 1), ("voter_grant_vote", 1, 0)]
LOST = ("node_lose_disk", 1)
RESTARTS = ("node_crash", 0)
STANDS = [("node_time_out_at_once", 1)] * 2
BY_ID = {"vote.names.directory": "false"}


@pytest.mark.parametrize(
    ("steps", "settings", "is_granted"),
    [
        ([LOST, *STANDS], {}, False),
        ([LOST, *STANDS], BY_ID, True),
        ([RESTARTS, LOST, *STANDS], {}, True),
        ([LOST, RESTARTS, *STANDS], {}, True),
    ],
    ids=["by directory", "by id", "forgotten before", "forgotten after"],
)
def test_a_vote_is_for_a_disk_until_the_voter_starts_again(steps, settings, is_granted):
    """With `kraft.version` 0 quorum-state has no directory."""
    model = KRAFT.model(BOUNDS | {"disk_losses": 1}, STATIC | settings)
    engine = ReferenceEngine(model)
    instances = {(i.action.name, *i.arguments): i for i in model.instances}
    state = engine.initial()
    for step in [*VOTED, *steps]:
        state = engine.step(state, instances[step])
        assert state is not None, step
    asked = engine.step(state, instances["voter_grant_vote", 1, 0])
    assert (asked is not None) is is_granted
