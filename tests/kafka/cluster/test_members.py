"""When two members of a group have a partition at once, and when they only seem to."""

import pytest

from checker.kafka.cluster.members import Members

ONE_HAS = ("about 1", "begun 1")
TWO_HAS = ("about 2", "begun 2")


def heard(*said: str) -> Members:
    """Of partition t-0: who is told what by whom, or reads x."""
    members = Members()
    for words in said:
        event, number = words.split()
        name = "x" if event == "read" else None
        members.hear(event, {"consumer": int(number), "partitions": ["t-0"], "name": name})
    return members


@pytest.mark.parametrize("first, second", [(1, 2), (2, 1)])
def test_a_record_is_shared_if_both_read_it_while_both_have_its_partition(first, second):
    assert heard(*ONE_HAS, *TWO_HAS, f"read {first}", f"read {second}").shared == {"x"}


@pytest.mark.parametrize(
    "said",
    [
        (*ONE_HAS, "read 1", "revoked 1", *TWO_HAS, "read 2"),  # read again after a rebalance
        (*ONE_HAS, "read 1", *TWO_HAS, "read 2"),  # the first read it while it was alone
        (*ONE_HAS, *TWO_HAS, "read 1", "read 1"),  # one member alone
        (*ONE_HAS, "about 2", "read 1", "read 2"),  # the second has not begun yet
        (*ONE_HAS, *TWO_HAS, "read 1", "revoked 1", "read 2"),
    ],
)
def test_a_record_that_is_read_twice_otherwise_is_not_shared(said):
    assert heard(*said).shared == frozenset()


def test_a_partition_of_another_number_is_another_one():
    members = heard(*ONE_HAS, "read 1")
    for event in ("about", "begun", "read"):
        members.hear(event, {"consumer": 2, "partitions": ["t-1"], "name": "x"})
    members.hear("read", {"consumer": 1, "partitions": ["t-0"], "name": "x"})
    assert members.shared == frozenset()


def test_a_member_is_about_to_begin_until_it_has_begun_or_given_up():
    assert heard("about 1").about[1] == {"t-0"} and heard("about 1").has[1] == set()
    assert heard(*ONE_HAS).about[1] == set() and heard(*ONE_HAS).has[1] == {"t-0"}
    for said in (("about 1",), ONE_HAS):
        members = heard(*said, "revoked 1")
        assert members.about[1] == members.has[1] == set()
    assert heard(*ONE_HAS, "read 1").read[1] == ["x"]
