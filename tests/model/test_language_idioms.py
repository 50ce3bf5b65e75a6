"""Plain Python that would mean something else while captured is refused, at its line."""

from __future__ import annotations

import cProfile
import gc
import signal
import sys
from enum import IntEnum
from functools import cached_property
from typing import Any

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.core.proofs.bounded.induction import Induction
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from checker.core.search.explore import Explorer, Options
from checker.core.search.symmetry import Symmetry
from model.language import (
    Action,
    Entity,
    Members,
    Protocol,
    State,
    every,
    members,
    minimum,
    not_,
    refusal,
    require,
)
from model.language.capture import recorder
from model.language.declare.domains import integer_domain
from model.language.errors import CaptureError, ProtocolError, UsageError
from model.language.refusal import user_place
from properties.claims import Property, Sense
from tests.support.lab import NODES, Lab, Node, model_of, protocol_of


def by_an_optional_parameter(lab: Lab, node: Node | None) -> None:
    lab.n = 1


def test_a_parameter_is_never_none():
    with pytest.raises(ProtocolError, match="annotate it with an entity class"):
        _ = model_of(by_an_optional_parameter).captured


def has_a_chosen(lab: Lab) -> bool:
    return lab.chosen is not None


@pytest.mark.parametrize("proof", [Explorer, Induction, UnboundedInduction])
def test_every_way_to_check_refuses_what_a_helper_hides(proof):
    def choose_one(lab: Lab, node: Node) -> None:
        lab.chosen = node

    claim = Property("chosen", "", lambda lab: not_(not_(has_a_chosen(lab))))
    extra = ([claim],) if proof is UnboundedInduction else ()
    with pytest.raises(CaptureError, match=r"test_language_idioms.py:\d+: `is` on .*is_none"):
        proof(model_of(choose_one), [claim], *extra).run()


def test_a_list_that_a_function_closes_over_is_refused_unless_the_action_made_it():
    def counts(seen):
        def act(lab: Lab) -> None:
            lab.n = len(seen)

        return act

    with pytest.raises(CaptureError, match="seen, a list, may change"):
        _ = model_of(counts([1])).captured
    assert model_of(counts((1, 2))).captured[0].writes

    def own(lab: Lab) -> None:
        values = [lab.flag]
        require(every(node.flag == values[0] for node in lab.nodes))

    assert model_of(own).captured[0].guards


class Noting(Entity):
    """A member whose class keeps what a state does not."""

    seen = []  # type: ignore[var-annotated]  # noqa: RUF012  # which is refused
    flag: bool = False


class Caching(Entity):
    """A member with a property that Python evaluates once."""

    flag: bool = False

    @cached_property
    def was(self) -> bool:
        return self.flag


class Clock:
    """A descriptor."""

    def __get__(self, instance, owner):
        return 1


class Timed(Entity):
    """A member with a descriptor."""

    clock = Clock()
    flag: bool = False


@pytest.mark.parametrize(
    "entity, what",
    [(Noting, "seen, a list"), (Caching, "was, a cached"), (Timed, "clock, a Clock")],
)
def test_a_class_of_the_state_holds_nothing_that_may_change(entity, what):
    family = Members[entity]  # type: ignore[valid-type]  # whichever it is
    state: Any = type("Root", (State,), {"__annotations__": {"all": family}, "all": members(NODES)})

    def act(root) -> None:
        root.all[0].flag = True

    model = Protocol("p", "", state, (Action("act", act, ""),), (NODES,)).model()
    with pytest.raises(CaptureError, match=rf"idioms.py:\d+: {entity.__name__}.{what}"):
        _ = model.captured


def test_an_action_takes_its_parameters_by_place():
    def keywords(lab: Lab, *, node: Node) -> None:
        node.x = 1

    with pytest.raises(ProtocolError, match=r"parameter node: write it without `\*`"):
        _ = model_of(keywords).captured


def test_an_entity_declared_in_a_function_may_refer_to_itself():
    class Friend(Entity):
        friend: Friend | None = None

    class Friends(State):
        friends: Members[Friend] = members(NODES)

    (variable,) = Protocol("p", "", Friends, (), (NODES,)).schema.variables
    assert variable == "friends.friend"


@pytest.mark.parametrize(
    "look, words",
    [
        (lambda lab: bool(lab.nodes[0].items), "truth of a sequence: write not_"),
        (lambda lab: bool(lab.nodes), "truth of a family or table"),
        (lambda lab: bool(lab.nodes[0]), "truth of a record, member or row"),
        (lambda lab: bool(lab.group), "truth of a set"),
        (lambda lab: len(lab.nodes[0].items), "len.. of a sequence: write log.end"),
        (lambda lab: list(lab.nodes[0].items), "iteration of a sequence: write every"),
        (lambda lab: list(lab.rows[0].votes), "iteration of values by member"),
        (lambda lab: lab.nodes[0].items == lab.nodes[0].items, "== of a sequence"),
        (lambda lab: lab.desk == lab.desk, "== of a record"),
    ],
)
def test_plain_views_refuse_what_python_would_answer_by_itself(look, words):
    engine = ReferenceEngine(model_of(by_an_assignment))
    with pytest.raises(CaptureError, match=words):
        look(engine.view(engine.initial()))


def by_an_assignment(lab: Lab, node: Node) -> None:
    lab.n = 1


def test_whoever_profiles_goes_on_to_do_so():
    events = []

    def profile(frame, event, argument):
        events.append(event)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        _ = model_of(by_an_assignment).captured
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(before)
    profiler = cProfile.Profile()
    profiler.enable()
    _ = model_of(by_an_assignment).captured
    profiler.disable()
    assert profiler.getstats()


