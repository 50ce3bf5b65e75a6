"""What the language means: a few lines in it do the same on plain and on symbolic values.

Each function below is the single action of a protocol. It is run by the reference engine, which
calls it, and by the vectorised engine, which runs what it was captured as, on random states.
"""

from __future__ import annotations

from typing import Any

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.language import (
    Annotated,
    all_of,
    any_of,
    choose,
    count,
    every,
    implies,
    integers,
    is_majority,
    is_none,
    largest,
    maximum,
    minimum,
    not_,
    require,
    smallest,
    some,
)
from properties import Property
from tests.support.lab import Lab, Node, Row, model_of, protocol_of
from tests.support.language import after, check_means_the_same, registering
from tests.support.laws import check_claims_agree
from tests.support.tiers import first_and_slow
from tests.support.variants import random_states

ACTIONS: list[Any] = []
CLAIMS: list[Any] = []
acts, claims = registering(ACTIONS), registering(CLAIMS)


# --- order of writes and reads ------------------------------------------------------------------


@acts
def reads_after_writes_see_the_new_values(lab: Lab, node: Node) -> None:
    lab.n = choose(lab.n < 3, lab.n + 1, lab.n)
    node.x = choose(lab.n > 0, minimum(lab.n, 3), node.x)
    lab.flag = node.x == lab.n


@acts
def swapping_needs_a_name_for_the_old_value(lab: Lab) -> None:
    old = lab.desk.m
    lab.desk.m = lab.nodes[0].x
    lab.nodes[0].x = old


@acts
def two_parameters_may_be_the_same_member(lab: Lab, a: Node, b: Node) -> None:
    a.x = 3
    b.x = minimum(b.x, 2)
    lab.flag = a.x == 2


@acts
def a_write_at_a_computed_row_is_seen_at_the_same_row_only(lab: Lab) -> None:
    require(lab.n >= 0, lab.n < 2)

    lab.rows[lab.n].value = 2
    lab.desk.m = maximum(lab.rows[0].value, 0)
    lab.flag = lab.rows[1].value == 2


@acts
def a_write_to_all_rows_is_not_seen_out_of_range(lab: Lab) -> None:
    for row in lab.rows:
        row.value = 3
        row.mark = False
    lab.desk.m = maximum(lab.rows[lab.n].value, 0)
    lab.flag = lab.rows[lab.n].mark


@acts
def a_write_beyond_the_table_is_an_error(lab: Lab) -> None:
    lab.rows[lab.n].mark = False


@acts
def a_value_that_does_not_fit_is_an_error_even_if_it_is_overwritten(lab: Lab) -> None:
    lab.n = lab.n + 2
    lab.n = 0


# --- sequences and records ----------------------------------------------------------------------


@acts
def appending_copying_and_truncating(lab: Lab, a: Node, b: Node) -> None:
    require(not_(a.items.is_full), b.items.has(a.items.end))

    a.items.append_copy(b.items[a.items.end])
    lab.n = a.items.end
    lab.flag = a.items[a.items.end - 1].mark


@acts
def extending_adds_blank_records_up_to_the_end(lab: Lab, a: Node, b: Node) -> None:
    require(b.items.end >= a.items.end)

    a.items.extend_to(b.items.end)
    for p in a.items.positions:
        a.items[p].tag = choose(b.items.has(p), b.items[p].tag, 0)


@acts
def truncating_blanks_what_is_beyond_the_end(lab: Lab, node: Node) -> None:
    require(node.items.end > 0)

    node.items.truncate_to(node.items.end - 1)
    node.items.append(tag=2)
    lab.flag = node.items[node.items.end - 1].mark


@acts
def reads_beyond_either_end_are_blank(lab: Lab, node: Node, row: Row) -> None:
    lab.desk.m = node.items[lab.n].tag
    lab.flag = any_of(lab.rows[lab.n].mark, node.items[row.value].mark)
    lab.group = lab.rows[lab.n].isr


@acts
def appending_to_a_full_sequence_is_an_error(lab: Lab, node: Node) -> None:
    node.items.append(tag=1, mark=True)


@acts
def copying_a_record_copies_its_variables(lab: Lab, node: Node) -> None:
    node.items[0].copy_from(node.items[1])


@acts
def resetting_a_record_gives_all_its_variables_their_initial_values(lab: Lab, node: Node) -> None:
    node.items[0].reset(where=lab.flag)
    lab.desk.reset()


@acts
def resetting_out_of_range_is_an_error(lab: Lab, node: Node) -> None:
    node.items[lab.n].reset(where=node.flag)


# --- references and sets ------------------------------------------------------------------------


@acts
def references_are_assigned_compared_and_cleared(lab: Lab, a: Node, b: Node) -> None:
    require(any_of(is_none(lab.chosen), lab.chosen == a), a != b)

    lab.chosen = b
    a.friend = choose(lab.flag, None, b)
    b.friend = None
    lab.desk.owner = choose(is_none(a.friend), a, a.friend)
    lab.flag = a.friend == lab.chosen


@acts
def sets_are_values(lab: Lab, a: Node, b: Node) -> None:
    old = lab.group
    lab.group = old.without_member(a).union(a.group).intersection(lab.nodes.all())
    a.group = lab.nodes.only(b).union(lab.nodes.none())
    b.group = old.minus(lab.group).with_member(a)
    lab.flag = any_of(old.includes(lab.group), lab.group == old, a.group.is_empty)
    lab.n = minimum(old.size, lab.group.size) - 1


