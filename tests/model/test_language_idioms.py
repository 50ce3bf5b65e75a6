"""Plain Python that would mean something else while captured is refused, at its line."""

from __future__ import annotations

import sys
from enum import IntEnum

import pytest

from checker.search.explore import Explorer, Options
from checker.search.symmetry import Symmetry
from model.language import Protocol, every, require
from model.language.declare.domains import integer_domain
from model.language.errors import CaptureError, ProtocolError, UsageError
from properties.claims import Property, Sense
from tests.support.lab import Lab, Node, model_of, protocol_of


def by_identity(lab: Lab, node: Node) -> None:
    require(lab.chosen is None)


def by_pattern(lab: Lab, node: Node) -> None:
    match lab.chosen:
        case None:
            lab.n = 1


def by_enumeration(lab: Lab, node: Node) -> None:
    for number, each in enumerate(lab.nodes):
        each.x = number


def by_pairs(lab: Lab, node: Node) -> None:
    for each, number in zip(lab.nodes, (1, 2, 3), strict=False):
        each.x = number


def by_a_list(lab: Lab, node: Node) -> None:
    lab.n = len(list(lab.nodes))


def by_a_sum(lab: Lab, node: Node) -> None:
    lab.n = sum(1 for _ in lab.nodes)


def by_an_optional_parameter(lab: Lab, node: Node | None) -> None:
    lab.n = 1


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (by_identity, "write is_none"),
        (by_pattern, "write choose"),
        (by_enumeration, "plain `for`"),
        (by_pairs, "plain `for`"),
        (by_a_list, "plain `for`"),
        (by_a_sum, "plain `for`"),
    ],
)
def test_an_idiom_that_capture_would_misread_is_refused_at_its_line(function, words):
    with pytest.raises(CaptureError, match=rf"test_language_idioms.py:\d+: .*{words}"):
        _ = model_of(function).captured


def test_a_parameter_is_never_none():
    with pytest.raises(ProtocolError, match="annotate it with an entity class"):
        _ = model_of(by_an_optional_parameter).captured


@pytest.mark.skipif(sys.version_info < (3, 12), reason="comprehensions have frames of their own")
def test_a_comprehension_inside_a_quantifier_is_refused():
    def claims(lab: Lab, node: Node) -> None:
        require(every(all([a == b for b in lab.nodes]) for a in lab.nodes))

    with pytest.raises(CaptureError, match="comprehension"):
        _ = model_of(claims).captured


def test_two_loops_may_use_the_same_name():
    def twice(lab: Lab, node: Node) -> None:
        for each in lab.nodes:
            each.x = 1
        for each in lab.nodes:
            each.flag = True

    assert len(model_of(twice).captured[0].writes) == 2


def test_names_of_numbers_have_no_gaps():
    class Gaps(IntEnum):
        ONE = 1
        THREE = 3

    with pytest.raises(ProtocolError, match="Gaps has gaps"):
        integer_domain(Gaps)


def test_start_only_assigns():
    def start(lab: Lab) -> None:
        require(lab.flag)

    def idle(lab: Lab, node: Node) -> None:
        lab.n = 1

    with pytest.raises(ProtocolError, match="only assign"):
        Explorer(protocol_of(idle, start=start).model(), ()).run()


def test_symmetry_is_refused_where_a_blank_value_names_a_member():
    from tests.support import idioms

    model = Protocol("named", "", idioms.Named, (idioms.advance,), (idioms.SIZE,)).model()
    with pytest.raises(UsageError, match="the blank value of"):
        Symmetry(model, (), Explorer(model, ()).engine.layout)


def test_to_go_on_means_to_the_last_witness_and_dead_end():
    from tests.support import idioms

    model = Protocol("chain", "", idioms.Chain, (idioms.climb,), (idioms.SIZE,)).model()
    low = Property("low", "", lambda chain: chain.height < 2)
    high = Property("high", "", lambda chain: chain.height == 7, Sense.SOMETIMES)
    options = Options(keep_going=True, deadlock=True)
    found = Explorer(model, (low, high), options=options).run()
    assert found.reached == {"high": 7}
    assert found.deadlock is not None and len(found.deadlock) == 8
    assert [violation.depth for violation in found.violations] == [2]
