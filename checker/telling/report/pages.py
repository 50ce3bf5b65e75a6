"""Pages that people write, with parts between two marks that commands make anew."""

from __future__ import annotations

from model.language.errors import UsageError


def with_part(page: str, begin: str, end: str, part: str) -> str:
    """The page with what is between the marks replaced.

    Raises `UsageError` unless each mark is there once, the one before the other.
    """
    before, _, after = _cut(page, begin, end)
    return f"{before}{begin}\n{part}{end}{after}"


def part_of(page: str, begin: str, end: str) -> str:
    """What is between the marks. Raises `UsageError` as `with_part` does."""
    return _cut(page, begin, end)[1]


def _cut(page: str, begin: str, end: str) -> tuple[str, str, str]:
    before, *rest = page.split(begin)
    if len(rest) != 1 or rest[0].count(end) != 1 or end in before:
        raise UsageError(f"the page needs one line {begin} and after it one line {end}")
    part, _, after = rest[0].partition(end)
    return before, part, after
