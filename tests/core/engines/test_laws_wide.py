"""What every engine promises of numbers: no width, sign or mixture of them changes a result."""

from __future__ import annotations

import pytest

from checker.core.engines.layout import Layout
from tests.support.laws import (
    check_compiled_agrees,
    check_engines_agree,
    check_layout,
    check_round_trip,
    explore,
)
from tests.support.variants import random_states
from tests.support.wide import WIDE

every_width = pytest.mark.parametrize("width", [0, 1, 2])


@every_width
def test_the_engines_agree_on_numbers_of_every_width(width):
    model = WIDE.model({"width": width})
    states = random_states(model, 400, seed=1)
    steps, misfits = check_engines_agree(model, states)
    assert steps > 300
    assert misfits > 50


def test_machine_code_agrees_where_the_numbers_fit_32_bits():
    model = WIDE.model({"width": 1})
    check_compiled_agrees(model, random_states(model, 200, seed=2))


@every_width
def test_packing_keeps_numbers_of_every_width(width):
    model = WIDE.model({"width": width})
    layout = Layout(model)
    check_layout(layout)
    check_round_trip(layout, random_states(model, 200, seed=3))


def test_a_value_outside_its_domain_stops_the_search_with_an_error():
    from model.language.errors import DomainError

    with pytest.raises(DomainError, match=r"move_\w+\(\): \w+ cannot be"):
        explore(WIDE.model())
