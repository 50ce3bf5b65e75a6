"""Small protocols for laws about symmetry and about searches that go on."""

from __future__ import annotations

from typing import Any

from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    State,
    action,
    integers,
    members,
    require,
)

SIZE = Bound("size", 2, 1, "members")


class Member(Entity):
    """A member."""

    done: bool = False


class Named(State):
    """A state with a variable that is a certain member at first."""

    members: Members[Member] = members(SIZE)
    owner: Member = 0  # type: ignore[assignment]  # the first member


@action("{member} is done")
def advance(named: Named, member: Member) -> None:
    """A step."""
    require(named.owner == member)

    member.done = True


class Chain(State):
    """A number that grows."""

    members: Members[Member] = members(SIZE)
    height: Annotated[int, integers(0, 8)] = 0


@action("climb")
def climb(chain: Any) -> None:
    """One up."""
    require(chain.height < 8)

    chain.height = chain.height + 1
