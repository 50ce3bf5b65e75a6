"""What is due to a share group: from the first record that it was given on, until acknowledged."""

from checker.kafka.cluster.places import Place
from checker.kafka.cluster.shares import Shares

WRITTEN = {f"r{offset}": Place("t", 0, offset) for offset in range(4)}


def heard(*said: str) -> Shares:
    """Such as `taken r1`, by consumer 1 of t-0."""
    shares = Shares()
    for words in said:
        what, name = words.split()
        place = WRITTEN[name]
        shares.hear({
            "what": what, "consumer": 1, "topic": place.topic, "partition": place.partition,
            "offset": place.offset, "name": name,
        })  # fmt: skip
    return shares


def test_a_group_that_was_given_nothing_has_not_begun_and_nothing_is_due():
    assert heard().due(WRITTEN) == frozenset() and heard().begun == frozenset()


def test_from_the_first_record_on_that_was_given_all_are_due_until_they_are_acknowledged():
    shares = heard("taken r1")
    assert shares.due(WRITTEN) == {"r1", "r2", "r3"} and shares.begun == {("t", 0)}
    assert shares.due({**WRITTEN, "s": Place("t", 1, 5)}) == {"r1", "r2", "r3"}
    shares = heard("taken r1", "accepted r1", "taken r3", "refused r3")
    assert shares.due(WRITTEN) == {"r2", "r3"} and shares.taken[1] == ["r1", "r3"]


def test_an_earlier_record_that_is_given_later_counts_from_then_on():
    assert heard("taken r2", "taken r1").due(WRITTEN) == {"r1", "r2", "r3"}
