"""When what readers of transactions get cannot be, by what producers asked for and were told."""

import itertools
import struct
from dataclasses import replace

import pytest

from checker.kafka.cluster.dumps import magic_of
from checker.kafka.cluster.transactions import End, Transaction, Transactions, torn
from checker.kafka.cluster.verdict import Evidence, Verdict, judge

RECORDS = ("x", "y", "z")
NONE, ALL = frozenset[str](), frozenset(RECORDS)
MAY_BE_READ = {
    End.NOT_ASKED: {NONE}, End.ABORTED: {NONE}, End.COMMITTED: {ALL}, End.UNKNOWN: {NONE, ALL},
}  # fmt: skip
SUBSETS = [frozenset(some) for n in range(4) for some in itertools.combinations(RECORDS, n)]


@pytest.mark.parametrize("end", End)
@pytest.mark.parametrize("seen", SUBSETS, ids=lambda seen: "".join(sorted(seen)) or "none")
def test_all_of_a_transaction_is_read_or_nothing_and_as_its_producer_wants_and_is_told(end, seen):
    transaction = Transaction(1, list(RECORDS), end)
    whole = Transaction(2, ["other"], End.COMMITTED)
    said = torn([whole, transaction], ALL | {"other"}, seen | {"other"})
    assert bool(said) == (seen not in MAY_BE_READ[end])
    assert not said or end in said


def test_a_record_that_no_partition_has_is_none_of_its_transaction():
    transaction = Transaction(1, ["x", "failed"], End.COMMITTED)
    assert torn([transaction], {"x"}, {"x"}) == ""
    assert "readers do not get x" in torn([transaction], {"x"}, set())


def told(*said: str) -> Transaction:
    """The last transaction of producer 1, which begins several; another one is told of its own."""
    transactions = Transactions()
    for words in said:
        match words.split():
            case ["begins"]:
                transactions.begin(1)
                transactions.begin(2)
            case ["asks", what]:
                transactions.ask(1, what == "commit")
            case [event, number, *error]:
                transactions.hear(event, {"producer": int(number), "error": " ".join(error)})
    return transactions.last(1)


@pytest.mark.parametrize(
    "said, end",
    [
        (("begins",), End.NOT_ASKED),
        (("begins", "asks commit"), End.UNKNOWN),
        (("begins", "asks commit", "committed 1"), End.COMMITTED),
        (("begins", "asks commit", "committed 1 Fenced"), End.UNKNOWN),
        (("begins", "asks commit", "committed 2"), End.UNKNOWN),
        (("begins", "asks abort"), End.ABORTED),
        (("begins", "asks abort", "aborted 1 TimeoutException"), End.ABORTED),
        (("begins", "asks commit", "committed 1", "begins"), End.NOT_ASKED),
    ],
)
def test_a_commit_counts_once_its_producer_is_told_and_may_have_happened_from_when_it_asks(
    said, end
):
    assert told(*said).end is end


def test_a_producer_has_heard_an_error_too():
    heard = told("begins", "asks commit", "committed 1 Fenced")
    assert (heard.is_answered, heard.error) == (True, "Fenced")
    assert not told("begins", "asks commit").is_answered


KEPT = Evidence(ALL, {0: ALL | {"last"}}, ALL | {"last"}, {0: frozenset({"last"})})


def test_a_torn_transaction_is_worse_than_what_has_changed_and_nothing_if_a_record_is_lost():
    outcome = judge(replace(KEPT, torn="readers get x", changed={"offset 0 of t-0": ("a", "b")}))
    assert (outcome.verdict, outcome.reason) == (Verdict.TORN, "readers get x")
    lost = replace(KEPT, torn="readers get x", on_disk={0: frozenset({"last"})}, read=NONE)
    assert judge(lost).verdict is Verdict.LOST
    assert judge(KEPT).verdict is Verdict.KEPT


def test_the_magic_byte_is_that_of_the_batch_that_begins_at_the_offset():
    heads = [struct.pack(">qiib", base, 49, 0, 2) + bytes(44) for base in (0, 3, 4)]
    assert [magic_of(b"".join(heads), base) for base in (0, 3, 4)] == [16, 77, 138]
    assert magic_of(b"".join(heads), 1) is None
