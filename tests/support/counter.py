"""A counter: the least protocol whose every count can be worked out by hand."""

from __future__ import annotations

from model.language import Annotated, Bound, Protocol, State, action, integers, require
from properties import Property

LIMIT = Bound("limit", default=5, minimum=1, maximum=10_000, words="the greatest count")


class Counter(State):
    """One number."""

    count: Annotated[int, integers(0, LIMIT)] = 0


@action("two more")
def add_two(counter: Counter) -> None:
    """Count by two, as long as that stays within the limit."""
    require(counter.count + 2 <= counter.bound("limit"))

    counter.count = counter.count + 2


@action("one more")
def add(counter: Counter) -> None:
    """Count by one, up to the limit."""
    require(counter.count < counter.bound("limit"))

    counter.count = counter.count + 1


COUNTER = Protocol("counter", "counts by one and two", Counter, (add_two, add), (LIMIT,))


def below(limit: int) -> Property:
    """The property that the count stays below `limit`."""
    return Property(f"below_{limit}", f"the count is below {limit}", lambda c: c.count < limit)
