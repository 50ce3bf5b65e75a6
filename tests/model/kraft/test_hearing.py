"""What a node hears of a leader, and of where that is: who started again may not know it."""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.kraft.protocol import KRAFT
from model.kraft.state import FOLLOWER, PROSPECTIVE, UNATTACHED
from tests.support.kafka import after

BOUNDS = {"epochs": 3, "appends": 0, "crashes": 1, "disk_losses": 1}
LED_BY_A_REMOVED_NODE = (
    "leader_remove_voter(leader=n0, voter=n1)",
    "node_time_out(node=n2)",
    "node_time_out(node=n1)",
    "voter_grant_pre_vote(node=n1, voter=n2)",
    "prospective_stand(node=n1)",
    "voter_grant_vote(node=n1, voter=n2)",
    "candidate_become_leader(node=n1)",
    "node_hear_of_epoch(node=n2, other=n1)",
)
RESTARTED = (
    "leader_remove_voter(leader=n0, voter=n0)",
    "follower_fetch(node=n1, leader=n0)",
    "node_crash(node=n1)",
)
ASKS = "node_time_out(node={})"
HEARS = "node_hear_of_epoch(node={}, other={})"


def _after(node, steps, **settings):
    """The role, the leader's number and the epoch of a node."""
    model = KRAFT.model(BOUNDS, settings)
    state = ReferenceEngine(model).view(after(model, *steps))
    found = state.nodes[node]
    leader = next((n for n, other in enumerate(state.nodes) if found.leader == other), None)
    return found.role, leader, found.epoch


def test_a_follower_that_asks_for_pre_votes_still_tells_where_its_leader_is():
    """Those who go by voters without that leader follow it, too."""
    steps = (*LED_BY_A_REMOVED_NODE, ASKS.format("n2"))
    assert _after(2, steps) == (PROSPECTIVE, 1, 2)
    assert _after(0, (*steps, HEARS.format("n0", "n2"))) == (FOLLOWER, 1, 2)


def test_who_started_again_follows_its_leader_when_it_hears_where_that_is():
    """Until then it is Unattached, after a pre-vote that it gives up, too."""
    gives_up = (*RESTARTED, ASKS.format("n1"), "prospective_give_up(node=n1)")
    for steps in (RESTARTED, gives_up):
        assert _after(1, steps) == (UNATTACHED, 0, 1)
        assert _after(1, (*steps, HEARS.format("n1", "n0"))) == (FOLLOWER, 0, 1)


def test_who_asks_for_pre_votes_goes_by_its_leaders_request_and_not_by_a_response():
    """Responses to pre-votes are of the same epoch, and have no error."""
    steps = (*RESTARTED, ASKS.format("n1"))
    assert _after(1, (*steps, HEARS.format("n1", "n0"))) == (FOLLOWER, 0, 1)
    assert _after(2, steps) == (FOLLOWER, 0, 1)
    with pytest.raises(AssertionError):
        _after(1, (*steps, HEARS.format("n1", "n2")))


def test_with_the_fix_who_hears_of_a_leader_and_not_where_it_is_hears_of_the_epoch():
    steps = (*RESTARTED, "node_lose_disk(node=n2)", HEARS.format("n2", "n1"))
    assert _after(2, steps, **{"unknown.endpoints.are.no.leader": True}) == (UNATTACHED, None, 1)
