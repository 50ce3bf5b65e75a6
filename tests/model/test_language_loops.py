"""Loops, and conditions after an assignment: what they mean, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from model.language import any_of, choose, every, largest, minimum, not_, require
from model.language.capture import rounds
from model.language.errors import CaptureError
from tests.support.lab import Lab, model_of
from tests.support.language import after, check_means_the_same, check_refused, refusing, registering
from tests.support.tiers import first_and_slow

MEANINGS: list[Any] = []
MISTAKES: list[Any] = []
acts, refused = registering(MEANINGS), refusing(MISTAKES)


@acts
def a_loop_over_a_family_assigns_every_member(lab: Lab) -> None:
    for node in lab.nodes:
        node.x = minimum(node.x + 1, 3)
        node.flag = lab.flag


@acts
def a_loop_over_a_set_assigns_only_its_members(lab: Lab) -> None:
    for node in lab.group:
        node.flag = not_(node.flag)


@acts
def a_loop_over_the_set_that_it_changes(lab: Lab) -> None:
    for node in lab.nodes:
        node.group = node.group.with_member(node).minus(lab.group)
    lab.group = lab.nodes.where(lambda node: node.group.contains(node))


@acts
def loops_within_loops(lab: Lab) -> None:
    for node in lab.group:
        for row in lab.rows:
            row.votes[node] = any_of(row.mark, node.x > 1)


@acts
def a_loop_over_rows_by_number(lab: Lab) -> None:
    for row in lab.rows:
        row.value = choose(row.number == lab.n, row.number, row.value)


@acts
def a_loop_that_requires_of_every_member(lab: Lab) -> None:
    for node in lab.group:
        require(node.x < 3)
    for node in lab.group:
        node.x = node.x + 1


@acts
def a_loop_over_plain_numbers_runs_as_it_stands(lab: Lab) -> None:
    for k in (0, 1):
        lab.rows[k].value = k
        lab.n = minimum(lab.n + 1, 4)


@acts
def a_loop_over_a_set_that_assigns_a_place_out_of_range_for_nobody(lab: Lab) -> None:
    for node in lab.group:
        lab.rows[lab.n].votes[node] = True


@acts
def a_loop_that_truncates_every_sequence(lab: Lab) -> None:
    for node in lab.nodes:
        node.items.truncate_to(minimum(node.items.end, node.x))


@acts
def a_loop_whose_reads_see_its_own_writes(lab: Lab) -> None:
    for node in lab.nodes:
        node.x = minimum(node.x + 1, 3)
        node.flag = node.x == 3
        node.x = choose(node.flag, 0, node.x)


@pytest.mark.parametrize("function", MEANINGS)
@pytest.mark.parametrize(("nodes", "rows"), first_and_slow((3, 2), (1, 1), (2, 3)))
def test_a_loop_does_the_same_plain_and_captured(function, nodes, rows):
    check_means_the_same(function, nodes, rows)


def test_only_members_of_a_set_are_assigned():
    found = after(a_loop_over_a_set_assigns_only_its_members, group=0b101)
    assert found is not None
    assert [found[f"nodes.flag[{k}]"] for k in range(3)] == [1, 0, 1]


@refused("a loop that did not run to its end: `break` cannot be captured")
def breaking_out(lab: Lab) -> None:
    for node in lab.nodes:
        node.x = 1
        break


@refused("a loop that did not run to its end: `break` cannot be captured")
def returning_from_a_loop(lab: Lab) -> None:
    for node in lab.nodes:
        node.x = 1
        return


@refused("the loop changes 'total' in every round, and it is used in the next one or outside")
def accumulating(lab: Lab) -> None:
    total = 0
    for node in lab.nodes:
        total = total + node.x
    lab.n = total


@refused("the loop changes 'last' in every round, and it is used in the next one or outside: use")
def value_of_a_loop_kept(lab: Lab) -> None:
    for node in lab.nodes:  # here
        last = node.x
    lab.n = last


@refused("iterating a family other than by a plain `for`: use every, some, count, largest")
def list_comprehension_that_leaks(lab: Lab) -> None:
    values = [node.x for node in lab.nodes]  # here
    lab.n = values[0]


@refused("iterating a family other than by a plain `for`: use every, some, count, largest")
def list_comprehension_in_a_guard(lab: Lab) -> None:
    flags = [node.flag for node in lab.nodes]  # here
    require(flags[0])


@refused("a loop that assigns the same n in every round")
def loop_assigning_one_variable(lab: Lab) -> None:
    for node in lab.nodes:
        lab.n = node.x


@refused("a `for` statement inside a quantifier: use every, some, count or largest")
def loop_in_a_quantifier(lab: Lab) -> None:
    def helper(node):
        for other in lab.nodes:  # here
            other.x  # noqa: B018  # what is read does not matter
        return node.flag

    require(every(helper(node) for node in lab.nodes))


@refused("reads another member's nodes.x and assigns it: read before the loop")
def loop_that_reads_what_other_rounds_assign(lab: Lab) -> None:
    for node in lab.nodes:
        node.x = lab.nodes[0].x + 1


@refused("reads another member's nodes.x and assigns it: read before the loop")
def loop_that_quantifies_over_what_it_assigns(lab: Lab) -> None:
    for node in lab.nodes:
        node.x = largest(other.x for other in lab.nodes)


@refused("reads another member's nodes.x and assigns it: read before the loop")
def loop_that_reads_another_member_after_assigning(lab: Lab) -> None:
    for node in lab.nodes:
        node.x = 1
        node.flag = lab.nodes[0].x > 0  # here


@refused("require(...) and an assignment in one loop: write two loops")
def loop_that_requires_and_assigns(lab: Lab) -> None:
    for node in lab.nodes:
        require(node.x < 3)
        node.x = node.x + 1


@refused("require(...) after an assignment: all conditions come first")
def require_after_assignment(lab: Lab) -> None:
    lab.n = 1
    require(lab.flag)  # here


@pytest.mark.parametrize("function, words", MISTAKES)
def test_a_mistake_is_refused_at_its_line_with_what_to_write_instead(function, words):
    check_refused(function, words)


def test_after_a_mistake_the_next_capture_starts_afresh():
    for function in (breaking_out, require_after_assignment, loop_in_a_quantifier):
        with pytest.raises(CaptureError):
            _ = model_of(function).captured

    def sound(lab: Lab) -> None:
        require(not_(lab.flag))

        lab.n = 1

    (captured,) = model_of(sound).captured
    assert len(captured.guards) == len(captured.writes) == 1


def test_an_inner_for_of_a_generator_may_ask_twice_for_its_iterator(monkeypatch):
    """As Python 3.13.1 and later compile it; an iterator's iterator is itself."""
    names = ("GET_ITER", "FOR_ITER", "GET_ITER", "GET_ITER", "EXTENDED_ARG", "FOR_ITER", "GET_ITER",
             "CALL")  # fmt: skip
    instructions = [SimpleNamespace(opname=name, offset=2 * k) for k, name in enumerate(names)]
    monkeypatch.setattr(rounds, "instructions_of", lambda code: instructions)
    found = rounds._iterations.__wrapped__(None)
    assert found == {0: 2, 4: 10, 6: 10, 12: None}
