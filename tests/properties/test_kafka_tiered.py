"""What a tiered partition keeps: each claim can fail, holds with every fix, and is not vacuous."""

from __future__ import annotations

import pytest

from checker.core.verdict import Verdict
from model.kafka_tiered.protocol import KAFKA_TIERED
from model.kafka_tiered.state import Broker, Tiered
from model.language import action, any_of, not_, require
from properties import Sense, properties_of
from tests.support.judged import judge
from tests.support.laws import check_is_broken, explore

ALWAYS = [p for p in properties_of(KAFKA_TIERED) if p.sense is Sense.ALWAYS]
FIXED = KAFKA_TIERED.presets["kafka-fixed"]
UNCLEAN = {"unclean_elections": 1, "expirations": 1}
NEEDED = {
    "committed_is_kept": {"refused_reads": 1},
    "log_start_moves_by_retention": {"unclean_elections": 1},
    "reads_are_of_the_leaders_log": {"unclean_elections": 1},
    "log_start_is_served": {"expirations": 1},
}
DEPTHS = {
    "committed_is_readable": 14,
    "committed_is_kept": 12,
    "log_start_moves_by_retention": 13,
    "reads_are_of_the_leaders_log": 11,
    "log_start_is_served": 10,
    "well_formed": 3,
}


@action("{follower} follows {leader}, and cuts its log to nothing")
def follower_truncate(partition: Tiered, follower: Broker, leader: Broker) -> None:
    """The mistake: the end moves, and the epochs stay."""
    require(partition.is_leader(leader), follower != leader, follower.up)
    require(not_(follower.follows), any_of(follower.leads, follower.end > 0))

    follower.forget_tasks()
    follower.log_start = 0
    follower.local_start = 0
    follower.end = 0
    follower.follows = True


MISTAKES = {
    "a follower that keeps the epochs of what it truncates": KAFKA_TIERED.variant(
        "mutant", "", follower_truncate
    )
}


def _broken(prop):
    if prop.broken_by in MISTAKES:
        return MISTAKES[prop.broken_by].model()
    _, *changes = prop.broken_by.split()
    changed = dict(each.split("=") for each in changes)
    return KAFKA_TIERED.model(NEEDED.get(prop.name), {**FIXED, **changed})


@pytest.mark.parametrize("prop", ALWAYS, ids=lambda prop: prop.name)
def test_what_is_said_to_break_a_property_breaks_it_and_the_report_says_where(prop):
    assert check_is_broken(_broken(prop), prop) == DEPTHS[prop.name]


@pytest.mark.parametrize(
    ("bounds", "states"),
    [
        pytest.param({"refused_reads": 1}, 8763, id="clean"),
        pytest.param({"build_crashes": 1, "expirations": 1}, 19090, id="building"),
        pytest.param(UNCLEAN, 19792, id="unclean"),
        pytest.param({"brokers": 3, "log_size": 1, **UNCLEAN}, 14220, id="three"),
        pytest.param(
            {"max_leader_epoch": 2, "copies": 3, **UNCLEAN}, 269260, id="epochs",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"max_leader_epoch": 2, "copies": 3, "log_size": 3, **UNCLEAN}, 4172349, id="large",
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_with_every_fix_nothing_is_violated_and_every_witness_is_reached(bounds, states):
    model = KAFKA_TIERED.model(bounds, FIXED)
    claims = [p for p in properties_of(KAFKA_TIERED) if p.promised(model)]
    found = explore(model, claims)
    assert found.verdict is Verdict.EXHAUSTED
    assert found.distinct_states == states
    for prop in claims:
        assert prop.sense is Sense.ALWAYS or found.verdict_on(prop) is Verdict.REACHED, prop.name
        idle = prop.name == "log_start_moves_by_retention" and "expirations" not in bounds
        assert (prop.sense is Sense.ALWAYS and found.is_vacuous(prop)) is idle, prop.name


def test_who_resumes_building_needs_no_other_order_of_reads():
    """Finding 0028 by a refused read, a death, or both.

    What an unclean election finds no epochs of, it takes.
    """
    bounds = {"refused_reads": 1, "build_crashes": 1}
    rules = {**FIXED, "tier.indexes.before.truncating": "false"}
    claims = properties_of(KAFKA_TIERED)
    assert explore(KAFKA_TIERED.model(bounds, rules), claims).verdict is Verdict.EXHAUSTED
    unclean = KAFKA_TIERED.model({**bounds, "unclean_elections": 1}, FIXED)
    assert explore(unclean, claims).verdict is Verdict.EXHAUSTED


def judged(bounds: dict[str, int], *changes: str, **settings: str) -> Verdict:
    """Whether each replica gets in sync with `kafka-fixed`, other settings and other fairness."""
    chosen = {name.replace("_", "."): value for name, value in settings.items()}
    model = KAFKA_TIERED.model(bounds, {**FIXED, **chosen})
    return judge(model, "replicas_get_in_sync", *changes).verdict


@pytest.mark.parametrize("fault", [{}, {"refused_reads": 1, "build_crashes": 1}], ids=str)
def test_a_replica_gets_in_sync_unless_nobody_builds_it(fault):
    assert judged(fault) is Verdict.EXHAUSTED
    for name in ("follower_fetch", "follower_build_from_tier"):
        assert judged(fault, f"{name}=none") is Verdict.VIOLATED


def test_it_does_not_where_the_leaders_log_starts_at_nothing():
    """Retention deletes a segment, and local retention what is left: KAFKA-15351, and more."""
    deletes = {"brokers": 3, "log_size": 1, "expirations": 1, "crashes": 0}
    assert judged(deletes) is Verdict.VIOLATED
    mended = {"local_deletion_moves_log_start": "true"}
    assert judged(deletes, **mended) is Verdict.EXHAUSTED
    assert judged(deletes, remote_start_is_looked_up="false", **mended) is Verdict.VIOLATED


def test_who_died_as_it_was_built_gets_in_sync_though_what_it_was_built_from_expires():
    bounds = {"build_crashes": 1, "expirations": 1}
    mended = {"local_deletion_moves_log_start": "true"}
    assert judged(bounds, **mended) is Verdict.EXHAUSTED


@pytest.mark.slow
def test_a_log_start_found_in_a_lost_segment_hides_records_that_took_its_place():
    bounds = {"max_leader_epoch": 2, "copies": 3, "log_size": 3, **UNCLEAN}
    model = KAFKA_TIERED.model(bounds, {**FIXED, "remote.start.by.lineage": "false"})
    prop = next(p for p in ALWAYS if p.name == "log_start_moves_by_retention")
    (violation,) = explore(model, [prop]).violations
    assert violation.depth == 24
