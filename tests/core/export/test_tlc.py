"""TLC counts the states and steps of exported TLA+ as `explore` does, where there is a TLC."""

from __future__ import annotations

import pytest

from checker.core.export.exported import Exported, exportable
from checker.core.export.tla import as_tla
from checker.core.search.explore import Explorer
from model.protocols import PROTOCOLS
from properties import properties_of
from tests.support import counted
from tests.support.tlc import START, run_tlc
from tests.support.variants import tiny

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not START, reason="TLC in the environment says how TLC is started"),
]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_tlc_counts_states_and_transitions_as_explore_does(name, tmp_path):
    model = tiny(name)
    found = Explorer(model, ()).run()
    answer = run_tlc(as_tla(Exported(model, (), ""), "Exported"), tmp_path)
    assert (answer.states, answer.transitions) == (found.distinct_states, found.transitions + 1)


@pytest.mark.parametrize("row", counted.ROWS, ids=counted.name_of)
def test_tlc_counts_kraft_with_every_fix_as_explore_does(row, tmp_path):
    model = counted.model_of_row(row)
    properties = exportable(properties_of(model.protocol), False)
    answer = run_tlc(as_tla(Exported(model, properties, ""), "Exported"), tmp_path)
    assert answer.violated is None
    assert (answer.states, answer.transitions) == counted.counts_of(row)
