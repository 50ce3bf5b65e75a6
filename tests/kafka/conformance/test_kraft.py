"""Controllers of published releases: what they do with a quorum's findings, and what mends it."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.kafka.conformance.compare import Tally, compare, compare_walks
from checker.kafka.conformance.compared import QUORUMS
from checker.kafka.conformance.controllers import Controllers
from checker.kafka.conformance.projection import Projection
from checker.kafka.conformance.replays import replay
from checker.kafka.conformance.sensitivity import sensitivity, with_setting
from checker.kafka.conformance.shorten import walk_of
from checker.kafka.conformance.walks import Walker
from checker.kafka.releases.jars import at_least
from checker.lab.experiments.cases import read_case
from checker.lab.experiments.choices import steps_named
from tests.support.quorums import (
    a_snapshot_before_voters_that_are_truncated,
    a_snapshot_in_place_of_a_log,
    a_snapshot_of_an_earlier_epoch,
    acknowledged_before_it_is_flushed,
    elected,
    fetches,
    taken_over,
    voters_hidden_by_a_truncation,
)
from tests.support.tiers import RELEASES, first_and_nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("controllers")]
VERSIONS = first_and_nightly(RELEASES, "4.3.1", "4.1.0", "4.0.1", "3.9.1")


_KEPT: dict[str, Controllers] = {}


@pytest.fixture(scope="module", autouse=True)
def _kept():
    """Controllers of the release that was asked last run on until another is asked."""
    yield
    _end()


def _end():
    while _KEPT:
        _KEPT.popitem()[1].__exit__(None, None, None)


@contextmanager
def running(version, fix=""):
    """Controllers of a release, which run on for the next test; with a fix, for this one alone."""
    if fix:
        with Controllers(version, fix) as controllers:
            yield controllers
        return
    if version not in _KEPT:
        _end()
        _KEPT[version] = Controllers(version).__enter__()
    yield _KEPT[version]


def _at_the_end(controllers, *parts):
    """Each controller after the steps."""
    steps = [step for part in parts for step in part]
    return controllers.play(5, [1, 2, 3], steps)[-1]


@pytest.mark.parametrize("version", VERSIONS)
def test_voters_below_the_former_end_of_a_log_are_hidden_and_committed_metadata_is_lost(version):
    added, committed, stand = voters_hidden_by_a_truncation(3, at_least(version, "4.0.0"))
    with running(version) as controllers:
        end = _at_the_end(controllers, added, committed)
        assert {end[node]["voters"] for node in (1, 2, 4, 5)} == {"[1, 2, 3, 4, 5]"}
        assert end[3]["voters"] == "[1, 2, 3]"
        lost, offset = end[2]["log"][-1], end[2]["high_watermark"]
        end = _at_the_end(controllers, added, committed, stand, taken_over())
    assert (end[3]["role"], end[3]["epoch"]) == ("Leader", 3)
    assert end[3]["high_watermark"] > offset
    assert all(lost not in end[node]["log"] for node in (1, 3))
    assert "below the current high watermark" in end[2]["failure"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("lost", "fix"), [(2, ""), (3, "voters-after-a-truncation")])
def test_a_controller_that_reads_all_voters_is_not_elected_by_the_former_ones(version, lost, fix):
    added, committed, stand = voters_hidden_by_a_truncation(lost, at_least(version, "4.0.0"))
    with running(version, fix) as controllers:
        end = _at_the_end(controllers, added, committed, stand)
    assert {end[node]["voters"] for node in end} == {"[1, 2, 3, 4, 5]"}
    assert end[3]["role"] in ("Prospective", "Candidate")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("lost", "fix", "voters"),
    [(5, "", "[1, 2, 3, 4]"), (0, "", "[1, 2, 3]"), (5, "voters-after-a-truncation", "[1, 2, 3]")],
)
def test_a_snapshot_that_ends_below_the_log_hides_that_a_voter_was_not_added(
    version, lost, fix, voters
):
    steps = a_snapshot_in_place_of_a_log(lost, at_least(version, "4.0.0"))
    with running(version, fix) as controllers:
        end = _at_the_end(controllers, steps)
    assert (end[3]["start"], end[3]["end"], end[3]["voters"]) == (5, 5, voters)
    assert {end[node]["voters"] for node in (1, 2)} == {"[1, 2, 3]"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_controller_ends_at_a_snapshot_of_an_earlier_epoch_and_is_stuck_after_a_start(version):
    sent, again = a_snapshot_of_an_earlier_epoch(at_least(version, "4.0.0"))
    with running(version) as controllers:
        assert "Full log truncation expected" in _at_the_end(controllers, sent)[3]["failure"]
        end = _at_the_end(controllers, sent, again)[3]
    assert (end["start"], end["end"], end["role"]) == (0, 4, "Follower")
    assert "failure" not in end


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("of_later_epoch", "fix"), [(True, ""), (False, "0024")])
def test_a_controller_goes_on_from_a_snapshot_that_it_takes(version, of_later_epoch, fix):
    sent, _ = a_snapshot_of_an_earlier_epoch(at_least(version, "4.0.0"), of_later_epoch)
    with running(version, fix) as controllers:
        end = _at_the_end(controllers, sent, fetches(2, 3, times=3))
    assert (end[3]["end"], end[3]["high_watermark"]) == (end[2]["end"], end[2]["high_watermark"])
    assert end[3]["start"] == (6 if of_later_epoch else 5)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("fix", ["", "0025"])
def test_a_controller_that_starts_acknowledges_what_it_has_not_flushed(version, fix):
    acknowledged, stand = acknowledged_before_it_is_flushed(at_least(version, "4.0.0"))
    with running(version, fix) as controllers:
        before = _at_the_end(controllers, acknowledged)
        end = _at_the_end(controllers, acknowledged, stand)
    committed = before[2]["log"][-1]
    assert before[2]["high_watermark"] == before[2]["end"] == before[1]["end"]
    assert before[1]["flushed"] == before[1]["end"] - (not fix)
    assert (end[3]["role"] == "Leader", committed in end[1]["log"]) == (not fix, bool(fix))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("fix", ["", "0027"])
def test_a_new_controller_ends_where_it_hears_of_a_leader_and_not_where_that_is(version, fix):
    """2 has read that 1, which leads, is removed, and restarts; 4 has an empty disk.

    With pre-votes 2 goes on to say so for as long as it finds no majority.
    """
    asks_first = at_least(version, "4.0.0")
    steps = [
        *elected(1, 2, asks_first),
        ("begin_epoch", 1, 2),
        ("begin_epoch", 1, 3),
        *fetches(1, 2, 3, times=3),
        ("remove_voter", 1, 1),
        *fetches(1, 2),
        *[("crash", 2), ("start", 2)],
        *[("crash", 4), ("empty_disk", 4), ("start", 4)],
    ]
    alone = [("crash", 1), ("crash", 3), ("time_out", 2)]
    with running(version, fix) as controllers:
        for more in ([], alone) if asks_first else ([],):
            end = controllers.play(4, [1, 2, 3], [*steps, *more, ("fetch", 4, 2)])[-1]
            assert ("Unknown leader endpoints" in end[4].get("failure", "")) == (not fix)
            if fix:
                assert (end[4]["role"], end[4]["epoch"]) == ("Unattached", end[2]["epoch"])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("removed_first", "fix", "voters"),
    [(True, "", "[]"), (False, "", "[1, 2, 3]"), (True, "0026", "[1, 2, 3]")],
)
def test_a_snapshot_before_a_removal_that_is_truncated_leaves_a_controller_without_voters(
    version, removed_first, fix, voters
):
    """What 3 commits then is on 1 and 3. 3 ends, and 2 lacks it: 1 does not stand."""
    asks_first = at_least(version, "4.0.0")
    truncated, alone = a_snapshot_before_voters_that_are_truncated(removed_first, asks_first)
    with running(version, fix) as controllers:
        end = controllers.play(3, [1, 2, 3], truncated)[-1]
        assert [end[node]["voters"] for node in (1, 2, 3)] == [voters, "[1, 2, 3]", "[1, 2, 3]"]
        assert end[1]["high_watermark"] == end[1]["end"] == 4
        end = controllers.play(3, [1, 2, 3], [*truncated, *alone])[-1]
    assert (end[1]["voters"], end[1]["role"] == "Leader") == (voters, voters != "[]")


OTHERS = {
    "voters in the log": ({}, {}),
    "static voters": ({}, {"kraft.version": "0"}),
    "voters that come to be in the log": ({"version_upgrades": 1}, {"kraft.version": "0"}),
    "snapshots": ({"snapshots": 2, "power_losses": 1}, {"whole.fetches": "false"}),
}


@pytest.mark.parametrize("others", OTHERS)
def test_controllers_take_walks_of_the_model(others):
    tally = Tally("4.3.1")
    with running("4.3.1") as controllers:
        for model in QUORUMS.models("4.3.1", *OTHERS[others], None)[:1]:
            walker = Walker(model, "4.3.1", 7)
            compare_walks(controllers, walker.projection, walker.walks(10, 40), tally)
    assert tally.unknown == [], [tally.shortest(kind) for kind in tally.unknown]
    assert tally.agreed > 200


def test_who_asks_for_pre_votes_follows_a_leader_that_sends_begin_quorum_epoch():
    """It has restarted, and knows the leader's id alone."""
    model = QUORUMS.models("4.3.1", {"crashes": 1}, {}, None)[0]
    names = (
        "leader_remove_voter(leader=n0, voter=n0)", "follower_fetch(node=n1, leader=n0)",
        "node_crash(node=n1)", "node_time_out(node=n1)", "node_hear_of_epoch(node=n1, other=n0)",
    )  # fmt: skip
    steps = list(steps_named(model, names))
    projection = Projection(model, "4.3.1")
    walk = walk_of(model, projection, steps)
    assert walk is not None
    with running("4.3.1") as controllers:
        answer = controllers.run(model, projection, walk.steps)
    compared = compare(projection, walk.steps, walk.expected, answer, walk.between)
    assert (compared.agreed, compared.difference) == (len(steps) + 1, None)


