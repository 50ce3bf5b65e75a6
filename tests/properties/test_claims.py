"""What a property promises to those who read reports: names, words, and valid choices."""

from __future__ import annotations

import pytest

from model.language.errors import UsageError
from model.protocols import PROTOCOLS
from properties import Property, Sense, choose_properties, properties_of
from properties.claims import always, sometimes


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_has_properties_with_names_of_their_own(name):
    properties = properties_of(PROTOCOLS[name])
    assert any(prop.sense is Sense.ALWAYS for prop in properties)
    assert any(prop.sense is Sense.SOMETIMES for prop in properties)
    assert len({prop.name for prop in properties}) == len(properties)
    assert all(prop.words and not prop.words.endswith(".") for prop in properties)


def test_properties_are_chosen_by_name_once_and_in_the_order_asked_for():
    chosen = choose_properties(PROTOCOLS["kip320"], ["strong_isr", "weak_isr", "strong_isr"])
    assert [prop.name for prop in chosen] == ["strong_isr", "weak_isr"]
    assert choose_properties(PROTOCOLS["kip320"]) == properties_of(PROTOCOLS["kip320"])


def test_a_name_that_is_not_valid_is_answered_with_those_that_are():
    with pytest.raises(UsageError) as caught:
        choose_properties(PROTOCOLS["kip320"], ["strong_irs"])
    message = str(caught.value)
    assert message.startswith("no property of kip320 is called 'strong_irs': did you mean 'strong")
    assert "weak_isr" in message


def test_a_protocol_that_is_not_valid_is_answered_with_those_that_are():
    from model.protocols import protocol_named

    with pytest.raises(UsageError, match=r"did you mean .kip320.*valid are async_isr, "):
        protocol_named("kip32")


def test_a_decorated_claim_becomes_a_property_of_the_right_sense():
    @always("holds", "it holds", broken_by="nothing")
    def holds(state) -> bool:
        return True

    @sometimes("happens", "it happens", of_steps=True)
    def happens(before, after) -> bool:
        return True

    assert (holds.sense, holds.frames, holds.broken_by) == (Sense.ALWAYS, 1, "nothing")
    assert (happens.sense, happens.frames, happens.premise) == (Sense.SOMETIMES, 2, None)


def test_a_failure_template_falls_back_to_plain_words_where_values_are_missing():
    prop = Property("p", "plain words", bool, failure="{leader} and {member.end}")
    assert prop.explain({"leader": "r0"}) == "plain words"
    assert prop.explain({"leader": "r0", "member": object()}) == "plain words"
    member = type("Member", (), {"end": 3})()
    assert prop.explain({"leader": "r0", "member": member}) == "r0 and 3"
    assert Property("p", "plain words", bool).explain({}) == "plain words"


def test_a_failure_template_says_values_as_traces_do():
    prop = Property("p", "plain words", bool, failure="{a.done}, {a.led}, {a.boss}, {a.end}")
    values = {"done": Sense.ALWAYS, "led": False, "boss": None, "end": 0}
    assert prop.explain({"a": type("Member", (), values)()}) == "always, false, none, 0"
