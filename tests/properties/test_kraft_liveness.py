"""What a quorum comes to in the end: at small sizes, with what it takes, and what breaks it."""

from __future__ import annotations

import pytest

from checker.core.verdict import Judgement, Verdict
from model.kraft.protocol import KRAFT
from properties import liveness_of
from tests.support.judged import judge

FEW = {"nodes": 2, "epochs": 2, "log_size": 3, "appends": 1, "voter_changes": 0}
CHANGE = FEW | {"appends": 0, "voter_changes": 1}
RESIGNS = FEW | {"appends": 0, "resignations": 1}
LOST_DISK = FEW | {"epochs": 1, "disk_losses": 1}


def judged(name: str, bounds: dict[str, int], *changes: str, **settings: str) -> Judgement:
    """The judgement on one property of `kafka-fixed`, with other settings and fairness."""
    chosen = {each.replace("_", "."): value for each, value in settings.items()}
    return judge(KRAFT.model(bounds, {**KRAFT.preset("kafka-fixed"), **chosen}), name, *changes)


NO_TIME_OUTS = ("node_time_out=none", "node_time_out_at_once=none")
"""A run that waits for an election after the last epoch would be held up."""

NEEDS = {
    "a_leader_is_elected": (RESIGNS, ["node_time_out=none"]),
    "appends_are_committed": (FEW | {"epochs": 1}, [*NO_TIME_OUTS, "follower_fetch=none"]),
    "a_change_of_voters_ends": (CHANGE | {"epochs": 1}, [*NO_TIME_OUTS, "follower_fetch=none"]),
    "followers_catch_up": (FEW | {"epochs": 1}, [*NO_TIME_OUTS, "follower_fetch=none"]),
}


@pytest.mark.parametrize("name", [prop.name for prop in liveness_of(KRAFT)])
def test_what_must_happen_happens_if_nodes_keep_doing_what_they_do(name):
    bounds, none = NEEDS[name]
    assert judged(name, bounds).verdict in (Verdict.EXHAUSTED, Verdict.HELD_UP)
    assert judged(name, bounds, *none).verdict is Verdict.VIOLATED


@pytest.mark.slow
def test_a_follower_with_a_new_disk_does_not_catch_up_where_its_leader_refuses_its_offset():
    """KAFKA-12181; no fairness helps."""
    refused = {"fetch_offset_may_fall": "false", "kraft_version": "0"}
    broken = judged("followers_catch_up", LOST_DISK, *NO_TIME_OUTS, **refused)
    assert broken.verdict is Verdict.VIOLATED and broken.lasso is not None
    assert broken.lasso.loop == ()
    mended = judged("followers_catch_up", LOST_DISK, *NO_TIME_OUTS, kraft_version="0")
    assert mended.verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_a_change_of_voters_needs_prospective_nodes_to_give_up():
    """Who follows the leader and asks for pre-votes in vain has to fetch again."""
    bounds = CHANGE | {"nodes": 3}
    name = "a_change_of_voters_ends"
    assert judged(name, bounds).verdict is Verdict.EXHAUSTED
    assert judged(name, bounds, "prospective_give_up=none").verdict is Verdict.VIOLATED
