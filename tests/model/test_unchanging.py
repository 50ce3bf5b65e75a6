"""Variables that stay blank for ever: which they are, and that they are not missed."""

import pytest

from checker.core.engines.agreement import require_agreement
from checker.core.engines.layout import Layout
from checker.core.engines.reference import ReferenceEngine
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.search.explore import Explorer, Options
from model.kafka.protocol import KAFKA
from model.language import Action, Protocol, choose, graph, ground, maximum, minimum, require
from model.language.errors import CaptureError, DomainError
from model.language.lifted import Lifted
from model.protocols import PROTOCOLS
from properties import properties_of
from tests.support.lab import NODES, ROWS, SIZE, Lab, Node
from tests.support.tiers import slow_but
from tests.support.variants import tiny


def lab(*functions, start=None):
    """A narrow model whose actions are those functions."""
    actions = tuple(Action(f.__name__, f, f.__name__) for f in functions)
    return Protocol("lab", "", Lab, actions, (NODES, ROWS, SIZE), start=start).model()


def changing(model):
    return {v.name for v in model.schema.variables.values()} - model.unchanging.keys()


def raise_flag(s: Lab) -> None:
    s.flag = True


def count_where_flagged(s: Lab) -> None:
    require(s.flag)
    s.n = 2


def test_what_no_action_assigns_takes_no_bit():
    model = lab(raise_flag)
    assert changing(model) == {"flag"}
    assert (Layout(model).bits, Layout(model.wide).bits > 20) == (1, True)


def test_an_action_that_cannot_be_captured_is_told_by_whatever_asks_for_cells():
    """It is not taken for one that changes everything. The reference engine asks for none."""

    def grow(s: Lab) -> None:
        if s.n < 2:
            s.n = s.n + 1

    model = lab(grow)
    for asked in ("unchanging", "cells", "ground_actions"):
        with pytest.raises(CaptureError, match=r"test_unchanging.py:\d+: `if` on a value"):
            getattr(model, asked)
    engine = ReferenceEngine(model)
    after = engine.step(engine.initial(), model.instances[0])
    assert after is not None and after != engine.initial()


def test_an_assignment_of_what_is_there_already_changes_nothing():
    def rest(s: Lab) -> None:
        s.n = 0
        for node in s.nodes:
            node.friend = choose(s.flag, None, node.friend)

    assert changing(lab(rest)) == set()


def test_what_is_assigned_only_where_a_blank_variable_is_not_blank_stays_blank():
    assert changing(lab(count_where_flagged)) == set()
    assert changing(lab(count_where_flagged, raise_flag)) == {"flag", "n"}


def test_two_variables_that_get_each_others_values_stay_blank():
    def swap(s: Lab) -> None:
        first, second = s.flag, s.nodes[0].flag
        s.flag = second
        s.nodes[0].flag = first

    assert changing(lab(swap)) == set()
    assert changing(lab(swap, raise_flag)) == {"flag", "nodes.flag"}


def test_a_variable_of_every_member_changes_where_that_of_one_does():
    def raise_last(s: Lab) -> None:
        s.nodes[2].flag = True

    assert changing(lab(raise_last)) == {"nodes.flag"}


def test_with_sizes_open_the_greater_of_two_numbers_changes():
    def keep(s: Lab) -> None:
        s.n = minimum(s.n, s.nodes[0].x)
        s.nodes[0].x = 3

    def grow(s: Lab) -> None:
        s.n = maximum(s.n, s.nodes[0].x)
        s.nodes[0].x = 3

    assert "n" in Lifted.narrowed(lab(keep)).blank
    assert "n" not in Lifted.narrowed(lab(grow)).blank


def test_with_sizes_open_a_row_that_is_not_there_is_refused_whatever_is_written():
    def count(s: Lab) -> None:
        s.n = 4

    def rest(s: Lab) -> None:
        s.rows[s.n].value = -1

    model = lab(count, rest)
    lifted = Lifted.narrowed(model)
    (write,) = lifted.total_action(model.captured[1]).writes

    assert "rows.value" in lifted.blank
    assert lifted.misfits(write) is not graph.FALSE


