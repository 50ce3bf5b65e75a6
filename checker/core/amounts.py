"""How many of what there is, in words."""

from __future__ import annotations


def counted(number: int, one: str, more: str = "") -> str:
    """A number of things: `1 step`, `2,000 steps`; `more` is the plural that is no plain one."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"
