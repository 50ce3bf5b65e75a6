"""Kafka's own consumers and coordinator go the way of catalogue 77, and share a partition."""

from __future__ import annotations

import pytest

from checker.kafka.conformance.group_rules import run_group

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clients")]

ON_ITS_WAY = """
start c0, send c0, handle c0, hear c0, poll c0
start c1, pass 5000, send c1, handle c1, hear c1
"""
"""c0 has heard of both partitions and begun to reconcile; c1 has joined, and is to have p1."""
FAILED = "send c0, disconnect c0, send c0, handle c0"
ANSWERED = "send c0, handle c0"
THE_OTHER = "pass 5000, send c1, handle c1, hear c1, poll c1, apply c1"
BOTH = "reads c0, reads c1"


def _played(*parts, fix=""):
    """Each command with what it answered, in order; with a fix on the classes if there is one."""
    commands = [
        command.strip()
        for part in parts
        for line in part.strip().splitlines()
        for command in line.split(",")
    ]
    return list(zip(commands, run_group("4.3.1", commands, fix), strict=True))


def _last(played, command):
    return next(answer for asked, answer in reversed(played) if asked == command)


@pytest.mark.parametrize("heard", ["", "hear c0, "], ids=["late", "heard"])
def test_after_a_heartbeat_that_failed_two_members_read_a_partition(heard):
    """Whether c0 has heard that it is to give p1 up or not: its reconciliation goes on."""
    played = _played(ON_ITS_WAY, FAILED, f"{heard}{THE_OTHER}", "apply c0", BOTH)
    assert [answer for asked, answer in played if asked == "send c0"][1:] == ["2 none", "2 -"]
    assert _last(played, "handle c0") == "3 -0"
    assert _last(played, "handle c1") == "3 -1"
    assert (_last(played, "reads c0"), _last(played, "reads c1")) == ("-01", "-1")


def test_the_first_members_commit_puts_that_of_the_second_back():
    """c1 has committed 2 of p1 when c0, which has read 1, hears that it is to give p1 up."""
    played = _played(
        ON_ITS_WAY, FAILED, THE_OTHER, "apply c0", BOTH, "read c0 1 1, read c1 1 2",
        "pass 5000, poll c1, commit c1, hear c0, poll c0, commit c0, apply c0, reads c0",
    )  # fmt: skip
    assert _last(played, "commit c1") == "1:2:NONE"
    assert _last(played, "commit c0") == "0:0:NONE 1:1:NONE"
    assert _last(played, "reads c0") == "-0"


def test_without_the_failure_the_second_waits_until_the_first_has_given_up():
    """The same order, and the heartbeat of c0 names nothing: the coordinator takes it to own p1."""
    played = _played(ON_ITS_WAY, ANSWERED, "hear c0", THE_OTHER, "apply c0", BOTH)
    assert _last(played, "handle c0") == "2 -0"
    assert _last(played, "handle c1") == "3 none"
    assert (_last(played, "reads c0"), _last(played, "reads c1")) == ("-01", "-")

    given_up = "send c0, handle c0, hear c0, poll c0, commit c0, apply c0, send c0, handle c0"
    played = _played(
        ON_ITS_WAY, ANSWERED, "hear c0", THE_OTHER, "apply c0", BOTH, given_up, THE_OTHER, BOTH
    )
    assert _last(played, "handle c1") == "3 -1"
    assert (_last(played, "reads c0"), _last(played, "reads c1")) == ("-0", "-1")


def test_who_begins_to_reconcile_after_the_answer_takes_only_what_it_says():
    """The failure alone is not enough: c0 must be at it already."""
    begins = ON_ITS_WAY.replace(", poll c0", "")
    played = _played(begins, FAILED, "hear c0", THE_OTHER, "poll c0, apply c0", BOTH)
    assert (_last(played, "reads c0"), _last(played, "reads c1")) == ("-0", "-1")


# --- with the fix --------------------------------------------------------------------------------


@pytest.mark.parametrize("heard", ["", "hear c0, "], ids=["late", "heard"])
def test_with_the_fix_the_second_waits_although_a_heartbeat_failed(heard):
    """The heartbeat names what c0 is about to begin with, and the coordinator waits for c0."""
    shared = (ON_ITS_WAY, FAILED, f"{heard}{THE_OTHER}", "apply c0", BOTH)
    played = _played(*shared, fix="0010")
    assert [answer for asked, answer in played if asked == "send c0"][1:] == ["2 none", "2 -01"]
    assert _last(played, "handle c0") == "2 -0"
    assert _last(played, "handle c1") == "3 none"
    assert (_last(played, "reads c0"), _last(played, "reads c1")) == ("-01", "-")

    given_up = "send c0, handle c0, hear c0, poll c0, commit c0, apply c0, send c0, handle c0"
    first = "" if heard else "hear c0, pass 5000, "
    played = _played(*shared, f"{first}{given_up}", THE_OTHER, BOTH, fix="0010")
    assert _last(played, "handle c1") == "3 -1"
    assert (_last(played, "reads c0"), _last(played, "reads c1")) == ("-0", "-1")


def test_with_the_fix_also_who_has_not_begun_keeps_its_partition_until_it_has_given_it_up():
    """The answer is under way when c0 begins: as published this is how two read a partition too."""
    begins_late = (ON_ITS_WAY.replace(", poll c0", ""), FAILED, "poll c0", THE_OTHER, "apply c0")
    published, fixed = (_played(*begins_late, BOTH, fix=fix) for fix in ("", "0010"))
    assert (_last(published, "reads c0"), _last(published, "reads c1")) == ("-01", "-1")
    assert (_last(fixed, "reads c0"), _last(fixed, "reads c1")) == ("-01", "-")


def test_with_the_fix_a_member_of_the_previous_epoch_is_not_fenced_for_what_it_names():
    """The response is lost that has its next epoch in it: the next heartbeat names a subset."""
    given_up = "send c0, handle c0, hear c0, poll c0, commit c0, apply c0, send c0, handle c0"
    lost = "disconnect c0, pass 500, send c0, handle c0"
    played = _played(
        ON_ITS_WAY, FAILED, "hear c0", THE_OTHER, "apply c0", BOTH, given_up, lost, THE_OTHER, BOTH,
        fix="0010",
    )  # fmt: skip
    assert [answer for asked, answer in played if asked == "send c0"][-2:] == ["2 -0", "2 -0"]
    assert [answer for asked, answer in played if asked == "handle c0"][-2:] == ["3 none", "3 -0"]
    assert (_last(played, "reads c0"), _last(played, "reads c1")) == ("-0", "-1")
