"""Views: names of fields select what they say, of every protocol and of one's own."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import pytest

from checker.core.graphs.built import build
from checker.core.graphs.losses import find_losses
from checker.core.graphs.tables import whole
from checker.core.graphs.views import chosen_cells, split_view, values_of, whole_state
from model.language import Bound, Protocol, State, action, integers, require
from model.language.errors import ProtocolError, UsageError
from model.language.naming import cell_path
from model.protocols import PROTOCOLS
from properties import Property

KIP320 = PROTOCOLS["kip320"].model({})


def paths(*names: str) -> list[str]:
    return [cell_path(KIP320, cell) for cell in chosen_cells(KIP320, names)]


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda protocol: protocol.name)
def test_declared_views_name_fields_that_there_are(protocol):
    model = protocol.model({})
    assert protocol.views
    for name, fields in protocol.views.items():
        by_name = chosen_cells(model, [name])
        assert by_name == chosen_cells(model, fields)
        assert {cell.variable.name.split(".")[0] for cell in by_name} == {
            field.split(".")[0] for field in fields
        }


def test_a_name_selects_a_field_and_what_is_below_it():
    assert paths("quorum") == ["quorum.leader_epoch", "quorum.leader", "quorum.isr"]
    assert paths("replicas.leader") == [f"replicas[r{n}].leader" for n in range(3)]
    assert paths("replicas[r1].leader", "quorum.isr") == ["replicas[r1].leader", "quorum.isr"]
    assert paths("replicas[r2].log") == [
        "replicas[r2].log.end",
        *(f"replicas[r2].log[{n}].{part}" for part in ("id", "epoch") for n in range(2)),
    ]
    assert paths("quorum.isr", "roles") == paths("roles", "quorum.isr")
    assert split_view(" roles, quorum.isr,") == ("roles", "quorum.isr")


@pytest.mark.parametrize("name", ["quorum.l", "replicas[r9]", "eplicas", "replicas.log.en", ""])
def test_what_is_no_field_is_refused(name):
    with pytest.raises(UsageError, match="no view or field of kip320"):
        paths(name)


def test_a_view_that_names_no_field_is_a_mistake_of_the_protocol():
    wrong = dataclasses.replace(KIP320.protocol, views={"isr": ("quorum.irs",)})
    with pytest.raises(ProtocolError, match=r"the view isr names quorum\.irs, which is no field"):
        chosen_cells(wrong.model({}), ["isr"])


def test_values_are_as_people_write_them():
    def shown(name: str, number: int) -> object:
        (cell,) = chosen_cells(KIP320, [name])
        return values_of(KIP320, cell)(number)

    assert [shown("quorum.leader", n) for n in (-1, 1)] == [None, "r1"]
    assert [shown("quorum.leader_epoch", n) for n in (-1, 0)] == [None, 0]
    assert [shown("quorum.isr", n) for n in (0, 5)] == ["{}", "{r0, r2}"]
    assert shown("next_record_id", 2) == 2


MOST = Bound("most", default=2, minimum=1, words="at most")


class Depths(State):
    """A state whose field has the name of a column that every graph has."""

    depth: Annotated[int, integers(0, MOST)] = 0
    unused: Annotated[int, integers(0, MOST)] = 0


@action("sink")
def sink(state: Depths) -> None:
    require(state.depth < state.bound("most"))
    state.depth = state.depth + 1


def test_a_search_that_is_stopped_leaves_no_graph():
    with pytest.raises(KeyboardInterrupt):
        build(KIP320, stops=lambda stop: stop())


def test_a_field_with_the_name_of_a_column_keeps_its_own():
    model = Protocol("depths", "for tests", Depths, (sink,), (MOST,)).model({})
    shallow = Property("shallow", "", lambda s: s.depth < 2)
    tables = whole(find_losses(build(model, [shallow]), [shallow], ()))
    columns = {column.name: column.plain() for column in tables.nodes}
    assert columns["depth"] == columns["state_depth"] == [0, 1, 2]
    assert columns["to_loss"] == [2, 1, 0]
    assert columns["loss"] == ["possible", "possible", "lost"]
    assert [cell.name for cell in whole_state(model)] == ["depth"]
    assert "unused" not in columns
