"""Lines of TLA+: conditions that are all true, with names for the parts that they share.

TLC works out a part with a name in LET once where it evaluates one value, as in an invariant. In
what makes up a step it works such a part out for each use, and there may be more of these than
states; there a condition is one value, and what is assigned has its parts from a quantifier.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from checker.core.export.expressions import Expressions

WIDTH = 96


def all_true(text: Expressions, conjuncts: list[str]) -> list[str]:
    """Lines that say all of these, each one true; parts that have names come before them."""
    lines = [line for conjunct in conjuncts for line in f"/\\ {conjunct}".split("\n")]
    if not text.definitions:
        return lines
    first, *rest = (f"{name} == {value}" for name, value, _ in text.definitions)
    return [
        f"/\\ LET {first}",
        *(f"       {each}" for each in rest),
        *(f"   {'IN ' if k == 0 else '   '}{line}" for k, line in enumerate(lines)),
    ]


def one_value(text: Expressions, conjuncts: list[str]) -> list[str]:
    """The same as a part of a step: one value."""
    if not text.definitions:
        return all_true(text, conjuncts)
    first, *rest = all_true(text, conjuncts)
    is_true = "TRUE = "
    return [
        first.replace("/\\ ", f"/\\ {is_true}", 1),
        *(" " * len(is_true) + each for each in rest),
    ]


def next_values(text: Expressions, conjuncts: list[str]) -> list[str]:
    """The same where it says what is next: a named part is chosen of a set that has but it."""
    if not text.definitions:
        return all_true(text, conjuncts)
    choices = [
        f"\\E {name} \\in {{{f'({value})' if condition else value}}} :"
        for name, value, condition in text.definitions
    ]
    lines = [f"   {line}" for conjunct in conjuncts for line in f"/\\ {conjunct}".split("\n")]
    return [f"/\\ {choices[0]}", *(f"   {each}" for each in [*choices[1:], *lines])]


def indented(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def in_tuple(names: Iterable[str]) -> str:
    text = f"<<{', '.join(names)}>>"
    return "\n".join(textwrap.wrap(text, WIDTH, subsequent_indent="    "))