@pytest.mark.parametrize("setting", ["pre.vote", "whole.fetches"])
def test_a_wrong_model_is_noticed(setting):
    """By a step that Kafka does not take, and by one that it takes and the model does not."""
    (found,) = sensitivity("4.3.1", seed=7, most=1_000, steps=40, chosen=[setting], of=QUORUMS)
    assert found.states is not None


@pytest.mark.nightly(RELEASES)
@pytest.mark.parametrize(
    ("case", "setting", "more"),
    [
        ("102-a_snapshot_is_not_read", "snapshot.is.always.read", ()),
        (
            "103-a_snapshot_is_refused",
            "snapshot.of.earlier.epoch.is.taken",
            ("follower_fetch_snapshot",),
        ),
    ],
)
def test_what_walks_do_not_meet_is_noticed_after_the_steps_of_a_case(case, setting, more):
    trace = read_case(Path("counterexamples/kraft") / case).stored_trace()
    model = with_setting(trace.model, setting, "true")
    engine, steps = ReferenceEngine(model), [model.instances[step.number] for step in trace.steps]
    state = engine.initial()
    for step in steps:
        after = engine.step(state, step)
        assert after is not None
        state = after
    steps += [i for i in model.instances if i.action.name in more and engine.step(state, i)][:1]
    with running("3.9.1") as controllers:
        assert replay(controllers, trace).difference is None
        walk = walk_of(model, Projection(model, "3.9.1"), steps)
        assert walk is not None
        answer = controllers.run(model, Projection(model, "3.9.1"), walk.steps)
    found = compare(
        Projection(model, "3.9.1"), walk.steps, walk.expected, answer, walk.between
    ).difference
    assert found is not None and found.step == len(trace.steps) + len(more)
