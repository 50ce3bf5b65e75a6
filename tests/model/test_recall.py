"""What is recalled of an earlier capture is what a capture would come to now, and else nothing is.

Protocols share what was captured of an action among all their models: whatever the settings, and
whatever has been captured before, a model's actions are those of a first capture.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from model.language import not_, require, setting
from model.language.capture import lint
from model.language.errors import CaptureError
from model.protocols import PROTOCOLS
from tests.support.lab import Lab, Node, model_of, protocol_of
from tests.support.tiers import slow_but
from tests.support.variants import flipped


@dataclass(frozen=True)
class Choices:
    """Settings of which actions ask for some."""

    first: bool = setting(False, "the first")
    second: int = setting(1, "the second")
    third: bool = setting(False, "the third")

    @property
    def both(self) -> bool:
        """An answer made of two."""
        return self.first and self.third


@pytest.fixture
def captures(monkeypatch):
    """The functions that were run to capture them, by name, in order."""
    ran = []
    run = lint.Watch.run

    def counting(watch, function, *arguments):
        ran.append(function.__name__)
        return run(watch, function, *arguments)

    monkeypatch.setattr(lint.Watch, "run", counting)
    return ran


def variants(protocol, count):
    """Settings of which what was captured for one might be taken for another; `count` presets."""
    presets = list(protocol.presets)
    some = range(min(count, len(presets)))
    chosen = (presets[k * len(presets) // len(some)] for k in some)
    return [{}, flipped(protocol), *(protocol.preset(name) for name in chosen)]


@pytest.mark.parametrize(
    "presets",
    [0, pytest.param(4, marks=pytest.mark.nightly("four presets beside the default rules"))],
)
@pytest.mark.parametrize("name", slow_but(["kip320", "kafka_producer"], PROTOCOLS))
def test_what_is_recalled_is_what_would_be_captured_and_grounded(name, presets):
    protocol = PROTOCOLS[name]
    chosen = variants(protocol, presets)

    def worked_out(settings):
        model = protocol.model({}, settings)
        return model.captured, model.ground_actions

    protocol.schema.kept.clear()
    first, again = ([worked_out(settings) for settings in chosen] for _ in range(2))
    for settings, *recalled in zip(chosen, first, again, strict=True):
        protocol.schema.kept.clear()
        cold = worked_out(settings)
        assert recalled == [cold, cold]


def act_by_settings(lab: Lab) -> None:
    if lab.settings.first:
        require(lab.flag)
        lab.n = lab.settings.second
    lab.flag = True


def test_an_action_is_captured_once_for_each_answer_to_what_it_asks(captures):
    protocol = protocol_of(act_by_settings, settings=Choices)

    def captured(**settings):
        (action,) = protocol.model({}, settings).captured
        return action

    assert captured() is captured(second=2) is captured(third=True)
    assert len(captures) == 1
    one, two = captured(first=True, second=1), captured(first=True, second=2)
    assert one != two
    assert captured(first=True, second=2, third=True) is two
    assert captured() is captured(second=2)
    assert len(captures) == 3


def act_by_an_answer_made_of_two(lab: Lab) -> None:
    lab.flag = lab.settings.both


def test_answers_that_are_made_of_several_count():
    protocol = protocol_of(act_by_an_answer_made_of_two, settings=Choices)
    both, one = {"first": True, "third": True}, {"first": True}
    for chosen, value in (({}, False), (both, True), (one, False), (both, True)):
        (captured,) = protocol.model({}, chosen).captured
        assert captured.writes[0].value.data is value


WANTED = Choices(second=2)


def act_by_all_settings(lab: Lab) -> None:
    lab.flag = lab.settings == WANTED


def test_settings_are_not_compared_all_together():
    line = act_by_all_settings.__code__.co_firstlineno + 1
    wanted = rf"test_recall.py:{line}: `__eq__` of a dataclass, which is Python's own"
    with pytest.raises(CaptureError, match=wanted):
        _ = protocol_of(act_by_all_settings, settings=Choices).model({}, {"second": 2}).captured


STEP = 1


def by_how_much() -> int:
    return STEP


def act_by_a_constant(lab: Lab, node: Node) -> None:
    node.x = by_how_much()


def act_by_a_property(lab: Lab, node: Node) -> None:
    node.flag = node.is_marked  # type: ignore[attr-defined]  # the test adds it


@pytest.mark.parametrize("part", ["constant", "helper", "class"])
def test_what_means_something_else_by_now_is_captured_anew(part, monkeypatch):
    if part == "class":
        monkeypatch.setattr(Node, "is_marked", property(lambda node: node.flag), raising=False)
    function = act_by_a_property if part == "class" else act_by_a_constant
    protocol = protocol_of(function)
    before = protocol.model({}).captured
    assert protocol.model({}).captured == before
    match part:
        case "constant":
            monkeypatch.setattr("tests.model.test_recall.STEP", 2)
        case "helper":
            monkeypatch.setattr("tests.model.test_recall.by_how_much", lambda: 2)
        case "class":
            monkeypatch.setattr(Node, "is_marked", property(lambda node: not_(node.flag)))
    assert protocol.model({}).captured != before


def test_what_is_done_to_the_actions_of_one_model_changes_no_other():
    def act(lab: Lab, node: Node) -> None:
        node.flag = True

    protocol = protocol_of(act)
    for _ in range(2):
        model = protocol.model()
        ((action, *_), _) = model.grounded(model.instances)
        assert action.assignments
        action.assignments.clear()


def test_a_member_that_does_not_exist_is_refused_by_what_is_recalled_too():
    def act(lab: Lab) -> None:
        lab.nodes[2].flag = True

    protocol = protocol_of(act)
    assert protocol.model({"nodes": 3}).captured
    for _ in range(2):
        with pytest.raises(CaptureError, match=r"nodes\[2\] does not exist"):
            _ = protocol.model({"nodes": 2}).captured


def test_what_is_refused_is_refused_again():
    def act(lab: Lab) -> None:
        lab.flag = lab.chosen is None

    for _ in range(2):
        with pytest.raises(CaptureError, match="`is` on"):
            _ = model_of(act).captured
