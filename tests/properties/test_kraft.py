"""What KRaft promises: each promise can fail, each rule is needed, and nothing is vacuous."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.search.explore import Explorer, Limits, Options
from checker.core.verdict import Verdict
from model.kraft.bounds import EPOCHS
from model.kraft.kafka_raft_client_elections import (
    follow_epoch,
    require_vote_request,
    waits_for_an_election,
)
from model.kraft.kafka_raft_client_replication import acknowledge, follows, is_valid
from model.kraft.kraft_control_record_state_machine import append_from
from model.kraft.protocol import KRAFT
from model.kraft.quorum_state import to_candidate
from model.kraft.state import CANDIDATE, PROSPECTIVE, UNATTACHED, Node, Quorum
from model.language import action, minimum, require
from properties import Sense, choose_properties, promised_properties, properties_of
from tests.support.laws import check_is_broken, explore
from tests.support.textbook import count_levels, replay
from tests.support.tiers import nightly

ALWAYS = [p for p in properties_of(KRAFT) if p.sense is Sense.ALWAYS]
BY_SETTINGS = [p for p in ALWAYS if p.broken_by.split()[0] == KRAFT.name]
AT_ONCE = {"pre.vote": "false"}
FAULTS = {"voter_changes": 0, "power_losses": 1, "crashes": 1, "epochs": 2}
NEEDED = {
    "committed_records_stay": {"nodes": 1, "voter_changes": 0, "power_losses": 1},
    "leaders_have_what_is_committed": FAULTS,
    "the_voter_set_is_that_of_the_log": {"appends": 2, "epochs": 2},
    "majorities_meet": {"appends": 0, "epochs": 2, "voter_changes": 2},
    "no_truncation_below_the_high_watermark": FAULTS,
    "a_snapshot_has_the_voters_of_the_log": {"appends": 2, "epochs": 2, "snapshots": 1},
    "a_follower_accepts_its_leaders_snapshot": {"voter_changes": 0, "snapshots": 1},
    "a_removed_voter_stays_out": {"appends": 0, "epochs": 1, "voter_changes": 2},
    "one_record_at_an_offset_and_epoch": {"epochs": 1, "power_losses": 1},
    "a_leader_accepts_a_lower_fetch_offset": {"epochs": 1, "disk_losses": 1},
    "a_log_begins_at_a_snapshot": {"epochs": 1, "snapshots": 1, "power_losses": 1},
    "a_controller_that_renounces_can_revert": {"epochs": 1},
    "a_removed_voter_starts_no_election": {"appends": 0, "epochs": 2},
    "who_cannot_win_starts_no_election": {"appends": 0, "epochs": 2},
    "a_leader_that_is_heard_is_not_disturbed": {"appends": 0, "epochs": 2},
    "an_added_voter_has_caught_up": {"appends": 0, "epochs": 1},
    "no_vote_for_a_lost_disk": {
        "nodes": 2,
        "appends": 0,
        "voter_changes": 0,
        "epochs": 2,
        "crashes": 1,
        "disk_losses": 1,
    },
    "a_leader_is_named_with_endpoints": {
        "appends": 0,
        "epochs": 2,
        "crashes": 1,
        "disk_losses": 1,
    },
}
OTHERWISE = {
    "no_vote_for_a_lost_disk": {"kraft.version": "0"},
    "a_removed_voter_stays_out": {"controller.quorum.auto.join.enable": "true"},
    "a_removed_voter_starts_no_election": {"pre.vote": "true"},
    "who_cannot_win_starts_no_election": {"pre.vote": "true"},
    "a_leader_that_is_heard_is_not_disturbed": {"pre.vote": "true"},
    "an_added_voter_has_caught_up": {"observers": "1"},
}
DEPTHS = {
    "committed_records_stay": 3,
    "leaders_have_what_is_committed": 9,
    "the_voter_set_is_that_of_the_log": 11,
    "majorities_meet": 2,
    "no_truncation_below_the_high_watermark": 10,
    "a_snapshot_has_the_voters_of_the_log": 13,
    "a_follower_accepts_its_leaders_snapshot": 14,
    "a_removed_voter_stays_out": 5,
    "one_record_at_an_offset_and_epoch": 4,
    "a_leader_accepts_a_lower_fetch_offset": 2,
    "a_log_begins_at_a_snapshot": 3,
    "a_controller_that_renounces_can_revert": 6,
    "a_removed_voter_starts_no_election": 4,
    "who_cannot_win_starts_no_election": 1,
    "a_leader_that_is_heard_is_not_disturbed": 1,
    "an_added_voter_has_caught_up": 1,
    "no_vote_for_a_lost_disk": 7,
    "a_leader_is_named_with_endpoints": 4,
}


QUICK = (
    "committed_records_stay", "majorities_meet", "one_record_at_an_offset_and_epoch",
    "a_controller_that_renounces_can_revert",
)  # fmt: skip
BROKEN = [
    pytest.param(p, id=p.name, marks=[] if p.name in QUICK else [pytest.mark.slow])
    for p in BY_SETTINGS
]


def _model(prop, **changed):
    settings = {**KRAFT.preset("kafka-fixed"), **AT_ONCE, **OTHERWISE.get(prop.name, {})}
    return KRAFT.model(NEEDED[prop.name], settings | changed)


@pytest.mark.parametrize("prop", BROKEN)
def test_what_is_said_to_break_a_property_breaks_it_and_the_report_says_where(prop):
    """And not in as many steps without that."""
    _, *changes = prop.broken_by.split()
    depth = DEPTHS[prop.name]
    assert check_is_broken(_model(prop, **dict(c.split("=") for c in changes)), prop) == depth
    assert not explore(_model(prop), [prop], Limits(depth=depth)).violations


@pytest.mark.nightly("a search to the end; that it holds as deep as it breaks is shown each time")
@pytest.mark.parametrize("prop", BROKEN)
def test_nothing_else_breaks_it_within_these_bounds(prop):
    assert explore(_model(prop), [prop]).verdict is Verdict.EXHAUSTED


# --- protocols with one mistake ------------------------------------------------------------------


@action("{voter} votes for {node}, and for whom else it likes")
def votes_again(quorum: Quorum, node: Node, voter: Node) -> None:
    """The mistake: whom it has voted for is not asked."""
    require(node.role == CANDIDATE, node.log.is_at_least(voter.log))
    require_vote_request(quorum, node, voter)
    require((node.epoch > voter.epoch) | (voter.role == UNATTACHED))

    follow_epoch(quorum, node, voter)
    voter.voted = node
    node.votes = node.votes.with_member(voter)


@action("{node} fetches from {leader}, and takes its high watermark")
def takes_any_high_watermark(quorum: Quorum, node: Node, leader: Node) -> None:
    """The mistake: a leader that has committed nothing of its epoch sends one, too."""
    require(node != leader, follows(node, leader), is_valid(node, leader))

    end = leader.log.end
    acknowledge(quorum, node, leader)
    append_from(quorum, node, leader, end)
    node.high_watermark = minimum(end, leader.high_watermark)
    node.has_fetched = True


@action("{node} becomes a candidate, and notes no vote")
def stands_without_its_vote(quorum: Quorum, node: Node) -> None:
    """The mistake: it may vote for another after a restart."""
    require(waits_for_an_election(quorum, node), node.epoch < quorum.bound(EPOCHS))

    to_candidate(quorum, node)
    node.voted = None


MISTAKES = {
    "a_role_fits_epoch_vote_and_leader": ("node_time_out_at_once", stands_without_its_vote),
    "one_leader_in_an_epoch": ("voter_grant_vote", votes_again),
    "one_vote_in_an_epoch": ("voter_grant_vote", votes_again),
    "high_watermarks_do_not_fall": ("follower_fetch", takes_any_high_watermark),
}


@pytest.mark.slow
@pytest.mark.parametrize("prop", [p for p in ALWAYS if p not in BY_SETTINGS], ids=lambda p: p.name)
def test_what_no_setting_breaks_a_mistake_does(prop):
    name, mistake = MISTAKES[prop.name]
    wrong = KRAFT.variant("wrong", prop.broken_by, replace(mistake, name=name))
    bounds = {"voter_changes": 0, "epochs": 2}
    (violation,) = explore(wrong.model(bounds, AT_ONCE), [prop]).violations
    assert violation.depth > 0
    assert prop in promised_properties(KRAFT.model(bounds, AT_ONCE))  # which is searched below


@action("{node} becomes a candidate, whoever would vote for it")
def stands_without_pre_votes(quorum: Quorum, node: Node) -> None:
    """The mistake: that a majority would vote for it is not asked."""
    require(node.role == PROSPECTIVE, node.epoch < quorum.bound(EPOCHS))

    to_candidate(quorum, node)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("a_removed_voter_starts_no_election", 5),
        ("who_cannot_win_starts_no_election", 2),
        ("a_leader_that_is_heard_is_not_disturbed", 2),
    ],
)
def test_who_needs_no_pre_votes_disturbs(name, depth):
    (prop,) = choose_properties(KRAFT, [name])
    mistake = replace(stands_without_pre_votes, name="prospective_stand")
    wrong = KRAFT.variant("wrong", "pre-votes are not counted", mistake)
    bounds = {"appends": 0, "epochs": 2, "log_size": 2}
    (violation,) = explore(wrong.model(bounds, preset="kafka-fixed"), [prop]).violations
    assert violation.depth == depth


ADDED_AND_FORGOTTEN = """
node_hear_of_epoch(node=1, other=0)
follower_fetch(node=1, leader=0)
node_flush(node=1)
follower_fetch(node=1, leader=0)
leader_add_voter(leader=0, voter=1)
node_lose_power(node=0)
"""
LEADS_AGAIN = """
leader_remove_voter(leader=0, voter=1)
node_flush(node=0)
node_lose_power(node=0)
resigned_leave(node=0)
node_time_out(node=0)
voter_grant_pre_vote(node=0, voter=2)
prospective_stand(node=0)
voter_grant_vote(node=0, voter=2)
node_time_out(node=2)
voter_grant_pre_vote(node=2, voter=1)
candidate_become_leader(node=0)
voter_grant_pre_vote(node=2, voter=3)
"""
GRANTED_AND_FORGOTTEN = """
node_time_out(node=1)
node_time_out(node=2)
leader_remove_voter(leader=0, voter=2)
node_crash(node=3)
voter_grant_pre_vote(node=2, voter=3)
follower_fetch(node=3, leader=0)
follower_fetch(node=3, leader=0)
node_lose_disk(node=3)
voter_grant_pre_vote(node=2, voter=1)
"""


@pytest.mark.parametrize(
    ("name", "steps", "bounds", "settings"),
    [
        (
            "a_removed_voter_starts_no_election",
            GRANTED_AND_FORGOTTEN,
            {"nodes": 4, "epochs": 2, "crashes": 1, "disk_losses": 1, "power_losses": 0},
            {"whole.fetches": "false"},
        ),
        ("who_cannot_win_starts_no_election", ADDED_AND_FORGOTTEN, {}, {"observers": "2"}),
        ("a_leader_that_is_heard_is_not_disturbed", LEADS_AGAIN, {"nodes": 4, "epochs": 4}, {}),
    ],
    ids=["a disk that is lost", "a voter set that is forgotten", "a leader that leads again"],
)
def test_pre_votes_do_not_promise_what_nobody_can_know(name, steps, bounds, settings):
    """What a granter lost with its disk or by a power loss, a leader again; hunts found them."""
    (prop,) = choose_properties(KRAFT, [name])
    bounds = {"power_losses": 1, "log_size": 4} | bounds
    model = KRAFT.model(bounds, {**KRAFT.preset("kafka-fixed"), **settings})
    path = [
        next(i.number for i in model.instances if str(i) == step)
        for step in steps.split("\n")[1:-1]
    ]
    states = replay(model, tuple(path))
    reference = ReferenceEngine(model)
    assert all(reference.holds(prop.claim, *pair) for pair in itertools.pairwise(states))


# --- rules ---------------------------------------------------------------------------------------

RULES = {
    "one.change.at.a.time": ({"appends": 0, "epochs": 2, "voter_changes": 2}, {}, 2),
    "reconfiguration.waits.for.epoch": ({"nodes": 4, "appends": 0, "voter_changes": 2}, {}, 7),
    "removed.leader.is.not.counted": ({"appends": 0, "epochs": 2, "voter_changes": 2}, {}, 7),
    "follower.flushes.before.fetch": ({"voter_changes": 0, "epochs": 2, "power_losses": 1}, {}, 8),
    "high.watermark.exceeds.epoch.start": (
        {"voter_changes": 0, "epochs": 4},
        {"whole.fetches": "false"},
        15,
    ),
}


LONG = {
    "a resignation", "a disk, and controllers that join", "a change of voters",
    "elections without pre-votes", "an observer", "snapshots", "power", "kraft.version rises",
    "four voters",
}  # fmt: skip


def _ids(names):
    """The names, of which some take more than a few seconds."""
    return [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in names]


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule",
    [nightly("four nodes", r) if r == "reconfiguration.waits.for.epoch" else r for r in RULES],
)
def test_each_rule_is_needed(rule):
    """Without it metadata is lost, or majorities do not meet; with it not in as many steps."""
    bounds, settings, depth = RULES[rule]
    names = ["majorities_meet", "leaders_have_what_is_committed"]
    claims = choose_properties(KRAFT, names)
    settings = {**KRAFT.preset("kafka-fixed"), **AT_ONCE} | settings
    without = explore(KRAFT.model(bounds, settings | {rule: "false"}), claims, symmetry=True)
    assert min(violation.depth for violation in without.violations) == depth
    mended = explore(KRAFT.model(bounds, settings), claims, Limits(depth=depth), symmetry=True)
    assert not mended.violations


@pytest.mark.slow
def test_static_voters_lose_what_is_committed_with_a_disk_and_voters_by_directory_do_not():
    claims = choose_properties(KRAFT, ["leaders_have_what_is_committed"])
    bounds = {"voter_changes": 0, "epochs": 2, "disk_losses": 1}
    static = KRAFT.model(bounds, AT_ONCE | {"kraft.version": "0"})
    assert explore(static, claims).violations
    assert explore(KRAFT.model(bounds, AT_ONCE), claims).verdict is Verdict.EXHAUSTED


# --- sizes ---------------------------------------------------------------------------------------

WHERE = {
    "elections": ({"epochs": 3, "voter_changes": 0}, {}),
    "elections without pre-votes": ({"epochs": 4, "voter_changes": 0}, AT_ONCE),
    "a change of voters": ({"epochs": 2, "crashes": 1}, {}),
    "four voters": ({"nodes": 4, "epochs": 2, "appends": 0, "log_size": 3}, {}),
    "an observer": ({"epochs": 2, "voter_changes": 2}, {"observers": "1"}),
    "a resignation": ({"epochs": 3, "voter_changes": 0, "resignations": 1}, AT_ONCE),
    "power": (FAULTS, AT_ONCE),
    "snapshots": ({"epochs": 2, "snapshots": 2, "appends": 0}, AT_ONCE),
    "kraft.version rises": (
        {"epochs": 2, "appends": 0, "version_upgrades": 1},
        {"kraft.version": "0"},
    ),
    "a disk, and controllers that join": (
        {"epochs": 2, "appends": 0, "voter_changes": 2, "disk_losses": 1},
        AT_ONCE | {"controller.quorum.auto.join.enable": "true"},
    ),
}
STATES = {"elections": 51_728, "power": 25_820, "kraft.version rises": 8_141}


@pytest.mark.parametrize("name", _ids(WHERE))
def test_a_quorum_keeps_its_promises(name):
    bounds, settings = WHERE[name]
    model = KRAFT.model(bounds, {**KRAFT.preset("kafka-fixed"), **settings})
    promised = [p for p in promised_properties(model) if p.sense is Sense.ALWAYS]
    found = Explorer(model, promised, options=Options(symmetry=True, cross_check=False)).run()
    assert found.verdict is Verdict.EXHAUSTED
    assert STATES.get(name) in (None, found.distinct_states)


@pytest.mark.slow
def test_nothing_is_promised_in_vain_and_every_witness_is_reached():
    model = KRAFT.model({"epochs": 2}, preset="kafka-fixed")
    promised = promised_properties(model)
    found = Explorer(model, promised, options=Options(symmetry=True, cross_check=False)).run()
    for prop in promised:
        assert not found.is_vacuous(prop), prop.name
        assert prop.sense is Sense.ALWAYS or found.verdict_on(prop) is Verdict.REACHED, prop.name


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["kafka-4.3", "kafka-2.8", "kafka-3.9"])
def test_a_version_is_safe_without_faults_and_changes_of_voters(preset):
    model = KRAFT.model({"voter_changes": 0, "epochs": 2}, preset=preset)
    found = explore(model, promised_properties(model))
    assert found.verdict is Verdict.EXHAUSTED


@pytest.mark.slow
def test_nodes_are_interchangeable_and_the_reference_engine_counts_the_same():
    model = KRAFT.model({"voter_changes": 0, "epochs": 2, "appends": 0}, AT_ONCE)
    levels = count_levels(model)
    assert Explorer(model, []).run().levels == levels
    smaller = Explorer(model, [], options=Options(symmetry=True, cross_check=False)).run()
    assert sum(levels) / 2 <= smaller.distinct_states < sum(levels)
