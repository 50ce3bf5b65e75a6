"""Variables: how they are declared, and that they hold only what they may."""

from __future__ import annotations

from enum import IntEnum

import pytest

from model.language import Action, Annotated, Protocol, State, integers, require
from model.language.errors import CaptureError, DomainError, ProtocolError
from tests.support.lab import Item, Lab, model_of, protocol_of


def test_a_variable_without_an_initial_value_is_refused():
    with pytest.raises(ProtocolError, match=r"Bad\.m has no initial value: write `= ...`"):

        class Bad(Item):
            m: bool


def test_an_initial_value_outside_its_domain_is_refused():
    from model.language import Protocol, State

    class TooHigh(State):
        n: Annotated[int, integers(0, 2)] = 3

    with pytest.raises(ProtocolError, match=r"n cannot be 3 at first: valid is 0\.\.2"):
        _ = Protocol("p", "", TooHigh, (), ()).model().cells


def test_a_family_that_would_be_empty_is_refused():
    from model.language import Bound, Entity, Protocol, State, Table, table

    size = Bound("size", default=1, minimum=1, words="")

    class Line(Entity):
        mark: bool = False

    class Few(State):
        lines: Table[Line] = table(size - 1)

    with pytest.raises(ProtocolError, match="lines is empty: let size - 1 be 1 or more"):
        Protocol("p", "", Few, (), (size,)).model()


@pytest.mark.parametrize(
    "annotation, words",
    [
        (int, "n: an int needs limits: write Annotated"),
        (list[int], "cannot use the annotation"),
        (str, "cannot use the annotation"),
    ],
)
def test_an_annotation_that_is_no_domain_is_refused_with_the_valid_ones(annotation, words):
    from model.language import Protocol, State

    namespace = {"__annotations__": {"n": annotation}, "n": 0, "__module__": __name__}
    wrong = type("Wrong", (State,), namespace)
    with pytest.raises(ProtocolError, match=words):
        Protocol("p", "", wrong, (), ()).model()


class Phase(IntEnum):
    FIRST, SECOND = range(2)


class Other(IntEnum):
    FIRST, SECOND = range(2)


class Machine(State):
    phase: Phase = Phase.FIRST
    before: Phase = Phase.SECOND


def test_a_variable_that_is_not_declared_cannot_be_assigned():
    def misspelt(lab: Lab) -> None:
        lab.nn = 1

    with pytest.raises(ProtocolError, match="Lab has no variable 'nn'; it has nodes, rows, desk"):
        _ = model_of(misspelt).captured


def test_a_whole_record_cannot_be_assigned():
    def assigns_part(lab: Lab) -> None:
        lab.desk = lab.desk

    with pytest.raises(ProtocolError, match="a whole record cannot be assigned"):
        _ = model_of(assigns_part).captured


@pytest.mark.parametrize("value", [9, -9])
def test_assigning_outside_the_domain_is_an_error_in_both_engines(value):
    from checker.core.engines.reference import ReferenceEngine
    from checker.core.engines.vectorised import VectorisedEngine

    def too_far(lab: Lab) -> None:
        lab.n = value

    model = model_of(too_far)
    engine = ReferenceEngine(model)
    words = rf"test_variables.py:\d+: too_far\(\): n cannot be {value}: valid is -3\.\.4"
    with pytest.raises(DomainError, match=words):
        engine.step(engine.initial(), model.instances[0])
    fast = VectorisedEngine(model)
    with pytest.raises(DomainError, match=words):
        fast.expand(fast.layout.pack([engine.initial()]))


def test_a_start_that_assigns_outside_the_domain_is_an_error_in_both_engines():
    from checker.core.engines.reference import ReferenceEngine

    def nothing(lab: Lab) -> None:
        lab.n = 0

    def start(lab: Lab) -> None:
        lab.n = 7

    model = protocol_of(nothing, start=start).model()
    with pytest.raises(DomainError):
        ReferenceEngine(model).initial()
    with pytest.raises(DomainError, match="start"):
        _ = model.initial_state


def turns(machine: Machine) -> None:
    machine.phase = Other.SECOND  # type: ignore[assignment]  # of another


def asks(machine: Machine) -> None:
    require(machine.phase != Other.SECOND)  # type: ignore[comparison-overlap]  # of another


def keeps(machine: Machine) -> None:
    require(machine.phase != machine.before, machine.phase == Phase.FIRST)
    machine.phase = machine.before


@pytest.mark.parametrize(("function", "is_right"), [(turns, False), (asks, False), (keeps, True)])
def test_a_member_of_another_enumeration_is_refused(function, is_right):
    action = Action(function.__name__, function, "it turns")
    model = Protocol("machine", "turns", Machine, (action,), ()).model()
    if is_right:
        assert len(model.captured) == 1
        return
    with pytest.raises(CaptureError) as caught:
        _ = model.captured
    assert "Other.SECOND where a Phase is needed: valid are FIRST, SECOND" in str(caught.value)


def test_an_initial_value_of_another_enumeration_is_refused_at_its_line():
    class Wrong(State):
        phase: Phase = Other.FIRST  # type: ignore[assignment]  # of another

    with pytest.raises(
        ProtocolError, match=r"variables\.py:\d+: phase cannot be <Other.FIRST: 0> at"
    ):
        _ = Protocol("machine", "turns", Wrong, (), ()).schema
