"""What the language promises to people who write protocols: mistakes are refused, with a remedy.

Each mistake below is on a line that ends in `# here`; the error names this file, that line and
what to write instead. Much of it is ill typed as well: hence each `type: ignore`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.language import choose, count, every, largest, require, smallest, some
from model.language.errors import CaptureError, ProtocolError, UsageError
from tests.support.lab import Lab, Node, Row, model_of, protocol_of
from tests.support.language import check_refused, refusing

MISTAKES: list[Any] = []
refused = refusing(MISTAKES)


class Pair(NamedTuple):
    first: int
    second: int


ROUNDS = 2


@refused("`if` on a value read from the state: write require(...) or choose(c, a, b)")
def if_statement(lab: Lab) -> None:
    if lab.flag:  # here
        lab.n = 1


@refused("`if` on a value read from the state")
def elif_statement(lab: Lab) -> None:
    if ROUNDS == 1:
        return
    elif lab.n == 2:  # here
        lab.n = 1


@refused("`and` on a value read from the state: write all_of(a, b)")
def and_operator(lab: Lab) -> None:
    require(lab.flag and lab.n > 0)  # here


@refused("`or` on a value read from the state: write any_of(a, b)")
def or_operator(lab: Lab) -> None:
    require(lab.flag or lab.n > 0)  # here


@refused("`and` on a value read from the state: write all_of(a, b)")
def and_between_comparisons(lab: Lab) -> None:
    require(lab.n >= 1 and lab.desk.m > 0)  # here


@refused("`or` on a value read from the state: write any_of(a, b)")
def or_between_comparisons(lab: Lab) -> None:
    require(lab.n <= 1 or lab.desk.m < lab.n)  # here


@refused("`or` on a value read from the state: write any_of(a, b)")
def or_that_is_given_a_name(lab: Lab) -> None:
    few = lab.n > 1 or lab.flag  # here
    require(few)


@refused("`not` on a value read from the state: write not_(a)")
def not_operator(lab: Lab) -> None:
    require(not lab.flag)  # here


@refused("`in` on a value read from the state: write any_of(x == a, x == b)")
def one_of_several_values(lab: Lab) -> None:
    require(lab.n in (1, 2))  # here


@refused("`in` on a value read from the state: write any_of(x == a, x == b)")
def one_of_a_set_of_values(lab: Lab) -> None:
    require(lab.n not in {1, 2})  # here


@refused("`in` on a set read from the state: write group.contains(member)")
def in_operator(lab: Lab, node: Node) -> None:
    require(node in lab.group)  # here


@refused("`in` on a set read from the state: write group.contains(member)")
def not_in_operator(lab: Lab, node: Node) -> None:
    require(node not in lab.group)  # here


@refused("a chained comparison on a value read from the state: write all_of(a <= b, b <= c)")
def chained_comparison(lab: Lab) -> None:
    require(0 <= lab.n < 2)  # here


@refused("a chained comparison on a value read from the state: write all_of(a <= b, b <= c)")
def chained_comparison_of_attributes(lab: Lab, node: Node) -> None:
    require(node.x < lab.n <= lab.desk.m)  # here


@refused("write minimum(a, b), maximum(a, b)")
def builtin_min(lab: Lab) -> None:
    lab.n = min(lab.n, 1)  # here


@refused("write minimum(a, b), maximum(a, b)")
def builtin_max(lab: Lab, node: Node) -> None:
    node.x = max(node.x, lab.desk.m)  # here


@refused("sorting on a value read from the state: write smallest(...) or largest(...)")
def builtin_sorted(lab: Lab) -> None:
    lab.n = sorted([lab.n, lab.desk.m])[0]  # here


@refused("range(), list indexing or int() on a value read from the state: write a quantifier")
def builtin_range(lab: Lab) -> None:
    require(every(lab.rows[k].mark for k in range(lab.n)))  # here


@refused("range(), list indexing or int() on a value read from the state: write a quantifier")
def list_index(lab: Lab) -> None:
    lab.desk.m = [1, 2, 3][lab.n]  # here


@refused("len() of a set read from the state: write group.size")
def builtin_len(lab: Lab) -> None:
    require(len(lab.group) > 1)  # here


@refused("`while` on a value read from the state")
def while_statement(lab: Lab) -> None:
    while lab.n > 0:  # here
        lab.n = lab.n - 1


@refused("a conditional expression on a value read from the state: write choose(")
def conditional_expression(lab: Lab) -> None:
    lab.n = 1 if lab.flag else 2  # here


@refused("`assert` on a value read from the state: write require(...), or a property")
def assert_statement(lab: Lab) -> None:
    assert lab.flag  # here


@refused("`if` in a comprehension on a value read from the state: write implies(a, b), all_of")
def if_in_a_comprehension(lab: Lab) -> None:
    require(every(node.flag for node in lab.nodes if node.x > 1))  # here


@refused("asking whether it is true on a value read from the state: write require(...), choose(")
def truth_in_a_helper(lab: Lab) -> None:
    require(any([lab.flag, lab.n > 1]))  # here


@refused("`~` means something else on a plain boolean: write not_(a)")
def tilde(lab: Lab) -> None:
    require(~lab.flag)  # type: ignore[arg-type]  # here


@refused("`*` on a value of kind int: write n + n for n * 2, and choose(c, a, b) for a few cases")
def times(lab: Lab) -> None:
    lab.n = lab.n * 2  # here


@refused("arithmetic other than + and -")
def modulo(lab: Lab) -> None:
    lab.n = 7 % lab.n  # here


@refused("arithmetic other than + and -")
def numbers_as_bits(lab: Lab) -> None:
    require((lab.n & 1) == 0)  # here


@refused("iteration over a value that is not a collection")
def iterating_a_number(lab: Lab) -> None:
    for _ in lab.n:  # type: ignore[attr-defined]  # here
        pass


@refused("an assignment inside a quantifier")
def assigning_in_a_quantifier(lab: Lab) -> None:
    def set_it(node):
        node.x = 1  # here
        return node.flag

    require(every(set_it(node) for node in lab.nodes))


@refused("`.x` of a reference that may be none: quantify over the members and compare")
def attribute_of_a_reference(lab: Lab) -> None:
    require(lab.chosen.x > 1)  # type: ignore[union-attr]  # here


@refused("`nodes[...]` of a reference that may be none: quantify over the members and compare")
def indexing_with_a_reference(lab: Lab) -> None:
    lab.rows[0].votes[lab.chosen] = True  # type: ignore[index]  # here


@refused("count over two families at once")
def counting_over_two_families(lab: Lab) -> None:
    lab.n = count(a.flag & b.mark for a in lab.nodes for b in lab.rows)  # here


@refused("range over the whole family and use choose(...)")
def largest_over_a_set(lab: Lab) -> None:
    lab.n = largest(node.x for node in lab.group)  # here


@refused("largest over plain values: it takes a generator over a family, table or positions")
def largest_of_plain_numbers(lab: Lab) -> None:
    lab.n = largest(k for k in range(3))  # here


@refused("a quantifier over a family and a plain range at once: nest two quantifiers")
def family_and_range_at_once(lab: Lab) -> None:
    require(some(node.x == k for node in lab.nodes for k in range(2)))  # here


@refused("a boolean where a number is needed")
def a_boolean_for_a_number(lab: Lab) -> None:
    lab.n = lab.flag  # here


@refused("a number where a boolean is needed")
def a_number_for_a_boolean(lab: Lab) -> None:
    require(lab.n)  # type: ignore[arg-type]  # here


@refused("a number where a member of nodes is needed")
def a_row_for_a_node(lab: Lab, row: Row) -> None:
    require(lab.chosen == row)  # here


@refused(
    "a family or table where a boolean, a number, a member or none is needed: write members.all()"
)
def a_family_for_a_set(lab: Lab) -> None:
    lab.group = lab.nodes  # type: ignore[assignment]  # here


@refused("`nodes[...]` of a number: members have no order")
def a_member_by_a_number_of_the_state(lab: Lab) -> None:
    lab.n = lab.nodes[lab.n].x  # here


@refused("`nodes[...]` of a reference that may be none: quantify over the members")
def the_set_of_a_reference(lab: Lab) -> None:
    lab.group = lab.nodes.only(lab.chosen)  # type: ignore[arg-type]  # here


@refused("arithmetic or an order of a record, member or row")
def arithmetic_on_a_member(lab: Lab, node: Node) -> None:
    lab.n = node + 1  # here


@refused("a class whose objects are no values here: write a Record of the state, a tuple")
def an_object_of_ones_own(lab: Lab) -> None:
    lab.n = Pair(1, 2).first  # here


@refused("settings.fast: this protocol has no settings, write Protocol(..., settings=...)")
def a_setting_where_there_are_none(lab: Lab) -> None:
    require(lab.settings.fast)  # here


@refused("no variable of Lab is called 'nodse': did you mean 'nodes'?")
def a_variable_misspelt(lab: Lab) -> None:
    require(every(node.flag for node in lab.nodse))  # type: ignore[attr-defined]  # here


@refused("where a boolean, a number, a member or none is needed")
def a_text_for_a_number(lab: Lab) -> None:
    lab.n = "one"  # type: ignore[assignment]  # here


@pytest.mark.parametrize("function, words", MISTAKES)
def test_a_mistake_is_refused_at_its_line_with_what_to_write_instead(function, words):
    check_refused(function, words)


def test_an_action_that_returns_a_value_is_refused():
    def returns(lab: Lab):
        return lab.n

    with pytest.raises(CaptureError, match="action returns returns a value: it should assign"):
        _ = model_of(returns).captured


def test_a_property_that_assigns_or_requires_is_refused():
    def assigns(lab: Lab) -> bool:
        lab.n = 1
        return lab.flag

    def requires(lab: Lab) -> bool:
        require(lab.flag)
        return lab.flag

    model = model_of(if_statement)
    for claim in (assigns, requires):
        with pytest.raises(CaptureError, match="requires or assigns: it should return a claim"):
            model.claim(claim)


def test_members_have_no_numbers():
    def numbers_members(lab: Lab, node: Node) -> None:
        lab.n = node.number

    with pytest.raises(ProtocolError, match="a Node has no number: compare members with =="):
        _ = model_of(numbers_members).captured


def test_a_parameter_needs_an_entity_or_a_range():
    def plain(lab: Lab, offset: int) -> None:
        lab.n = offset

    def bare(lab: Lab, offset) -> None:
        lab.n = offset

    for function in (plain, bare):
        with pytest.raises(ProtocolError, match="parameter offset: annotate it with an entity"):
            _ = model_of(function).instances


def test_a_bound_that_there_is_not_is_refused_with_those_that_there_are():
    def counts(lab: Lab) -> None:
        require(lab.n < lab.bound("row"))

    model = protocol_of(counts).model()
    with pytest.raises(
        CaptureError, match=r"py:\d+: no bound is called 'row': did you mean 'rows'"
    ):
        _ = model.ground_actions
    engine = ReferenceEngine(model)
    with pytest.raises(UsageError, match="no bound is called 'row'"):
        list(engine.successors(engine.initial()))


def test_choose_between_different_kinds_is_refused():
    def mixes(lab: Lab) -> None:
        lab.n = choose(lab.flag, lab.n, lab.flag)

    with pytest.raises(CaptureError, match="a boolean where a number is needed"):
        _ = model_of(mixes).captured


def test_smallest_over_rows_by_number_is_fine_where_members_are_not():
    def finds(lab: Lab) -> None:
        lab.desk.m = smallest(row.number for row in lab.rows)

    (captured,) = model_of(finds).captured
    assert captured.writes[0].variable.name == "desk.m"
