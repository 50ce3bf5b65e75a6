"""What packing promises: nothing is lost, nothing overlaps, and what does not fit is refused."""

from __future__ import annotations

import pytest

from checker.core.engines.layout import BitField, Layout
from model.language.errors import UsageError
from model.protocols import PROTOCOLS
from tests.support.cells import layout_of
from tests.support.laws import check_layout, check_round_trip
from tests.support.variants import random_states, small, tiny

every_protocol = pytest.mark.parametrize("name", PROTOCOLS)


@every_protocol
def test_fields_never_overlap_and_never_straddle_words(name):
    for model in (tiny(name), small(name)):
        check_layout(Layout(model))


@every_protocol
def test_unpacking_undoes_packing(name):
    for model in (tiny(name), small(name)):
        extremes = [
            tuple(cell.low for cell in model.cells),
            tuple(cell.high for cell in model.cells),
        ]
        check_round_trip(Layout(model), extremes + random_states(model, 300, seed=1))


def test_a_cell_takes_just_as_many_bits_as_its_domain_needs():
    layout = layout_of((0, 0), (0, 1), (-1, 2), (5, 5), (-1, 3), (0, 255))
    assert [field.bits for field in layout.fields] == [0, 1, 2, 0, 3, 8]
    assert layout.bits == 14
    assert layout.words == 1


@pytest.mark.parametrize(
    "low, high",
    [
        (0, 2**64 - 1),
        (2**64 - 1, 2**64 - 1),
        (2**63, 2**63 + 2),
        (-(2**62), 2**62),
        (-128, 127),
        (-100, 200),
        (-40_000, 40_000),
        (7, 8),
    ],
)
def test_negative_and_very_large_domains_survive_packing(low, high):
    layout = layout_of((0, 1), (low, high), (-3, 3))
    check_layout(layout)
    values = {low, high, (low + high) // 2, min(low + 1, high)}
    check_round_trip(layout, [(1, value, -3) for value in values])


def test_a_cell_of_one_value_takes_no_place_even_after_a_full_word():
    layout = layout_of((-(2**62), 2**62), (0, 1), (3, 3))
    assert layout.fields[2] == BitField(0, 0, 0, 3), "a shift by a whole word means nothing"
    check_layout(layout)
    check_round_trip(layout, [(5, 1, 3), (-5, 0, 3)])


def test_a_state_of_many_cells_takes_several_words():
    layout = layout_of(*[(0, 2**40)] * 5)
    check_layout(layout)
    assert layout.words == 5
    layout = layout_of(*[(0, 2**40)] * 2, *[(0, 1)] * 40)
    check_layout(layout)
    assert layout.words == 2, "small fields fill the gaps that large ones leave"


def test_a_domain_of_more_than_64_bits_is_refused_with_the_cells_name():
    with pytest.raises(UsageError, match=r"wide\[0\] needs 65 bits: at most 64 are possible"):
        layout_of((0, 2**64))


@pytest.mark.parametrize("value", [4, 7, 2**40])
def test_a_number_that_does_not_fit_its_field_is_refused(value):
    with pytest.raises(ValueError, match="does not fit its field of 2 bits"):
        layout_of((0, 3)).pack([(value,)])


def test_a_state_that_is_too_short_is_refused():
    with pytest.raises(ValueError):
        layout_of((0, 3), (0, 3)).pack([(1,)])


def test_no_states_pack_to_no_columns():
    layout = layout_of((0, 3), (0, 3))
    packed = layout.pack([])
    assert packed.shape == (1, 0)
    assert layout.unpack(packed) == []


def test_overlapping_fields_are_noticed():
    layout = layout_of((0, 3), (0, 3))
    first, second = layout.fields
    layout.fields[1] = BitField(second.word, second.shift - 1, second.bits, second.low)
    with pytest.raises(AssertionError, match="overlaps"):
        check_layout(layout)
    layout.fields[1] = BitField(second.word, 63, second.bits, second.low)
    with pytest.raises(AssertionError, match="leaves its word"):
        check_layout(layout)
    assert first == BitField(0, 0, 2, 0)
