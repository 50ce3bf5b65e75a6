"""Budgets: what is declared once is counted, required and spent as it says, for every protocol."""

from __future__ import annotations

from typing import Any

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.kafka.bounds import FAULTS
from model.language import (
    Action,
    Bound,
    Budgets,
    Protocol,
    State,
    bounds_in,
    budget,
    choose,
    is_left,
    not_,
    require,
    spend,
    spent,
    use_up,
)
from model.language.errors import CaptureError, ProtocolError
from model.language.protocol import Model
from model.protocols import PROTOCOLS, protocol_named
from tests.support.laws import check_engines_agree
from tests.support.variants import random_states

SEATS = Bound("seats", 2, 1, "not a budget")
CRASHES = budget("crashes", "servers that die", default=1)
UPGRADES = budget("upgrades", "counted elsewhere", counted=False)
PAUSES = budget("pauses", "servers that stop for a while", default=2, maximum=3)
OTHERS = budget("others", "of nobody")


class Used(Budgets, of=(SEATS, CRASHES, UPGRADES, PAUSES)):
    """How much is used up."""


class House(State):
    """A state that counts."""

    on: bool = False
    used: Used = Used.part()


def protocol_of(function: Any) -> Protocol:
    bounds = (SEATS, CRASHES, UPGRADES, PAUSES)
    return Protocol("house", "", House, (Action("act", function, ""),), bounds)


def spends(house: House) -> None:
    spend(house, PAUSES)
    house.on = True


def spends_where_off(house: House) -> None:
    spend(house, PAUSES, where=not_(house.on))
    house.on = choose(house.on, False, True)


def halves(house: House) -> None:
    require(is_left(house, PAUSES), spent(house, CRASHES) == 0)
    house.on = True
    use_up(house, PAUSES)


def after(model: Model, **cells: int) -> dict[str, int] | None:
    """What the one action makes of the state, by the reference engine and by the others."""
    names = [cell.name for cell in model.cells]
    state = tuple(cells.get(name.replace("used.", ""), 0) for name in names)
    check_engines_agree(model, [state, *random_states(model, 20, 0)])
    stepped = ReferenceEngine(model).step(state, model.instances[0])
    return None if stepped is None else dict(zip(names, stepped, strict=True))


def test_the_record_has_a_cell_for_each_budget_that_it_counts_in_their_order():
    cells = protocol_of(spends).model({"pauses": 3}).declared
    assert [(cell.name, cell.low, cell.high) for cell in cells] == [
        ("on", 0, 1), ("used.crashes", 0, 1), ("used.pauses", 0, 3),
    ]  # fmt: skip


@pytest.mark.parametrize("function", [spends, halves])
def test_an_action_that_spends_needs_something_left_and_uses_up_one(function):
    model = protocol_of(function).model()
    assert after(model, pauses=1) == {"on": 1, "used.crashes": 0, "used.pauses": 2}
    assert after(model, pauses=2) is None


def test_where_a_condition_does_not_hold_nothing_is_needed_or_used_up():
    model = protocol_of(spends_where_off).model()
    assert after(model, on=0, pauses=2) is None
    assert after(model, on=0, pauses=1) == {"on": 1, "used.crashes": 0, "used.pauses": 2}
    assert after(model, on=1, pauses=2) == {"on": 0, "used.crashes": 0, "used.pauses": 2}


def test_a_requirement_after_what_is_spent_is_refused_at_its_line():
    def late(house: House) -> None:
        spend(house, PAUSES)
        require(house.on)

    def twice(house: House) -> None:
        spend(house, PAUSES)
        spend(house, CRASHES)

    for function, line in (late, 2), (twice, 2):
        place = f"test_budgets.py:{function.__code__.co_firstlineno + line}"
        with pytest.raises(CaptureError, match=f"{place}: require.* after an assignment"):
            _ = protocol_of(function).model().captured


def test_a_budget_that_nothing_counts_is_refused_with_what_to_write():
    def spends_others(house: House) -> None:
        spend(house, OTHERS)

    with pytest.raises(ProtocolError, match="nothing in House counts others: declare"):
        _ = protocol_of(spends_others).model().captured


def test_an_unmet_budget_is_told_at_the_line_of_the_action():
    model = protocol_of(spends).model()
    state = tuple(cell.high for cell in model.declared)
    place = ReferenceEngine(model).false_requirement(state, model.instances[0])
    code = spends.__code__
    assert place == (code.co_filename, code.co_firstlineno + 1)


def test_bounds_of_a_module_are_those_it_declares_in_their_order():
    names = {"B": PAUSES, "text": "", "A": SEATS, "again": PAUSES}
    assert bounds_in(names) == (PAUSES, SEATS)


@pytest.mark.parametrize("name", ["kafka", "kafka_producer", "kafka_group"])
def test_what_a_budget_names_is_a_bound_or_a_setting_of_its_protocol(name):
    protocol = protocol_named(name)
    model = protocol.model()
    known = {*model.bounds, *model.identity["settings"]}
    for bound in protocol.bounds:
        assert {each for each, _ in getattr(bound, "needs", ())} <= known
    assert name in PROTOCOLS


def test_what_is_covered_with_a_fault_is_a_fault():
    names = {fault.name for fault in FAULTS}
    for fault in FAULTS:
        assert {each for each, _ in fault.covered or ()} <= names - {fault.name}