def test_what_the_garbage_collector_does_is_not_part_of_an_action():
    during: list[bool] = []

    def collected(phase, info):
        during.append(refusal.watching)

    def slow(lab: Lab, node: Node) -> None:
        require(*(some_of(lab, k) for k in range(3)))

    def some_of(lab, k):
        return lab.n > k

    gc.callbacks.append(collected)
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        assert len(model_of(slow).captured[0].guards) == 3
        assert gc.isenabled()
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(collected)
    assert during and not any(during)


def test_what_a_signal_calls_is_not_part_of_an_action():
    seen: list[int] = []

    def handler(number, frame):
        try:
            seen.append(number)
        finally:
            pass

    def slow(lab: Lab, node: Node) -> None:
        require(*(some_of(lab, k) for k in range(1_000)))

    def some_of(lab, k):
        return lab.n > k

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        while not seen:
            assert model_of(slow).captured
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_long_loop_is_judged_like_a_short_one():
    line = "        node.x = minimum(node.x + 1, 3)\n"
    body = "def long(lab):\n    total = 0\n    for node in lab.nodes:\n" + line * 60
    names: dict[str, Any] = {"minimum": minimum, "__name__": __name__}
    exec(compile(body, "long.py", "exec"), names)
    assert model_of(names["long"]).captured[0].writes
    body += "        total = total + 1\n    lab.n = total\n"
    exec(compile(body, "long.py", "exec"), names)
    with pytest.raises(CaptureError, match="the loop changes 'total'"):
        _ = model_of(names["long"]).captured


def test_two_loops_may_use_the_same_name():
    def twice(lab: Lab, node: Node) -> None:
        for each in lab.nodes:
            each.x = 1
        for each in lab.nodes:
            each.flag = True

    assert len(model_of(twice).captured[0].writes) == 2


def test_names_of_numbers_have_no_gaps():
    class Gaps(IntEnum):
        ONE = 1
        THREE = 3

    with pytest.raises(ProtocolError, match="Gaps has gaps"):
        integer_domain(Gaps)


def test_start_only_assigns():
    def start(lab: Lab) -> None:
        require(lab.flag)

    def idle(lab: Lab, node: Node) -> None:
        lab.n = 1

    with pytest.raises(ProtocolError, match="only assign"):
        Explorer(protocol_of(idle, start=start).model(), ()).run()


def test_symmetry_is_refused_where_a_blank_value_names_a_member():
    from tests.support import idioms

    model = Protocol("named", "", idioms.Named, (idioms.advance,), (idioms.SIZE,)).model()
    with pytest.raises(UsageError, match="the blank value of"):
        Symmetry(model, (), Explorer(model, ()).engine.layout)


def test_to_go_on_means_to_the_last_witness_and_dead_end():
    from tests.support import idioms

    model = Protocol("chain", "", idioms.Chain, (idioms.climb,), (idioms.SIZE,)).model()
    low = Property("low", "", lambda chain: chain.height < 2)
    high = Property("high", "", lambda chain: chain.height == 7, Sense.SOMETIMES)
    options = Options(keep_going=True, deadlock=True)
    found = Explorer(model, (low, high), options=options).run()
    assert found.reached == {"high": 7}
    assert found.deadlock is not None and len(found.deadlock) == 8
    assert [violation.depth for violation in found.violations] == [2]


class Mood(IntEnum):
    """Numbers that say themselves what an order of them is."""

    LOW = 0
    HIGH = 1

    def __lt__(self, other):
        return False


class Solo(Entity):
    """A member."""

    flag: bool = False


class Moody(State):
    """A state with such numbers."""

    noting: Members[Solo] = members(NODES)
    mood: Mood = Mood.LOW


class Twin(Entity):
    """A member that is equal to every other."""

    flag: bool = False

    def __eq__(self, other):
        return True

    __hash__ = Entity.__hash__


class Twins(State):
    """A state with such members."""

    noting: Members[Twin] = members(NODES)


@pytest.mark.parametrize(
    ("state", "what"), [(Moody, "__lt__` of Mood"), (Twins, "__eq__` of Twin")]
)
def test_a_class_of_the_state_does_not_say_what_an_operator_means(state, what):
    def act(root) -> None:
        root.noting[0].flag = True

    model = Protocol("p", "", state, (Action("act", act, ""),), (NODES,)).model()
    with pytest.raises(CaptureError, match=rf"idioms.py:\d+: `{what}: what is read"):
        _ = model.captured


def test_functions_that_close_over_each_other_are_checked_once():
    def around(limit):
        def even(k):
            return k == limit or odd(k - 1)

        def odd(k):
            return k != limit and even(k - 1)

        return even

    helper = around(0)

    def act(lab: Lab) -> None:
        lab.flag = helper(2)

    assert model_of(act).captured[0].writes


def test_whether_a_capture_is_under_way_is_not_for_the_user_to_ask():
    def by_its_recorder(lab: Lab) -> None:
        lab.flag = recorder.active == None  # noqa: E711 (`is` is refused as it is)

    def by_its_notes(lab: Lab) -> None:
        lab.flag = refusal.watching

    def by_a_function(lab: Lab) -> None:
        lab.flag = user_place() == ""

    for function in (by_its_recorder, by_its_notes, by_a_function):
        with pytest.raises(CaptureError, match=r"idioms.py:\d+: `.*` cannot be captured"):
            _ = model_of(function).captured
