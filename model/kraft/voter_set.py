"""`VoterSet`: majorities."""

from __future__ import annotations

from model.kraft.state import Node
from model.language import SetOf


def is_majority(of: SetOf[Node], some_of_them: SetOf[Node]) -> bool:
    """More than half of the voters are among the given nodes."""
    count = of.intersection(some_of_them).size
    return count + count > of.size