def test_what_the_start_assigns_is_not_left_out():
    def begin(s: Lab) -> None:
        s.n = 3

    assert changing(lab(start=begin)) == {"n"}
    assert "n" not in Lifted.narrowed(lab(start=begin)).blank


@pytest.mark.parametrize(
    "model",
    [
        *(protocol.model() for protocol in PROTOCOLS.values()),
        KAFKA.model({"stalled_fetches": 1, "crashes": 1}, KAFKA.preset("3.7")),
        KAFKA.model({"consumers": 1, "log_size": 2}, KAFKA.preset("2.1")),
    ],
    ids=lambda model: model.protocol.name,
)
def test_what_is_left_is_what_grounding_gives(model):
    assert model.ground_actions == model.ground_actions_with({})


class Favoured(Lab):
    """Its first value names a member."""

    favourite: Node = 0  # type: ignore[assignment]  # the first member


def test_a_number_that_names_a_member_is_not_left_out():
    model = Protocol("lab", "", Favoured, (), (NODES, ROWS, SIZE)).model()
    assert changing(model) == {"favourite"}


def test_the_broker_model_pays_for_no_step_that_is_switched_off():
    plain = KAFKA.model({}, KAFKA.preset("4.3"))
    stalls = KAFKA.model({"stalled_fetches": 1}, KAFKA.preset("4.3"))
    late = KAFKA.model({}, KAFKA.preset("3.7"))
    assert "stalled.leader" in plain.unchanging
    assert "stalled.leader" not in stalls.unchanging
    assert {"brokers.answer.kind", "controller.eligible"} & plain.unchanging.keys() == {
        "brokers.answer.kind"
    }
    assert {"brokers.answer.kind", "controller.eligible"} & late.unchanging.keys() == {
        "controller.eligible"
    }
    assert Layout(plain).bits < Layout(plain.wide).bits * 2 / 3


@pytest.mark.parametrize(
    ("name", "symmetry"),
    slow_but(
        [("kip320", False), ("kafka", True)],
        [("kip320", False), ("kafka", False), ("kafka", True), ("async_isr", False)],
    ),
)
def test_counts_and_verdicts_are_those_of_the_wide_model(name, symmetry):
    model = tiny(name)
    properties = properties_of(model.protocol)
    options = Options(symmetry=symmetry, keep_going=True, cross_check=False)
    narrow, wide = (Explorer(m, properties, options=options).run() for m in (model, model.wide))
    assert narrow.levels == wide.levels
    assert narrow.transitions == wide.transitions
    assert [(v.property.name, v.depth) for v in narrow.violations] == [
        (v.property.name, v.depth) for v in wide.violations
    ]


def test_what_is_assigned_and_taken_back_in_one_step_is_no_change():
    def try_out(s: Lab) -> None:
        s.n = 1
        s.n = s.n - 1

    model = lab(try_out)
    assert changing(model) == set()
    assert require_agreement(model, ()).taken > 0


def test_an_action_of_elsewhere_that_changes_it_all_the_same_does_not_fit():
    model, other = lab(count_where_flagged), lab(raise_flag)
    actions = model.ground_actions_with({"count_where_flagged": other.captured[0]})
    engine = VectorisedEngine(model, actions)
    with pytest.raises(DomainError, match="outside its variable's domain"):
        engine.expand(engine.layout.pack([model.initial_state]))


@pytest.mark.parametrize(("room", "kept"), [(100, [0, 1, 2]), (5, [2])])
def test_grounders_are_kept_while_there_is_room_for_what_they_hold(monkeypatch, room, kept):
    """The ones that were asked for last; each holds three expressions here."""
    monkeypatch.setattr(ground, "_NODES", room)
    model = lab(raise_flag)
    bounds = [{**model.bounds, SIZE.name: size} for size in (1, 2, 3)]
    grounders = [ground.shared_grounder(model.schema, each) for each in bounds]
    for grounder in grounders:
        for number in range(3):
            grounder.expression(graph.constant(number))
    order = [2, 1, 0]  # the last first, so that those of before go and it stays
    again = {n: ground.shared_grounder(model.schema, bounds[n]) for n in order}
    assert [n for n in (0, 1, 2) if again[n] is grounders[n]] == kept
