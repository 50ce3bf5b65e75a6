"""What a group promises: each promise can fail, holds where it should, and is not vacuous."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.proofs.bounded.bounded_check import BoundedChecker
from checker.core.search.explore import Explorer
from checker.core.search.question import Options
from checker.core.verdict import Verdict
from model.kafka_group.membership import blank
from model.kafka_group.offsets import give_up_all
from model.kafka_group.presets import PRESETS
from model.kafka_group.protocol import KAFKA_GROUP
from model.kafka_group.state import NO_RANK, OUTSIDE, Consumer, Group
from model.language import action, not_, require
from properties import Sense, choose_liveness, choose_properties, promised_properties, properties_of
from tests.support.judged import judge
from tests.support.laws import check_is_broken, explore
from tests.support.textbook import count_levels
from tests.support.tiers import first_and_nightly, first_and_slow, slow_but

ALWAYS = [p for p in properties_of(KAFKA_GROUP) if p.sense is Sense.ALWAYS]
BY_SETTINGS = [p for p in ALWAYS if p.broken_by.split()[0] == KAFKA_GROUP.name]
NO_FAULTS = {"member_crashes": 0, "session_timeouts": 0}
COOPERATIVE = {"partition.assignment.strategy": "cooperative-sticky"}
CONSUMER = {"group.protocol": "consumer"}
NEEDED = {
    "handed_over_after_revocation": NO_FAULTS | {"members": 3},
    "every_partition_is_assigned": NO_FAULTS,
    "shares_are_even": NO_FAULTS | {"topic_partitions": 3},
    "a_rebalance_repeats_nothing": NO_FAULTS,
    "an_owners_commit_is_accepted": NO_FAULTS,
}
DEPTHS = {
    "one_owner_in_a_generation": 14,
    "handed_over_after_revocation": 15,
    "one_consumer_at_a_time": 9,
    "every_partition_is_assigned": 8,
    "shares_are_even": 8,
    "no_record_skipped": 11,
    "committed_was_processed": 6,
    "no_record_processed_twice": 14,
    "a_rebalance_repeats_nothing": 15,
    "commits_do_not_go_back": 14,
    "an_owners_commit_is_accepted": 7,
}


def _broken(prop):
    _, *changes = prop.broken_by.split()
    return KAFKA_GROUP.model(NEEDED.get(prop.name), dict(c.split("=") for c in changes))


@pytest.mark.parametrize("prop", BY_SETTINGS, ids=lambda prop: prop.name)
def test_what_is_said_to_break_a_property_breaks_it_and_the_report_says_where(prop):
    assert check_is_broken(_broken(prop), prop) == DEPTHS[prop.name]


# --- protocols with one mistake ------------------------------------------------------------------


@action("{consumer} gives up all, and keeps its positions")
def keeps_positions(group: Group, consumer: Consumer) -> None:
    """The mistake: `holders` alone."""
    require(consumer.is_member, not_(consumer.is_known), group.is_idle(consumer))

    for row in group.partitions:
        row.holders = row.holders.without_member(consumer)
    consumer.phase = OUTSIDE
    consumer.generation = 0


@action("{consumer} hears that it is out, and remembers its generation")
def keeps_generation(group: Group, consumer: Consumer) -> None:
    """The mistake: the generation of before."""
    require(consumer.is_member, not_(consumer.is_known), group.is_idle(consumer))

    give_up_all(group, consumer)
    consumer.phase = OUTSIDE


@action("{consumer} gives up what its application is at")
def does_not_wait(group: Group, consumer: Consumer) -> None:
    """The mistake: not only between two polls."""
    require(consumer.is_member, not_(consumer.is_known))

    blank(group, consumer)
    consumer.phase = OUTSIDE


@action("the coordinator strikes {consumer} off its list, and does no more")
def strikes_off(group: Group, consumer: Consumer) -> None:
    """The mistake: all else that it has of the member stays."""
    spent = group.spent.session_timeouts
    require(spent < group.bound("session_timeouts"))
    require(consumer.is_up, consumer.is_known)

    group.spent.session_timeouts = spent + 1
    consumer.rank = NO_RANK


MISTAKES = {
    "positions_are_of_owned_partitions": ("consumer_hear_it_is_fenced", keeps_positions, {}),
    "a_rebalance_leaves_nothing_behind": ("consumer_hear_it_is_fenced", keeps_generation, {}),
    "what_is_polled_is_processed": ("consumer_hear_it_is_fenced", does_not_wait, {}),
    "the_coordinator_knows_its_members": ("coordinator_expire_live_member", strikes_off, {}),
    "every_partition_has_one_target_member": (
        "coordinator_expire_live_member",
        strikes_off,
        CONSUMER,
    ),
}


@pytest.mark.parametrize("prop", [p for p in ALWAYS if p not in BY_SETTINGS], ids=lambda p: p.name)
def test_what_no_setting_breaks_a_mistake_does(prop):
    name, mistake, settings = MISTAKES[prop.name]
    wrong = KAFKA_GROUP.variant("wrong", prop.broken_by, replace(mistake, name=name))
    (violation,) = explore(wrong.model({}, settings), [prop]).violations
    assert violation.depth > 0
    assert prop in promised_properties(KAFKA_GROUP.model({}, settings))  # which is searched below


WHERE = {
    "range": ({}, {}),
    "round robin": ({}, {"partition.assignment.strategy": "roundrobin"}),
    "sticky": ({}, {"partition.assignment.strategy": "sticky"}),
    "cooperative": ({}, COOPERATIVE),
    "the consumer protocol": ({}, CONSUMER),
    "full heartbeats": ({"full_heartbeats": 1}, CONSUMER | {"reconciling.is.named": "true"}),
    "three members": ({**NO_FAULTS, "members": 3, "topic_partitions": 3}, {}),
    "three cooperative members": ({**NO_FAULTS, "members": 3}, COOPERATIVE),
    "three members of the consumer protocol": ({**NO_FAULTS, "members": 3}, CONSUMER),
    "a coordinator that dies": ({"member_crashes": 0, "coordinator_failovers": 1}, COOPERATIVE),
    "commits that are lost": ({"member_crashes": 0, "leaves": 1, "lost_commits": 1}, {}),
    "truncation": ({**NO_FAULTS, "truncations": 1, "records": 2}, {}),
    "new partitions": ({"member_crashes": 0, "partition_additions": 1}, CONSUMER),
}
STATES = {"range": 86_138, "cooperative": 319_850, "the consumer protocol": 34_590}


@pytest.mark.parametrize(
    "name", slow_but(["range", "the consumer protocol", "commits that are lost"], WHERE)
)
def test_a_group_keeps_its_promises(name):
    """At least once, one owner in a generation; and nothing is promised in vain."""
    bounds, settings = WHERE[name]
    model = KAFKA_GROUP.model(bounds, settings)
    promised = promised_properties(model)
    found = Explorer(model, promised, options=Options(symmetry=True, cross_check=False)).run()
    assert found.verdict is Verdict.EXHAUSTED
    assert STATES.get(name) in (None, found.distinct_states)
    for prop in promised:
        assert not found.is_vacuous(prop), prop.name
        assert prop.sense is Sense.ALWAYS or found.verdict_on(prop) is Verdict.REACHED, prop.name


HEARD = [
    ("consumer_join_by_heartbeat", 0, 0),
    ("consumer_join_by_heartbeat", 1, 1),
    ("consumer_hear_heartbeat", 0),
    ("coordinator_handle_full_heartbeat", 0),
    ("consumer_hear_on_the_way", 0),
    ("consumer_hear_heartbeat", 1),
    ("coordinator_handle_heartbeat", 1),
    ("consumer_hear_heartbeat", 1),
    ("consumer_take_assignment", 0),
    ("consumer_take_assignment", 1),
]
"""Catalogue 77, where the first member has heard before it begins."""


def test_a_member_that_has_begun_with_a_partition_goes_on_though_it_hears_that_it_is_not_its_own():
    bounds = NO_FAULTS | {"full_heartbeats": 1}
    model = KAFKA_GROUP.model(bounds, PRESETS["kafka-4.3-consumer"])
    engine = ReferenceEngine(model)
    state = tuple(engine.initial())
    for name, *arguments in HEARD:
        (step,) = [
            one
            for one in model.instances
            if one.action.name == name and one.arguments == tuple(arguments)
        ]
        after = engine.step(state, step)
        assert after is not None, name
        state = after
    first, both = 1, 3  # a set of members is a number, a bit a member
    held = [state[model.positions["partitions.holders", (number,)]] for number in range(2)]
    assert sorted(held) == [first, both]
    mended = KAFKA_GROUP.model(bounds, PRESETS["kafka-fixed-consumer"])
    found = explore(mended, promised_properties(mended))
    assert (found.verdict, found.distinct_states) == (Verdict.EXHAUSTED, 7_264)


by_settings = pytest.mark.parametrize(
    "settings",
    slow_but([CONSUMER], [{}, COOPERATIVE, CONSUMER]),
    ids=["eager", "coop", "consumer"],
)


@by_settings
def test_exactly_once_is_what_a_group_without_faults_comes_to(settings):
    model = KAFKA_GROUP.model(NO_FAULTS, settings)
    claims = choose_properties(
        KAFKA_GROUP, ["no_record_processed_twice", "one_consumer_at_a_time", "no_record_skipped"]
    )
    found = explore(model, claims)
    assert found.verdict is Verdict.EXHAUSTED
    assert not any(found.is_vacuous(prop) for prop in claims)


@pytest.mark.parametrize("fault", ["member_crashes", "session_timeouts", "lost_commits"])
def test_each_fault_alone_ends_exactly_once(fault):
    model = KAFKA_GROUP.model(NO_FAULTS | {fault: 1})
    (prop,) = choose_properties(KAFKA_GROUP, ["no_record_processed_twice"])
    assert explore(model, [prop]).violations


def test_only_a_member_that_is_taken_for_dead_and_lives_shares_a_partition():
    (prop,) = choose_properties(KAFKA_GROUP, ["one_consumer_at_a_time"])
    dying = KAFKA_GROUP.model({"session_timeouts": 0, "member_crashes": 2, "leaves": 1})
    assert explore(dying, [prop]).verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize("preset", slow_but(["kafka-4.3", "kafka-4.3-consumer"], PRESETS))
def test_every_version_keeps_at_least_once_with_one_owner_under_range(preset):
    """From the earliest offset: what bugs there are, are in other assignors, or repeat records."""
    model = KAFKA_GROUP.model({"offset_expiries": 1, "session_timeouts": 0}, preset=preset)
    names = ["one_owner_in_a_generation", "no_record_skipped", "commits_do_not_go_back"]
    found = explore(model, choose_properties(KAFKA_GROUP, names))
    assert found.verdict is Verdict.EXHAUSTED


@pytest.mark.parametrize("reset", ["earliest", "latest"])
def test_from_the_latest_offset_a_death_before_the_first_commit_skips_a_record(reset):
    """Whoever comes next begins behind what was written since; a hunt found it."""
    bounds = {"topic_partitions": 1, "session_timeouts": 0}
    model = KAFKA_GROUP.model(bounds, CONSUMER | {"auto.offset.reset": reset})
    for prop in choose_properties(KAFKA_GROUP, ["no_record_skipped", "committed_was_processed"]):
        keeps = not explore(model, [prop]).violations
        assert keeps == (prop in promised_properties(model)) == (reset == "earliest")


@pytest.mark.slow
@pytest.mark.parametrize("settings", first_and_nightly("other members", CONSUMER, {}, COOPERATIVE))
def test_members_are_interchangeable_and_the_reference_engine_counts_the_same(settings):
    model = KAFKA_GROUP.model(
        {"topic_partitions": 1, "generations": 2, "member_crashes": 0}, settings
    )
    levels = count_levels(model)
    assert Explorer(model, []).run().levels == levels
    smaller = Explorer(model, [], options=Options(symmetry=True, cross_check=False)).run()
    assert sum(levels) / 2 <= smaller.distinct_states < sum(levels)
    assert len(smaller.levels) == len(levels)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", first_and_slow("one_consumer_at_a_time", "an_owners_commit_is_accepted")
)
def test_bounded_checking_finds_the_same_depth(name):
    (prop,) = choose_properties(KAFKA_GROUP, [name])
    found = BoundedChecker(_broken(prop), [prop]).run(DEPTHS[name])
    assert found.verdict is Verdict.VIOLATED
    assert len(found.steps) == DEPTHS[name]


# --- liveness ------------------------------------------------------------------------------------


def _judged(name, bounds, settings, *changes):
    return judge(KAFKA_GROUP.model(bounds, settings), name, *changes).verdict


LIVE = ("every_partition_is_owned_again", "records_are_processed")


@pytest.mark.parametrize("name", LIVE)
@by_settings
def test_with_generations_enough_a_group_comes_to_rest_and_reads_all(name, settings):
    bounds = {"session_timeouts": 0, "topic_partitions": 1, "generations": 6}
    assert _judged(name, bounds, settings) is Verdict.EXHAUSTED


@pytest.mark.parametrize("name", first_and_slow(*LIVE))
def test_at_fewer_generations_nothing_but_the_bound_keeps_it_from_that(name):
    assert _judged(name, {"member_crashes": 0}, {}) is Verdict.HELD_UP


def test_a_coordinator_that_notices_no_death_leaves_partitions_to_the_dead():
    bounds = {"session_timeouts": 0, "topic_partitions": 1, "generations": 6}
    assert _judged(LIVE[0], bounds, {}, "coordinator_expire_session=none") is Verdict.VIOLATED


def test_who_commits_first_may_leave_a_record_for_ever():
    prop = choose_liveness(KAFKA_GROUP, LIVE[1])
    assert prop.broken_by == "kafka_group consumer.commits=before_processing"
    settings = {"consumer.commits": "before_processing"}
    bounds = {"session_timeouts": 0, "topic_partitions": 1, "generations": 6}
    assert _judged(LIVE[1], bounds, settings) is Verdict.VIOLATED
