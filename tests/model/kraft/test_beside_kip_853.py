"""`kraft` reaches what the TLA+ specification of KIP-853 reaches, at the sizes that both end with.

The specification has messages as state; `kraft` has a request, its handling and the response as one
step. What remains of their states without messages is the same (`tests/support/kip_853.py`).
"""

from __future__ import annotations

import pytest

from tests.support.kip_853 import FOLDER, ROWS, cores_of, model_of_row, specified
from tests.support.tiers import nightly
from tests.support.tlc import START

BY_TLC = [
    nightly("TLC takes minutes for a third epoch", row) if row["epochs"] > 2 else row
    for row in ROWS
]


def _name(row):
    return " ".join(f"{name}={row[name]}" for name in ("nodes", "epochs", "appends", "crashes"))


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_there_are_as_many_cores_as_tlc_found_of_the_specification(row):
    states, cores = cores_of(model_of_row(row))
    assert (states, len(cores)) == (row["states"], row["cores"])


@pytest.mark.slow
@pytest.mark.skipif(
    not (START and FOLDER), reason="TLC and KAFKA_TLAPLUS say where TLC and kafka-tlaplus are"
)
@pytest.mark.parametrize("row", BY_TLC, ids=_name)
def test_every_core_is_one_of_the_specification_and_the_other_way_round(row, tmp_path):
    states, cores = specified(row, tmp_path)
    assert states == row["specification"]
    assert cores == cores_of(model_of_row(row))[1]
