"""`certify`: what it says of a store that shows what its search said, and of one that does not."""

from __future__ import annotations

import pytest

from checker.core.exits import Exit
from checker.core.stores import certify
from tests.support.stores import TINY, copied, model_named


@pytest.fixture
def store(tmp_path):
    copied(tmp_path, model_named("kip320", TINY | {"replicas": 2}))
    return tmp_path


def test_a_store_that_shows_what_its_search_said_is_certified(highwater, store):
    ended = highwater("certify", store)
    assert ended.status == Exit.OK
    assert "certified: weak_isr, strong_isr, leader_in_isr, well_formed" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    told = highwater("certify", store, "--workers", 1, "--json").json
    assert (told["wrong"], told["states"]) == (None, told["stored"])


def test_a_store_that_lacks_a_state_is_not(highwater, store, monkeypatch):
    """As a search would leave it that takes two states for one."""
    everything = certify._states

    def all_but_one(*found):
        states = everything(*found)
        return (state for number, state in enumerate(states) if number != 7)

    monkeypatch.setattr(certify, "_states", all_but_one)
    ended = highwater("certify", store, "--json")
    assert ended.status == Exit.REJECTED
    assert ended.json["wrong"].startswith("a step leads to a state that is missing: ")
    assert "not certified: a step leads" in highwater("certify", store).out
