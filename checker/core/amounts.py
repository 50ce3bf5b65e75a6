"""How many of what there is, in words."""

from __future__ import annotations


def counted(number: int, one: str, more: str = "") -> str:
    """A number of things: `1 step`, `2,000 steps`; `more` is the plural that is no plain one."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def duration(seconds: float) -> str:
    """A time to wait, as people say it: `40 s`, `7 min`, `2 h 5 min`."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
