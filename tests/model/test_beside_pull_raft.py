"""`kip595` reaches what a TLA+ specification of KRaft with messages reaches."""

from __future__ import annotations

import pytest

from tests.support.pull_raft import FOLDER, SPECIFIED, cores_of, model, specified
from tests.support.tlc import START


@pytest.mark.slow
def test_there_are_as_many_cores_as_tlc_found_of_the_specification():
    assert len(cores_of(model())) == 156


@pytest.mark.slow
@pytest.mark.skipif(
    not (START and FOLDER), reason="TLC and RAFT_TLAPLUS say where TLC and raft-tlaplus are"
)
def test_every_core_is_one_of_the_specification_and_the_other_way_round(tmp_path):
    states, cores = specified(tmp_path)
    assert states == SPECIFIED
    assert cores == cores_of(model())
