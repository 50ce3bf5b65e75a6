"""Pages that people write, with parts between two marks that commands make anew."""

from __future__ import annotations

from model.language.errors import UsageError


def with_part(page: str, begin: str, end: str, part: str) -> str:
    """The page with what is between the marks replaced.

    Raises `UsageError` unless each mark is there once, the one before the other.
    """
    before, *rest = page.split(begin)
    if len(rest) != 1 or rest[0].count(end) != 1 or end in before:
        raise UsageError(f"the page needs one line {begin} and after it one line {end}")
    return f"{before}{begin}\n{part}{end}{rest[0].partition(end)[2]}"