@acts
def a_set_contains_a_reference_only_if_it_is_not_none(lab: Lab, node: Node) -> None:
    require(lab.group.contains(lab.chosen))  # type: ignore[arg-type]  # it may be none

    node.flag = node.group.contains(node.friend)  # type: ignore[arg-type]  # likewise


@acts
def sets_by_condition(lab: Lab) -> None:
    lab.group = lab.nodes.where(lambda node: all_of(node.x > 0, not_(node.flag)))
    lab.n = lab.group.size


@acts
def majorities(lab: Lab, a: Node) -> None:
    require(is_majority(lab.group, of=a.group.with_member(a)))

    a.flag = is_majority(lab.nodes.where(lambda node: node.x > 0), of=lab.group)
    lab.flag = is_majority(lab.nodes.none(), of=lab.nodes.none())


# --- numbers and parameters ---------------------------------------------------------------------


@acts
def numbers_as_parameters(lab: Lab, step: Annotated[int, integers(-1, 2)], row: Row) -> None:
    require(lab.n + step <= 4, lab.n + step >= -3)
    require(row.number >= step)

    lab.n = lab.n + step
    row.value = step - (-step) - step


@acts
def settings_and_bounds_are_plain_or_symbolic_alike(lab: Lab) -> None:
    require(lab.n < lab.bound("rows"))

    lab.n = minimum(lab.nodes.count, 4)


@acts
def negation_reverse_operators_and_plain_constants(lab: Lab) -> None:
    require((1 - lab.n) < (2 + lab.desk.m), True, not_(False))

    lab.n = minimum(maximum(-lab.n, -3), 3 - 0)
    lab.flag = (True & lab.flag) | (False | (lab.n == -1))


# --- quantifiers --------------------------------------------------------------------------------


@acts
def quantifiers_over_families_sets_rows_and_positions(lab: Lab) -> None:
    require(some(row.mark for row in lab.rows) | every(node.flag for node in lab.group))

    lab.n = count(node.x > 1 for node in lab.nodes)
    lab.desk.m = largest(choose(lab.group.contains(n), n.x, 0) for n in lab.nodes)
    lab.nodes[0].x = smallest(maximum(row.value, 0) for row in lab.rows)
    lab.flag = every(
        implies(node.items.has(p), node.items[p].mark)
        for node in lab.nodes
        for p in lab.nodes[0].items.positions
    )


@acts
def counting_in_a_set(lab: Lab) -> None:
    lab.n = count(node.flag for node in lab.group)


@claims
def nested_quantifiers(lab: Lab) -> bool:
    return every(
        some(implies(a.friend == b, b.group.contains(a)) for b in lab.nodes) for a in lab.group
    )


@claims
def quantifiers_over_plain_ranges(lab: Lab) -> bool:
    return every(some(node.x >= k for node in lab.nodes) for k in range(3))


@claims
def nothing_holds_for_some_of_no_members_and_all_holds_for_every_one(lab: Lab) -> bool:
    nobody = lab.group.minus(lab.group)
    return every(node.flag for node in nobody) & not_(some(node.flag for node in nobody))


@claims
def a_constant(lab: Lab) -> bool:
    return True


@claims
def equality_of_booleans_and_references(lab: Lab) -> bool:
    return ((lab.flag == (lab.n > 0)) != (lab.chosen == lab.desk.owner)) | (lab.chosen != None)  # noqa: E711 (`is` means something else)


@pytest.mark.parametrize("function", ACTIONS)
@pytest.mark.parametrize(("nodes", "rows"), first_and_slow((3, 2), (1, 1), (2, 3)))
def test_an_action_does_the_same_plain_and_captured(function, nodes, rows):
    check_means_the_same(function, nodes, rows)


@pytest.mark.parametrize("function", CLAIMS)
def test_a_claim_is_judged_the_same_plain_and_captured(function):
    model = model_of(counting_in_a_set)
    states = random_states(model, 400, seed=1)
    prop = Property(function.__name__, "", function)
    check_claims_agree(model, [prop], states, list(zip(states, states, strict=True)))


# --- worked examples ----------------------------------------------------------------------------


def test_a_later_read_sees_an_earlier_write():
    found = after(reads_after_writes_see_the_new_values, n=1)
    assert found is not None
    assert (found["n"], found["nodes.x[0]"], found["flag"]) == (2, 2, 1)


def test_what_an_action_does_not_assign_stays():
    found = after(swapping_needs_a_name_for_the_old_value, n=3, group=0b010)
    assert found is not None
    assert (found["desk.m"], found["nodes.x[0]"]) == (0, 1)
    assert (found["n"], found["group"]) == (3, 0b010)


def test_a_require_that_does_not_hold_disables_the_action():
    assert after(a_write_at_a_computed_row_is_seen_at_the_same_row_only, n=-1) is None


def test_blank_values_are_the_initial_ones():
    found = after(reads_beyond_either_end_are_blank, n=4, group=0)
    assert found is not None
    assert (found["desk.m"], found["flag"], found["group"]) == (0, 1, 0b111)


def test_a_start_function_changes_the_initial_state_of_both_engines():
    def start(lab: Lab) -> None:
        lab.n = -2
        lab.group = lab.nodes.only(lab.nodes[1])
        for row in lab.rows:
            row.value = row.number

    model = protocol_of(counting_in_a_set, start=start).model()
    initial = ReferenceEngine(model).initial()
    assert initial == model.initial_state
    named = dict(zip([cell.name for cell in model.cells], initial, strict=True))
    assert (named["n"], named["group"]) == (-2, 0b010)
    assert (named["rows.value[0]"], named["rows.value[1]"]) == (0, 1)
