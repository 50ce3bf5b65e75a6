"""The process of one call: a command that prints its JSON last, and before it the same as text."""

from __future__ import annotations

from checker.commands import cli
from checker.commands.common import WITH_WORDS


def main() -> None:
    """The command line, of which both forms of a result are read."""
    WITH_WORDS.set(True)
    cli.main()
