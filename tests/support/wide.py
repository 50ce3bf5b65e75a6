"""A protocol with numbers of every width, so that nothing rests on states being small."""

from __future__ import annotations

from model.language import Annotated, Bound, Protocol, State, action, choose, integers, require

WIDTH = Bound("width", default=0, minimum=0, maximum=2, words="0: bytes; 1: shorts; 2: more")


class Wide(State):
    """Numbers of 8, 16, 32 and more bits, some of them negative, and one that never moves."""

    byte: Annotated[int, integers(-100, 120)] = 0
    short: Annotated[int, integers(-20_000, 40_000)] = 0
    number: Annotated[int, integers(-(2**20), 2**31 + 5)] = 0
    more: Annotated[int, integers(-(2**40), 2**40)] = 0
    fixed: Annotated[int, integers(7, 7)] = 7
    flag: bool = False


@action("the byte goes up or down")
def move_byte(wide: Wide) -> None:
    """Add to the byte beyond what a byte holds, or take away."""
    require(wide.byte + 100 > wide.byte - wide.fixed)

    wide.byte = choose(wide.flag, wide.byte + 60, wide.byte - 50)
    wide.flag = wide.byte < 0


@action("the short follows the byte")
def move_short(wide: Wide) -> None:
    """Mix widths: a short and a byte, compared and added."""
    require(wide.short + wide.byte + wide.byte < 30_000)

    wide.short = wide.short + wide.byte + 9_999


@action("the numbers grow")
def move_numbers(wide: Wide) -> None:
    """Sums that pass 32 bits."""
    require(wide.bound("width") == 2)

    wide.number = choose(wide.flag, 2**31, wide.number - wide.short)
    wide.more = wide.more + wide.number + wide.number


WIDE = Protocol(
    "wide", "numbers of every width", Wide, (move_byte, move_short, move_numbers), (WIDTH,)
)
