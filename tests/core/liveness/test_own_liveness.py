"""A protocol of one's own says what must happen in the end beside what it promises."""

import pytest

from checker.commands.cli import highwater, run
from checker.core.exits import Exit
from highwater.claims import always, eventually, leads_to
from highwater.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    Protocol,
    State,
    action,
    integers,
    members,
    not_,
    require,
    weak,
)
from model.language.errors import ProtocolError
from properties import choose_liveness, liveness_of, properties_of

LAMPS = Bound("lamps", default=2, minimum=1, words="lamps")


class Lamp(Entity):
    lit: bool = False


class Room(State):
    lamps: Members[Lamp] = members(LAMPS)
    day: Annotated[int, integers(0, 1)] = 0


@action("a lamp is lit")
def light(room: Room, lamp: Lamp) -> None:
    require(not_(lamp.lit))
    lamp.lit = True


@always("days", "there are two kinds of days")
def days(room: Room) -> bool:
    return room.day >= 0


@eventually("all_are_lit", "each lamp is lit", of="lamps")
def all_are_lit(room: Room, lamp: Lamp) -> bool:
    return lamp.lit


def _protocol(**changes):
    given = {"properties": (days, all_are_lit), "fairness": (weak(light),)}
    return Protocol(
        name="room", words="lamps", state=Room, actions=(light,), bounds=(LAMPS,),
        **(given | changes),
    )  # fmt: skip


ROOM = _protocol()


def test_properties_of_states_and_of_runs_stand_in_one_list():
    assert properties_of(ROOM) == (days,)
    assert liveness_of(ROOM) == (all_are_lit,)
    assert choose_liveness(ROOM, "all_are_lit") is all_are_lit


def test_it_is_checked_as_one_of_ours(capsys):
    """With the same options and statuses, from its file."""
    for fair, status in (([], Exit.OK), (["--fair", "light=none"], Exit.UNFULFILLED)):
        asked = ["explore", f"{__file__}:ROOM", "--liveness", "--quiet", *fair]
        assert run(highwater, asked) == status
    assert "violated: all_are_lit: a fair run never" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"actions": (lambda room: None,)}, "<lambda> is among its actions, and is no action"),
        ({"actions": ("light",)}, "'light' is among its actions, and is no action"),
        ({"properties": (lambda room: True,)}, "among its properties, and is no property"),
        ({"lemmas": (lambda room: True,)}, "among its lemmas, and is no lemma"),
    ],
)
def test_what_is_not_declared_is_refused_in_one_line(changes, words):
    with pytest.raises(ProtocolError, match=words) as caught:
        _protocol_of(changes)
    assert "\n" not in str(caught.value)


def _protocol_of(changes):
    whole = {"actions": (light,)} | changes
    return Protocol(name="room", words="lamps", state=Room, bounds=(LAMPS,), **whole)


def test_what_must_happen_in_the_end_is_no_lemma_and_of_a_family_that_there_is():
    from properties import lemmas_of

    with pytest.raises(ProtocolError, match="all_are_lit says what must happen in the end"):
        lemmas_of(_protocol(lemmas=(all_are_lit,)))
    wrong = leads_to("lit", "words", lambda room, lamp: lamp.lit, of="lights")(lambda r, lamp: True)
    with pytest.raises(ProtocolError, match="of='lights' is no family of room: valid are lamps"):
        wrong.cases(ROOM.model())
