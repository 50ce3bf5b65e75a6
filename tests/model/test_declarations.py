"""What declaring a protocol promises: names mean what they say where they are written, bounds are
declared once, and what is captured and grounded is so once for each model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.language import (
    Bound,
    Entity,
    Members,
    Protocol,
    Record,
    Role,
    Sequence,
    State,
    action,
    integers,
    members,
    not_,
    presets,
    require,
    sequence,
    setting,
)
from model.language.capture import capture_action, capture_property, capture_start
from model.language.declare.settings import describe, named, sources
from model.language.declare.source import Source
from model.language.errors import CaptureError, ProtocolError, UsageError
from model.language.naming import cell_path
from model.protocols import PROTOCOLS
from model.replicated_log import LOG_SIZE
from tests.support.lab import NODES, ROWS, SIZE, Lab, Node, model_of, protocol_of


def raise_flag(lab: Lab, node: Node) -> None:
    """An action."""
    require(lab.flag)

    node.flag = True


# --- names --------------------------------------------------------------------------------------


def test_classes_inside_a_function_may_refer_to_themselves_and_to_each_other():
    class Worker(Entity):
        boss: Worker | None = None
        desk: Desk | None = None

    class Desk(Entity):
        user: Worker | None = None

    class Office(State):
        workers: Members[Worker] = members(NODES)
        desks: Members[Desk] = members(NODES)

    @action("{worker} promotes {other} at {desk}")
    def promote(office: Office, worker: Worker, other: Worker, desk: Desk) -> None:
        worker.boss = other
        worker.desk = desk
        desk.user = worker

    model = Protocol("office", "", Office, (promote,), (NODES,)).model({"nodes": 2})
    engine = ReferenceEngine(model)
    promotion = next(i for i in model.instances if i.arguments == (0, 1, 1))
    state = engine.step(engine.initial(), promotion)
    assert state == (1, -1, 1, -1, -1, 0)
    assert [cell.variable.domain.family for cell in model.cells] == [  # type: ignore[union-attr]  # references
        *["workers"] * 2, *["desks"] * 2, *["workers"] * 2
    ]  # fmt: skip


def _family_of_one(entity):
    class Root(State):
        nodes: Members[entity] = members(NODES)  # type: ignore[valid-type]  # whichever it is

    return Protocol("p", "", Root, (), (NODES,))


def test_an_entity_that_a_function_makes_may_refer_to_itself():
    def make():
        class Replica(Entity):
            leader: Replica | None = None

        return Replica

    variable = _family_of_one(make()).schema.variables["nodes.leader"]
    assert str(variable.domain) == "one of nodes or none"


def test_a_name_that_means_nothing_is_told_with_the_class_or_action():
    class Lost(Entity):
        friend: Nobody | None = None  # type: ignore[name-defined]  # noqa: F821 (it is refused)

    with pytest.raises(ProtocolError, match="Lost: name 'Nobody' is not defined"):
        _ = _family_of_one(Lost).schema

    @action("")
    def search(lab: Lab, place: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821 (likewise)
        pass

    with pytest.raises(ProtocolError, match="action search: name 'Nowhere' is not defined"):
        _ = Protocol("p", "", Lab, (search,), (NODES, ROWS, SIZE)).model().instances


def test_an_entity_needs_a_family_wherever_it_is_named():
    class Stranger(Entity):
        mark: bool = False

    class Root(State):
        guest: Stranger = Stranger.part()

    @action("{stranger} greets")
    def greet(lab: Lab, stranger: Stranger) -> None:
        lab.flag = stranger.mark

    bounds = (NODES, ROWS, SIZE)
    for protocol in (Protocol("p", "", Root, (), ()), Protocol("p", "", Lab, (greet,), bounds)):
        with pytest.raises(ProtocolError, match="no family or table of Stranger is declared"):
            _ = protocol.model().instances


# --- variables ----------------------------------------------------------------------------------


def test_a_record_of_a_sequence_has_no_variable_called_end():
    class Span(Record):
        end: bool = False

    class Root(State):
        spans: Sequence[Span] = sequence(2)

    with pytest.raises(ProtocolError, match=r"spans\.end is declared twice"):
        _ = Protocol("p", "", Root, (), ()).schema


@pytest.mark.parametrize("initial", [None, "one", 1.5])
def test_an_initial_value_of_another_kind_is_refused(initial):
    class Root(State):
        n: Annotated[int, integers(0, 2)] = initial

    with pytest.raises(ProtocolError, match=rf"n cannot be {initial!r} at first: valid is 0\.\.2"):
        _ = Protocol("p", "", Root, (), ()).schema


def test_a_container_is_declared_by_its_own_word():
    class Root(State):
        nodes: Members[Node] = sequence(2)

    with pytest.raises(ProtocolError, match=r"nodes is a Members: write `= members\(size\)`"):
        _ = Protocol("p", "", Root, (), ()).schema


def test_a_cell_is_named_by_the_way_to_it():
    model = model_of(raise_flag)
    by_name = {cell.name: cell_path(model, cell) for cell in model.cells}
    assert by_name["nodes.items.tag[2][1]"] == "nodes[n2].items[1].tag"
    assert by_name["nodes.items.end[1]"] == "nodes[n1].items.end"
    assert by_name["rows.votes[1][0]"] == "rows[1].votes[n0]"
    assert by_name["desk.owner"] == "desk.owner"
    assert [cell.position for cell in model.cells] == list(range(len(model.cells)))


def test_a_member_s_value_for_another_member_is_named_by_both_in_order():
    model = PROTOCOLS["kafka"].model()
    cell = model.cell(model.schema.variables["brokers.follower_leo"], (0, 1))
    assert cell_path(model, cell) == "brokers[b0].follower_leo[b1]"


def test_the_cells_below_an_index_are_those_that_begin_with_it():
    model = model_of(raise_flag)
    tags = model.schema.variables["nodes.items.tag"]
    assert [cell.index for cell in model.cells_below(tags, (1,))] == [(1, 0), (1, 1)]
    assert list(model.cells_below(tags, (2, 1))) == [model.cell(tags, (2, 1))]
    assert len(list(model.cells_below(tags, ()))) == 6


# --- bounds -------------------------------------------------------------------------------------


class Count(State):
    """A number that a bound limits."""

    n: Annotated[int, integers(0, LOG_SIZE)] = 0


def test_a_limit_by_a_bound_that_the_protocol_does_not_have_is_refused():
    with pytest.raises(ProtocolError, match="a limit is log_size, but log_size is not among"):
        Protocol("p", "", Count, (), (NODES,)).model()


def test_a_bound_of_the_same_name_that_was_declared_elsewhere_is_refused():
    other = Bound("log_size", default=1, minimum=1, words=LOG_SIZE.words)
    with pytest.raises(ProtocolError, match="two bounds are called log_size: declare it once"):
        Protocol("p", "", Count, (), (other,)).model()
    with pytest.raises(ProtocolError, match="p has two bounds of one name"):
        Protocol("p", "", Count, (), (LOG_SIZE, LOG_SIZE.with_default(1))).model()


def test_a_range_of_a_parameter_needs_a_bound_of_the_protocol_too():
    def cut(lab: Lab, to: Annotated[int, integers(0, LOG_SIZE)]) -> None:
        lab.n = to

    with pytest.raises(ProtocolError, match="log_size is not among the bounds"):
        _ = model_of(cut).instances


def test_a_protocol_may_give_a_bound_another_default():
    once = Protocol("p", "", Count, (), (LOG_SIZE.with_default(5),))
    twice = Protocol("p", "", Count, (), (LOG_SIZE.with_default(5).with_default(7),))
    assert [p.model().wide.cells[0].high for p in (once, twice)] == [5, 7]
    assert once.model({"log_size": 3}).wide.cells[0].high == 3
    assert PROTOCOLS["kafka"].model().bounds["log_size"] == 1
    assert PROTOCOLS["kip320"].model().bounds["log_size"] == 2


# --- once for each model ------------------------------------------------------------------------


def test_actions_and_claims_are_captured_and_grounded_once_for_a_model(monkeypatch):
    calls: list[str] = []

    def counted(name: str, capture: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any) -> Any:
            calls.append(name)
            return capture(*arguments)

        return counting

    captures: tuple[Callable[..., Any], ...] = (capture_action, capture_property, capture_start)
    for capture, module in zip(captures, ("cases", "protocol", "protocol"), strict=True):
        name = capture.__name__
        monkeypatch.setattr(f"model.language.{module}.{name}", counted(name, capture))

    def acts(lab: Lab) -> None:
        require(not_(lab.flag))
        lab.flag = True

    def claims(lab: Lab) -> bool:
        return lab.flag

    def starts(lab: Lab) -> None:
        lab.flag = False

    model = protocol_of(acts, start=starts).model()
    for _ in range(3):
        assert model.captured[0].name == "acts"
        assert [ground.instance for ground in model.ground_actions] == list(model.instances)
        assert model.possible_actions == {"acts"}
        assert model.ground_claim(claims).op == "cell"
        assert model.claim(claims).op == "read"
        assert len(model.initial_state) == len(model.cells)
    assert sorted(calls) == ["capture_action", "capture_property", "capture_start"]


def test_a_claim_about_a_state_and_the_same_about_a_step_are_different_claims():
    def claim(*labs: Lab) -> bool:
        return labs[-1].flag

    model = model_of(raise_flag)
    assert model.claim(claim) is not model.claim(claim, 2)
    assert model.claim(claim, 2).data == ("flag", 1)


def test_a_claim_that_assigns_is_refused_each_time_that_it_is_asked_for():
    def assigns(lab: Lab) -> bool:
        lab.n = 1
        return lab.flag

    model = model_of(raise_flag)
    for _ in range(2):
        with pytest.raises(CaptureError, match="property assigns requires or assigns"):
            model.claim(assigns)


def test_replaced_captures_change_only_the_ground_actions_that_are_asked_for():
    model = model_of(raise_flag)
    (captured,) = model.captured
    before = model.ground_actions
    from dataclasses import replace

    idle = model.ground_actions_with({"raise_flag": replace(captured, writes=())})
    assert [ground.assignments for ground in idle] == [{}, {}, {}]
    assert all(ground.assignments for ground in before)
    assert model.ground_actions is before


# --- settings -----------------------------------------------------------------------------------


def test_a_setting_may_not_exceed_the_bound_that_limits_it():
    @dataclass(frozen=True)
    class Settings:
        voters: int = setting(1, "nodes that vote", low=1, high=SIZE)

    class Root(State):
        nodes: Members[Node] = members(SIZE)

    protocol = Protocol("p", "", Root, (), (SIZE,), settings=Settings)
    assert protocol.model({"size": 2}, {"voters": "2"}).settings.voters == 2
    words = r"voters cannot be 3: valid are whole numbers from 1 to 2 \(size\)"
    with pytest.raises(UsageError, match=words):
        protocol.model({"size": 2}, {"voters": "3"})


# --- what is said of a setting or an action is read off ------------------------------------------


@dataclass(frozen=True)
class Said:
    """Settings of a system with releases 1.0 to 1.2, and two fixes that none has."""

    fenced: bool = setting(
        True, "old leaders are refused", at="Server.handle", about="BUG-1",
        history="false 1.0.0, true 1.1.1 1.2.0",
    )  # fmt: skip
    kept: bool = setting(False, "nothing is lost", about="BUG-2", fix=True)
    waits: bool = setting(True, "waits", history="true 1.0.0, false 1.2.0", fix=True)
    copies: int = setting(1, "how many copies", role=Role.OPERATOR)


def test_releases_and_fixes_of_settings_are_presets():
    assert presets(Said, "own", ["1.0", "1.1", "1.1.2", "1.2"]) == {
        "own-1.0": {"fenced": "false", "waits": "true"},
        "own-1.1": {"fenced": "false", "waits": "true"},
        "own-1.1.2": {"fenced": "true", "waits": "true"},
        "own-1.2": {"fenced": "true", "waits": "false"},
        "own-fixed": {"fenced": "true", "waits": "true", "kept": "true"},
    }


def test_where_a_setting_comes_from_is_said_once():
    assert sources(Said) == {
        "fenced": Source("Server.handle", "1.1.1", "BUG-1"),
        "kept": Source("", "", "BUG-2"),
        "waits": Source("", "1.0.0"),
    }
    assert describe(Said)["fenced"].words == "old leaders are refused (BUG-1)"
    assert named(Said, role=Role.OPERATOR) == {"copies"}


@pytest.mark.parametrize(
    "history", ["true", "true 1.0, false", "true one", "true 2.0, false 1.0", "true 1.0, false 1.0"]
)
def test_what_is_no_history_is_refused(history):
    with pytest.raises(ProtocolError, match="is no history: write values, oldest first"):
        setting(True, "words", history=history)


def test_an_action_says_where_it_is():
    @action("it happens", at="Server.run", since="1.1.1", about="BUG-1", settings="fenced, kept")
    def happen(state: State) -> None:
        """Nothing."""

    assert happen.source == Source("Server.run", "1.1.1", "BUG-1", ("fenced", "kept"))
    assert action("nothing is known of it")(happen.function).source is None
