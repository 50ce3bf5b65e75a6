"""For which disk a vote is: a candidate that lost its disk asks again in the epoch."""

from types import MappingProxyType

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.kraft.protocol import KRAFT

STATIC = {"kraft.version": "0", "pre.vote": "false"}
BOUNDS = {
    "nodes": 2, "epochs": 2, "appends": 0, "voter_changes": 0,
    "crashes": 1, "disk_losses": 1, "version_upgrades": 1,
}  # fmt: skip
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
    state, take = _after([*VOTED, *steps], settings)
    assert (take(state, ("voter_grant_vote", 1, 0)) is not None) is is_granted


def test_once_kraft_version_has_risen_a_replaced_disk_has_no_vote():
    """The leader has to be told all directories; until then voters are known by id."""
    rises, votes = ("leader_raise_version", 0), ("voter_grant_vote", 1, 0)
    state, take = _after([])
    assert take(state, rises) is None
    told = ("leader_note_directory", 0, 1)
    lost = [("node_time_out_at_once", 1), ("node_lose_disk", 0)]
    for steps, is_asked in (([told], True), ([told, rises, ("follower_fetch", 1, 0)], False)):
        state, take = _after([*steps, *lost])
        assert (take(state, votes) is not None) is is_asked


def _after(steps, settings=MappingProxyType({})):
    """The state after steps, and what takes one more."""
    model = KRAFT.model(BOUNDS, {**STATIC, **settings})
    engine = ReferenceEngine(model)
    instances = {(i.action.name, *i.arguments): i for i in model.instances}
    state = engine.initial()
    for step in steps:
        after = engine.step(state, instances[step])
        assert after is not None, step
        state = after
    return state, lambda state, step: engine.step(state, instances[step])
