"""Actions that run by cases: what is captured does in each case what the function does in it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from checker.core.engines.agreement import require_agreement
from checker.core.engines.reference import ReferenceEngine
from model.language import Action, Protocol, choose, every, not_, require, setting, some
from model.language.cases import Case, Fact, captured_by_cases, merged
from model.language.graph import TRUE
from tests.support.lab import NODES, ROWS, SIZE, Lab, Node
from tests.support.laws import check_engines_agree
from tests.support.variants import random_states


@dataclass(frozen=True)
class LabSettings:
    """How a member acts."""

    boldness: int = setting(0, "0, 1 or 2")


def is_flagged(node: Node) -> bool:
    return node.flag


def is_on(s: Lab) -> bool:
    return s.flag


def by_flags(settings: LabSettings, names: tuple[str, ...]) -> tuple[Case, ...]:
    """A member that is flagged is bold; where the state is flagged too, it is bolder."""
    if "a" not in names:
        return (Case(settings),)
    member, state = Fact(is_flagged, names.index("a")), Fact(is_on, None)
    return (
        Case(settings, ((member, False),)),
        Case(LabSettings(1), ((member, True), (state, False))),
        Case(LabSettings(2), ((member, True), (state, True))),
    )


def model_of(function):
    action = Action(function.__name__, function, function.__name__)
    protocol = Protocol(
        "lab", "", Lab, (action,), (NODES, ROWS, SIZE), settings=LabSettings, cases=by_flags
    )
    return protocol.model().wide


def values(s: Lab, b: Node, a: Node) -> None:
    """The same places, other values, and a guard of one case."""
    require(b.x < 3)
    if s.settings.boldness == 1:
        require(a != b)
    a.x = s.settings.boldness
    b.friend = a if s.settings.boldness else None
    s.group = s.group.without_member(a) if s.settings.boldness > 1 else s.group


def places(s: Lab, a: Node) -> None:
    """Other places, in another order, some of them twice."""
    if s.settings.boldness == 0:
        s.n = 1
        a.x = 2
    else:
        a.x = 1
        s.flag = not_(s.flag)
        a.x = choose(s.n > 0, 3, a.x)
    if s.settings.boldness == 2:
        s.n = 2


def loops(s: Lab, a: Node) -> None:
    """Loops over members in one case and single members in another, with quantifiers inside."""
    if s.settings.boldness == 0:
        for node in s.nodes:
            node.x = choose(some(m.friend == node for m in s.nodes), 1, node.x)
    if s.settings.boldness == 1:
        for node in s.group:
            node.flag = every(m.x <= node.x for m in s.nodes)
        a.x = 0
    if s.settings.boldness == 2:
        a.x = 3
        for node in s.nodes:
            node.x = choose(node.flag, 2, node.x)


def impossible(s: Lab, a: Node) -> None:
    """A case in which nothing may be done; what it assigns does not count."""
    require(s.settings.boldness != 1)
    a.x = s.settings.boldness
    if s.settings.boldness == 1:
        s.n = 3


def alike(s: Lab, a: Node) -> None:
    """No case reads a setting."""
    require(a.flag)
    s.n = 1


@pytest.mark.parametrize("function", [values, places, loops, impossible, alike])
def test_what_is_captured_does_in_each_case_what_the_function_does(function):
    model = model_of(function)
    steps, _ = check_engines_agree(model, random_states(model, 200, seed=1))
    assert steps > 100
    require_agreement(model)


def test_each_case_has_its_settings():
    model = model_of(values)
    engine = ReferenceEngine(model)
    cells = {cell.name: cell.position for cell in model.cells}
    (step,) = [i for i in model.instances if i.arguments == (1, 0)]
    for flagged, on, expected in [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 2)]:
        state = list(engine.initial())
        state[cells["nodes.flag[0]"]], state[cells["flag"]] = flagged, on
        after = engine.step(tuple(state), step)
        assert after is not None and after[cells["nodes.x[0]"]] == expected


def test_what_is_alike_in_all_cases_is_kept_once():
    model = model_of(alike)
    (captured,), (action,) = model.captured, model.protocol.actions
    cases = model.cases[action.name]
    parameters = model.protocol.parameters[action.name]
    single = captured_by_cases(action, cases[:1], model.schema, parameters)
    assert len(cases) == 3 and captured == single
    assert merged([(TRUE, single), (TRUE, single)]) == single


def test_claims_are_by_the_models_own_settings_or_refused():
    model = model_of(values)
    assert [each.boldness for each in model.at_once] == [0, 1, 2]
    assert model.is_one_claim(lambda s: s.flag)
    assert not model.is_one_claim(lambda s: s.n == s.settings.boldness)
