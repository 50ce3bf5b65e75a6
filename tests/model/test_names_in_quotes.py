"""A class may be named in quotes where it is not there yet: this module has no lazy annotations."""

from model.language import Bound, Entity, Members, Protocol, SetOf, State, members, nobody
from model.language.declare.domains import Subset

FRIENDS = Bound("friends", default=2, minimum=1, words="friends")


class Circle(State):
    friends: Members["Friend"] = members(FRIENDS)


class Friend(Entity):
    known: SetOf["Friend"] = nobody()


def test_a_class_may_stand_in_quotes_inside_brackets():
    circle = Protocol(name="circle", words="friends", state=Circle, actions=(), bounds=(FRIENDS,))
    assert [type(cell.variable.domain) for cell in circle.model().cells] == [Subset, Subset]
